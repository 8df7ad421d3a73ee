//! Jobs: what the scheduler does on its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How a run of a job came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum JobResult {
    /// It did what it is for.
    Ok,
    /// It could not; the message says why.
    Failed,
    /// Its process ended before it did.
    Interrupted,
}

impl JobResult {
    /// The result's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What is known of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its stable name, such as `backup`.
    pub name: String,
    /// When it last began.
    pub last_started_at: Option<DateTime<Utc>>,
    /// When it last ended.
    pub last_ended_at: Option<DateTime<Utc>>,
    /// When it is due; `None` = not planned.
    pub next_run_at: Option<DateTime<Utc>>,
    /// How the last run ended; `None` before the first one and while one has begun and not ended.
    pub result: Option<JobResult>,
    /// What the last run said of itself.
    pub message: Option<String>,
    /// Milliseconds of the last run that ended.
    pub duration_ms: Option<u32>,
    /// Runs begun so far.
    pub runs: u32,
}

impl Job {
    /// Whether a run has begun and not ended: it goes on, or its process is gone.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.last_started_at.is_some() && self.result.is_none()
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// When it ended.
    pub ended_at: DateTime<Utc>,
    /// How.
    pub result: JobResult,
    /// What it says of itself.
    pub message: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// When it is due again; `None` = not planned.
    pub next_run_at: Option<DateTime<Utc>>,
}
