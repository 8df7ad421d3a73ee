//! Commands of conversations.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ContextId, Conversation, ConversationId, MessageId};
use evenkeel_service::{ConversationPage, ConversationView, EarlierMessages};
use tauri::State;

/// A page of a context's conversations, newest activity first.
#[tauri::command]
#[specta::specta]
pub async fn conversation_list(
    shell: State<'_, Shell>,
    context_id: ContextId,
    limit: u32,
    offset: u32,
) -> Answer<ConversationPage> {
    Ok(shell.service.conversation_list(context_id, limit, offset).await?)
}

/// A conversation at its newest messages.
#[tauri::command]
#[specta::specta]
pub async fn conversation_open(shell: State<'_, Shell>, id: ConversationId) -> Answer<ConversationView> {
    Ok(shell.service.conversation_open(id).await?)
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

/// Deletes a conversation with its messages.
#[tauri::command]
#[specta::specta]
pub async fn conversation_delete(shell: State<'_, Shell>, id: ConversationId) -> Answer<()> {
    Ok(shell.service.conversation_delete(id).await?)
}

/// Shows the branch that a message is on.
#[tauri::command]
#[specta::specta]
pub async fn conversation_select_branch(shell: State<'_, Shell>, message_id: MessageId) -> Answer<ConversationView> {
    Ok(shell.service.conversation_select_branch(message_id).await?)
}
