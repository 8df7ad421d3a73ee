//! Commands of the scheduler's jobs.

use super::Answer;
use crate::state::Shell;
use evenkeel_service::JobStatus;
use tauri::State;

/// Every job with its last and its next run.
#[tauri::command]
#[specta::specta]
pub async fn job_list(shell: State<'_, Shell>) -> Answer<Vec<JobStatus>> {
    Ok(shell.service.job_list().await?)
}

/// Begins a job now; its end is told as a change.
#[tauri::command]
#[specta::specta]
pub async fn job_run(shell: State<'_, Shell>, name: String) -> Answer<JobStatus> {
    Ok(shell.service.job_run(name).await?)
}
