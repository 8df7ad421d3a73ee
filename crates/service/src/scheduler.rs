//! The scheduler: jobs that run by themselves while the vault is open.
//!
//! What a job is due is in the vault, so that it is caught up after the app was closed or the
//! machine slept. A lock file for each job keeps it from running twice at once, in this process or
//! another; a run that has begun and whose lock is free was cut off.

mod check;
mod cleanup;
mod expiry;
mod job;
mod others;
pub(crate) mod pulse;
mod run;
mod title;

pub use expiry::ExpiringContext;
pub use job::JobStatus;

use crate::session::{Doubt, Session};
use crate::{Inner, Service, ServiceError};
use evenkeel_domain::{ClockSample, ErrorBody, ErrorCode, Job};
use evenkeel_vault::JobLock;
pub(crate) use job::JobKind;
use job::is_due;
use pulse::Pulse;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedRwLockReadGuard, RwLock, broadcast};
use tokio_util::sync::CancellationToken;

/// Time after opening in which the jobs leave the machine to the user.
const FIRST_LOOK: Duration = Duration::from_secs(10);
/// How long closing the vault waits for the end of what runs.
const PATIENCE: Duration = Duration::from_secs(10);

/// What runs by itself.
pub(crate) struct Scheduler {
    current: Mutex<Option<Arc<Started>>>,
    expiring: broadcast::Sender<ExpiringContext>,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self { current: Mutex::new(None), expiring: broadcast::channel(64).0 }
    }
}

/// The jobs of one opening of the vault.
pub(crate) struct Started {
    /// Cancelled when the vault is to be closed.
    stop: CancellationToken,
    /// The clocks when it was opened.
    began: ClockSample,
    /// Held for reading by each run.
    work: Arc<RwLock<()>>,
    pulse: tokio::sync::Mutex<Option<Pulse>>,
}

impl Scheduler {
    fn current(&self) -> Option<Arc<Started>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, started: Option<Arc<Started>>) -> Option<Arc<Started>> {
        std::mem::replace(&mut *self.current.lock().unwrap_or_else(PoisonError::into_inner), started)
    }
}

impl Service {
    /// Contexts that expire within a day, each once.
    #[must_use]
    pub fn context_expirings(&self) -> broadcast::Receiver<ExpiringContext> {
        self.0.scheduler.expiring.subscribe()
    }

