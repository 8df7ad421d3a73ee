#![allow(clippy::unwrap_used)]

use super::*;
use chrono::TimeZone;
use proptest::prelude::*;

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

fn rotate(stamps: &mut Vec<BackupStamp>, now: DateTime<Utc>) {
    let kept = super::kept(stamps, now);
    let mut place = 0..;
    stamps.retain(|_| kept[place.next().unwrap()]);
}

fn verified(at: DateTime<Utc>) -> BackupStamp {
    BackupStamp { at, verified: true }
}

/// Two backups a day for so many days, rotated after each.
fn history(days: i64, now: impl Fn(i64) -> DateTime<Utc>) -> Vec<BackupStamp> {
    let mut stamps = Vec::new();
    for day in 0..days {
        stamps.push(verified(now(day)));
        stamps.push(verified(now(day) + TimeDelta::minutes(30)));
        rotate(&mut stamps, now(day) + TimeDelta::hours(1));
    }
    stamps
}

#[test]
fn after_two_years_all_generations_are_full() {
    let stamps = history(730, |day| noon() + TimeDelta::days(day));
    let days: BTreeSet<_> = stamps.iter().map(|stamp| stamp.at.date_naive()).collect();
    let months: BTreeSet<_> = days.iter().map(|day| (day.year(), day.month())).collect();
    assert_eq!(months.len(), MONTHLY);
    let last = noon().date_naive() + TimeDelta::days(729);
    for back in 0..7 {
        assert!(days.contains(&(last - TimeDelta::days(back))), "day {back}");
    }
    assert!((18..=23).contains(&stamps.len()), "{}", stamps.len());
}

#[test]
fn of_a_day_the_newest_verified_is_kept() {
    let at = |minutes| noon() + TimeDelta::minutes(minutes);
    let stamps = [verified(at(0)), verified(at(10)), BackupStamp { at: at(20), verified: false }];
    assert_eq!(super::kept(&stamps, at(60)), [false, true, true]);
    assert_eq!(super::kept(&[], noon()), [] as [bool; 0]);
}

#[test]
fn a_wrong_clock_in_the_future_pushes_no_others_out() {
    let before = history(60, |day| noon() + TimeDelta::days(day));
    // Forty backups made with the clock three years ahead, then the clock is mended.
    let mut stamps = before.clone();
    stamps.extend((0..40).map(|day| verified(noon() + TimeDelta::days(1_100 + day))));
    rotate(&mut stamps, noon() + TimeDelta::days(61));
    assert!(before.iter().all(|stamp| stamps.contains(stamp)));
    // And with the clock three years ahead now, nothing is too old.
    let mut stamps = before.clone();
    rotate(&mut stamps, noon() + TimeDelta::days(1_100));
    assert_eq!(stamps, before);
}

#[test]
fn a_clock_that_is_far_behind_now_costs_no_backup() {
    let before = history(60, |day| noon() + TimeDelta::days(day));
    let mut stamps = before.clone();
    rotate(&mut stamps, noon() - TimeDelta::days(1_100));
    assert_eq!(stamps, before);
}

#[test]
fn lost_checks_cost_no_backup() {
    let checked = history(400, |day| noon() + TimeDelta::days(day));
    let mut stamps: Vec<_> = checked.iter().map(|stamp| BackupStamp { verified: false, ..*stamp }).collect();
    let now = noon() + TimeDelta::days(401);
    stamps.push(verified(now));
    let count = stamps.len();
    rotate(&mut stamps, now);
    assert_eq!(stamps.len(), count, "none of them was looked at");
    // Once they are checked again, they are what they were before.
    let mut stamps: Vec<_> = stamps.into_iter().map(|stamp| verified(stamp.at)).collect();
    rotate(&mut stamps, now);
    let months = |stamps: &[BackupStamp]| stamps.iter().map(|stamp| (stamp.at.year(), stamp.at.month())).collect::<BTreeSet<_>>();
    assert!(months(&stamps).len() >= MONTHLY);
}

fn stamps() -> impl Strategy<Value = Vec<BackupStamp>> {
    let stamp = (-40_000i64..40_000, prop::bool::weighted(0.7))
        .prop_map(|(hours, verified)| BackupStamp { at: noon() + TimeDelta::hours(hours), verified });
    let extreme = prop_oneof![Just(DateTime::<Utc>::MIN_UTC), Just(DateTime::<Utc>::MAX_UTC)].prop_map(verified);
    prop::collection::vec(prop_oneof![20 => stamp, 1 => extreme], 0..120)
}

proptest! {
    #[test]
    fn the_newest_verified_is_always_kept(stamps in stamps(), hours in -40_000i64..40_000) {
        let now = noon() + TimeDelta::hours(hours);
        let kept = super::kept(&stamps, now);
        prop_assert_eq!(kept.len(), stamps.len());
        if let Some(newest) = stamps.iter().filter(|stamp| stamp.verified).map(|stamp| stamp.at).max() {
            prop_assert!(stamps.iter().zip(&kept).any(|(stamp, kept)| *kept && stamp.verified && stamp.at == newest));
        }
        // And the newest of those that the clock does not call future.
        let of_now = stamps.iter().filter(|stamp| stamp.verified && stamp.at <= now).map(|stamp| stamp.at).max();
        if let Some(newest) = of_now {
            prop_assert!(stamps.iter().zip(&kept).any(|(stamp, kept)| *kept && stamp.verified && stamp.at == newest));
        }
    }

    #[test]
    fn no_more_than_the_generations_are_kept(stamps in stamps(), hours in -40_000i64..40_000) {
        let now = noon() + TimeDelta::hours(hours);
        let kept = super::kept(&stamps, now);
        let count = |ahead: bool| {
            let of = |stamp: &BackupStamp| stamp.verified && (stamp.at.signed_duration_since(now) > TOLERANCE) == ahead;
            stamps.iter().zip(&kept).filter(|(stamp, kept)| **kept && of(stamp)).count()
        };
        prop_assert!(stamps.iter().zip(&kept).all(|(stamp, kept)| stamp.verified || *kept));
        for ahead in [true, false] {
            prop_assert!(count(ahead) <= DAILY + WEEKLY + MONTHLY);
        }
    }

    #[test]
    fn rotating_again_removes_nothing(mut stamps in stamps(), hours in -40_000i64..40_000) {
        let now = noon() + TimeDelta::hours(hours);
        rotate(&mut stamps, now);
        let once = stamps.clone();
        rotate(&mut stamps, now);
        prop_assert_eq!(stamps, once);
    }

    #[test]
    fn the_order_given_does_not_matter(stamps in stamps()) {
        let mut unique = stamps;
        unique.sort_by_key(|stamp| stamp.at);
        unique.dedup_by_key(|stamp| stamp.at);
        let kept = super::kept(&unique, noon());
        let turned: Vec<_> = unique.iter().rev().copied().collect();
        let turned: Vec<_> = super::kept(&turned, noon()).into_iter().rev().collect();
        prop_assert_eq!(kept, turned);
    }
}
