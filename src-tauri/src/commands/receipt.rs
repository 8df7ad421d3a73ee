//! Commands of receipts, and of what would be sent.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{Compared, MessageId, Preview, Receipt, RequestText, SendRequest, StrategyChoice};
use tauri::State;

/// What was sent for a reply; `null` for a reply from before there were receipts.
#[tauri::command]
#[specta::specta]
pub async fn receipt_get(shell: State<'_, Shell>, message_id: MessageId) -> Answer<Option<Receipt>> {
    Ok(shell.service.receipt_get(message_id).await?)
}

/// The request of a reply, put together again and compared with what was sent.
#[tauri::command]
#[specta::specta]
pub async fn receipt_request(shell: State<'_, Shell>, message_id: MessageId) -> Answer<RequestText> {
    Ok(shell.service.receipt_request(message_id).await?)
}

/// What would be sent; nothing is stored and no model is called.
#[tauri::command]
#[specta::specta]
pub async fn chat_preview(shell: State<'_, Shell>, request: SendRequest) -> Answer<Preview> {
    Ok(shell.service.chat_preview(request).await?)
}

/// What each of some strategies would make of a message.
#[tauri::command]
#[specta::specta]
pub async fn chat_compare(
    shell: State<'_, Shell>,
    request: SendRequest,
    strategies: Vec<StrategyChoice>,
) -> Answer<Vec<Compared>> {
    Ok(shell.service.chat_compare(request, strategies).await?)
}
