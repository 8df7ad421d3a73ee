//! Commands of private conversations.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ContextId, Conversation, ConversationId};
use tauri::State;

/// Begins a conversation that is never written to disk.
#[tauri::command]
#[specta::specta]
pub async fn private_begin(shell: State<'_, Shell>, context_id: ContextId, title: String) -> Answer<Conversation> {
    Ok(shell.service.private_begin(context_id, title).await?)
}

/// The private conversations with a context, the last used first.
#[tauri::command]
#[specta::specta]
pub async fn private_list(shell: State<'_, Shell>, context_id: ContextId) -> Answer<Vec<Conversation>> {
    Ok(shell.service.private_list(context_id).await?)
}

/// Ends a private conversation; nothing of it is left.
#[tauri::command]
#[specta::specta]
pub async fn private_end(shell: State<'_, Shell>, id: ConversationId) -> Answer<()> {
    Ok(shell.service.private_end(id).await?)
}
