//! Commands of backups.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_service::{BackupInfo, ClosedRestore, ForgetReport, RestorePreview, RestoreProgress, RestoreReport};
use tauri::{AppHandle, State, ipc::Channel};

/// The backups in the profile, newest first.
#[tauri::command]
#[specta::specta]
pub async fn backup_list(shell: State<'_, Shell>) -> Answer<Vec<BackupInfo>> {
    Ok(shell.service.backup_list().await?)
}

/// Makes a backup in the profile now.
#[tauri::command]
#[specta::specta]
pub async fn backup_make(shell: State<'_, Shell>) -> Answer<BackupInfo> {
    Ok(shell.service.backup_make().await?)
}

/// Makes a backup now and deletes every older one, so that what was deleted in the vault is in none of them.
#[tauri::command]
#[specta::specta]
pub async fn backup_forget(shell: State<'_, Shell>) -> Answer<ForgetReport> {
    Ok(shell.service.backup_forget().await?)
}

/// Makes a backup in a folder that the user chooses; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn backup_save(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupInfo>> {
    let Some(folder) = dialog::pick_folder(&app).await? else { return Ok(None) };
    Ok(Some(shell.service.backup_save(folder).await?))
}

/// Lets the user choose a backup file; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn backup_choose(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupInfo>> {
    let Some(path) = dialog::pick_file(&app, "Evenkeel", &["ekbackup"]).await? else { return Ok(None) };
    Ok(Some(shell.service.backup_choose(path).await?))
}

/// Checks a backup completely.
#[tauri::command]
#[specta::specta]
pub async fn backup_verify(shell: State<'_, Shell>, path: String) -> Answer<BackupInfo> {
    Ok(shell.service.backup_verify(path.into()).await?)
}

/// What restoring a backup would change.
#[tauri::command]
#[specta::specta]
pub async fn backup_preview(shell: State<'_, Shell>, path: String) -> Answer<RestorePreview> {
    Ok(shell.service.backup_preview(path.into()).await?)
}

/// Puts a backup in the place of the vault.
#[tauri::command]
#[specta::specta]
pub async fn backup_restore(shell: State<'_, Shell>, path: String) -> Answer<RestoreReport> {
    Ok(shell.service.backup_restore(path.into()).await?)
}

/// The backups in the profile while no vault is open.
#[tauri::command]
#[specta::specta]
pub async fn backup_list_closed(shell: State<'_, Shell>) -> Answer<Vec<BackupInfo>> {
    Ok(shell.service.backup_list_closed().await?)
}

/// Lets the user choose a backup file while no vault is open; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn backup_choose_closed(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupInfo>> {
    let Some(path) = dialog::pick_file(&app, "Evenkeel", &["ekbackup"]).await? else { return Ok(None) };
    Ok(Some(shell.service.backup_choose_closed(path).await?))
}

/// Restores a backup with its recovery code or passphrase while no vault is open, and opens the vault.
#[tauri::command]
#[specta::specta]
pub async fn backup_restore_closed(
    shell: State<'_, Shell>,
    path: String,
    secret: String,
    channel: Channel<RestoreProgress>,
) -> Answer<ClosedRestore> {
    // A window that was closed no longer listens; the restore goes on all the same.
    let watch = move |progress| {
        let _ = channel.send(progress);
    };
    Ok(shell.service.backup_restore_closed(path.into(), secret, watch).await?)
}
