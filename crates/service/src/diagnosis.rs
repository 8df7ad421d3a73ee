//! The log and the reports of crashes, both without content and both only here.

use crate::backup::blocking;
use crate::model::Engines;
use crate::whereabouts::Whereabouts;
use crate::{Clock, Service, ServiceError, next};
use evenkeel_diagnosis::{CrashReport, CrashReports, Ending, LogFile, LogLevel, LogLine, Process};
use evenkeel_domain::FieldError;
use evenkeel_engine::EngineEvent;
use evenkeel_vault::{Place, Profile};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most lines in one answer.
const MOST: u32 = 2_000;

/// The newest lines of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LogPage {
    /// The newest first.
    pub lines: Vec<LogLine>,
    /// The folder of the log's files.
    pub folder: String,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// A report of a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CrashInfo {
    /// The report's id.
    pub id: String,
    /// When it was.
    pub at: chrono::DateTime<chrono::Utc>,
    /// `window`, `mcp`, `cli` or `engine`.
    pub process: String,
    /// The whole report as it is saved, word for word.
    pub text: String,
}

/// Where the log of a profile is: beside its data.
#[must_use]
pub fn log_folder(profile: &Path) -> PathBuf {
    let start = Profile::new(profile.to_owned());
    Place::of(&start).map_or_else(|_| start.logs(), |place| place.profile().logs())
}

/// Leaves a report of each end of an engine's process that nobody asked for.
pub(crate) fn report_crashes(engines: &Engines, whereabouts: &Arc<Whereabouts>, clock: &Arc<dyn Clock>) {
    for engine in engines.all() {
        let (mut events, whereabouts, clock) = (engine.events(), whereabouts.clone(), clock.clone());
        tokio::spawn(async move {
            while let Some(event) = next(&mut events).await {
                let EngineEvent::Crashed { code, signal } = event else { continue };
                let ending = signal.map_or(Ending::Exit { status: code }, |number| Ending::Signal { number });
                let report = CrashReport::new(clock.now(), Process::Engine, ending);
                let reports = CrashReports::new(whereabouts.profile().logs());
                let written = tokio::task::spawn_blocking(move || reports.write(&report)).await;
                if !matches!(written, Ok(Ok(_))) {
                    tracing::warn!("a crash of the engine left no report");
                }
            }
        });
    }
}

impl Service {
    /// The newest lines of the log that are at least as grave, the newest first. The vault need not be open.
    ///
    /// # Errors
    /// The limit is not 1–2,000, or a file cannot be read.
    pub async fn log_read(&self, level: LogLevel, limit: u32) -> Result<LogPage, ServiceError> {
        if !(1..=MOST).contains(&limit) {
            return Err(FieldError { field: "limit", value: limit.to_string(), range: format!("1 to {MOST}") }.into());
        }
        let log = LogFile::new(self.profile().logs());
        let read = move || {
            let lines = log.newest(level, limit as usize)?;
            Ok(LogPage { lines, folder: log.folder().display().to_string(), bytes: log.bytes() })
        };
        blocking("reading the log", read).await
    }

    /// Deletes the log.
    ///
    /// # Errors
    /// A file cannot be deleted.
    pub async fn log_clear(&self) -> Result<(), ServiceError> {
        let log = LogFile::new(self.profile().logs());
        blocking("deleting the log", move || Ok(log.clear()?)).await
    }

    /// The folder of the log and of the reports.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.profile().logs()
    }

    /// Every report of a crash, the newest first. The vault need not be open.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub async fn crash_list(&self) -> Result<Vec<CrashInfo>, ServiceError> {
        let reports = self.crash_reports();
        let info = |(id, report): (String, CrashReport)| {
            let text = report.text();
            CrashInfo { id, at: report.at, process: report.process, text }
        };
        blocking("reading crash reports", move || Ok(reports.list()?.into_iter().map(info).collect())).await
    }

    /// Writes a report to a file of the user's choice, as it is shown.
    ///
    /// # Errors
    /// There is no such report, or the file cannot be written.
    pub async fn crash_save(&self, id: String, path: PathBuf) -> Result<(), ServiceError> {
        let reports = self.crash_reports();
        let save = move || {
            let text = reports.get(&id)?.text();
            fs::write(&path, text)
                .map_err(|source| evenkeel_diagnosis::DiagnosisError::Io { what: "Writing", path, source }.into())
        };
        blocking("saving a crash report", save).await
    }

    /// Deletes a report.
    ///
    /// # Errors
    /// There is no such report, or it cannot be deleted.
    pub async fn crash_delete(&self, id: String) -> Result<(), ServiceError> {
        let reports = self.crash_reports();
        blocking("deleting a crash report", move || Ok(reports.delete(&id)?)).await
    }

    fn crash_reports(&self) -> CrashReports {
        CrashReports::new(self.profile().logs())
    }
}
