//! What the scheduler asks of the store: lifetimes, what can be forgotten, and room given back.

use crate::room::{KEY, Room, at, context, context_id, conversation, conversation_id, message, message_id};
use evenkeel_store::{SCHEMA_VERSION, Store};

#[test]
fn lifetimes_are_those_that_end_or_rest_outside_the_trash() {
    let room = Room::new();
    room.write(|write| {
        for number in 1..=5 {
            let (mut one, revision) = context(number, &format!("Context {number}"));
            one.expires_at = if number == 2 { None } else { Some(at(9_000 - i64::try_from(number).unwrap())) };
            write.insert_context(&one, &revision)?;
        }
        write.trash_context(context_id(3), at(4))?;
        write.set_context_active(context_id(4), false, at(4))?;
        write.purge_context(context_id(5), at(4))
    });
    let lifetimes = room.read(|read| read.lifetimes());
    let found: Vec<_> = lifetimes.iter().map(|one| (one.context_id, one.is_active)).collect();
    assert_eq!(found, [(context_id(4), false), (context_id(1), true)], "those that end first before the others");
    assert_eq!((lifetimes[1].name.as_str(), lifetimes[1].last_interaction_at), ("Context 1", at(1)));
    assert_eq!(lifetimes[1].expires_at, Some(at(8_999)));
    room.write(|write| write.set_context_active(context_id(2), false, at(5)));
    assert_eq!(room.read(|read| read.lifetimes())[2].expires_at, None, "one without an end that is switched off");
    assert_eq!(room.read(|read| read.vault_weight()), 4, "of what is purged nothing is weighed");
}

#[test]
fn deleted_messages_are_counted_by_their_time() {
    let room = Room::furnished();
    room.write(|write| {
        write.insert_message(message(1, None))?;
        write.delete_message(message_id(1), at(10))
    });
    assert_eq!(
        (room.read(|read| read.deleted_message_count(at(10))), room.read(|read| read.deleted_message_count(at(11)))),
        (0, 1)
    );
}

#[test]
fn looking_at_the_schema_changes_nothing() {
    let room = Room::furnished();
    let path = room.path();
    assert_eq!(Store::schema(&path, &KEY).unwrap(), SCHEMA_VERSION);
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("vault.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/vault-v1.db"), &old).unwrap();
    let before = std::fs::read(&old).unwrap();
    assert_eq!(Store::schema(&old, &KEY).unwrap(), 1);
    assert!(std::fs::read(&old).unwrap() == before);
    assert!(Store::schema(&old, &[7; 32]).is_err() && Store::schema(&folder.path().join("none.db"), &KEY).is_err());
}

fn bytes(room: &Room, end: &str) -> u64 {
    let name = format!("{}{end}", room.path().display());
    std::fs::metadata(name).map_or(0, |file| file.len())
}

#[test]
fn what_was_deleted_gives_its_room_back_to_the_disk() {
    let room = Room::furnished();
    room.write(|write| {
        write.insert_conversation(&conversation(2, 1))?;
        for number in 1..=400 {
            let mut one = message(number, (number > 1).then(|| number - 1));
            one.conversation_id = conversation_id(2);
            one.content = format!("message {number} ").repeat(400);
            write.insert_message(one)?;
        }
        write.delete_conversation(conversation_id(2))
    });
    let sizes = room.read(|read| read.vault_statistics());
    let free = sizes.free_bytes;
    assert!(free > 1_000_000, "{free}");
    assert_eq!(room.read(|read| read.used_bytes()), sizes.database_bytes - free);
    let mut asked = 0;
    let partly = room.store.compact(&mut || {
        asked += 1;
        false
    });
    assert_eq!((partly.unwrap(), asked), (256 * 4_096, 1), "it stops where it is asked to");
    let given = room.store.compact(&mut || true).unwrap();
    assert_eq!(given + 256 * 4_096, free);
    assert_eq!(room.read(|read| read.vault_statistics()).free_bytes, 0);
    assert!(bytes(&room, "") < 1_000_000 && bytes(&room, "-wal") == 0, "{} {}", bytes(&room, ""), bytes(&room, "-wal"));
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
    assert_eq!(room.store.compact(&mut || true).unwrap(), 0);
    room.write(|write| write.insert_message(message(500, None)));
    assert_eq!(room.reopened().store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn nobody_waits_for_a_full_check_and_one_that_is_stopped_finds_nothing() {
    let room = Room::furnished();
    room.write(|write| (1..=600).try_for_each(|number| write.insert_message(message(number, None)).map(drop)));
    let (began, has_begun) = std::sync::mpsc::channel();
    let (go, waits) = std::sync::mpsc::channel::<()>();
    // Parks the check in its middle, where it holds what it holds.
    let waits = std::sync::Mutex::new(Some(waits));
    let parked = move || {
        if let Some(waits) = waits.lock().unwrap().take() {
            began.send(()).unwrap();
            waits.recv().unwrap();
        }
        true
    };
    let store = &room.store;
    let found = std::thread::scope(|scope| {
        let check = scope.spawn(move || store.full_check_while(parked).unwrap());
        has_begun.recv().unwrap();
        room.write(|write| write.insert_message(message(601, None)));
        let readers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| store.read(|read| Ok(read.message(message_id(601))?.is_some())).unwrap())).collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap()), "what was written meanwhile is read");
        go.send(()).unwrap();
        check.join().unwrap()
    });
    assert_eq!(found, Some(Vec::new()));
    assert_eq!(room.store.full_check_while(|| false).unwrap(), None);
}

#[test]
fn a_log_that_stands_beside_a_database_tells_of_an_unclean_end() {
    let room = Room::furnished();
    let (path, log) = (room.path(), room.path().with_extension("db-wal"));
    let left = std::fs::read(&log).unwrap();
    assert!(Store::was_left_open(&path), "it is open now");
    let Room { folder: _folder, store } = room;
    drop(store);
    assert!(!Store::was_left_open(&path));
    std::fs::write(log, left).unwrap();
    assert!(Store::was_left_open(&path));
}
