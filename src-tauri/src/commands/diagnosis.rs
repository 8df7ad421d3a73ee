//! Commands of the log and of crash reports.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::{CrashInfo, LogLevel, LogPage};
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

/// The newest lines of the log that are at least as grave.
#[tauri::command]
#[specta::specta]
pub async fn log_read(shell: State<'_, Shell>, level: LogLevel, limit: u32) -> Answer<LogPage> {
    Ok(shell.service.log_read(level, limit).await?)
}

/// Deletes the log.
#[tauri::command]
#[specta::specta]
pub async fn log_clear(shell: State<'_, Shell>) -> Answer<()> {
    Ok(shell.service.log_clear().await?)
}

/// Shows the folder of the log in the system's file manager.
#[tauri::command]
#[specta::specta]
pub async fn log_open_folder(app: AppHandle, shell: State<'_, Shell>) -> Answer<()> {
    let folder = shell.service.log_dir().display().to_string();
    app.opener().open_path(&folder, None::<&str>).map_err(|error| {
        let message = format!("{folder} could not be opened: {error}; open it in your file manager");
        ErrorBody::new(ErrorCode::Storage, message).with("path", &folder)
    })
}

/// Every report of a crash, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn crash_list(shell: State<'_, Shell>) -> Answer<Vec<CrashInfo>> {
    Ok(shell.service.crash_list().await?)
}

/// Saves a report where the user wishes; gives the place, or `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn crash_save(app: AppHandle, shell: State<'_, Shell>, id: String) -> Answer<Option<String>> {
    let Some(path) = dialog::save_file(&app, "evenkeel-crash.json").await? else { return Ok(None) };
    shell.service.crash_save(id, path.clone()).await?;
    Ok(Some(path.display().to_string()))
}

/// Deletes a report.
#[tauri::command]
#[specta::specta]
pub async fn crash_delete(shell: State<'_, Shell>, id: String) -> Answer<()> {
    Ok(shell.service.crash_delete(id).await?)
}
