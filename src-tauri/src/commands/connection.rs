//! Commands of other programs that use the companions.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{Access, Connection, ConnectionGrant, ServerSettings};
use evenkeel_service::{ConnectionSetup, ServerStatus};
use tauri::State;

/// Every program that has used the companions.
#[tauri::command]
#[specta::specta]
pub async fn connection_list(shell: State<'_, Shell>) -> Answer<Vec<Connection>> {
    Ok(shell.service.connection_list().await?)
}

/// Decides what a program may do.
#[tauri::command]
#[specta::specta]
pub async fn connection_set_grant(shell: State<'_, Shell>, name: String, grant: ConnectionGrant) -> Answer<Connection> {
    Ok(shell.service.connection_set_grant(name, grant).await?)
}

/// Forgets a program and what was decided about it.
#[tauri::command]
#[specta::specta]
pub async fn connection_forget(shell: State<'_, Shell>, name: String) -> Answer<()> {
    Ok(shell.service.connection_forget(name).await?)
}

/// What programs did, the newest first, of one of them or of all.
#[tauri::command]
#[specta::specta]
pub async fn connection_log(shell: State<'_, Shell>, name: Option<String>, limit: u32) -> Answer<Vec<Access>> {
    Ok(shell.service.connection_log(name, limit).await?)
}

/// Empties the log.
#[tauri::command]
#[specta::specta]
pub async fn connection_clear_log(shell: State<'_, Shell>) -> Answer<()> {
    Ok(shell.service.connection_clear_log().await?)
}

/// How another program starts the server.
#[tauri::command]
#[specta::specta]
pub fn connection_setup(shell: State<'_, Shell>) -> ConnectionSetup {
    shell.service.connection_setup()
}

/// Whether the server over HTTP is on, and where it listens.
#[tauri::command]
#[specta::specta]
pub async fn server_status(shell: State<'_, Shell>) -> Answer<ServerStatus> {
    Ok(shell.service.server_status().await?)
}

/// Turns the server on or off, or moves it to another port.
#[tauri::command]
#[specta::specta]
pub async fn server_save(shell: State<'_, Shell>, settings: ServerSettings) -> Answer<ServerStatus> {
    Ok(shell.service.server_save(settings).await?)
}

/// The token that programs show; asked for when the user wants to see or copy it.
#[tauri::command]
#[specta::specta]
pub async fn server_token(shell: State<'_, Shell>) -> Answer<String> {
    Ok(shell.service.server_token().await?.to_string())
}

/// Makes another token; the one before is worth nothing from then on.
#[tauri::command]
#[specta::specta]
pub async fn server_renew_token(shell: State<'_, Shell>) -> Answer<String> {
    Ok(shell.service.server_renew_token().await?.to_string())
}
