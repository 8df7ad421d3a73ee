//! Generations of backups: which ones to keep.

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use std::collections::BTreeSet;

/// Backups kept of different days.
pub const DAILY: usize = 7;
/// Backups kept of different weeks (Monday to Sunday).
pub const WEEKLY: usize = 4;
/// Backups kept of different months.
pub const MONTHLY: usize = 12;

/// A stamp so much ahead of the clock comes from a clock that was wrong.
const TOLERANCE: TimeDelta = TimeDelta::hours(1);

/// What the rotation knows of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BackupStamp {
    /// When it was made, by the clock of then.
    pub at: DateTime<Utc>,
    /// It was restored and checked after writing.
    pub verified: bool,
}

/// Says for each backup, in the order given, whether it is kept.
///
/// Of the verified ones the newest of each of the last 7 days, 4 weeks and 12 months *that have a
/// backup*: counted by backups and not by the calendar, a clock far ahead makes none of them old.
/// Backups from the future (made under a wrong clock, or the clock is wrong now) have generations
/// of their own, so that they push no others out. The newest verified one is always kept, and so is
/// what was not verified: the checks may be lost, and nobody knows yet which of them are good.
#[must_use]
pub fn kept(stamps: &[BackupStamp], now: DateTime<Utc>) -> Vec<bool> {
    let mut newest_first: Vec<usize> = (0..stamps.len()).collect();
    newest_first.sort_by_key(|place| std::cmp::Reverse((stamps[*place].at, *place)));
    let is_ahead = |place: &usize| stamps[*place].at.signed_duration_since(now) > TOLERANCE;
    let mut is_kept: Vec<bool> = stamps.iter().map(|stamp| !stamp.verified).collect();
    let (ahead, behind): (Vec<usize>, Vec<usize>) = newest_first.into_iter().partition(is_ahead);
    for group in [ahead, behind] {
        keep_generations(stamps, &group, &mut is_kept);
    }
    is_kept
}

/// Marks the verified backups of one group that a generation holds.
fn keep_generations(stamps: &[BackupStamp], newest_first: &[usize], kept: &mut [bool]) {
    let (mut days, mut weeks, mut months) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for place in newest_first.iter().copied().filter(|place| stamps[*place].verified) {
        let day = stamps[place].at.date_naive();
        let week = day.iso_week();
        let first_of_day = days.len() < DAILY && days.insert(day);
        let first_of_week = weeks.len() < WEEKLY && weeks.insert((week.year(), week.week()));
        let first_of_month = months.len() < MONTHLY && months.insert((day.year(), day.month()));
        kept[place] = first_of_day || first_of_week || first_of_month;
    }
}

#[cfg(test)]
mod tests;
