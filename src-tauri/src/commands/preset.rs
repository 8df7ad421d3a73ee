//! Commands of presets.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{ContextId, Preset, PresetDraft, PresetId, PresetQuery};
use evenkeel_service::PresetPage;
use tauri::State;

/// A page of presets, experimental ones first.
#[tauri::command]
#[specta::specta]
pub async fn preset_list(shell: State<'_, Shell>, query: PresetQuery) -> Answer<PresetPage> {
    Ok(shell.service.preset_list(query).await?)
}

/// One preset, hidden or not.
#[tauri::command]
#[specta::specta]
pub async fn preset_get(shell: State<'_, Shell>, id: PresetId) -> Answer<Preset> {
    Ok(shell.service.preset_get(id).await?)
}

/// Makes a preset.
#[tauri::command]
#[specta::specta]
pub async fn preset_create(shell: State<'_, Shell>, draft: PresetDraft) -> Answer<Preset> {
    Ok(shell.service.preset_create(draft).await?)
}

/// Changes a preset.
#[tauri::command]
#[specta::specta]
pub async fn preset_update(shell: State<'_, Shell>, id: PresetId, draft: PresetDraft) -> Answer<Preset> {
    Ok(shell.service.preset_update(id, draft).await?)
}

/// Hides a preset, or shows it again.
#[tauri::command]
#[specta::specta]
pub async fn preset_set_active(shell: State<'_, Shell>, id: PresetId, is_active: bool) -> Answer<Preset> {
    Ok(shell.service.preset_set_active(id, is_active).await?)
}

/// Deletes a preset; one that ships with the app is hidden.
#[tauri::command]
#[specta::specta]
pub async fn preset_delete(shell: State<'_, Shell>, id: PresetId) -> Answer<()> {
    Ok(shell.service.preset_delete(id).await?)
}

/// Makes a preset of the user's own with the same text and settings.
#[tauri::command]
#[specta::specta]
pub async fn preset_duplicate(shell: State<'_, Shell>, id: PresetId) -> Answer<Preset> {
    Ok(shell.service.preset_duplicate(id).await?)
}

/// Gives a built-in preset its shipped text and settings again.
#[tauri::command]
#[specta::specta]
pub async fn preset_reset(shell: State<'_, Shell>, id: PresetId) -> Answer<Preset> {
    Ok(shell.service.preset_reset(id).await?)
}

/// Makes a preset of a context's persona and settings.
#[tauri::command]
#[specta::specta]
pub async fn preset_from_context(shell: State<'_, Shell>, context_id: ContextId, name: String) -> Answer<Preset> {
    Ok(shell.service.preset_from_context(context_id, name).await?)
}
