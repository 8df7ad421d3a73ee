//! Commands of the user's data.

use super::Answer;
use crate::state::Shell;
use evenkeel_service::DataSummary;
use tauri::State;

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
