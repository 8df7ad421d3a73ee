//! Readers beside the writer, several handles, several processes, and who is told of what.

use crate::durability::child;
use crate::room::{KEY, Room, at, conversation, conversation_id, furnish, message, message_id};
use evenkeel_domain::ErrorCode;
use evenkeel_store::{Change, Deed, Noun, Store, StoreError};
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex, mpsc};

/// A connection beside the store, as another program with the key would have it.
pub fn raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    let hex = KEY.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    connection.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"; PRAGMA cipher_log_level = NONE;")).unwrap();
    connection
}

#[test]
fn a_reader_sees_what_is_committed_and_nothing_that_comes_later() {
    let room = Room::furnished();
    room.store
        .read(|read| {
            assert_eq!(read.message(message_id(1))?, None);
            std::thread::scope(|scope| {
                scope.spawn(|| room.store.write(|write| write.insert_message(message(1, None))).unwrap());
            });
            assert_eq!(read.message(message_id(1))?, None, "its view is the one it began with");
            Ok(())
        })
        .unwrap();
    assert!(room.store.read(|read| read.message(message_id(1))).unwrap().is_some());
}

#[test]
fn a_write_reads_itself_and_is_undone_by_any_error() {
    let room = Room::furnished();
    let result: Result<(), StoreError> = room.store.write(|write| {
        write.insert_message(message(1, None))?;
        assert!(write.message(message_id(1))?.is_some());
        write.delete_conversation(conversation_id(9))
    });
    assert_eq!(result.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(room.store.read(|read| read.message(message_id(1))).unwrap(), None);
}

#[test]
fn a_panic_inside_a_write_leaves_the_store_usable() {
    let room = Room::furnished();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = room.store.write(|write| -> Result<(), StoreError> {
            write.insert_message(message(1, None))?;
            panic!("a defect of the caller");
        });
    }));
    assert!(panicked.is_err());
    room.store.write(|write| write.insert_message(message(3, None))).unwrap();
    assert_eq!(room.conversation(1).message_count, 1);
}

#[test]
fn a_nested_call_fails_instead_of_waiting_for_ever() {
    let room = Room::furnished();
    let nested = room.store.read(|_| room.store.read(|read| read.settings()));
    assert_eq!(nested.unwrap_err().code(), ErrorCode::Internal);
    let nested = room.store.write(|_| room.store.write(|write| write.rename_conversation(conversation_id(1), "x")));
    assert_eq!(nested.unwrap_err().code(), ErrorCode::Internal);
    room.store.write(|write| write.rename_conversation(conversation_id(1), "y")).unwrap();
}

#[test]
fn changes_are_told_once_and_only_after_the_commit() {
    let room = Room::furnished();
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let subscription = room.store.subscribe(move |change| sender.lock().unwrap().send(change.clone()).unwrap());
    room.store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.insert_message(message(2, Some(1)))?;
            assert!(receiver.try_recv().is_err(), "nothing before the commit");
            Ok(())
        })
        .unwrap();
    let told: Vec<Change> = receiver.try_iter().collect();
    let conversation = Change::of(Noun::Conversation, conversation_id(1));
    let of = |number| Change { deed: Deed::Made, ..Change::of(Noun::Message, message_id(number)) };
    assert_eq!(told, [of(1), conversation, of(2)]);
    assert_eq!(serde_json::to_string(&Change::of(Noun::ModelFile, "a")).unwrap(), r#"{"noun":"modelFile","id":"a"}"#);

    room.store.write(|write| write.delete_message(message_id(2), at(700))).unwrap();
    room.store.write(|write| write.restore_message(message_id(2))).unwrap();
    let deeds = receiver.try_iter().filter(|change| change.noun == Noun::Message).map(|change| change.deed);
    assert_eq!(deeds.collect::<Vec<_>>(), [Deed::Gone, Deed::Made]);

    room.store
        .write(|write| {
            write.rename_conversation(conversation_id(1), "never")?;
            write.delete_message(message_id(77), at(700))
        })
        .unwrap_err();
    assert_eq!(receiver.try_iter().count(), 0, "nothing of what was undone");
    drop(subscription);
    room.store.write(|write| write.rename_conversation(conversation_id(1), "unheard")).unwrap();
    assert_eq!(receiver.try_iter().count(), 0);
}

#[test]
fn many_changes_of_one_write_are_told_as_one() {
    let room = Room::furnished();
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let _subscription = room.store.subscribe(move |change| kept.lock().unwrap().push(change.clone()));
    let conversation = |number| Change::of(Noun::Conversation, conversation_id(number));
    let all = |noun| Change::of(noun, "");
    let write = |messages: std::ops::Range<u64>| {
        let mut messages = messages;
        room.store.write(|write| messages.try_for_each(|number| write.insert_message(message(number, None)).map(drop))).unwrap();
        std::mem::take(&mut *told.lock().unwrap())
    };
    assert_eq!(write(1..9).len(), 9, "eight messages and their conversation");
    assert_eq!(write(20..60), [all(Noun::Message), conversation(1)]);

    let threads: Vec<_> = (100..140).map(conversation_id).collect();
    room.store
        .write(|write| (100..140).try_for_each(|number| write.insert_conversation(&crate::room::conversation(number, 1))))
        .unwrap();
    told.lock().unwrap().clear();
    room.store.write(|write| write.trash_conversations(&threads, at(700))).unwrap();
    room.store.write(|write| write.mark_trash_shown(at(800))).unwrap();
    assert_eq!(*told.lock().unwrap(), [all(Noun::Conversation), all(Noun::Conversation)]);
}

