#![allow(clippy::unwrap_used)]

use super::*;
use crate::Context;
use chrono::TimeZone;
use proptest::prelude::*;

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

fn hours(count: u64) -> Duration {
    HOUR.saturating_mul(u32::try_from(count).unwrap())
}

fn reading(wall: DateTime<Utc>, running_hours: u64) -> ClockReading {
    ClockReading { wall, running: hours(running_hours) }
}

fn shown(due_since_hours: Option<u64>) -> TrashEntry {
    TrashEntry { deleted_at: noon(), shown_at: Some(noon()), due_since_running: due_since_hours.map(hours) }
}

#[test]
fn a_context_is_warned_in_its_last_day_expires_and_goes_to_the_trash() {
    let end = Some(noon());
    let at = |hours| noon() + TimeDelta::hours(hours);
    assert!(!warning_due(end, at(-25)) && warning_due(end, at(-24)) && warning_due(end, at(-1)) && !warning_due(end, at(0)));
    assert!(!expire_due(end, at(-1)) && expire_due(end, at(0)) && expire_due(end, at(1)));
    let ever = DateTime::<Utc>::MAX_UTC;
    assert!(!warning_due(None, ever) && !expire_due(None, ever));
}

#[test]
fn a_rest_lasts_a_month_and_a_day_of_running_time_whatever_was_before() {
    let rested = reading(noon(), 100);
    let after = |days: i64, running| trash_due(rested, reading(noon() + TimeDelta::days(days), running));
    assert!(!after(29, 900) && !after(30, 123) && after(30, 124));
    assert!(!after(-900, 900) && !after(900, 3), "a clock that went back, and a counter that was lost");
}

#[test]
fn an_entry_passes_every_gate_in_turn() {
    let free = DeletionHold::default();
    let step = |entry: TrashEntry, days: i64, running| purge_step(&entry, reading(noon() + TimeDelta::days(days), running), free);
    let unseen = TrashEntry { shown_at: None, ..shown(None) };
    assert_eq!(step(unseen, 4_000, 10_000), PurgeStep::NotShown);
    assert_eq!(step(shown(None), 5, 10), PurgeStep::Wait { wall: TimeDelta::days(2), running: hours(24) });
    assert_eq!(step(shown(None), 7, 10), PurgeStep::MarkDue);
    assert_eq!(step(shown(Some(10)), 7, 33), PurgeStep::Wait { wall: TimeDelta::zero(), running: hours(1) });
    assert_eq!(step(shown(Some(10)), 7, 34), PurgeStep::Purge);
}

#[test]
fn a_clock_that_goes_back_takes_the_mark_away() {
    let free = DeletionHold::default();
    assert_eq!(purge_step(&shown(Some(10)), reading(noon() - TimeDelta::days(900), 50), free), PurgeStep::Unmark);
    let deleted_later = TrashEntry { deleted_at: noon() + TimeDelta::days(5), ..shown(None) };
    let at = reading(noon() + TimeDelta::days(8), 0);
    assert_eq!(purge_step(&deleted_later, at, free), PurgeStep::Wait { wall: TimeDelta::days(4), running: hours(24) });
}

#[test]
fn a_lost_counter_of_running_time_starts_the_day_again() {
    let late = noon() + TimeDelta::days(30);
    assert_eq!(purge_step(&shown(Some(100)), reading(late, 3), DeletionHold::default()), PurgeStep::MarkDue);
}

#[test]
fn a_hold_rests_purging_and_is_not_made_longer_by_sleep() {
    let hold = DeletionHold::default().after_jump(hours(30));
    let late = noon() + TimeDelta::days(30);
    assert_eq!(
        purge_step(&shown(Some(10)), reading(late, 40), hold),
        PurgeStep::Wait { wall: TimeDelta::zero(), running: hours(14) }
    );
    assert_eq!(purge_step(&shown(Some(10)), reading(late, 54), hold), PurgeStep::Purge);
    assert_eq!(hold.after_jump(hours(40)), hold);
    assert!(hold.is_active(hours(53)) && !hold.is_active(hours(54)));
    assert_eq!(hold.after_jump(hours(77)), hold);
    assert_eq!(hold.after_jump(hours(78)).left(hours(78)), HOLD_AFTER_JUMP);
}

