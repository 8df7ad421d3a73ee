//! Jobs of the scheduler: when each ran, how that ended, when it is due.

use crate::column::{maybe_time, of_time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Job, JobEnd, JobResult};
use rusqlite::{Row, params};

const RESULTS: [JobResult; 3] = [JobResult::Ok, JobResult::Failed, JobResult::Interrupted];

macro_rules! select_jobs {
    ($rest:literal) => {
        concat!("SELECT name, last_started_at, last_ended_at, next_run_at, result, message, duration_ms, runs FROM jobs ", $rest)
    };
}

fn job(row: &Row<'_>) -> Result<Job, StoreError> {
    let has_result = row.get::<_, Option<String>>(4)?.is_some();
    Ok(Job {
        name: row.get(0)?,
        last_started_at: maybe_time(row, 1)?,
        last_ended_at: maybe_time(row, 2)?,
        next_run_at: maybe_time(row, 3)?,
        result: has_result.then(|| variant(row, 4, &RESULTS, JobResult::as_str)).transpose()?,
        message: row.get(5)?,
        duration_ms: row.get(6)?,
        runs: row.get(7)?,
    })
}

impl ReadHandle<'_> {
    /// One job; `None` before it was planned or ran.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn job(&self, name: &str) -> Result<Option<Job>, StoreError> {
        self.one(select_jobs!("WHERE name = ?1"), [name], job)
    }

    /// All jobs by name.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        self.all(select_jobs!("ORDER BY name"), [], job)
    }
}

impl WriteHandle<'_> {
    /// Notes that a run begins. Result and message of the run before are gone from here on; a
    /// process that finds a run begun and its process gone ends it as interrupted first.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn begin_job(&mut self, name: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO jobs (name, last_started_at, runs) VALUES (?1, ?2, 1)
             ON CONFLICT (name) DO UPDATE SET last_started_at = excluded.last_started_at, result = NULL, message = NULL,
                 runs = runs + 1",
            (name, now.timestamp_millis()),
        )?;
        self.changed(Noun::Job, name);
        Ok(())
    }

    /// Notes how a run ended.
    ///
    /// # Errors
    /// `NotFound` if the job never began; `Storage`, `DiskFull`.
    pub fn end_job(&mut self, name: &str, end: &JobEnd) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Job,
            &name,
            "UPDATE jobs SET last_ended_at = ?2, result = ?3, message = ?4, duration_ms = ?5, next_run_at = ?6
             WHERE name = ?1 AND last_started_at IS NOT NULL",
            params![
                name,
                end.ended_at.timestamp_millis(),
                end.result.as_str(),
                end.message,
                end.duration_ms,
                of_time(end.next_run_at),
            ],
        )
    }

    /// Plans when a job is due; `None` = it is not planned.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn plan_job(&mut self, name: &str, next_run_at: Option<DateTime<Utc>>) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO jobs (name, next_run_at) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET next_run_at = excluded.next_run_at",
            (name, of_time(next_run_at)),
        )?;
        self.changed(Noun::Job, name);
        Ok(())
    }
}
