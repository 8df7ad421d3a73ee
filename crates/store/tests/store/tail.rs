//! A log that has lost its end is noticed, and nothing is made of that but an error.

use crate::room::{KEY, Room, at, context_id, message, message_id};
use evenkeel_domain::{DraftKey, ErrorCode};
use evenkeel_store::{Store, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a vault, as a process leaves them that is killed now.
fn files(room: &Room) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(room.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    kept.map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap())).collect()
}

fn put(files: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path) -> PathBuf {
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
    folder.join("vault.db")
}

/// A vault of ten messages, the later ones in its log.
fn talked() -> Room {
    let room = Room::furnished();
    for number in 1..=10 {
        room.write(|write| write.insert_message(message(number, (number > 1).then(|| number - 1))));
        if number == 5 {
            room.store.compact(&mut || true).unwrap();
        }
    }
    room
}

#[test]
fn a_log_without_its_end_is_refused_and_left_as_it_is() {
    let room = talked();
    let whole = files(&room);
    let log = whole[Path::new("vault.db-wal")].len();
    for left in [0, 32, log / 2, log - 1] {
        let mut short = whole.clone();
        short.get_mut(Path::new("vault.db-wal")).unwrap().truncate(left);
        let folder = tempfile::tempdir().unwrap();
        let path = put(&short, folder.path());
        for _ in 0..2 {
            let error = Store::open(&path, &KEY, at(0)).err().unwrap();
            assert!(matches!(error, StoreError::TailLost { acknowledged: 10, found } if found < 10), "{left}: {error}");
            assert_eq!(error.code(), ErrorCode::VaultDamaged);
            assert!(matches!(Store::check_tail(&path, &KEY), Err(StoreError::TailLost { .. })));
        }
        for (name, bytes) in &short {
            assert!(fs::read(folder.path().join(name)).unwrap() == *bytes, "{left}: {} was touched", name.display());
        }
        // By the user's word it opens, and is whole from then on.
        let store = Store::open_short(&path, &KEY, at(0)).unwrap();
        assert!(store.read(|read| read.message(message_id(5))).unwrap().is_some());
        drop(store);
        Store::open(&path, &KEY, at(0)).unwrap();
    }
}

#[test]
fn a_whole_log_a_lagging_mark_and_none_at_all_are_no_loss() {
    let room = talked();
    let whole = files(&room);
    let older = files(&Room::furnished())[Path::new("vault.db.mark")].clone();
    for mark in [whole.get(Path::new("vault.db.mark")).cloned(), None, Some(vec![0xff; 40]), Some(Vec::new()), Some(older)] {
        let mut files = whole.clone();
        match mark {
            Some(mark) => files.insert("vault.db.mark".into(), mark),
            None => files.remove(Path::new("vault.db.mark")),
        };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&put(&files, folder.path()), &KEY, at(0)).unwrap();
        assert!(store.read(|read| read.message(message_id(10))).unwrap().is_some());
    }
}

#[test]
fn deleting_the_newest_messages_is_no_loss_even_if_the_process_dies_before_its_commit_is_told() {
    let room = talked();
    let before = files(&room);
    room.write(|write| write.delete_message(message_id(10), at(60)));
    room.write(|write| write.forget_deleted_messages(at(90)).map(drop));
    let after = files(&room);
    let mark = Path::new("vault.db.mark");
    assert!(before[mark] != after[mark]);
    // The mark fell before COMMIT: a crash in between leaves the new mark with the old database.
    let mut between = before.clone();
    between.insert(mark.to_owned(), after[mark].clone());
    for files in [after, between] {
        let folder = tempfile::tempdir().unwrap();
        Store::open(&put(&files, folder.path()), &KEY, at(0)).unwrap();
    }
    let room = room.reopened();
    room.write(|write| write.insert_message(message(11, Some(9))));
    assert_eq!(room.reopened().store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn the_mark_of_another_database_means_nothing() {
    let (long, short) = (talked(), Room::furnished());
    let mut files = files(&short);
    files.insert("vault.db.mark".into(), fs::read(long.folder.path().join("vault.db.mark")).unwrap());
    let folder = tempfile::tempdir().unwrap();
    Store::open(&put(&files, folder.path()), &KEY, at(0)).unwrap();
}

#[test]
fn a_page_that_does_not_decrypt_does_not_take_the_rest_with_it() {
    let room = Room::furnished();
    for number in 1..=300 {
        let mut one = message(number, (number > 1).then(|| number - 1));
        one.content = format!("message {number} ").repeat(100);
        room.write(|write| write.insert_message(one));
    }
    let path = room.path();
    let folder = room.folder;
    drop(room.store);
    let whole = fs::read(&path).unwrap();
    let (pages, mut best, mut closed) = (whole.len() / 4_096, 0, 0);
    // Some pages hold the way to many others; those of a message or two are the most.
    for page in (pages / 4..pages).step_by(pages / 16) {
        let mut bytes = whole.clone();
        bytes[page * 4_096 + 100] ^= 1;
        fs::write(&path, bytes).unwrap();
        // The newest message is looked at when a vault is opened.
        let Ok(store) = Store::open(&path, &KEY, at(0)) else {
            closed += 1;
            continue;
        };
        let outcomes: Vec<bool> = (1..=300).map(|number| store.read(|read| read.message(message_id(number))).is_ok()).collect();
        let good = outcomes.iter().filter(|is_good| **is_good).count();
        if outcomes.windows(2).any(|pair| pair == [false, true]) {
            best = best.max(good);
        }
        assert!(!store.full_check().unwrap().is_empty(), "page {page}");
    }
    assert!(best > 200 && closed < 4, "what comes after the damage is not read: {best}, {closed}");
    drop(folder);
}

#[test]
fn a_text_whose_end_does_not_decrypt_is_an_error_and_never_zeros() {
    let room = Room::furnished();
    let text = |number: u64| format!("{number} and so on ").repeat(2_000);
    for number in 1..=12 {
        let mut one = message(number, (number > 1).then(|| number - 1));
        one.content = text(number);
        room.write(|write| write.insert_message(one));
    }
    let path = room.path();
    let folder = room.folder;
    drop(room.store);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for page in (1..whole.len() / 4_096).step_by(3) {
        let mut bytes = whole.clone();
        bytes[page * 4_096 + 100] ^= 1;
        fs::write(&path, bytes).unwrap();
        // A page of the schema closes all of it.
        let Ok(store) = Store::open(&path, &KEY, at(0)) else { continue };
        for number in 1..=12 {
            let id = message_id(number);
            match store.read(|read| read.message(id)) {
                Ok(found) => assert!(found.is_none_or(|found| found.content == text(number)), "page {page}, message {number}"),
                Err(error) => {
                    assert_eq!(error.code().as_str(), "vault_damaged", "page {page}: {error}");
                    let written = store.write(|write| write.message(id).map(drop));
                    assert_eq!(written.unwrap_err().code().as_str(), "vault_damaged", "page {page}: written by zeros");
                    let copied = store.write(|write| {
                        let text = write.message(id).ok().flatten().map_or_else(|| "-".to_owned(), |found| found.content);
                        write.put_composer_draft(DraftKey::Context(context_id(1)), &text, at(9))
                    });
                    assert_eq!(copied.unwrap_err().code().as_str(), "vault_damaged", "page {page}: zeros were copied");
                    let kept = store.read(|read| read.composer_draft(DraftKey::Context(context_id(1))));
                    assert!(!matches!(kept, Ok(Some(_))), "page {page}: zeros were kept");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 12, "{refused}");
    drop(folder);
}