#[test]
fn a_laptop_that_sleeps_every_night_and_each_weekend_still_purges() {
    let mut entry = shown(None);
    let mut hold = DeletionHold::default();
    let mut watch = ClockWatch::new(ClockSample { wall: noon(), monotonic: Duration::ZERO });
    let mut slept = TimeDelta::zero();
    for hour in 1..=400 {
        if hour % 8 == 0 {
            slept += TimeDelta::hours(if hour % 40 == 0 { 64 } else { 16 });
        }
        let wall = noon() + TimeDelta::hours(i64::try_from(hour).unwrap()) + slept;
        let verdict = watch.observe(ClockSample { wall, monotonic: hours(hour) });
        if verdict != ClockVerdict::Steady {
            hold = hold.after_jump(hours(hour));
            entry.shown_at = entry.shown_at.map(|at| moved(at, verdict.moves(), wall));
        }
        match purge_step(&entry, reading(wall, hour), hold) {
            PurgeStep::MarkDue => entry.due_since_running = Some(hours(hour)),
            PurgeStep::Unmark => entry.due_since_running = None,
            PurgeStep::Purge => return,
            PurgeStep::NotShown | PurgeStep::Wait { .. } => {}
        }
    }
    panic!("never purged");
}

#[test]
fn the_watch_tells_jumps_from_drift() {
    let mut watch = ClockWatch::new(ClockSample { wall: noon(), monotonic: hours(1) });
    let sample = |minutes: i64, monotonic| ClockSample { wall: noon() + TimeDelta::minutes(minutes), monotonic };
    assert_eq!(watch.observe(sample(60, hours(2))), ClockVerdict::Steady);
    assert_eq!(watch.observe(sample(124, hours(3))), ClockVerdict::Steady);
    // Small steps add up.
    assert_eq!(watch.observe(sample(187, hours(4))), ClockVerdict::Jumped { by: TimeDelta::minutes(7) });
    assert_eq!(watch.observe(sample(247, hours(5))), ClockVerdict::Steady);
    assert_eq!(watch.observe(sample(-53, hours(5))), ClockVerdict::Jumped { by: TimeDelta::minutes(-300) });
    assert_eq!(watch.observe(sample(-53, hours(5))), ClockVerdict::Steady);
}

#[test]
fn a_start_long_after_or_before_the_last_one_is_a_jump() {
    let days = |count| noon() + TimeDelta::days(count);
    assert_eq!(ClockWatch::at_start(noon(), days(59)), ClockVerdict::Steady);
    assert_eq!(ClockWatch::at_start(noon(), days(1_000)), ClockVerdict::Jumped { by: TimeDelta::days(1_000) });
    assert_eq!(ClockWatch::at_start(noon(), days(-1)), ClockVerdict::Jumped { by: TimeDelta::days(-1) });
}

#[test]
fn a_run_purges_a_tenth_or_very_little() {
    assert_eq!((purge_allowance(10_000), purge_allowance(10_009), purge_allowance(0)), (1_000, 1_000, PURGE_LITTLE));
    assert_eq!(within_allowance(&[6, 3, 2, 1], 10), [true, true, false, true]);
    assert_eq!(within_allowance(&[11, 4], 10), [false, true], "what is above it alone waits for the user");
}

#[test]
fn a_long_sleep_moves_what_was_noted_and_a_night_does_not() {
    let by = |hours| ClockVerdict::Jumped { by: TimeDelta::hours(hours) }.moves();
    assert_eq!((by(16), by(-24), by(62), by(-25)), (hour(0), hour(0), hour(62), hour(-25)));
    let start = |hours| ClockWatch::moves_at_start(noon(), noon() + hour(hours));
    assert_eq!((start(20), start(-3), start(24 * 14), start(-48)), (hour(0), hour(0), hour(24 * 13), hour(-48)));
    assert_eq!(start(24 * 365), hour(24 * 365), "nobody is away for a year");
    let at = |hours| noon() + hour(hours);
    assert_eq!((moved(at(-10), hour(62), at(62)), moved(at(61), hour(62), at(62))), (at(52), at(62)));
    assert_eq!((moved(at(-10), hour(-62), at(-62)), moved(at(-63), hour(-62), at(-62))), (at(-72), at(-63)));
}

