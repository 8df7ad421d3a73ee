//! Commands of what tools did.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_domain::{ConversationId, LongOperationSettings, Operation, OperationId, OperationPageQuery, OperationRule};
use evenkeel_service::{LongOperationStatus, OperationPage};
use tauri::{AppHandle, State};

/// A page of what tools did in a conversation, the newest first; long results come as their beginnings.
#[tauri::command]
#[specta::specta]
pub async fn operation_list(shell: State<'_, Shell>, query: OperationPageQuery) -> Answer<OperationPage> {
    Ok(shell.service.operation_list(query).await?)
}

/// One operation, whole.
#[tauri::command]
#[specta::specta]
pub async fn operation_get(shell: State<'_, Shell>, conversation_id: ConversationId, id: OperationId) -> Answer<Operation> {
    Ok(shell.service.operation_get(conversation_id, id).await?)
}

/// Forgets what tools did in a conversation.
#[tauri::command]
#[specta::specta]
pub async fn operation_clear(shell: State<'_, Shell>, conversation_id: ConversationId) -> Answer<()> {
    shell.service.operation_clear(conversation_id).await?;
    Ok(())
}

/// Lets the user choose a file for the operations of a conversation, or of all, and writes them there as JSON Lines;
/// gives its path, or `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn operation_save(
    app: AppHandle,
    shell: State<'_, Shell>,
    conversation_id: Option<ConversationId>,
) -> Answer<Option<String>> {
    let name = shell.service.operation_file_name(conversation_id).await?;
    let Some(path) = dialog::save_file(&app, &name).await? else { return Ok(None) };
    shell.service.operation_save(conversation_id, path.clone()).await?;
    Ok(Some(path.display().to_string()))
}

/// Who is told of long operations, and whether the last note arrived.
#[tauri::command]
#[specta::specta]
pub async fn operation_long_status(shell: State<'_, Shell>) -> Answer<LongOperationStatus> {
    Ok(shell.service.long_operation_status().await?)
}

/// Sets who is told of long operations.
#[tauri::command]
#[specta::specta]
pub async fn operation_long_save(shell: State<'_, Shell>, settings: LongOperationSettings) -> Answer<LongOperationStatus> {
    Ok(shell.service.long_operation_save(settings).await?)
}

/// What a rule finds in a result, each value as JSON.
#[tauri::command]
#[specta::specta]
pub async fn operation_try_rule(shell: State<'_, Shell>, rule: OperationRule, result: String) -> Answer<Vec<String>> {
    Ok(shell.service.operation_try_rule(rule, result).await?)
}
