//! Commands of archives and envelopes.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_domain::{ContextId, ConversationId};
use evenkeel_service::{
    ArchiveExport, ArchiveFile, ArchivePlace, ArchiveProgress, ArchiveProtection, ArchiveReport, ArchiveSecret, ArchiveUndo,
    EnvelopeExport, EnvelopeImport, EnvelopeKey, PendingArchive,
};
use tauri::{AppHandle, State, ipc::Channel};

/// Lets the user choose a place for a new file by a name to offer; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn archive_place(app: AppHandle, shell: State<'_, Shell>, name: String) -> Answer<Option<ArchivePlace>> {
    let Some(path) = dialog::save_file(&app, &name).await? else { return Ok(None) };
    Ok(Some(shell.service.archive_place(path).await?))
}

/// Lets the user choose a file of keys; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn archive_key(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<ArchivePlace>> {
    let Some(path) = dialog::pick_file(&app, "age", &["txt", "key", "age"]).await? else { return Ok(None) };
    Ok(Some(shell.service.archive_place(path).await?))
}

/// Lets the user choose a folder for envelopes; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn archive_folder(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<ArchivePlace>> {
    let Some(path) = dialog::pick_folder(&app).await? else { return Ok(None) };
    Ok(Some(shell.service.archive_place(path).await?))
}

/// Lets the user choose an archive; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn archive_choose(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<ArchiveFile>> {
    let Some(path) = dialog::pick_file(&app, "age", &["age"]).await? else { return Ok(None) };
    Ok(Some(shell.service.archive_choose(path).await?))
}

/// Writes everything into an archive.
#[tauri::command]
#[specta::specta]
pub async fn archive_export(
    shell: State<'_, Shell>,
    path: String,
    protection: ArchiveProtection,
    replace: bool,
    channel: Channel<ArchiveProgress>,
) -> Answer<ArchiveExport> {
    Ok(shell.service.archive_export(path.into(), protection, replace, told(channel)).await?)
}

/// Says what importing an archive would do.
#[tauri::command]
#[specta::specta]
pub async fn archive_preview(
    shell: State<'_, Shell>,
    path: String,
    secret: ArchiveSecret,
    take_settings: bool,
    channel: Channel<ArchiveProgress>,
) -> Answer<ArchiveReport> {
    Ok(shell.service.archive_preview(path.into(), secret, take_settings, told(channel)).await?)
}

/// Takes an archive in.
#[tauri::command]
#[specta::specta]
pub async fn archive_import(
    shell: State<'_, Shell>,
    path: String,
    secret: ArchiveSecret,
    take_settings: bool,
    channel: Channel<ArchiveProgress>,
) -> Answer<ArchiveReport> {
    Ok(shell.service.archive_import(path.into(), secret, take_settings, told(channel)).await?)
}

/// Stops the export or import under way.
#[tauri::command]
#[specta::specta]
pub async fn archive_stop(shell: State<'_, Shell>) -> Answer<()> {
    shell.service.archive_stop();
    Ok(())
}

/// The import that was stopped or cut off.
#[tauri::command]
#[specta::specta]
pub async fn archive_pending(shell: State<'_, Shell>) -> Answer<Option<PendingArchive>> {
    Ok(shell.service.archive_pending().await?)
}

/// Takes back what such an import has added.
#[tauri::command]
#[specta::specta]
pub async fn archive_undo(shell: State<'_, Shell>) -> Answer<ArchiveUndo> {
    Ok(shell.service.archive_undo().await?)
}

/// Leaves what such an import has added.
#[tauri::command]
#[specta::specta]
pub async fn archive_keep(shell: State<'_, Shell>) -> Answer<()> {
    Ok(shell.service.archive_keep().await?)
}

/// Writes a conversation as a folder of encrypted files, one for each message.
#[tauri::command]
#[specta::specta]
pub async fn envelope_export(shell: State<'_, Shell>, id: ConversationId, folder: String) -> Answer<EnvelopeExport> {
    Ok(shell.service.envelope_export(id, folder.into()).await?)
}

/// Reads a folder of encrypted files as a new conversation.
#[tauri::command]
#[specta::specta]
pub async fn envelope_import(
    shell: State<'_, Shell>,
    folder: String,
    key: EnvelopeKey,
    context_id: ContextId,
) -> Answer<EnvelopeImport> {
    Ok(shell.service.envelope_import(folder.into(), key, context_id).await?)
}

/// Tells a page of the progress; a window that was closed no longer listens, and the work goes on all the same.
fn told(channel: Channel<ArchiveProgress>) -> impl FnMut(ArchiveProgress) + Send + 'static {
    move |progress| {
        let _ = channel.send(progress);
    }
}
