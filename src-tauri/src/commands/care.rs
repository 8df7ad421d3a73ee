//! Commands of care.

use super::Answer;
use crate::state::Shell;
use evenkeel_domain::CareCard;
use tauri::State;

/// The helplines of a region, or of the user's own.
#[tauri::command]
#[specta::specta]
pub async fn care_helplines(shell: State<'_, Shell>, region: Option<String>) -> Answer<CareCard> {
    Ok(shell.service.care_helplines(region).await?)
}