fn hour(count: i64) -> TimeDelta {
    TimeDelta::hours(count)
}

/// One thing that happens to a vault and its machine.
#[derive(Debug, Clone)]
enum Event {
    /// The app runs for so many hours, the clean-up each hour.
    Run(u8),
    /// The app is closed for so many hours.
    Off(u16),
    /// The clock is set by so many hours, while the app runs or while it is closed.
    Jump { by: i32, running: bool },
    /// The user sends a message.
    Interact,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let three_years = 3 * 365 * 24;
    let event = prop_oneof![
        4 => (1u8..40).prop_map(Event::Run),
        2 => (1u16..400).prop_map(Event::Off),
        2 => (-three_years..three_years, any::<bool>()).prop_map(|(by, running)| Event::Jump { by, running }),
        1 => Just(Event::Interact),
    ];
    prop::collection::vec(event, 1..40)
}

/// A machine whose true time is known, and one entry of its trash.
struct World {
    real: TimeDelta,
    running: u64,
    offset: TimeDelta,
    entry: TrashEntry,
    hold: DeletionHold,
    watch: ClockWatch,
    /// When it was shown, by the true time.
    shown: Option<TimeDelta>,
    /// Time that did not pass and that no rule can tell from a night's sleep or a pause.
    uncertain: TimeDelta,
    /// Running time since which each hour's run has found the entry due without a break.
    due_for: Option<u64>,
    purged: bool,
}

impl World {
    fn new() -> Self {
        let watch = ClockWatch::new(ClockSample { wall: noon(), monotonic: Duration::ZERO });
        let entry = TrashEntry { deleted_at: noon(), shown_at: None, due_since_running: None };
        let (real, offset) = (TimeDelta::zero(), TimeDelta::zero());
        let (hold, uncertain) = (DeletionHold::default(), TimeDelta::zero());
        Self { real, running: 0, offset, entry, hold, watch, shown: None, uncertain, due_for: None, purged: false }
    }

    fn wall(&self) -> DateTime<Utc> {
        noon() + self.real + self.offset
    }

    fn sample(&self) -> ClockSample {
        ClockSample { wall: self.wall(), monotonic: hours(self.running) }
    }

    /// The app starts `real` after it was closed, when the clock showed `last_seen`.
    fn start(&mut self, last_seen: DateTime<Utc>, real: TimeDelta) {
        self.watch = ClockWatch::new(self.sample());
        let (verdict, moves) = (ClockWatch::at_start(last_seen, self.wall()), ClockWatch::moves_at_start(last_seen, self.wall()));
        if verdict != ClockVerdict::Steady {
            self.hold = self.hold.after_jump(hours(self.running));
        }
        self.shift(moves);
        let counted = self.wall() - last_seen - moves;
        self.uncertain += (counted - real).max(TimeDelta::zero());
        let wall = self.wall();
        self.entry.shown_at.get_or_insert(wall);
        self.shown.get_or_insert(self.real);
    }

    /// The running app looks at its clock.
    fn notice(&mut self) {
        let verdict = self.watch.observe(self.sample());
        let ClockVerdict::Jumped { by } = verdict else { return };
        self.hold = self.hold.after_jump(hours(self.running));
        self.shift(verdict.moves());
        if verdict.moves().is_zero() {
            self.uncertain += by.max(TimeDelta::zero());
        }
    }

    fn shift(&mut self, by: TimeDelta) {
        let now = self.wall();
        self.entry.shown_at = self.entry.shown_at.map(|at| moved(at, by, now));
        if by < TimeDelta::zero() {
            self.entry.deleted_at = moved(self.entry.deleted_at, by, now);
        }
    }

    fn step(&mut self) -> PurgeStep {
        self.notice();
        let step = purge_step(&self.entry, reading(self.wall(), self.running), self.hold);
        match step {
            PurgeStep::MarkDue => self.entry.due_since_running = Some(hours(self.running)),
            PurgeStep::Unmark => self.entry.due_since_running = None,
            _ => {}
        }
        let is_due = self.entry.shown_at.is_some_and(|at| self.wall() - at.max(self.entry.deleted_at) >= TRASH_BEFORE_PURGE);
        self.due_for = is_due.then(|| self.due_for.unwrap_or(self.running));
        step
    }

