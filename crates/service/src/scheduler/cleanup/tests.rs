use super::*;
use chrono::TimeDelta;
use evenkeel_domain::{ContextId, DeletionHold};
use proptest::prelude::*;

const DAY: i64 = 86_400;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(seconds)
}

fn moment(wall: i64, running: u64) -> Moment {
    Moment { reading: ClockReading { wall: at(wall), running: Duration::from_secs(running) }, hold: DeletionHold::default() }
}

fn item(mark: Option<u64>) -> TrashItem {
    let id = TrashId::Context(ContextId::from_parts(at(0), [1; 10]));
    let (title, context_id, context_name) = ("Ada".to_owned(), None, None);
    TrashItem {
        id,
        title,
        context_id,
        context_name,
        weight: 1,
        waits: false,
        deleted_at: at(0),
        shown_at: Some(at(0)),
        purge_due_running_ms: mark,
    }
}

#[test]
fn two_runs_a_day_of_running_time_apart_purge() {
    let judge = |mark, wall, running| {
        let (marks, due) = judged(vec![item(mark)], moment(wall, running));
        (marks.first().map(|(_, mark)| *mark), due.len())
    };
    assert_eq!(judge(None, 7 * DAY - 1, 5), (None, 0));
    assert_eq!(judge(None, 7 * DAY, 5), (Some(Some(5_000)), 0));
    assert_eq!(judge(Some(5_000), 7 * DAY, 5 + 86_399), (None, 0));
    assert_eq!(judge(Some(5_000), 7 * DAY, 5 + 86_400), (None, 1));
    assert_eq!(judge(Some(5_000), 6 * DAY, 5 + 86_400), (Some(None), 0));
}

#[test]
fn what_has_no_mark_gets_two_looks_too() {
    let look = moment(0, 1).reading;
    assert_eq!(swept(None, moment(0, 1)), (None, true));
    assert_eq!(swept(Some(look), moment(DAY, 86_400)), (None, false));
    assert_eq!(swept(Some(look), moment(DAY, 86_401)), (Some(look), true));
    assert_eq!(swept(Some(look), moment(-1, 86_401)), (None, true), "the clock was ahead");
    assert_eq!(swept(Some(look), moment(DAY, 0)), (None, true), "the counter was lost");
    let held = Moment { hold: DeletionHold::default().after_jump(Duration::from_secs(80_000)), ..moment(DAY, 86_401) };
    assert_eq!(swept(Some(look), held), (None, false));
}

proptest! {
    /// A day of running time lies between two looks, whatever the clock did, and what is forgotten
    /// lay a week by the clock of the earlier one.
    #[test]
    fn forgetting_waits_for_a_day_of_running_time(steps in prop::collection::vec((-94_608_000i64..94_608_000, 0u64..40_000), 1..40)) {
        let (mut look, mut running, mut noted_at) = (None, 0, 0);
        for (wall, ran) in steps {
            running += ran;
            let now = moment(wall, running);
            let (ripe, again) = swept(look, now);
            if let Some(ripe) = ripe {
                prop_assert!(running - noted_at >= 86_400);
                prop_assert_eq!(look, Some(ripe));
                prop_assert!(limit(ripe) <= now.reading.wall - TRASH_BEFORE_PURGE);
            }
            if again {
                look = Some(now.reading);
                noted_at = running;
            }
        }
    }
}