#[test]
fn a_subscriber_may_use_the_store_and_finds_the_change_there() {
    let room = Room::new();
    let store = Arc::new(Store::open(&room.path(), &KEY, at(0)).unwrap());
    furnish(&store);
    let (seen, weak) = (Arc::new(Mutex::new(Vec::new())), Arc::downgrade(&store));
    let kept = Arc::clone(&seen);
    let _subscription = store.subscribe(move |change| {
        if change.noun == Noun::Message {
            let found = weak.upgrade().unwrap().read(|read| read.message(change.id.parse().unwrap())).unwrap();
            kept.lock().unwrap().push(found.is_some());
        }
    });
    store.write(|write| write.insert_message(message(1, None))).unwrap();
    assert_eq!(*seen.lock().unwrap(), [true]);
}

#[test]
fn more_readers_than_connections_take_turns() {
    let room = Room::furnished();
    room.store.write(|write| write.insert_message(message(1, None))).unwrap();
    let all_in = Barrier::new(4);
    std::thread::scope(|scope| {
        // Four hold a connection each until all of them have one; only then do the others get theirs.
        for _ in 0..4 {
            scope.spawn(|| {
                room.store
                    .read(|read| {
                        all_in.wait();
                        read.message(message_id(1))
                    })
                    .unwrap()
                    .unwrap()
            });
        }
        for _ in 0..12 {
            scope.spawn(|| room.store.read(|read| read.settings()).unwrap());
        }
    });
    room.store.shrink().unwrap();
    assert!(room.store.read(|read| read.message(message_id(1))).unwrap().is_some());
}

#[test]
fn two_handles_write_in_turn_and_notice_each_other() {
    let room = Room::furnished();
    let other = Store::open(&room.path(), &KEY, at(0)).unwrap();
    room.store.write(|write| write.insert_conversation(&conversation(2, 1))).unwrap();
    let chain = |store: &Store, number: u64, first: u64| {
        for n in first..first + 30 {
            let mut one = message(n, (n > first).then(|| n - 1));
            one.conversation_id = conversation_id(number);
            store.write(|write| write.insert_message(one)).unwrap();
        }
    };
    assert!(other.notice_other_processes().unwrap());
    assert!(!room.store.notice_other_processes().unwrap(), "its own writes are no news");
    std::thread::scope(|scope| {
        scope.spawn(|| chain(&room.store, 1, 100));
        scope.spawn(|| chain(&other, 2, 200));
    });
    assert!(room.store.notice_other_processes().unwrap() && other.notice_other_processes().unwrap());
    assert!(!other.notice_other_processes().unwrap());
    assert_eq!((room.conversation(1).message_count, room.conversation(2).message_count), (30, 30));
    assert_eq!(room.store.read(|read| read.path(message_id(229), 99)).unwrap().len(), 30);
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn two_processes_write_at_the_same_time() {
    let room = Room::furnished();
    room.store.write(|write| write.insert_conversation(&conversation(2, 1))).unwrap();
    let mut process = child(&room.path(), 2, 40);
    for n in 1..=40 {
        room.store.write(|write| write.insert_message(message(n, (n > 1).then(|| n - 1)))).unwrap();
    }
    assert!(process.wait().unwrap().success());
    assert!(room.store.notice_other_processes().unwrap());
    assert_eq!((room.conversation(1).message_count, room.conversation(2).message_count), (40, 40));
}

#[test]
fn a_writer_that_is_kept_waiting_says_who_is_in_the_way() {
    let room = Room::furnished();
    let outside = raw(&room.path());
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = room.store.write(|write| write.rename_conversation(conversation_id(1), "x")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultInUse);
    // Reading goes on meanwhile.
    assert_eq!(room.conversation(1).title, "Thread 1");
}

#[test]
fn the_log_of_a_vault_in_use_outlives_another_process_that_closes_it() {
    let room = Room::furnished();
    let log = room.folder.path().join("vault.db-wal");
    // Readers must not cost this process its locks.
    room.read(|read| read.settings());
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
    let before = std::fs::metadata(&log).unwrap();
    let mut other = child(&room.path(), 1, 3);
    assert!(other.wait().unwrap().success());
    assert!(log.exists(), "the other process took itself for the last one and removed the log");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert_eq!(std::fs::metadata(&log).unwrap().ino(), before.ino(), "the log is another file");
    }
    room.write(|write| write.insert_message(message(77, None)));
    // A third process sees it, and a kill now would not lose it.
    let mut third = child(&room.path(), 1, 1);
    assert!(third.wait().unwrap().success());
    assert_eq!(room.conversation(1).message_count, 5);
    let folder = tempfile::tempdir().unwrap();
    for name in ["vault.db", "vault.db-wal"] {
        std::fs::copy(room.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    let killed = Store::open(&folder.path().join("vault.db"), &KEY, at(0)).unwrap();
    assert!(killed.read(|read| read.message(message_id(77))).unwrap().is_some());
}