    /// Every job with its last and its next run.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn job_list(&self) -> Result<Vec<JobStatus>, ServiceError> {
        let jobs = self.session()?.read(|r| r.jobs()).await?;
        JobKind::ALL.into_iter().map(|kind| self.status_of(kind, &jobs)).collect()
    }

    /// Begins a job now, due or not, and tells how it stands; its end is told as a change. One that
    /// runs already goes on.
    ///
    /// # Errors
    /// There is no such job (the error lists those that exist), or the vault is locked or cannot be
    /// written.
    pub async fn job_run(&self, name: String) -> Result<JobStatus, ServiceError> {
        let kind = JobKind::of_name(&name).ok_or_else(|| {
            let known = JobKind::ALL.map(JobKind::name).join(", ");
            ErrorBody::new(ErrorCode::NotFound, format!("there is no job {name}; there are: {known}"))
                .with("id", &name)
                .with("existing", known)
        })?;
        self.session()?;
        match self.begin_run(kind, true).await {
            Ok(Some(run)) => {
                let service = self.clone();
                tokio::spawn(async move { service.finish_run(run).await });
            }
            Ok(None) => {}
            Err(error) => {
                let started = self.0.scheduler.current().filter(|_| kind == JobKind::Check);
                if let (ErrorCode::VaultDamaged, Some(started)) = (error.code(), started) {
                    self.check_at_once(&started, &self.session()?).await;
                }
                return Err(error);
            }
        }
        let jobs = self.session()?.read(|r| r.jobs()).await?;
        self.status_of(kind, &jobs)
    }

    /// Runs every job that is due, one after the other, and tells how each ended. The scheduler does
    /// it by itself as often as its interval says.
    ///
    /// # Errors
    /// The vault is locked, or cannot be read or written.
    pub async fn run_due_jobs(&self) -> Result<Vec<JobStatus>, ServiceError> {
        let session = self.session()?;
        let Some(started) = self.0.scheduler.current() else { return Ok(Vec::new()) };
        let ran = self.run_due(&started, &session).await;
        if ran.as_ref().is_err_and(|error| error.code() == ErrorCode::VaultDamaged) {
            self.check_at_once(&started, &session).await;
        }
        ran
    }

    async fn run_due(&self, started: &Started, session: &Arc<Session>) -> Result<Vec<JobStatus>, ServiceError> {
        self.pulse(started, session, false).await?;
        let mut ran = Vec::new();
        for kind in JobKind::ALL {
            if kind == JobKind::Check && self.0.health.is_fresh(self.0.options.clock.monotonic()) {
                continue;
            }
            let known = session.read(move |r| r.job(kind.name())).await?;
            let now = self.now();
            let is_suspected = kind == JobKind::Check && session.doubt.is_raised();
            if is_suspected || is_due(kind, known.as_ref(), now) {
                if let Some(run) = self.begin_run(kind, is_suspected).await? {
                    self.finish_run(run).await;
                    let jobs = session.read(|r| r.jobs()).await?;
                    ran.push(self.status_of(kind, &jobs)?);
                }
            } else if known.is_none_or(|job| job.next_run_at.is_none() && !job.is_begun()) {
                let first = kind.first_run(now);
                session.write(move |w| w.plan_job(kind.name(), Some(first))).await?;
            }
        }
        Ok(ran)
    }

    /// Begins to look for jobs that are due.
    pub(crate) fn start_jobs(&self) {
        let began = ClockSample { wall: self.now(), monotonic: self.0.options.clock.monotonic() };
        let stop = CancellationToken::new();
        let started = Arc::new(Started { stop, began, work: Arc::default(), pulse: tokio::sync::Mutex::default() });
        if let Some(before) = self.0.scheduler.replace(Some(started.clone())) {
            before.stop.cancel();
        }
        if let Some(interval) = self.0.options.job_interval {
            tokio::spawn(others::listen(Arc::downgrade(&self.0), started.clone(), interval));
            let doubt = self.session().ok().map(|session| session.doubt.clone());
            tokio::spawn(look(Arc::downgrade(&self.0), started, doubt, interval));
        }
    }

    /// Stops the jobs, and waits until what ran has noted its end, ten seconds at most.
    pub(crate) async fn stop_jobs(&self) {
        let Some(started) = self.0.scheduler.replace(None) else { return };
        started.stop.cancel();
        if tokio::time::timeout(PATIENCE, started.work.write()).await.is_err() {
            tracing::warn!("a job did not stop in time; it will count as cut off");
        }
        if let Ok(session) = self.session()
            && let Err(error) = self.pulse(&started, &session, true).await
        {
            tracing::warn!(code = error.code().as_str(), %error, "the running time was not kept");
        }
        started.pulse.lock().await.take();
    }

    /// Is cancelled when the vault is to be closed.
    pub(crate) fn stop_of_jobs(&self) -> CancellationToken {
        self.0.scheduler.current().map(|started| started.stop.clone()).unwrap_or_default()
    }

    /// Keeps the vault from being closed, for a while, under work that the user asked for.
    pub(crate) async fn work(&self) -> Option<OwnedRwLockReadGuard<()>> {
        let started = self.0.scheduler.current()?;
        Some(started.work.clone().read_owned().await)
    }

    fn status_of(&self, kind: JobKind, jobs: &[Job]) -> Result<JobStatus, ServiceError> {
        let known = jobs.iter().find(|job| job.name == kind.name());
        let is_running = known.is_some_and(Job::is_begun) && JobLock::is_taken(&self.profile(), kind.name())?;
        let mut status = JobStatus::of(kind, known, is_running);
        if status.next_run_at.is_none() && !is_running {
            // The first look plans it so.
            status.next_run_at = Some(kind.first_run(self.now()));
        }
        Ok(status)
    }
}

/// Looks for due jobs until the vault is closed or the service is gone.
async fn look(service: Weak<Inner>, started: Arc<Started>, mut doubt: Option<Arc<Doubt>>, interval: Duration) {
    let mut wait = interval.min(FIRST_LOOK);
    loop {
        tokio::select! {
            () = started.stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
            () = called(doubt.as_deref()) => {}
        }
        let Some(inner) = service.upgrade() else { return };
        if let Err(error) = Service(inner).run_due_jobs().await {
            tracing::warn!(code = error.code().as_str(), %error, "the jobs that are due could not be looked for");
            // What fails raises the doubt itself, and would be looked for without end.
            doubt = None;
        }
        wait = interval;
    }
}

/// Ends when an error has made the vault suspect.
async fn called(doubt: Option<&Doubt>) {
    match doubt {
        Some(doubt) => doubt.called().await,
        None => std::future::pending().await,
    }
}
