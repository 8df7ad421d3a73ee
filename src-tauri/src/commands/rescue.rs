//! Commands of a damaged vault.

use super::Answer;
use crate::state::Shell;
use evenkeel_service::{RescueOffer, RestoreProgress, UnlockMethod, VaultHealth};
use tauri::{State, ipc::Channel};

/// What the last full check of the vault has found, and whether its newest backup opens.
#[tauri::command]
#[specta::specta]
pub async fn vault_health(shell: State<'_, Shell>) -> Answer<VaultHealth> {
    Ok(shell.service.vault_health().await?)
}

/// The user has seen that messages were lost.
#[tauri::command]
#[specta::specta]
pub async fn vault_loss_seen(shell: State<'_, Shell>) -> Answer<()> {
    Ok(shell.service.vault_loss_seen().await?)
}

/// What a rescue would bring; nothing is changed. Without a method it is of the open vault.
#[tauri::command]
#[specta::specta]
pub async fn vault_rescue_preview(
    shell: State<'_, Shell>,
    method: Option<UnlockMethod>,
    channel: Channel<RestoreProgress>,
) -> Answer<RescueOffer> {
    Ok(shell.service.vault_rescue_preview(method, told(channel)).await?)
}

/// Rescues a damaged vault; without a method, the open one.
#[tauri::command]
#[specta::specta]
pub async fn vault_rescue(
    shell: State<'_, Shell>,
    method: Option<UnlockMethod>,
    channel: Channel<RestoreProgress>,
) -> Answer<RescueOffer> {
    Ok(shell.service.vault_rescue(method, told(channel)).await?)
}

/// A window that was closed no longer listens; the work goes on all the same.
fn told(channel: Channel<RestoreProgress>) -> impl FnMut(RestoreProgress) + Send + 'static {
    move |progress| {
        let _ = channel.send(progress);
    }
}
