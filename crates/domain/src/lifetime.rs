//! Lifetimes: when a context is warned, expires, goes to the trash, and may be purged.
//!
//! Expiry follows the wall clock, because whoever suffers from a wrong clock extends with one
//! click. Purging destroys, so the wall clock alone never allows it: an entry must have been
//! shown, must be due by the wall clock, and must have been found due twice with a day of the
//! app's running time between, which no change of the clock can make pass. Where the clock is set
//! and stays so, the times noted before are moved with it, so that its change counts for nothing.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// How long before its expiry a context is warned about.
pub const EXPIRY_WARNING: TimeDelta = TimeDelta::hours(24);

/// How long an expired context stays where it is, read-only, before it goes to the trash: a
/// month from the run that laid it to rest, so that a holiday loses nothing.
pub const EXPIRED_BEFORE_TRASH: TimeDelta = TimeDelta::days(30);

/// Running time that an expired context can be seen as such before it goes to the trash.
pub const EXPIRED_IN_SIGHT: Duration = HOUR.saturating_mul(24);

/// How long an entry stays in the trash, from the first start that showed it there.
pub const TRASH_BEFORE_PURGE: TimeDelta = TimeDelta::days(7);

/// Running time between the first run that found an entry due and the run that may purge it.
pub const PURGE_CONFIRMATION: Duration = HOUR.saturating_mul(24);

/// Running time for which deletions rest after the clock jumped.
pub const HOLD_AFTER_JUMP: Duration = HOUR.saturating_mul(24);

/// How far the wall clock may differ from the monotonic one before that is a jump: above what
/// time synchronisation corrects step by step, below anything that could matter to a day.
pub const JUMP_TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// The longest the app can have been closed before its next start counts as a jump.
pub const LONGEST_PAUSE: TimeDelta = TimeDelta::days(60);

/// The longest sleep, or pause between two starts, that passes for one: what a clock is set by
/// beyond that does not count as time.
pub const TIME_UNWATCHED: TimeDelta = TimeDelta::hours(24);

/// The share of a vault that one run may purge without asking: one part in so many.
const PURGE_SHARE: u64 = 10;

/// What one run may purge without asking from any vault, by weight: a tenth of a small one is
/// nothing, and what the user deleted would stay for ever.
const PURGE_LITTLE: u64 = 20;

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// What the machine's clock shows; can be set to anything.
    pub wall: DateTime<Utc>,
    /// How long the app has run in all its starts together; only ever grows.
    pub running: Duration,
}

impl ClockReading {
    /// What has passed since an earlier reading, by the wall clock and as running time; `None` where
    /// either went back, so that the earlier one says nothing.
    #[must_use]
    pub fn since(self, earlier: Self) -> Option<(TimeDelta, Duration)> {
        let wall = self.wall.signed_duration_since(earlier.wall);
        let running = self.running.checked_sub(earlier.running)?;
        (wall >= TimeDelta::zero()).then_some((wall, running))
    }
}

/// Whether the warning is due: within the last day before expiry.
#[must_use]
pub fn warning_due(expires_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    expires_at.is_some_and(|end| now < end && end.signed_duration_since(now) <= EXPIRY_WARNING)
}

/// Whether the lifetime is over.
#[must_use]
pub fn expire_due(expires_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    expires_at.is_some_and(|end| now >= end)
}

/// Whether an expired context is to go to the trash, from where it can be restored: a month after
/// the run that laid it to rest, and a day of running time in which it could be seen. However long
/// the app was closed before, its end is met with open eyes.
#[must_use]
pub fn trash_due(rested: ClockReading, now: ClockReading) -> bool {
    now.since(rested).is_some_and(|(wall, running)| wall >= EXPIRED_BEFORE_TRASH && running >= EXPIRED_IN_SIGHT)
}

