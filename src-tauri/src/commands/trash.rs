//! Commands of the trash.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{TrashItem, TrashSummary};
use tauri::State;

/// What lies in the trash; it counts as shown from now on.
#[tauri::command]
#[specta::specta]
pub async fn trash_list(shell: State<'_, Shell>) -> Answer<Vec<TrashItem>> {
    Ok(shell.service.trash_list().await?)
}

/// How much lies in the trash; it counts as shown from now on.
#[tauri::command]
#[specta::specta]
pub async fn trash_summary(shell: State<'_, Shell>) -> Answer<TrashSummary> {
    Ok(shell.service.trash_summary().await?)
}

/// Deletes what lies in the trash for good, behind a backup.
#[tauri::command]
#[specta::specta]
pub async fn trash_empty(shell: State<'_, Shell>) -> Answer<()> {
    Ok(shell.service.trash_empty().await?)
}
