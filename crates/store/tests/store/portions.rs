//! Purging in portions, weighing, and times that move with the clock.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, message, message_id};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ClockReading, ContextId, ConversationId, DraftKey, TrashId, TrashItem, TrashSummary};
use evenkeel_store::{Purge, StoreError, state_key};
use std::collections::BTreeMap;
use std::time::Duration;

/// Messages of the large conversation, of which a few are deleted.
const MANY: u64 = 450;

/// Context 1 with a large conversation, which branches, and many small ones; all of it in the trash.
fn large() -> Room {
    let room = Room::furnished();
    room.write(|write| {
        for n in 1..=MANY {
            // Each tenth one begins a branch at the one before its parent.
            let parent = if n % 10 == 0 { n - 2 } else { n.saturating_sub(1) };
            write.insert_message(message(n, (n > 1).then_some(parent)))?;
        }
        for n in 2..=40 {
            write.insert_conversation(&conversation(n, 1))?;
            for place in 0..8 {
                let mut one = message(1_000 * n + place, None);
                one.conversation_id = conversation_id(n);
                write.insert_message(one)?;
            }
        }
        for n in [5, 6, 7, 200, MANY] {
            write.delete_message(message_id(n), at(20))?;
        }
        write.put_composer_draft(DraftKey::Conversation(conversation_id(1)), "half a thought", at(21))?;
        write.trash_context(context_id(1), at(30))
    });
    room
}

fn item(room: &Room) -> TrashItem {
    room.read(|read| read.trash()).remove(0)
}

fn messages(room: &Room) -> u64 {
    let count = |id: ContextId| room.read(|read| read.message_count(id));
    count(context_id(1)) + room.read(|read| read.deleted_message_count(at(1_000)))
}

#[test]
fn a_large_context_goes_in_portions_and_can_be_cut_off_between_any_two() {
    let room = large();
    let (item, all) = (item(&room), messages(&room));
    assert_eq!(item.weight, 1 + 40 + all);
    let (mut before, mut rounds) = (all, 0);
    loop {
        let mut left = 1;
        let purged = room.store.purge(&item, at(50), &mut || {
            left -= 1;
            left >= 0
        });
        rounds += 1;
        if purged.unwrap() == Purge::Gone {
            break;
        }
        let now = messages(&room);
        assert!(before - now <= 200, "{} messages in one transaction", before - now);
        before = now;
        assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
        let unfinished = room.read(|read| read.unfinished_purges());
        assert_eq!((unfinished.len(), unfinished[0].id), (1, item.id), "it is taken up again");
        assert_eq!(room.read(|read| read.trash()), [], "half of it does not come back");
        if let Some(large) = room.read(|read| read.conversation(conversation_id(1))) {
            let path = large.active_leaf_id.map_or(0, |leaf| room.read(|read| read.path(leaf, u32::MAX)).len());
            assert!(path > 0 || large.message_count == 0, "what is left can be read");
        }
    }
    assert!(rounds >= 5, "{rounds}");
    assert_eq!((room.read(|read| read.trash()), room.read(|read| read.vault_weight())), (vec![], 0));
    assert_eq!(room.read(|read| read.context(context_id(1))), None);
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn what_a_purge_has_begun_with_does_not_come_back_in_half() {
    let room = large();
    let (item, talk) = (item(&room), conversation_id(1));
    let mut portions = 0;
    let purged = room.store.purge(&item, at(50), &mut || {
        portions += 1;
        portions < 3
    });
    assert_eq!(purged.unwrap(), Purge::Stopped);
    let refused = room.store.write(|write| write.restore_context(context_id(1), at(60), None)).unwrap_err();
    assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
    assert_eq!(room.store.purge(&item, at(70), &mut || true).unwrap(), Purge::Gone);
    assert_eq!((room.read(|read| read.unfinished_purges()), room.read(|read| read.vault_weight())), (vec![], 0));

    let room = large();
    room.write(|write| write.restore_context(context_id(1), at(40), None));
    assert_eq!(room.store.purge(&item, at(45), &mut || true).unwrap(), Purge::Kept, "it is in the trash no more");
    room.write(|write| write.trash_conversations(&[talk], at(50)));
    let listed = room.read(|read| read.trash()).remove(0);
    assert_eq!(room.store.purge(&listed, at(60), &mut || false).unwrap(), Purge::Stopped);
    assert_eq!(room.write(|write| write.restore_conversations(&[talk])), []);
    // Deleted again later, it is another entry.
    room.write(|write| write.trash_context(context_id(1), at(60)));
    assert_eq!(room.store.purge(&item, at(70), &mut || true).unwrap(), Purge::Kept);
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_too_much_for_a_run_says_so() {
    let room = large();
    assert!(item(&room).waits && item(&room).weight > MANY, "it is the whole vault");
    room.write(|write| write.restore_context(context_id(1), at(40), None));
    room.write(|write| write.trash_conversations(&[conversation_id(2)], at(50)));
    assert_eq!((item(&room).weight, item(&room).waits), (9, false));
}

#[test]
fn others_write_between_the_portions() {
    let room = large();
    let item = item(&room);
    let (beside, longest) = (std::sync::atomic::AtomicBool::new(true), std::sync::Mutex::new(Duration::ZERO));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while beside.load(std::sync::atomic::Ordering::Relaxed) {
                let began = std::time::Instant::now();
                room.store.write(|write| write.add_running_ms(1)).unwrap();
                let mut longest = longest.lock().unwrap();
                *longest = (*longest).max(began.elapsed());
            }
        });
        assert_eq!(room.store.purge(&item, at(50), &mut || true).unwrap(), Purge::Gone);
        beside.store(false, std::sync::atomic::Ordering::Relaxed);
    });
    let (writes, longest) = (room.read(|read| read.running_ms()), *longest.lock().unwrap());
    println!("{writes} writes beside the purge, the longest took {longest:?}");
    assert!(writes >= 5, "{writes} writes got through");
}

