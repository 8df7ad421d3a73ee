//! Commands of installed strategies.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_service::PluginInfo;
use tauri::{AppHandle, State};

/// The installed strategies.
#[tauri::command]
#[specta::specta]
pub async fn plugin_list(shell: State<'_, Shell>) -> Answer<Vec<PluginInfo>> {
    Ok(shell.service.plugin_list().await?)
}

/// Lets the user choose the folder of a strategy; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn plugin_pick(app: AppHandle) -> Answer<Option<String>> {
    Ok(dialog::pick_folder(&app).await?.map(|folder| folder.display().to_string()))
}

/// Installs the strategy in a folder; `replace` says that another version of it may go.
#[tauri::command]
#[specta::specta]
pub async fn plugin_install(shell: State<'_, Shell>, path: String, replace: bool) -> Answer<PluginInfo> {
    Ok(shell.service.plugin_install(path.into(), replace).await?)
}

/// Removes an installed strategy.
#[tauri::command]
#[specta::specta]
pub async fn plugin_remove(shell: State<'_, Shell>, id: String) -> Answer<()> {
    Ok(shell.service.plugin_remove(id).await?)
}
