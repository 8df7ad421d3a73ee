#![allow(clippy::unwrap_used)]

use super::*;
use chrono::TimeDelta;
use evenkeel_domain::{ClockReading, Context, DeletionHold, EXPIRED_BEFORE_TRASH};
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
    Moment { reading: ClockReading { wall: at(hours), running: Duration::ZERO }, hold: DeletionHold::default() }
}

fn of(lifetime: &Lifetime, warned: &Warned, hours: i64) -> Vec<Step> {
    steps(std::slice::from_ref(lifetime), warned, moment(hours))
}

#[test]
fn a_lifetime_has_its_steps_in_order() {
    let (active, resting, none) = (lifetime(true, Some(7)), lifetime(false, Some(7)), Warned::new());
    let week = 7 * 24;
    assert_eq!(of(&active, &none, week - 25), []);
    assert!(matches!(of(&active, &none, week - 24)[..], [Step::Warn(_)]));
    assert!(matches!(of(&active, &none, week - 1)[..], [Step::Warn(_)]));
    assert_eq!(of(&active, &none, week), [Step::Rest(id())]);
    assert_eq!(of(&resting, &none, week), []);
    assert_eq!(of(&resting, &none, week + 30 * 24 - 1), []);
    assert_eq!(of(&resting, &none, week + 30 * 24), [Step::Trash(id())]);
    assert_eq!(of(&resting, &none, week - 1), [Step::Wake(id())]);
    assert_eq!(of(&lifetime(true, None), &none, 1 << 20), []);
    assert_eq!(of(&lifetime(false, None), &none, 0), [Step::Wake(id())]);
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
    let resting = lifetime(false, Some(7));
    let mut late = moment(24 * 365 * 3);
    late.hold = DeletionHold::default().after_jump(Duration::ZERO);
    assert_eq!(steps(std::slice::from_ref(&resting), &Warned::new(), late), []);
    late.reading.running = Duration::from_secs(24 * 3_600);
    assert_eq!(steps(&[resting], &Warned::new(), late), [Step::Trash(id())]);
}

proptest! {
    /// Whatever the clock did: what is done at `now` follows from the end of the lifetime alone, and
    /// when the clock is right again nothing but the trash, which can be undone, tells that it was wrong.
    #[test]
    fn a_clock_that_jumps_takes_nothing_away(days in prop::option::of(1u32..3_650), jumps in prop::collection::vec(-26_280i64..26_280, 1..20)) {
        let mut context = lifetime(true, days);
        let mut is_trash = false;
        for hours in jumps.into_iter().chain([0]) {
            for step in of(&context, &Warned::new(), hours) {
                match step {
                    Step::Rest(_) => { prop_assert!(expire_due(context.expires_at, at(hours))); context.is_active = false; }
                    Step::Wake(_) => { prop_assert!(!expire_due(context.expires_at, at(hours))); context.is_active = true; }
                    Step::Trash(_) => {
                        prop_assert!(at(hours) - context.expires_at.unwrap() >= EXPIRED_BEFORE_TRASH);
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
