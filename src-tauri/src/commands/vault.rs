//! Commands of the vault.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_service::{RecoverySheet, RecoveryWords, UnlockMethod, VaultOptions, VaultStatus};
use tauri::{AppHandle, State};

/// The name offered for the file of a recovery code.
const RECOVERY_FILE: &str = "evenkeel-recovery-code.txt";

/// Where the vault stands; opens it by keychain the first time.
#[tauri::command]
#[specta::specta]
pub async fn vault_status(shell: State<'_, Shell>) -> Answer<VaultStatus> {
    Ok(shell.service.vault_status().await)
}

/// Makes a vault where there is none.
#[tauri::command]
#[specta::specta]
pub async fn vault_create(shell: State<'_, Shell>, options: VaultOptions) -> Answer<RecoverySheet> {
    Ok(shell.service.vault_create(options).await?)
}

/// Takes back the groups of the recovery code that were asked for.
#[tauri::command]
#[specta::specta]
pub async fn vault_confirm_recovery(shell: State<'_, Shell>, answers: Vec<String>) -> Answer<VaultStatus> {
    Ok(shell.service.vault_confirm_recovery(answers).await?)
}

/// Makes a new recovery code in place of one that was never typed back.
#[tauri::command]
#[specta::specta]
pub async fn vault_renew_recovery(shell: State<'_, Shell>) -> Answer<RecoverySheet> {
    Ok(shell.service.vault_renew_recovery().await?)
}

/// Lets the user choose a file for the recovery code and writes it there; gives its path, or `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn vault_save_recovery(app: AppHandle, shell: State<'_, Shell>, words: RecoveryWords) -> Answer<Option<String>> {
    let Some(path) = dialog::save_file(&app, RECOVERY_FILE).await? else { return Ok(None) };
    shell.service.vault_save_recovery(path.clone(), words).await?;
    Ok(Some(path.display().to_string()))
}

/// Opens the vault.
#[tauri::command]
#[specta::specta]
pub async fn vault_unlock(shell: State<'_, Shell>, method: UnlockMethod) -> Answer<VaultStatus> {
    Ok(shell.service.vault_unlock(method).await?)
}

/// Gives up waiting for the keychain.
#[tauri::command]
#[specta::specta]
pub async fn vault_cancel_waiting(shell: State<'_, Shell>) -> Answer<VaultStatus> {
    Ok(shell.service.vault_cancel_waiting().await)
}

/// Closes the vault until it is unlocked again.
#[tauri::command]
#[specta::specta]
pub async fn vault_lock(shell: State<'_, Shell>) -> Answer<VaultStatus> {
    Ok(shell.service.vault_lock().await)
}
