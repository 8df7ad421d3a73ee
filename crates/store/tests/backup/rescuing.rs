//! A damaged vault is rescued: what can be read of it, the rest from a backup, and the original beside it as it was.

use crate::room::{at, context_id, conversation_id, message_id};
use crate::vault::{Vault, add, day, failed, on};
use evenkeel_store::Store;
use evenkeel_store::backup::{self, BackupError, RescueRequest, Rescued};
use evenkeel_vault::VaultLock;
use std::fs;
use std::path::Path;

const PAGE: usize = 4_096;

fn request<'a>(vault: &'a Vault, lock: &'a VaultLock, backup: Option<&'a Path>) -> RescueRequest<'a> {
    RescueRequest { keys: vault.keys(), profile: &vault.profile, lock, backup, now: day(60) }
}

fn rescue(vault: &Vault, backup: Option<&Path>) -> Result<Rescued, BackupError> {
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    backup::rescue(&request(vault, &lock, backup), &mut on)
}

/// Fills pages of the database with something else; gives the file as it is then.
fn spoil(vault: &Vault, pages: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut bytes = fs::read(vault.profile.database()).unwrap();
    for page in pages {
        bytes[page * PAGE..(page + 1) * PAGE].fill(0x5a);
    }
    fs::write(vault.profile.database(), &bytes).unwrap();
    bytes
}

fn pages(vault: &Vault) -> usize {
    fs::read(vault.profile.database()).unwrap().len() / PAGE
}

fn numbers(store: &Store, most: u64) -> Vec<u64> {
    let is_there = |number: &u64| store.read(|read| read.message(message_id(*number))).unwrap().is_some();
    (1..=most).filter(is_there).collect()
}

fn messages(rescued: &Rescued) -> &backup::TableRescue {
    rescued.tables.iter().find(|table| table.name == "messages").unwrap()
}

#[test]
fn a_page_that_is_lost_anywhere_costs_nothing_with_a_backup() {
    let vault = Vault::with(60);
    let info = vault.back_up(1);
    let whole = fs::read(vault.profile.database()).unwrap();
    let contents = vault.contents();
    let mut opened = 0;
    for page in (1..pages(&vault)).step_by(5) {
        fs::write(vault.profile.database(), &whole).unwrap();
        let damaged = spoil(&vault, [page]);
        let rescued = rescue(&vault, Some(&info.path)).unwrap();
        opened += u32::from(rescued.opens);
        let aside = rescued.set_aside.unwrap();
        assert!(fs::read(&aside).unwrap() == damaged, "page {page}: the original was touched");
        let store = vault.store();
        assert_eq!(store.full_check().unwrap(), Vec::<String>::new(), "page {page}");
        assert_eq!(numbers(&store, 60).len(), 60, "page {page}");
        drop(store);
        let now = vault.contents();
        let lost: Vec<_> = contents.iter().filter(|row| is_content(row) && !now.contains(row)).collect();
        assert_eq!(lost, Vec::<&String>::new(), "page {page}");
    }
    // A page of the schema closes all of it; they are few.
    assert!(opened > 5, "{opened}");
}

/// Rows that say something; the index is rebuilt, and waits begin anew.
fn is_content(row: &str) -> bool {
    ["messages:", "conversations:", "contexts:", "revisions:", "context_revisions:", "settings:", "presets:"]
        .iter()
        .any(|table| row.starts_with(table))
}

#[test]
fn what_is_newer_than_the_backup_is_read_from_the_vault_itself() {
    let vault = Vault::with(40);
    let info = vault.back_up(1);
    add(&vault.store(), 41, 60);
    let rescued = rescue(&vault, Some(&info.path)).unwrap();
    assert_eq!((messages(&rescued).read, messages(&rescued).from_backup, rescued.counts.messages), (60, 0, 60));
    assert!(!rescued.has_gaps(), "{:?}", rescued.tables);
    assert_eq!(rescued.newest, Some(at(10 + 60)));
    assert_eq!(rescued.minutes_lost_by_backup(), Some(0), "the clock of the tests stands still");
    assert_eq!(numbers(&vault.store(), 60).len(), 60);
}

