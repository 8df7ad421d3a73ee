//! How long the app has run in all, and whether its clock jumped: what purging goes by.

use super::Started;
use crate::session::Session;
use crate::{Service, ServiceError};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ClockReading, ClockSample, ClockVerdict, ClockWatch, DeletionHold};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle, state_key};
use evenkeel_vault::JobLock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// Running time that may be lost when the process is killed.
const KEPT_EVERY: Duration = Duration::from_secs(300);
/// How often what was learnt of the models' tokens is kept.
const FACTORS_EVERY: Duration = Duration::from_secs(60);
/// Of several processes one counts, or two windows would make a day pass in half of it.
const COUNTER: &str = "running";

/// What one opening of the vault knows of its clocks.
pub(crate) struct Pulse {
    watch: ClockWatch,
    /// The monotonic time up to which running time is in the vault.
    counted: Duration,
    /// What the clock did that is not in the vault yet.
    jump: Jump,
    /// The monotonic time at which what the models have taught was last kept.
    factors_kept: Duration,
    right: Option<JobLock>,
}

/// What a jump of the clock has to change in the vault.
#[derive(Debug, Clone, Copy)]
struct Jump {
    /// Deletions are to rest.
    holds: bool,
    /// By how much the times that deletions wait by are to be moved.
    moves: TimeDelta,
}

impl Jump {
    const NONE: Self = Self { holds: false, moves: TimeDelta::zero() };

    fn is_none(self) -> bool {
        !self.holds && self.moves.is_zero()
    }

    fn and(self, verdict: ClockVerdict) -> Self {
        let moves = self.moves.checked_add(&verdict.moves()).unwrap_or(verdict.moves());
        Self { holds: self.holds || verdict != ClockVerdict::Steady, moves }
    }
}

/// Both clocks, and whether deletions rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub reading: ClockReading,
    pub hold: DeletionHold,
}

impl Service {
    /// Reads the clocks, and keeps the running time where enough of it has passed, the clock jumped,
    /// or it is wished.
    pub(super) async fn pulse(&self, started: &Started, session: &Session, keep: bool) -> Result<Moment, ServiceError> {
        let mut known = started.pulse.lock().await;
        let sample = ClockSample { wall: self.now(), monotonic: self.0.options.clock.monotonic() };
        let pulse = match &mut *known {
            Some(pulse) => pulse,
            none => none.insert(self.first_pulse(started, session).await?),
        };
        let verdict = pulse.watch.observe(sample);
        if let ClockVerdict::Jumped { by } = verdict {
            tracing::warn!(minutes = by.num_minutes(), "the clock jumped; deletions rest for a day of running time");
            pulse.jump = pulse.jump.and(verdict);
        }
        if pulse.right.is_none() {
            // Until now another process has counted.
            pulse.right = self.right_to_count()?;
            pulse.counted = sample.monotonic;
        }
        if sample.monotonic.saturating_sub(pulse.factors_kept) >= FACTORS_EVERY {
            pulse.factors_kept = sample.monotonic;
            session.keep_factors().await;
        }
        let elapsed = sample.monotonic.saturating_sub(pulse.counted);
        let mut jump = pulse.jump;
        if pulse.right.is_none() {
            // Who counts saw the same jump; moved twice, times would be wrong again.
            jump.moves = TimeDelta::zero();
        }
        if jump.is_none() && !keep && elapsed < KEPT_EVERY {
            let reading = move |r: &ReadHandle<'_>| Ok(Moment { reading: reading(r, sample.wall, elapsed)?, hold: hold(r)? });
            return session.read(reading).await;
        }
        let moment = session.write(move |w| kept(w, sample.wall, elapsed, jump)).await?;
        (pulse.counted, pulse.jump) = (sample.monotonic, Jump::NONE);
        Ok(moment)
    }

    async fn first_pulse(&self, started: &Started, session: &Session) -> Result<Pulse, ServiceError> {
        let seen = session.read(|r| state::<i64>(r, state_key::CLOCK_SEEN)).await?.and_then(DateTime::from_timestamp_millis);
        let began = started.began;
        let jump = seen.map_or(Jump::NONE, |seen| Jump {
            holds: ClockWatch::at_start(seen, began.wall) != ClockVerdict::Steady,
            moves: ClockWatch::moves_at_start(seen, began.wall),
        });
        let (watch, counted) = (ClockWatch::new(began), began.monotonic);
        Ok(Pulse { watch, counted, jump, factors_kept: counted, right: self.right_to_count()? })
    }

    fn right_to_count(&self) -> Result<Option<JobLock>, ServiceError> {
        Ok(JobLock::take(&self.profile(), COUNTER)?)
    }
}

fn kept(w: &mut WriteHandle<'_>, wall: DateTime<Utc>, elapsed: Duration, jump: Jump) -> Result<Moment, StoreError> {
    let running = Duration::from_millis(w.add_running_ms(millis(elapsed))?);
    w.put_app_state(state_key::CLOCK_SEEN, &wall.timestamp_millis().to_string())?;
    let mut hold = hold(w)?;
    if jump.holds {
        hold = hold.after_jump(running);
        put_state(w, state_key::DELETION_HOLD, &hold)?;
    }
    if !jump.moves.is_zero() {
        w.move_times(jump.moves, wall)?;
    }
    Ok(Moment { reading: ClockReading { wall, running }, hold })
}

fn reading(r: &ReadHandle<'_>, wall: DateTime<Utc>, elapsed: Duration) -> Result<ClockReading, StoreError> {
    Ok(ClockReading { wall, running: Duration::from_millis(r.running_ms()?).saturating_add(elapsed) })
}

fn hold(r: &ReadHandle<'_>) -> Result<DeletionHold, StoreError> {
    Ok(state(r, state_key::DELETION_HOLD)?.unwrap_or_default())
}

/// Whole milliseconds of a running time.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What the app remembers under a key; nothing where that cannot be read by this version.
pub(crate) fn state<T: DeserializeOwned>(r: &ReadHandle<'_>, key: &str) -> Result<Option<T>, StoreError> {
    Ok(r.app_state(key)?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Remembers something under a key.
pub(crate) fn put_state<T: Serialize>(w: &mut WriteHandle<'_>, key: &str, value: &T) -> Result<(), StoreError> {
    match serde_json::to_string(value) {
        Ok(text) => w.put_app_state(key, &text),
        Err(_) => Err(StoreError::DamagedValue { what: format!("app_state.{key}") }),
    }
}
