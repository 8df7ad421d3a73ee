//! Commands of backups.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::{BackupInfo, RestorePreview};
use std::path::PathBuf;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::{DialogExt, FilePath};

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

/// Makes a backup in a folder that the user chooses; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn backup_save(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupInfo>> {
    let (send, picked) = tokio::sync::oneshot::channel();
    app.dialog().file().pick_folder(move |path| {
        let _ = send.send(path);
    });
    let Some(folder) = path_of(picked.await.ok().flatten())? else { return Ok(None) };
    Ok(Some(shell.service.backup_save(folder).await?))
}

/// Lets the user choose a backup file; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn backup_choose(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<BackupInfo>> {
    let (send, picked) = tokio::sync::oneshot::channel();
    app.dialog().file().add_filter("Evenkeel", &["ekbackup"]).pick_file(move |path| {
        let _ = send.send(path);
    });
    let Some(path) = path_of(picked.await.ok().flatten())? else { return Ok(None) };
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
pub async fn backup_restore(shell: State<'_, Shell>, path: String) -> Answer<()> {
    Ok(shell.service.backup_restore(path.into()).await?)
}

fn path_of(picked: Option<FilePath>) -> Answer<Option<PathBuf>> {
    let path = picked.map(FilePath::into_path).transpose();
    path.map_err(|error| {
        let message = format!("the chosen place has no path: {error}; choose another");
        ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "path")
    })
}
