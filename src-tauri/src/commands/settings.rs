//! Commands of the settings and of the app itself.

use super::Answer;
use crate::{shortcut, state::Shell, tray};
use evenkeel_domain::{ErrorBody, ErrorCode, Settings};
use evenkeel_service::FeatureInfo;
use serde::Serialize;
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

/// Facts about the running app.
#[derive(Debug, Serialize, specta::Type)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// The app's version.
    version: String,
    /// The profile folder.
    profile_dir: String,
    /// Whether the global shortcut works here.
    global_shortcut: shortcut::Availability,
    /// The command to bind where it does not.
    quick_chat_command: String,
}

/// The settings.
#[tauri::command]
#[specta::specta]
pub async fn settings_get(shell: State<'_, Shell>) -> Answer<Settings> {
    Ok(shell.service.settings_get().await?)
}

/// Writes all settings.
#[tauri::command]
#[specta::specta]
pub async fn settings_save(app: AppHandle, shell: State<'_, Shell>, settings: Settings) -> Answer<Settings> {
    shortcut::check(&settings.quick_chat_shortcut)?;
    let saved = shell.service.settings_save(settings).await?;
    shortcut::bind(&app, &saved.quick_chat_shortcut);
    tray::speak(&app, &saved.language);
    Ok(saved)
}

/// Every feature that has a flag.
#[tauri::command]
#[specta::specta]
pub async fn feature_list(shell: State<'_, Shell>) -> Answer<Vec<FeatureInfo>> {
    Ok(shell.service.feature_list().await?)
}

/// Facts about the running app.
#[tauri::command]
#[specta::specta]
pub async fn app_info(shell: State<'_, Shell>) -> Answer<AppInfo> {
    Ok(AppInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile_dir: shell.service.profile_dir().display().to_string(),
        global_shortcut: shell.shortcut(),
        quick_chat_command: "evenkeel quick".to_owned(),
    })
}

/// Opens a link in the system's browser, after the window has asked with the full address.
#[tauri::command]
#[specta::specta]
pub async fn open_external(app: AppHandle, url: String) -> Answer<()> {
    let refused = |why: String| ErrorBody::new(ErrorCode::InvalidParameter, why).with("field", "url");
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if !matches!(scheme.as_str(), "https" | "mailto") {
        return Err(refused(format!("only https and mailto links are opened, and this one is {scheme:?}")));
    }
    app.opener().open_url(&url, None::<&str>).map_err(|error| refused(format!("{url} could not be opened: {error}")))
}