/// What is known about an item in the trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashEntry {
    /// Since when it is in the trash.
    pub deleted_at: DateTime<Utc>,
    /// When the app first started and showed it there; `None` until then.
    pub shown_at: Option<DateTime<Utc>>,
    /// Running time at which a run first found it due; `None` until then.
    pub due_since_running: Option<Duration>,
}

/// What a run of the clean-up does with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeStep {
    /// No start has shown it yet: nothing may happen before `shown_at` is recorded.
    NotShown,
    /// It is too early; at least one of the two is above zero.
    Wait {
        /// What is left of its days in the trash.
        wall: TimeDelta,
        /// What is left of the running time since it was first found due, or of a hold.
        running: Duration,
    },
    /// First found due: record the running time in `due_since_running`.
    MarkDue,
    /// No longer due, because the clock went back: clear `due_since_running`.
    Unmark,
    /// May be purged, behind a verified backup and within [`purge_allowance`].
    Purge,
}

/// Says what to do with an entry of the trash.
///
/// A running time that lies before the mark means that its counter was lost: the mark is then
/// set again, so that the full day passes from here.
#[must_use]
pub fn purge_step(entry: &TrashEntry, reading: ClockReading, hold: DeletionHold) -> PurgeStep {
    let Some(shown_at) = entry.shown_at else { return PurgeStep::NotShown };
    // The later of the two, should the clock have gone back between them.
    let since = shown_at.max(entry.deleted_at);
    let wall = TRASH_BEFORE_PURGE - reading.wall.signed_duration_since(since).min(TRASH_BEFORE_PURGE);
    if wall > TimeDelta::zero() {
        let running = PURGE_CONFIRMATION;
        return if entry.due_since_running.is_some() { PurgeStep::Unmark } else { PurgeStep::Wait { wall, running } };
    }
    let Some(since_running) = entry.due_since_running.filter(|mark| *mark <= reading.running) else {
        return PurgeStep::MarkDue;
    };
    let confirmed = reading.running.saturating_sub(since_running);
    let running = PURGE_CONFIRMATION.saturating_sub(confirmed).max(hold.left(reading.running));
    if running.is_zero() { PurgeStep::Purge } else { PurgeStep::Wait { wall, running } }
}

/// The weight that one run may purge without the user's word, of a vault that weighs `total`: a
/// tenth, so that one wrong rule or clock cannot empty it, or very little. A message weighs 1, and
/// so does what holds messages.
#[must_use]
pub fn purge_allowance(total: u64) -> u64 {
    (total / PURGE_SHARE).max(PURGE_LITTLE)
}

/// Which of the things that are due go in one run, by their weights, the first before the others.
/// What is heavier than the whole allowance waits until the user says so.
#[must_use]
pub fn within_allowance(weights: &[u64], allowance: u64) -> Vec<bool> {
    let mut left = allowance;
    let goes = |weight: &u64| {
        let fits = *weight <= left;
        left -= if fits { *weight } else { 0 };
        fits
    };
    weights.iter().map(goes).collect()
}

/// Where a time that was noted before the clock jumped stands after it, so that as much has passed
/// since then as had before. A jump back moves only what would lie in the future: the rest may have
/// been noted after it, and waits longer.
#[must_use]
pub fn moved(noted: DateTime<Utc>, by: TimeDelta, now: DateTime<Utc>) -> DateTime<Utc> {
    if by < TimeDelta::zero() && noted <= now {
        return noted;
    }
    let end = if by < TimeDelta::zero() { DateTime::<Utc>::MIN_UTC } else { now };
    noted.checked_add_signed(by).unwrap_or(end).min(now)
}

/// Until when deletions rest after a jump of the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionHold {
    /// Running time at which the hold ends; zero = none.
    until: Duration,
}