#[test]
fn one_conversation_is_weighed_and_purged_alone() {
    let room = large();
    room.write(|write| {
        write.restore_context(context_id(1), at(40), None)?;
        write.trash_conversations(&[conversation_id(1), conversation_id(2)], at(41))
    });
    let trash = room.read(|read| read.trash());
    let of = |id: ConversationId| trash.iter().find(|item| item.id == TrashId::Conversation(id)).unwrap();
    let weights = [1, 2].map(|n| of(conversation_id(n)).weight);
    assert_eq!(weights, [1 + MANY, 9]);
    assert_eq!(room.read(|read| read.vault_weight()), 1 + 40 + MANY + 39 * 8);
    assert_eq!(room.read(|read| read.trash_summary()), TrashSummary { count: 2, oldest: Some(at(41)) });
    assert_eq!(of(conversation_id(1)).context_name.as_deref(), Some("Calm Counselor"));
    assert_eq!(
        (of(conversation_id(1)).title.as_str(), of(conversation_id(1)).context_id),
        (conversation(1, 1).title.as_str(), Some(context_id(1)))
    );
    assert_eq!(room.store.purge(of(conversation_id(1)), at(50), &mut || true).unwrap(), Purge::Gone);
    assert_eq!(room.read(|read| read.conversation(conversation_id(1))), None);
    assert_eq!(room.read(|read| read.conversation_count(Some(context_id(1)))), 38);
}

#[test]
fn some_deleted_messages_are_forgotten_the_first_deleted_first() {
    let room = Room::furnished();
    room.write(|write| {
        for n in 1..=5 {
            write.insert_message(message(n, (n > 1).then(|| n - 1)))?;
        }
        for (n, when) in [(2, 13), (3, 12), (4, 11)] {
            write.delete_message(message_id(n), at(when))?;
        }
        Ok(())
    });
    assert_eq!(room.write(|write| write.forget_some_deleted_messages(at(14), 2)), 2);
    let left: Vec<_> = room.read(|read| read.deleted_messages(conversation_id(1))).iter().map(|one| one.id).collect();
    assert_eq!(left, [message_id(2)]);
}

#[test]
fn times_move_with_a_clock_that_jumped() {
    let room = Room::furnished();
    let (other, revision) = context(2, "Rational Advisor");
    let hour = TimeDelta::hours(1);
    let began: DateTime<Utc> = at(0);
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_message(message(1, None))?;
        write.delete_message(message_id(1), began)?;
        write.trash_context(context_id(2), began)?;
        write.mark_trash_shown(began)?;
        write.put_composer_draft(DraftKey::Context(context_id(1)), "half a thought", began)?;
        let reading = ClockReading { wall: began, running: Duration::from_secs(9) };
        write.put_app_state(state_key::SWEPT, &serde_json::to_string(&reading).unwrap())?;
        write.put_app_state(state_key::RESTED, &serde_json::to_string(&BTreeMap::from([("a", reading)])).unwrap())?;
        write.put_app_state(state_key::SET_ASIDE, "not readable")
    });
    let seen = |room: &Room| {
        let item = room.read(|read| read.trash()).remove(0);
        let swept: ClockReading = serde_json::from_str(&room.read(|read| read.app_state(state_key::SWEPT)).unwrap()).unwrap();
        let rested: BTreeMap<String, ClockReading> =
            serde_json::from_str(&room.read(|read| read.app_state(state_key::RESTED)).unwrap()).unwrap();
        assert_eq!((swept.running, rested["a"]), (Duration::from_secs(9), swept));
        let is_deleted_before = |time| room.read(|read| read.deleted_message_count(time)) == 1;
        let shown = item.shown_at.unwrap();
        assert!(!is_deleted_before(shown) && is_deleted_before(shown + TimeDelta::milliseconds(1)));
        (item.deleted_at, shown, swept.wall)
    };
    // Two hours passed, then the clock was set three years ahead: two hours have passed.
    let ahead = began + hour * 24 * 1_000;
    room.write(|write| write.move_times(hour * (24 * 1_000 - 2), ahead));
    assert_eq!(seen(&room), (began, ahead - hour * 2, ahead - hour * 2));
    // An hour later it is set right.
    let right = began + hour * 3;
    room.write(|write| write.move_times(hour * -(24 * 1_000 - 2), right));
    assert_eq!(seen(&room), (began, began, began));
    // Farther back than it ever was: what would lie in the future moves too.
    let early = began - hour * 1_000;
    room.write(|write| write.move_times(hour * -1_003, early));
    assert_eq!(seen(&room), (early - hour * 3, early - hour * 3, early - hour * 3));
    for (by, now) in [(TimeDelta::MAX, DateTime::<Utc>::MAX_UTC), (TimeDelta::MIN, DateTime::<Utc>::MIN_UTC)] {
        let by = by.clamp(TimeDelta::days(-190_000_000), TimeDelta::days(190_000_000));
        room.write(|write| write.move_times(by, now));
        assert!(room.read(|read| read.trash()).remove(0).shown_at.unwrap() <= now);
    }
}
