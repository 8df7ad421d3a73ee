//! Commands of the user's data.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_service::DataSummary;
use tauri::{AppHandle, State};

/// Where the data is, and how large by kind.
#[tauri::command]
#[specta::specta]
pub async fn data_summary(shell: State<'_, Shell>) -> Answer<DataSummary> {
    Ok(shell.service.data_summary().await?)
}

/// Erases everything; `confirmation` is the word ERASE. Answers whether the keychain let go of the key.
#[tauri::command]
#[specta::specta]
pub async fn data_erase(shell: State<'_, Shell>, confirmation: String, models: bool) -> Answer<bool> {
    Ok(shell.service.data_erase(confirmation, models).await?)
}

/// Lets the user choose a folder, moves the data there, and starts the app again from there; gives the folder
/// that the data is in, or `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn data_move(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<String>> {
    let Some(folder) = dialog::pick_folder(&app).await? else { return Ok(None) };
    let place = shell.service.data_move(folder).await?;
    app.request_restart();
    Ok(Some(place.display().to_string()))
}
