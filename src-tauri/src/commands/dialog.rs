//! The system's dialogs for files and folders, asked without blocking the window.

use super::Answer;
use evenkeel_domain::{ErrorBody, ErrorCode};
use std::path::PathBuf;
use tauri::AppHandle;
use tauri_plugin_dialog::{DialogExt, FilePath};

/// Lets the user choose a place to write a file to; `None` if the dialog was closed.
///
/// # Errors
/// The chosen place has no path on this machine.
pub(super) async fn save_file(app: &AppHandle, name: &str) -> Answer<Option<PathBuf>> {
    let dialog = app.dialog().file().set_file_name(name);
    picked(|answer| dialog.save_file(answer)).await
}

/// Lets the user choose a file by the endings of its name; `None` if the dialog was closed.
///
/// # Errors
/// The chosen file has no path on this machine.
pub(super) async fn pick_file(app: &AppHandle, kind: &str, endings: &[&str]) -> Answer<Option<PathBuf>> {
    let dialog = app.dialog().file().add_filter(kind, endings);
    picked(|answer| dialog.pick_file(answer)).await
}

/// Lets the user choose a folder; `None` if the dialog was closed.
///
/// # Errors
/// The chosen folder has no path on this machine.
pub(super) async fn pick_folder(app: &AppHandle) -> Answer<Option<PathBuf>> {
    let dialog = app.dialog().file();
    picked(|answer| dialog.pick_folder(answer)).await
}

async fn picked(ask: impl FnOnce(Box<dyn FnOnce(Option<FilePath>) + Send>)) -> Answer<Option<PathBuf>> {
    let (send, answer) = tokio::sync::oneshot::channel();
    ask(Box::new(move |path| {
        let _ = send.send(path);
    }));
    let path = answer.await.ok().flatten().map(FilePath::into_path).transpose();
    path.map_err(|error| {
        ErrorBody::new(ErrorCode::PlaceRefused, format!("the chosen place has no path: {error}; choose another"))
    })
}
