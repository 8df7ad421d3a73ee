//! Commands of contexts and presets.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{Context, ContextDraft, ContextId, ContextPatch, Preset, PresetId};
use evenkeel_service::PresetOverrides;
use tauri::State;

/// All active contexts, last used first.
#[tauri::command]
#[specta::specta]
pub async fn context_list(shell: State<'_, Shell>) -> Answer<Vec<Context>> {
    Ok(shell.service.context_list().await?)
}

/// Makes a context.
#[tauri::command]
#[specta::specta]
pub async fn context_create(shell: State<'_, Shell>, draft: ContextDraft) -> Answer<Context> {
    Ok(shell.service.context_create(draft).await?)
}

/// Makes a context from a preset.
#[tauri::command]
#[specta::specta]
pub async fn context_create_from_preset(
    shell: State<'_, Shell>,
    preset_id: PresetId,
    overrides: PresetOverrides,
) -> Answer<Context> {
    Ok(shell.service.context_create_from_preset(preset_id, overrides).await?)
}

/// Changes a context.
#[tauri::command]
#[specta::specta]
pub async fn context_update(shell: State<'_, Shell>, id: ContextId, patch: ContextPatch) -> Answer<Context> {
    Ok(shell.service.context_update(id, patch).await?)
}

/// Takes a context out of the list; its conversations stay in the vault.
#[tauri::command]
#[specta::specta]
pub async fn context_delete(shell: State<'_, Shell>, id: ContextId) -> Answer<()> {
    Ok(shell.service.context_delete(id).await?)
}

/// All active presets.
#[tauri::command]
#[specta::specta]
pub async fn preset_list(shell: State<'_, Shell>) -> Answer<Vec<Preset>> {
    Ok(shell.service.preset_list().await?)
}