    fn happen(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match event {
            Event::Interact => {}
            Event::Off(hours) => {
                self.notice();
                let (last_seen, pause) = (self.wall(), TimeDelta::hours(i64::from(*hours)));
                self.real += pause;
                self.start(last_seen, pause);
            }
            Event::Jump { by, running } => {
                self.notice();
                let last_seen = self.wall();
                self.offset += TimeDelta::hours(i64::from(*by));
                if !running {
                    self.start(last_seen, TimeDelta::zero());
                }
            }
            Event::Run(count) => {
                for _ in 0..*count {
                    if self.purged {
                        return Ok(());
                    }
                    let step = self.step();
                    self.judge(step)?;
                    self.real += TimeDelta::hours(1);
                    self.running += 1;
                }
            }
        }
        Ok(())
    }

    /// What must hold whenever an entry is purged.
    fn judge(&mut self, step: PurgeStep) -> Result<(), TestCaseError> {
        if step != PurgeStep::Purge {
            return Ok(());
        }
        self.purged = true;
        let shown_at = self.entry.shown_at.unwrap();
        prop_assert!(self.wall() - shown_at >= TRASH_BEFORE_PURGE, "before its time");
        let due_for = self.running - self.due_for.unwrap();
        prop_assert!(due_for >= 24, "found due for {due_for} hours of running time only");
        prop_assert!(!self.hold.is_active(hours(self.running)), "during a hold");
        let lay = self.real - self.shown.unwrap();
        prop_assert!(lay + self.uncertain >= TRASH_BEFORE_PURGE, "after {lay} of true time");
        Ok(())
    }
}

fn instant() -> impl Strategy<Value = DateTime<Utc>> {
    let (first, last) = (DateTime::<Utc>::MIN_UTC.timestamp(), DateTime::<Utc>::MAX_UTC.timestamp());
    prop_oneof![
        2 => (first..=last).prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap()),
        1 => Just(DateTime::<Utc>::MIN_UTC),
        1 => Just(DateTime::<Utc>::MAX_UTC),
    ]
}

