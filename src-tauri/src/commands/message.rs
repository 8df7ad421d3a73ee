//! Commands of messages, of searching them, and of what is typed and not sent.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{DraftKey, Message, MessageId, SearchHit, SearchQuery, Vote};
use evenkeel_service::{ConversationView, LaterMessages};
use tauri::State;

/// Messages after a known one on the shown branch.
#[tauri::command]
#[specta::specta]
pub async fn message_after(shell: State<'_, Shell>, message_id: MessageId, limit: u32) -> Answer<LaterMessages> {
    Ok(shell.service.message_after(message_id, limit).await?)
}

/// Deletes a message, so that it can be brought back.
#[tauri::command]
#[specta::specta]
pub async fn message_delete(shell: State<'_, Shell>, id: MessageId) -> Answer<ConversationView> {
    Ok(shell.service.message_delete(id).await?)
}

/// Brings a deleted message back to its place.
#[tauri::command]
#[specta::specta]
pub async fn message_restore(shell: State<'_, Shell>, id: MessageId) -> Answer<ConversationView> {
    Ok(shell.service.message_restore(id).await?)
}

/// Keeps the user's judgement of a reply; `null` takes it back.
#[tauri::command]
#[specta::specta]
pub async fn message_vote(shell: State<'_, Shell>, id: MessageId, vote: Option<Vote>) -> Answer<Message> {
    Ok(shell.service.message_vote(id, vote).await?)
}

/// Messages that have all words of a query, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn search_messages(shell: State<'_, Shell>, query: SearchQuery) -> Answer<Vec<SearchHit>> {
    Ok(shell.service.search_messages(query).await?)
}

/// What is typed and not sent; empty if nothing is.
#[tauri::command]
#[specta::specta]
pub async fn draft_get(shell: State<'_, Shell>, key: DraftKey) -> Answer<String> {
    Ok(shell.service.draft_get(key).await?)
}

/// Keeps what is typed; an empty text is forgotten.
#[tauri::command]
#[specta::specta]
pub async fn draft_put(shell: State<'_, Shell>, key: DraftKey, text: String) -> Answer<()> {
    Ok(shell.service.draft_put(key, text).await?)
}
