//! Commands of conversations.

use super::{Answer, dialog};
use crate::state::Shell;
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, Conversation, ConversationId, ConversationQuery, ConversationStatistics, MessageId};
use evenkeel_service::{ConversationPage, ConversationView, EarlierMessages, ExportFormat};
use tauri::{AppHandle, State};

/// A part of the conversations, pinned ones first, then the newest activity.
#[tauri::command]
#[specta::specta]
pub async fn conversation_list(shell: State<'_, Shell>, query: ConversationQuery) -> Answer<ConversationPage> {
    Ok(shell.service.conversation_list(query).await?)
}

/// A conversation at its newest messages.
#[tauri::command]
#[specta::specta]
pub async fn conversation_open(shell: State<'_, Shell>, id: ConversationId) -> Answer<ConversationView> {
    Ok(shell.service.conversation_open(id).await?)
}

/// A conversation at the place of a message, whose branch is shown from now on.
#[tauri::command]
#[specta::specta]
pub async fn conversation_open_at(shell: State<'_, Shell>, message_id: MessageId) -> Answer<ConversationView> {
    Ok(shell.service.conversation_open_at(message_id).await?)
}

/// Messages before a known one on its branch.
#[tauri::command]
#[specta::specta]
pub async fn conversation_earlier(shell: State<'_, Shell>, message_id: MessageId, limit: u32) -> Answer<EarlierMessages> {
    Ok(shell.service.conversation_earlier(message_id, limit).await?)
}

/// Gives a conversation a title.
#[tauri::command]
#[specta::specta]
pub async fn conversation_rename(shell: State<'_, Shell>, id: ConversationId, title: String) -> Answer<Conversation> {
    Ok(shell.service.conversation_rename(id, title).await?)
}

/// Shows the branch that a message is on.
#[tauri::command]
#[specta::specta]
pub async fn conversation_select_branch(shell: State<'_, Shell>, message_id: MessageId) -> Answer<ConversationView> {
    Ok(shell.service.conversation_select_branch(message_id).await?)
}

/// Puts a conversation before the others, or back among them.
#[tauri::command]
#[specta::specta]
pub async fn conversation_set_pinned(shell: State<'_, Shell>, id: ConversationId, is_pinned: bool) -> Answer<Conversation> {
    Ok(shell.service.conversation_set_pinned(id, is_pinned).await?)
}

/// Puts a conversation into the archive, or takes it out.
#[tauri::command]
#[specta::specta]
pub async fn conversation_set_archived(shell: State<'_, Shell>, id: ConversationId, is_archived: bool) -> Answer<Conversation> {
    Ok(shell.service.conversation_set_archived(id, is_archived).await?)
}

/// Gives a conversation these tags and no others.
#[tauri::command]
#[specta::specta]
pub async fn conversation_set_tags(shell: State<'_, Shell>, id: ConversationId, tags: Vec<String>) -> Answer<Conversation> {
    Ok(shell.service.conversation_set_tags(id, tags).await?)
}

/// Puts conversations into the trash, all or none; gives those that went.
#[tauri::command]
#[specta::specta]
pub async fn conversation_delete(shell: State<'_, Shell>, ids: Vec<ConversationId>) -> Answer<Vec<ConversationId>> {
    Ok(shell.service.conversation_delete(ids).await?)
}

/// Puts conversations into the trash whose last activity was before a time; pinned ones stay.
#[tauri::command]
#[specta::specta]
pub async fn conversation_delete_older(
    shell: State<'_, Shell>,
    context_id: Option<ContextId>,
    before: DateTime<Utc>,
) -> Answer<Vec<ConversationId>> {
    Ok(shell.service.conversation_delete_older(context_id, before).await?)
}

/// Puts all conversations of a context into the trash.
#[tauri::command]
#[specta::specta]
pub async fn conversation_clear(shell: State<'_, Shell>, context_id: ContextId) -> Answer<Vec<ConversationId>> {
    Ok(shell.service.conversation_clear(context_id).await?)
}

/// Takes conversations out of the trash.
#[tauri::command]
#[specta::specta]
pub async fn conversation_restore(shell: State<'_, Shell>, ids: Vec<ConversationId>) -> Answer<Vec<ConversationId>> {
    Ok(shell.service.conversation_restore(ids).await?)
}

/// Deletes conversations in the trash for good, behind a backup.
#[tauri::command]
#[specta::specta]
pub async fn conversation_purge(shell: State<'_, Shell>, ids: Vec<ConversationId>) -> Answer<Vec<ConversationId>> {
    Ok(shell.service.conversation_purge(ids).await?)
}

/// Figures of a conversation over all its branches.
#[tauri::command]
#[specta::specta]
pub async fn conversation_statistics(shell: State<'_, Shell>, id: ConversationId) -> Answer<ConversationStatistics> {
    Ok(shell.service.conversation_statistics(id).await?)
}

/// A conversation as text.
#[tauri::command]
#[specta::specta]
pub async fn conversation_export(shell: State<'_, Shell>, id: ConversationId, format: ExportFormat) -> Answer<String> {
    Ok(shell.service.conversation_export(id, format).await?)
}

/// Lets the user choose a file for a conversation and writes it there; gives its path, or `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn conversation_save(
    app: AppHandle,
    shell: State<'_, Shell>,
    id: ConversationId,
    format: ExportFormat,
) -> Answer<Option<String>> {
    let name = shell.service.conversation_file_name(id, format).await?;
    let Some(path) = dialog::save_file(&app, &name).await? else { return Ok(None) };
    shell.service.conversation_save(id, format, path.clone()).await?;
    Ok(Some(path.display().to_string()))
}
