//! Commands of the network journal.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::ContextId;
use evenkeel_service::NetworkPage;
use tauri::State;

/// The newest requests of this process, of one context or of all.
#[tauri::command]
#[specta::specta]
pub async fn network_list(shell: State<'_, Shell>, context_id: Option<ContextId>, limit: u32) -> Answer<NetworkPage> {
    Ok(shell.service.network_list(context_id, limit).await?)
}
