//! Commands of contexts.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::{
    Context, ContextDraft, ContextId, ContextPatch, ContextQuery, ModelChoice, PresetId, RevisionId, RevisionUse,
};
use evenkeel_service::{ContextPage, PersonaAdvice, PersonaDraft, PresetOverrides, RecommendedHistory};
use tauri::State;

/// A page of contexts.
#[tauri::command]
#[specta::specta]
pub async fn context_list(shell: State<'_, Shell>, query: ContextQuery) -> Answer<ContextPage> {
    Ok(shell.service.context_list(query).await?)
}

/// One context, in the trash or not.
#[tauri::command]
#[specta::specta]
pub async fn context_get(shell: State<'_, Shell>, id: ContextId) -> Answer<Context> {
    Ok(shell.service.context_get(id).await?)
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

/// Makes another context with the same persona, settings and tags.
#[tauri::command]
#[specta::specta]
pub async fn context_duplicate(shell: State<'_, Shell>, id: ContextId) -> Answer<Context> {
    Ok(shell.service.context_duplicate(id).await?)
}

/// Puts a context into the trash, with its conversations.
#[tauri::command]
#[specta::specta]
pub async fn context_delete(shell: State<'_, Shell>, id: ContextId) -> Answer<()> {
    Ok(shell.service.context_delete(id).await?)
}

/// Takes a context out of the trash; its lifetime begins anew.
#[tauri::command]
#[specta::specta]
pub async fn context_restore(shell: State<'_, Shell>, id: ContextId) -> Answer<Context> {
    Ok(shell.service.context_restore(id).await?)
}

/// Deletes a context in the trash for good, behind a backup.
#[tauri::command]
#[specta::specta]
pub async fn context_purge(shell: State<'_, Shell>, id: ContextId) -> Answer<()> {
    Ok(shell.service.context_purge(id).await?)
}

/// Begins a context's lifetime anew from now.
#[tauri::command]
#[specta::specta]
pub async fn context_extend(shell: State<'_, Shell>, id: ContextId) -> Answer<Context> {
    Ok(shell.service.context_extend(id).await?)
}

/// The wordings that a context's persona has had, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn context_revisions(shell: State<'_, Shell>, id: ContextId) -> Answer<Vec<RevisionUse>> {
    Ok(shell.service.context_revisions(id).await?)
}

/// Makes an old wording the current one again.
#[tauri::command]
#[specta::specta]
pub async fn context_restore_revision(shell: State<'_, Shell>, id: ContextId, revision_id: RevisionId) -> Answer<Context> {
    Ok(shell.service.context_restore_revision(id, revision_id).await?)
}

/// What could be better about a persona that is being written.
#[tauri::command]
#[specta::specta]
pub async fn context_advice(
    shell: State<'_, Shell>,
    draft: PersonaDraft,
    model: Option<ModelChoice>,
) -> Answer<Vec<PersonaAdvice>> {
    Ok(shell.service.context_advice(draft, model).await?)
}

/// The history budget that suits a model, or the default one.
#[tauri::command]
#[specta::specta]
pub async fn context_recommended_history(shell: State<'_, Shell>, model: Option<ModelChoice>) -> Answer<RecommendedHistory> {
    Ok(shell.service.context_recommended_history(model).await?)
}