#[test]
fn without_a_backup_all_but_the_damaged_rows_come_back_in_one_chain() {
    let vault = Vault::with(300);
    let (count, mut gaps) = (pages(&vault), 0);
    let whole = fs::read(vault.profile.database()).unwrap();
    for page in (count / 3..count).step_by(count / 9) {
        fs::write(vault.profile.database(), &whole).unwrap();
        spoil(&vault, [page]);
        let rescued = rescue(&vault, None).unwrap();
        let store = vault.store();
        assert_eq!(store.full_check().unwrap(), Vec::<String>::new(), "page {page}");
        let there = numbers(&store, 300);
        // A page of overflow holds a part of one message, a leaf a few of them.
        assert!(there.len() >= 280, "page {page}: {} of 300", there.len());
        assert_eq!(rescued.counts.messages, there.len() as u64, "page {page}");
        let missing = 300 - there.len() as u64;
        let unread: i64 = messages(&rescued).unread.iter().map(|(first, last)| last - first + 1).sum();
        assert_eq!(missing, u64::try_from(unread).unwrap(), "page {page}");
        gaps += u64::from(missing > 0);
        let newest = *there.last().unwrap();
        let branch = store.read(|read| read.path(message_id(newest), u32::MAX)).unwrap();
        assert_eq!(branch.len(), there.len(), "page {page}: the chain is broken");
        let conversation = store.read(|read| read.conversation(conversation_id(1))).unwrap().unwrap();
        assert_eq!(u64::from(conversation.message_count), there.len() as u64);
        assert_eq!(store.read(|read| read.message_count(context_id(1))).unwrap(), there.len() as u64);
    }
    assert!(gaps > 0, "no page of a message was struck");
}

#[test]
fn what_was_deleted_since_the_backup_does_not_come_back() {
    let vault = Vault::with(40);
    let info = vault.back_up(1);
    vault.store().write(|write| write.delete_message(message_id(40), at(50))).unwrap();
    vault.store().write(|write| write.forget_deleted_messages(at(60)).map(drop)).unwrap();
    rescue(&vault, Some(&info.path)).unwrap();
    assert_eq!(numbers(&vault.store(), 40).len(), 39);
}

#[test]
fn a_database_that_does_not_open_at_all_is_that_of_the_backup() {
    let vault = Vault::with(20);
    let info = vault.back_up(1);
    let damaged = spoil(&vault, [0]);
    let error = failed(rescue(&vault, None));
    assert!(matches!(error, BackupError::Store(_)), "{error}");
    assert!(fs::read(vault.profile.database()).unwrap() == damaged);
    let rescued = rescue(&vault, Some(&info.path)).unwrap();
    assert!(!rescued.opens && rescued.has_gaps());
    assert_eq!(numbers(&vault.store(), 20).len(), 20);
    assert!(fs::read(rescued.set_aside.unwrap()).unwrap() == damaged);
}

#[test]
fn looking_at_what_a_rescue_would_bring_changes_nothing() {
    let vault = Vault::with(60);
    let info = vault.back_up(1);
    let damaged = spoil(&vault, [pages(&vault) / 2]);
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    let seen = backup::preview_rescue(&request(&vault, &lock, Some(&info.path)), &mut on).unwrap();
    assert_eq!((seen.counts.messages, seen.set_aside), (60, None));
    assert_eq!(seen.backup.unwrap().id, info.about.unwrap().id);
    assert!(fs::read(vault.profile.database()).unwrap() == damaged);
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), Vec::<std::path::PathBuf>::new());
    drop(lock);
    let shared = VaultLock::shared(&vault.profile).unwrap();
    assert!(matches!(failed(backup::rescue(&request(&vault, &shared, None), &mut on)), BackupError::InUse));
}

#[test]
fn a_copy_is_kept_with_its_log() {
    let vault = Vault::with(5);
    let store = vault.store();
    add(&store, 6, 9);
    let log = fs::read(vault.profile.dir().join("vault.db-wal")).unwrap();
    assert!(!log.is_empty());
    let kept = backup::keep_copy(&vault.profile, day(3)).unwrap();
    assert!(fs::read(&kept).unwrap() == fs::read(vault.profile.database()).unwrap());
    let name = format!("{}-wal", kept.file_name().unwrap().to_str().unwrap());
    assert!(fs::read(vault.profile.dir().join(name)).unwrap() == log);
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), [kept]);
}
