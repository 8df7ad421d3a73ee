//! Commands of providers and models.

use super::{Answer, dialog};
use crate::state::Shell;
use evenkeel_domain::{ModelInfo, Provider, ProviderId};
use evenkeel_service::{DetectedServer, ModelFileRemoval, ModelOffer, ProviderDraft, ProviderTest};
use tauri::{AppHandle, State};

/// All providers, the engine first.
#[tauri::command]
#[specta::specta]
pub async fn provider_list(shell: State<'_, Shell>) -> Answer<Vec<Provider>> {
    Ok(shell.service.provider_list().await?)
}

/// Adds or changes a provider; its key is taken and never given back.
#[tauri::command]
#[specta::specta]
pub async fn provider_save(shell: State<'_, Shell>, draft: ProviderDraft) -> Answer<Provider> {
    Ok(shell.service.provider_save(draft).await?)
}

/// Removes a provider with its key.
#[tauri::command]
#[specta::specta]
pub async fn provider_delete(shell: State<'_, Shell>, id: ProviderId) -> Answer<()> {
    Ok(shell.service.provider_delete(id).await?)
}

/// The models of a provider.
#[tauri::command]
#[specta::specta]
pub async fn provider_models(shell: State<'_, Shell>, id: ProviderId) -> Answer<Vec<ModelInfo>> {
    Ok(shell.service.provider_models(id).await?)
}

/// Asks a provider for its models and says how long that took.
#[tauri::command]
#[specta::specta]
pub async fn provider_test(shell: State<'_, Shell>, id: ProviderId) -> Answer<ProviderTest> {
    Ok(shell.service.provider_test(id).await?)
}

/// Model servers that run on this machine.
#[tauri::command]
#[specta::specta]
pub async fn provider_detect(shell: State<'_, Shell>) -> Answer<Vec<DetectedServer>> {
    Ok(shell.service.provider_detect().await)
}

/// What a new user can begin with on this machine.
#[tauri::command]
#[specta::specta]
pub async fn model_offers(shell: State<'_, Shell>) -> Answer<Vec<ModelOffer>> {
    Ok(shell.service.model_offers().await?)
}

/// Lets the user pick a GGUF file; `null` if the dialog was closed.
#[tauri::command]
#[specta::specta]
pub async fn model_file_pick(app: AppHandle, shell: State<'_, Shell>) -> Answer<Option<ModelInfo>> {
    let Some(path) = dialog::pick_file(&app, "GGUF", &["gguf"]).await? else { return Ok(None) };
    Ok(Some(shell.service.model_file_add(path).await?))
}

/// Adds a GGUF file that was dropped on the window.
#[tauri::command]
#[specta::specta]
pub async fn model_file_add(shell: State<'_, Shell>, path: String) -> Answer<ModelInfo> {
    Ok(shell.service.model_file_add(path.into()).await?)
}

/// What taking a model file off the engine's list would mean, for the question before it.
#[tauri::command]
#[specta::specta]
pub async fn model_file_removal(shell: State<'_, Shell>, name: String) -> Answer<ModelFileRemoval> {
    Ok(shell.service.model_file_removal(name).await?)
}

/// Takes a model file off the engine's list.
#[tauri::command]
#[specta::specta]
pub async fn model_file_remove(shell: State<'_, Shell>, name: String) -> Answer<ModelFileRemoval> {
    Ok(shell.service.model_file_remove(name).await?)
}
