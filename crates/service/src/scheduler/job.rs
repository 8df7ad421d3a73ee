//! Which jobs there are, and when each is due.

use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{Job, JobResult};
use serde::{Deserialize, Serialize};

/// After a failure a job is tried again this soon, or at its own period where that is shorter.
const RETRY: TimeDelta = TimeDelta::hours(1);

/// A job of the scheduler, in the order in which those that are due run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// Warns of what expires, and lays to rest what has expired.
    Expiry,
    /// Opens the newest backup again, as a restore would.
    Drill,
    /// Makes the daily backup.
    Backup,
    /// Purges what has been long enough in the trash.
    Cleanup,
    /// Gives memory and room on the disk back.
    Vacuum,
    /// Gives titles to the conversations that have got none yet.
    Title,
    /// Checks every page of the vault.
    Check,
}

impl JobKind {
    pub const ALL: [Self; 7] = [Self::Expiry, Self::Drill, Self::Backup, Self::Cleanup, Self::Vacuum, Self::Title, Self::Check];

    /// Its name in the vault, in JSON and of its lock.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expiry => "expiry",
            Self::Drill => "drill",
            Self::Backup => "backup",
            Self::Cleanup => "cleanup",
            Self::Vacuum => "vacuum",
            Self::Title => "title",
            Self::Check => "check",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Time from one run to the next.
    fn period(self) -> TimeDelta {
        match self {
            Self::Expiry | Self::Title => TimeDelta::minutes(15),
            Self::Cleanup => TimeDelta::hours(6),
            Self::Backup | Self::Vacuum => TimeDelta::hours(24),
            Self::Check | Self::Drill => TimeDelta::weeks(1),
        }
    }

    /// When a job that never ran is due: the first minutes of a new vault are the user's.
    pub fn first_run(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Expiry => now,
            Self::Backup | Self::Cleanup | Self::Title => after(now, TimeDelta::minutes(10)),
            Self::Vacuum => after(now, TimeDelta::hours(1)),
            Self::Check | Self::Drill => after(now, TimeDelta::hours(24)),
        }
    }

    /// When it is due after a run.
    pub fn next_run(self, now: DateTime<Utc>, result: JobResult) -> DateTime<Utc> {
        match result {
            JobResult::Ok => after(now, self.period()),
            JobResult::Failed => after(now, self.period().min(RETRY)),
            JobResult::Interrupted => now,
        }
    }
}

fn after(now: DateTime<Utc>, by: TimeDelta) -> DateTime<Utc> {
    now.checked_add_signed(by).unwrap_or(now)
}

/// Whether a job is to run: its time has come, or it was planned by a clock that was ahead, or its
/// last run began and has not ended. Whoever then finds its lock taken leaves it.
pub(crate) fn is_due(kind: JobKind, job: Option<&Job>, now: DateTime<Utc>) -> bool {
    let Some(job) = job else { return false };
    let planned = |next: DateTime<Utc>| next <= now || next > after(now, kind.period());
    job.is_begun() || job.next_run_at.is_some_and(planned)
}

/// A job as the window shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// Its stable name: `expiry`, `drill`, `backup`, `cleanup`, `vacuum`, `title` or `check`.
    pub name: String,
    /// When it last began.
    pub last_started_at: Option<DateTime<Utc>>,
    /// When it last ended.
    pub last_ended_at: Option<DateTime<Utc>>,
    /// When it is due; `None` = not planned yet.
    pub next_run_at: Option<DateTime<Utc>>,
    /// How the last run ended; `None` before the first one and while one goes on.
    pub result: Option<JobResult>,
    /// What the last run said of itself; of a failed one, the error's code and sentence.
    pub message: Option<String>,
    /// Milliseconds of the last run that ended.
    pub duration_ms: Option<u32>,
    /// Runs begun so far.
    pub runs: u32,
    /// Whether it runs now, here or in another process.
    pub is_running: bool,
}

impl JobStatus {
    pub(super) fn of(kind: JobKind, job: Option<&Job>, is_running: bool) -> Self {
        let was_cut_off = !is_running && job.is_some_and(Job::is_begun);
        Self {
            name: kind.name().to_owned(),
            last_started_at: job.and_then(|job| job.last_started_at),
            last_ended_at: job.and_then(|job| job.last_ended_at),
            next_run_at: job.and_then(|job| job.next_run_at),
            result: if was_cut_off { Some(JobResult::Interrupted) } else { job.and_then(|job| job.result) },
            message: job.and_then(|job| job.message.clone()),
            duration_ms: job.and_then(|job| job.duration_ms),
            runs: job.map_or(0, |job| job.runs),
            is_running,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(next: Option<DateTime<Utc>>) -> Job {
        Job {
            name: "backup".into(),
            last_started_at: None,
            last_ended_at: None,
            next_run_at: next,
            result: None,
            message: None,
            duration_ms: None,
            runs: 0,
        }
    }

    #[test]
    fn a_job_runs_at_its_time_and_not_never_after_a_clock_that_was_ahead() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let due = |by: TimeDelta| is_due(JobKind::Backup, Some(&planned(Some(now + by))), now);
        assert!(due(TimeDelta::zero()) && due(TimeDelta::days(-400)) && due(TimeDelta::days(3 * 365)));
        assert!(!due(TimeDelta::seconds(1)) && !due(TimeDelta::hours(24)));
        assert!(!is_due(JobKind::Backup, None, now) && !is_due(JobKind::Backup, Some(&planned(None)), now));
        let begun = Job { last_started_at: Some(now), ..planned(Some(now + TimeDelta::hours(1))) };
        assert!(is_due(JobKind::Backup, Some(&begun), now));
    }

    #[test]
    fn a_run_that_was_cut_off_shows_as_such() {
        let begun = Job { last_started_at: Some(DateTime::UNIX_EPOCH), ..planned(None) };
        let shown = |is_running| JobStatus::of(JobKind::Backup, Some(&begun), is_running).result;
        assert_eq!((shown(true), shown(false)), (None, Some(JobResult::Interrupted)));
        assert_eq!(JobStatus::of(JobKind::Backup, Some(&planned(None)), false).result, None);
    }

    #[test]
    fn nothing_overflows_at_the_end_of_time() {
        for kind in JobKind::ALL {
            for result in [JobResult::Ok, JobResult::Failed, JobResult::Interrupted] {
                assert_eq!(kind.next_run(DateTime::<Utc>::MAX_UTC, result), DateTime::<Utc>::MAX_UTC);
            }
            assert!(kind.first_run(DateTime::<Utc>::MAX_UTC) <= DateTime::<Utc>::MAX_UTC);
            assert_eq!(JobKind::of_name(kind.name()), Some(kind));
        }
    }
}