fn running() -> impl Strategy<Value = Duration> {
    prop_oneof![(0u64..100_000).prop_map(Duration::from_secs), any::<u64>().prop_map(Duration::from_secs), Just(Duration::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_is_purged_before_its_time_or_because_the_clock_jumped(events in events()) {
        let mut world = World::new();
        world.start(noon(), TimeDelta::zero());
        for event in &events {
            world.happen(event)?;
        }
    }

    /// A clock set wrong by up to three years and mended within a day of running time changes nothing.
    #[test]
    fn a_jump_that_is_mended_in_time_purges_nothing(by in -26_280i64..26_280, lasts in 0u64..24, before in 0u64..100) {
        let mut world = World::new();
        world.start(noon(), TimeDelta::zero());
        for hour in 0..before + lasts + 24 {
            let wrong = (before..before + lasts).contains(&hour);
            world.offset = if wrong { TimeDelta::hours(by) } else { TimeDelta::zero() };
            prop_assert_ne!(world.step(), PurgeStep::Purge);
            world.real += TimeDelta::hours(1);
            world.running += 1;
        }
    }

    /// What nobody touches is purged in the end, whatever the clock did before it was right.
    #[test]
    fn with_a_right_clock_the_trash_empties(events in events()) {
        let mut world = World::new();
        world.start(noon(), TimeDelta::zero());
        for event in &events {
            world.happen(event)?;
        }
        // A clock that is behind when shown and one that is ahead then end alike: a week passes, and
        // at most a hold and the day between the two runs.
        for _ in 0..10 * 24 {
            world.happen(&Event::Run(1))?;
        }
        prop_assert!(world.purged);
    }

    /// A clock that is set wrong once, while the app runs or while it is closed, and stays wrong.
    #[test]
    fn a_clock_that_stays_wrong_leaves_a_real_week(by in -26_280i32..26_280, before in 0u8..200, running: bool) {
        let mut world = World::new();
        world.start(noon(), TimeDelta::zero());
        world.happen(&Event::Run(before))?;
        world.happen(&Event::Jump { by, running })?;
        while !world.purged {
            world.happen(&Event::Run(1))?;
            prop_assert!(world.real < TimeDelta::days(1_200), "it comes to an end");
        }
        let nights = TimeDelta::hours(if (1..=24).contains(&by) || (!running && (1..=1_440).contains(&by)) { 24 } else { 0 });
        prop_assert!(world.real + nights >= TRASH_BEFORE_PURGE, "{}", world.real);
    }

    /// Who opens the app for an evening a week waits longer, and not for ever.
    #[test]
    fn rare_use_empties_the_trash_too(pause in 25u16..1_440, used in 2u8..10) {
        let mut world = World::new();
        world.start(noon(), TimeDelta::zero());
        for _ in 0..80 {
            world.happen(&Event::Run(used))?;
            world.happen(&Event::Off(pause))?;
        }
        prop_assert!(world.purged);
    }

    /// Expiry over any history of interactions: the last one counts, and extending revives.
    #[test]
    fn extending_always_revives(last in instant(), now in instant(), days in 1u32..=3_650) {
        let end = Context::expiry(last, Some(days));
        if expire_due(end, now) {
            prop_assert!(now >= last);
        }
        let extended = Context::expiry(now, Some(days));
        prop_assert!(!expire_due(extended, now));
        prop_assert!(!(warning_due(extended, now) && expire_due(extended, now)));
    }

    #[test]
    fn expiry_follows_the_last_interaction(steps in prop::collection::vec((0i64..200, any::<bool>()), 1..30), days in 1u32..60) {
        let (mut now, mut last) = (noon(), noon());
        for (hours, interacts) in steps {
            now += TimeDelta::hours(hours);
            let end = Context::expiry(last, Some(days));
            prop_assert_eq!(expire_due(end, now), now - last >= TimeDelta::days(i64::from(days)));
            if interacts {
                last = now;
            }
        }
    }

    #[test]
    fn no_clock_makes_the_arithmetic_fail(
        (deleted_at, shown, wall) in (instant(), prop::option::of(instant()), instant()),
        (mark, now, held) in (prop::option::of(running()), running(), running()),
    ) {
        let entry = TrashEntry { deleted_at, shown_at: shown, due_since_running: mark };
        let hold = DeletionHold::default().after_jump(held);
        let step = purge_step(&entry, ClockReading { wall, running: now }, hold);
        if step == PurgeStep::Purge {
            prop_assert!(wall.signed_duration_since(shown.unwrap()) >= TRASH_BEFORE_PURGE);
            prop_assert!(now.saturating_sub(mark.unwrap()) >= PURGE_CONFIRMATION);
        }
        let mut watch = ClockWatch::new(ClockSample { wall: deleted_at, monotonic: held });
        let _ = watch.observe(ClockSample { wall, monotonic: now });
        let _ = ClockWatch::at_start(deleted_at, wall);
        let (before, after) = (ClockReading { wall: deleted_at, running: held }, ClockReading { wall, running: now });
        prop_assert!(!trash_due(before, after) || wall - deleted_at >= EXPIRED_BEFORE_TRASH);
        for moves in [ClockWatch::moves_at_start(deleted_at, wall), watch.observe(ClockSample { wall, monotonic: held }).moves()] {
            prop_assert!(moved(deleted_at, moves, wall) <= wall || deleted_at <= wall);
        }
        let (warned, over) = (warning_due(shown, wall), expire_due(shown, wall));
        prop_assert!(!(warned && over));
        prop_assert!(Context::expiry(wall, Some(u32::MAX)).is_none_or(|end| end > wall));
    }

    #[test]
    fn a_run_takes_a_tenth_or_very_little(weights in prop::collection::vec(0u64..5_000, 0..60), total in 0u64..100_000) {
        let allowance = purge_allowance(total);
        prop_assert!(allowance <= total / 10 || allowance == PURGE_LITTLE);
        let goes = within_allowance(&weights, allowance);
        let taken: u64 = weights.iter().zip(&goes).filter(|(_, goes)| **goes).map(|(weight, _)| weight).sum();
        prop_assert!(taken <= allowance);
        if let Some(first) = weights.iter().position(|weight| *weight <= allowance) {
            prop_assert!(goes[first], "the one that was deleted first goes, if it may at all");
        }
    }
}
