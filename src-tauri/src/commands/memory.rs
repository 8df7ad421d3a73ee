//! Commands of what is remembered: summaries, and the values of a state.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ConversationId, StateValue, StateValueId, Summary, SummaryId};
use tauri::State;

/// The summaries of a conversation, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn summary_list(shell: State<'_, Shell>, conversation_id: ConversationId) -> Answer<Vec<Summary>> {
    Ok(shell.service.summary_list(conversation_id).await?)
}

/// Puts the user's words in the place of a summary.
#[tauri::command]
#[specta::specta]
pub async fn summary_edit(shell: State<'_, Shell>, id: SummaryId, text: String) -> Answer<Summary> {
    Ok(shell.service.summary_edit(id, text).await?)
}

/// Forgets a summary and those that were made from it; the messages stay.
#[tauri::command]
#[specta::specta]
pub async fn summary_remove(shell: State<'_, Shell>, id: SummaryId) -> Answer<()> {
    Ok(shell.service.summary_remove(id).await?)
}

/// The values that hold on the shown branch of a conversation, or all that were ever told.
#[tauri::command]
#[specta::specta]
pub async fn state_get(
    shell: State<'_, Shell>,
    conversation_id: ConversationId,
    include_superseded: bool,
) -> Answer<Vec<StateValue>> {
    Ok(shell.service.state_get(conversation_id, include_superseded).await?)
}

/// Sets a value, given as JSON.
#[tauri::command]
#[specta::specta]
pub async fn state_set(
    shell: State<'_, Shell>,
    conversation_id: ConversationId,
    name: String,
    value: String,
) -> Answer<StateValue> {
    Ok(shell.service.state_set(conversation_id, name, value).await?)
}

/// Pins a value that holds, or lets it go again.
#[tauri::command]
#[specta::specta]
pub async fn state_pin(shell: State<'_, Shell>, id: StateValueId, is_pinned: bool) -> Answer<StateValue> {
    Ok(shell.service.state_pin(id, is_pinned).await?)
}

/// Forgets a value for good, with those that it superseded.
#[tauri::command]
#[specta::specta]
pub async fn state_forget(shell: State<'_, Shell>, id: StateValueId) -> Answer<()> {
    Ok(shell.service.state_forget(id).await?)
}
