//! One run of a job, from its lock to its end in the vault.

use super::Started;
use super::job::{JobKind, is_due};
use super::pulse::Moment;
use crate::backup::blocking;
use crate::session::Session;
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Job, JobEnd, JobResult};
use evenkeel_store::backup::BackupKind;
use evenkeel_vault::JobLock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedRwLockReadGuard;
use tokio_util::sync::CancellationToken;

/// A run that has begun.
pub(crate) struct Run {
    kind: JobKind,
    pub session: Arc<Session>,
    pub moment: Moment,
    pub stop: CancellationToken,
    /// When the run before began, if it was cut off.
    cut_off: Option<DateTime<Utc>>,
    began: Duration,
    // Last: it is let go when everything else is done.
    _work: OwnedRwLockReadGuard<()>,
    _right: JobLock,
}

impl Service {
    /// Begins a run, unless the job runs already or, but for one that the user asked for, has run
    /// meanwhile in another process.
    pub(super) async fn begin_run(&self, kind: JobKind, is_asked_for: bool) -> Result<Option<Run>, ServiceError> {
        let Some(started) = self.0.scheduler.current() else { return Ok(None) };
        let work = started.work.clone().read_owned().await;
        let Started { stop, .. } = &*started;
        if stop.is_cancelled() {
            return Ok(None);
        }
        let session = self.session()?;
        let Some(right) = JobLock::take(&self.profile(), kind.name())? else { return Ok(None) };
        let known = session.read(move |r| r.job(kind.name())).await?;
        let now = self.now();
        if !is_asked_for && !is_due(kind, known.as_ref(), now) {
            return Ok(None);
        }
        let moment = self.pulse(&started, &session, true).await?;
        let cut_off = known.filter(Job::is_begun).and_then(|job| job.last_started_at);
        if cut_off.is_some() {
            let end = ended(now, JobResult::Interrupted, None, Duration::ZERO, kind);
            session.write(move |w| w.end_job(kind.name(), &end)).await?;
        }
        session.write(move |w| w.begin_job(kind.name(), now)).await?;
        let began = self.0.options.clock.monotonic();
        let stop = stop.clone();
        Ok(Some(Run { kind, session, moment, stop, cut_off, began, _work: work, _right: right }))
    }

    /// Does what the job is for, and notes how that ended.
    pub(super) async fn finish_run(&self, run: Run) {
        let outcome = match run.kind {
            JobKind::Expiry => self.expire(&run).await,
            JobKind::Drill => self.drill(&run).await,
            JobKind::Backup => self.make_backup(BackupKind::Daily, None).await.map(|_| None),
            JobKind::Cleanup => self.clean_up(&run).await,
            JobKind::Vacuum => self.vacuum(&run).await,
            JobKind::Title => self.make_up_titles(&run).await,
            JobKind::Check => self.check_vault(&run.session, &run.stop).await,
        };
        let (result, said) = match outcome {
            Ok(said) => (JobResult::Ok, said),
            Err(_) if run.stop.is_cancelled() => (JobResult::Interrupted, None),
            Err(error) => {
                tracing::warn!(job = run.kind.name(), code = error.code().as_str(), %error, "a job failed");
                (JobResult::Failed, Some(format!("{}: {error}", error.code().as_str())))
            }
        };
        let before = run.cut_off.map(|began| format!("the run of {} was cut off", began.format("%Y-%m-%d %H:%M UTC")));
        let message: Vec<String> = said.into_iter().chain(before).collect();
        let message = (!message.is_empty()).then(|| message.join("; "));
        let took = self.0.options.clock.monotonic().saturating_sub(run.began);
        let end = ended(self.now(), result, message, took, run.kind);
        let kind = run.kind;
        if let Err(error) = run.session.write(move |w| w.end_job(kind.name(), &end)).await {
            tracing::warn!(job = kind.name(), code = error.code().as_str(), %error, "the end of a job was not noted; it will run again");
        }
    }

    /// Gives memory, freed pages and the log's room back, while nobody talks.
    async fn vacuum(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        let (store, stop, service) = (run.session.store(), run.stop.clone(), self.clone());
        let task = tokio::task::spawn_blocking(move || {
            let given = store.compact(&mut || !stop.is_cancelled() && service.replies().is_empty())?;
            store.shrink()?;
            Ok::<_, evenkeel_store::StoreError>(given)
        });
        let given = task.await.map_err(|error| ServiceError::internal("giving room back", &error))??;
        let profile = self.profile();
        blocking("keeping room for deletions", move || Ok(evenkeel_vault::keep_reserve(&profile)?)).await?;
        Ok((given > 0).then(|| format!("{given} bytes given back")))
    }
}

fn ended(now: DateTime<Utc>, result: JobResult, message: Option<String>, took: Duration, kind: JobKind) -> JobEnd {
    let duration_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
    JobEnd { ended_at: now, result, message, duration_ms, next_run_at: Some(kind.next_run(now, result)) }
}