impl DeletionHold {
    /// The hold after a jump noticed at `running`.
    ///
    /// One in force is not made longer, and none begins within a day of running time after one has
    /// ended: a laptop that sleeps each night would otherwise never purge. What a jump makes due in
    /// that time is safe all the same, because the day that [`purge_step`] asks for begins with it.
    #[must_use]
    pub fn after_jump(self, running: Duration) -> Self {
        let rests = !self.until.is_zero() && running < self.until.saturating_add(HOLD_AFTER_JUMP);
        if rests { self } else { Self { until: running.saturating_add(HOLD_AFTER_JUMP) } }
    }

    /// Whether deletions rest.
    #[must_use]
    pub fn is_active(self, running: Duration) -> bool {
        running < self.until
    }

    /// Running time until the hold ends.
    #[must_use]
    pub fn left(self, running: Duration) -> Duration {
        self.until.saturating_sub(running)
    }
}

/// The wall clock and the monotonic one (time since any fixed moment) within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSample {
    /// What the machine's clock shows.
    pub wall: DateTime<Utc>,
    /// Monotonic time since the process started.
    pub monotonic: Duration,
}

/// What two samples say about the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVerdict {
    /// Both clocks moved alike.
    Steady,
    /// The wall clock moved by so much more (or less) than the monotonic one: it was set, or the
    /// machine slept. Deletions rest, nothing is lost.
    Jumped {
        /// Above zero = forward.
        by: TimeDelta,
    },
}

impl ClockVerdict {
    /// By how much the times noted before are to be [`moved`]. A sleep of a night is time that
    /// passed; what is longer may be a clock that was set.
    #[must_use]
    pub fn moves(self) -> TimeDelta {
        match self {
            Self::Jumped { by } if by.abs() > TIME_UNWATCHED => by,
            _ => TimeDelta::zero(),
        }
    }
}

/// Watches the wall clock for jumps.
#[derive(Debug, Clone, Copy)]
pub struct ClockWatch {
    anchor: ClockSample,
}

impl ClockWatch {
    /// Begins to watch.
    #[must_use]
    pub fn new(first: ClockSample) -> Self {
        Self { anchor: first }
    }

    /// Compares a later sample with the one that the watch began with, or with the last jump, so
    /// that many small steps are found as one large one is.
    pub fn observe(&mut self, sample: ClockSample) -> ClockVerdict {
        let wall = sample.wall.signed_duration_since(self.anchor.wall);
        let monotonic = sample.monotonic.saturating_sub(self.anchor.monotonic);
        // Centuries of monotonic time do not fit; they are as far as a jump can be told.
        let monotonic = TimeDelta::from_std(monotonic).unwrap_or(TimeDelta::MAX);
        let by = wall.checked_sub(&monotonic).unwrap_or(TimeDelta::MIN);
        if by > JUMP_TOLERANCE || by < -JUMP_TOLERANCE {
            self.anchor = sample;
            return ClockVerdict::Jumped { by };
        }
        ClockVerdict::Steady
    }

    /// Judges a start of the app by the last wall time an earlier one recorded: backwards is a
    /// jump, and so is more than [`LONGEST_PAUSE`] forward.
    #[must_use]
    pub fn at_start(last_seen: DateTime<Utc>, now: DateTime<Utc>) -> ClockVerdict {
        let by = now.signed_duration_since(last_seen);
        if by < -JUMP_TOLERANCE || by > LONGEST_PAUSE { ClockVerdict::Jumped { by } } else { ClockVerdict::Steady }
    }

    /// By how much a start of the app moves the times noted before. Nobody watched the clock since
    /// `last_seen`: of a pause a day counts, and of a jump nothing.
    #[must_use]
    pub fn moves_at_start(last_seen: DateTime<Utc>, now: DateTime<Utc>) -> TimeDelta {
        match Self::at_start(last_seen, now) {
            ClockVerdict::Steady => (now.signed_duration_since(last_seen) - TIME_UNWATCHED).max(TimeDelta::zero()),
            jumped @ ClockVerdict::Jumped { .. } => jumped.moves(),
        }
    }
}

#[cfg(test)]
mod tests;
