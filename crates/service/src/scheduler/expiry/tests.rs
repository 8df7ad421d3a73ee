#![allow(clippy::unwrap_used)]

use super::*;
use chrono::TimeDelta;
use evenkeel_domain::{ClockReading, Context, DeletionHold, EXPIRED_BEFORE_TRASH, EXPIRED_IN_SIGHT};
use proptest::prelude::*;
use std::time::Duration;

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(hours)
}

fn id() -> ContextId {
    ContextId::from_parts(at(0), [1; 10])
}

/// A context last talked to at hour 0.
fn lifetime(is_active: bool, days: Option<u32>) -> Lifetime {
    Lifetime {
        context_id: id(),
        name: "Ada".into(),
        is_active,
        last_interaction_at: at(0),
        expires_at: Context::expiry(at(0), days),
    }
}

fn moment(hours: i64) -> Moment {
    ran(hours, 0)
}

fn ran(hours: i64, running: u64) -> Moment {
    let running = Duration::from_secs(running * 3_600);
    Moment { reading: ClockReading { wall: at(hours), running }, hold: DeletionHold::default() }
}

fn of(lifetime: &Lifetime, warned: &Warned, hours: i64) -> Vec<Step> {
    let notes = Notes { warned: warned.clone(), rested: Rested::new() };
    steps(std::slice::from_ref(lifetime), &notes, moment(hours))
}

/// What is done about a context that rests since `rested`.
fn resting(rested: Moment, now: Moment) -> Vec<Step> {
    let notes = Notes { rested: Rested::from([(id(), rested.reading)]), ..Notes::default() };
    steps(&[lifetime(false, Some(7))], &notes, now)
}

#[test]
fn a_lifetime_has_its_steps_in_order() {
    let (active, none) = (lifetime(true, Some(7)), Warned::new());
    let week = 7 * 24;
    assert_eq!(of(&active, &none, week - 25), []);
    assert!(matches!(of(&active, &none, week - 24)[..], [Step::Warn(_)]));
    assert!(matches!(of(&active, &none, week - 1)[..], [Step::Warn(_)]));
    assert_eq!(of(&active, &none, week), [Step::Rest(id())]);
    assert_eq!(of(&lifetime(false, Some(7)), &none, week - 1), [Step::Wake(id())]);
    assert_eq!(of(&lifetime(true, None), &none, 1 << 20), []);
    assert_eq!(of(&lifetime(false, None), &none, 0), [Step::Wake(id())]);
}

#[test]
fn a_month_of_rest_begins_when_it_is_noted_however_long_the_app_was_closed() {
    let (week, month) = (7 * 24, 30 * 24);
    // Closed for 40 days: laid to rest at the start, and seen as expired for a month.
    let back = ran(week + 40 * 24, 5);
    assert_eq!(steps(&[lifetime(true, Some(7))], &Notes::default(), back), [Step::Rest(id())]);
    assert_eq!(resting(back, ran(week + 40 * 24 + 1, 6)), []);
    assert_eq!(resting(back, ran(week + 40 * 24 + month - 1, 900)), []);
    assert_eq!(resting(back, ran(week + 40 * 24 + month, 28)), [], "a day of running time is needed too");
    assert_eq!(resting(back, ran(week + 40 * 24 + month, 29)), [Step::Trash(id())]);
    // One that was laid to rest by a version that noted nothing, in a restored vault, or by a clock that was ahead.
    assert_eq!(of(&lifetime(false, Some(7)), &Warned::new(), week + 9 * month), [Step::NoteRest(id())]);
    assert_eq!(resting(ran(week + 90 * month, 5), ran(week + 9 * month, 90)), [Step::NoteRest(id())]);
    assert_eq!(resting(ran(week, 5_000), ran(week + 9 * month, 90)), [Step::NoteRest(id())]);
}

#[test]
fn one_end_is_warned_about_once_and_another_again() {
    let active = lifetime(true, Some(7));
    let end = active.expires_at.unwrap().timestamp_millis();
    assert_eq!(of(&active, &Warned::from([(id(), end)]), 7 * 24 - 3), []);
    assert!(matches!(of(&active, &Warned::from([(id(), end - 1)]), 7 * 24 - 3)[..], [Step::Warn(_)]));
}

#[test]
fn a_lifetime_of_one_day_is_not_warned_about_with_every_message() {
    let day = lifetime(true, Some(1));
    for (hours, warns) in [(0, false), (11, false), (12, true), (23, true)] {
        assert_eq!(!of(&day, &Warned::new(), hours).is_empty(), warns, "after {hours} hours");
    }
}

#[test]
fn nothing_goes_to_the_trash_while_deletions_rest() {
    let rested = ran(7 * 24, 0);
    let mut late = ran(24 * 365 * 3, 30);
    late.hold = DeletionHold::default().after_jump(Duration::from_secs(10 * 3_600));
    assert_eq!(resting(rested, late), []);
    late.reading.running = Duration::from_secs(34 * 3_600);
    assert_eq!(resting(rested, late), [Step::Trash(id())]);
}

proptest! {
    /// Whatever the clock did: what is done at `now` follows from the end of the lifetime alone, and
    /// when the clock is right again nothing but the trash, which can be undone, tells that it was wrong.
    #[test]
    fn a_clock_that_jumps_takes_nothing_away(days in prop::option::of(1u32..3_650), jumps in prop::collection::vec(-26_280i64..26_280, 1..20)) {
        let mut context = lifetime(true, days);
        let (mut is_trash, mut notes, mut running) = (false, Notes::default(), 0);
        for hours in jumps.into_iter().chain([0]) {
            running += 13;
            let now = ran(hours, running);
            for step in steps(std::slice::from_ref(&context), &notes, now) {
                match step {
                    Step::Rest(_) => {
                        prop_assert!(expire_due(context.expires_at, at(hours)));
                        context.is_active = false;
                        notes.rested.insert(id(), now.reading);
                    }
                    Step::NoteRest(_) => { notes.rested.insert(id(), now.reading); }
                    Step::Wake(_) => { prop_assert!(!expire_due(context.expires_at, at(hours))); context.is_active = true; }
                    Step::Trash(_) => {
                        let rested = notes.rested[&id()];
                        prop_assert!(at(hours) - rested.wall >= EXPIRED_BEFORE_TRASH);
                        prop_assert!(now.reading.running - rested.running >= EXPIRED_IN_SIGHT);
                        is_trash = true;
                    }
                    Step::Warn(news) => prop_assert!(news.expires_at > at(hours)),
                }
            }
            if is_trash { break; }
        }
        prop_assert!(is_trash || context.is_active, "at hour 0 its lifetime is not over");
    }
}
