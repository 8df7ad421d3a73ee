//! Commands of tools: servers, what was decided of their tools, and which companion uses what.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ContextId, ToolAnswer, ToolChoice, ToolRule, ToolServerId};
use evenkeel_service::{ToolServerDraft, ToolServerTest, ToolServerView};
use tauri::State;

/// All servers of tools.
#[tauri::command]
#[specta::specta]
pub async fn tool_server_list(shell: State<'_, Shell>) -> Answer<Vec<ToolServerView>> {
    Ok(shell.service.tool_server_list().await?)
}

/// Adds or changes a server of tools.
#[tauri::command]
#[specta::specta]
pub async fn tool_server_save(shell: State<'_, Shell>, draft: ToolServerDraft) -> Answer<ToolServerView> {
    Ok(shell.service.tool_server_save(draft).await?)
}

/// Removes a server of tools with all that was decided of it.
#[tauri::command]
#[specta::specta]
pub async fn tool_server_delete(shell: State<'_, Shell>, id: ToolServerId) -> Answer<()> {
    Ok(shell.service.tool_server_delete(id).await?)
}

/// Starts a server of tools, or calls its address, and asks what it has.
#[tauri::command]
#[specta::specta]
pub async fn tool_server_test(shell: State<'_, Shell>, id: ToolServerId) -> Answer<ToolServerTest> {
    Ok(shell.service.tool_server_test(id).await?)
}

/// Decides of a tool for good.
#[tauri::command]
#[specta::specta]
pub async fn tool_rule_set(shell: State<'_, Shell>, choice: ToolChoice, rule: ToolRule) -> Answer<ToolServerView> {
    Ok(shell.service.tool_rule_set(choice, rule).await?)
}

/// Answers the question whether a tool may run.
#[tauri::command]
#[specta::specta]
pub async fn tool_answer(shell: State<'_, Shell>, id: String, answer: ToolAnswer) -> Answer<()> {
    Ok(shell.service.tool_answer(id, answer).await?)
}

/// The tools that a context uses.
#[tauri::command]
#[specta::specta]
pub async fn context_tools(shell: State<'_, Shell>, context_id: ContextId) -> Answer<Vec<ToolChoice>> {
    Ok(shell.service.context_tools(context_id).await?)
}

/// Sets the tools that a context uses.
#[tauri::command]
#[specta::specta]
pub async fn context_tools_set(
    shell: State<'_, Shell>,
    context_id: ContextId,
    chosen: Vec<ToolChoice>,
) -> Answer<Vec<ToolChoice>> {
    Ok(shell.service.context_tools_set(context_id, chosen).await?)
}
