//! A restore brings back what was, keeps what is, and says beforehand what changes.

use crate::room::{at, context, context_id, conversation, message};
use crate::vault::{Vault, add, contents, day, failed, files, on, raw};
use evenkeel_domain::{DeletionHold, JobResult, TrashId};
use evenkeel_store::backup::{self, BackupCounts, BackupError, PendingRestore, Progress, RestoreRequest, Step};
use evenkeel_store::state_key;
use evenkeel_vault::{KeyFile, Profile, VaultLock};
use std::fs;
use std::ops::ControlFlow;

#[test]
fn the_round_trip_is_equal_by_content_and_the_old_vault_is_kept() {
    let vault = Vault::with(40);
    let then = vault.contents();
    let info = vault.back_up(1);
    add(&vault.store(), 41, 50);
    let now = vault.contents();
    assert_ne!(then, now);
    let restored = vault.restore(&info.path).unwrap();
    assert_eq!(vault.contents(), then);
    assert_eq!(restored.counts.messages, 40);
    assert!(!restored.adopted_key_slots);
    let aside = restored.set_aside.unwrap();
    assert_eq!(aside.file_name().unwrap(), "vault.db.pre-restore-20261110T141320Z");
    assert_eq!(contents(&aside, &vault.database_key()), now);
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), [aside]);
    assert_eq!(files(&vault.profile.dir().join("work")).len(), 1, "only the lock is left");
    add(&vault.store(), 41, 42);
    assert_eq!(vault.store().full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn it_can_be_stopped_until_it_is_written_down() {
    let vault = Vault::with(10);
    let info = vault.back_up(1);
    add(&vault.store(), 11, 12);
    let (now, before) = (vault.contents(), files(vault.profile.dir()));
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    for stop in 1.. {
        let mut left = stop;
        let mut last = None;
        let mut watch = |progress: Progress| {
            left -= 1;
            last = Some(progress.step);
            assert!(progress.done <= progress.of, "{progress:?}");
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let request = RestoreRequest { path: &info.path, root: &vault.root, profile: &vault.profile, lock: &lock, now: day(50) };
        match backup::restore(&request, &mut watch) {
            Err(BackupError::Cancelled) => {
                assert_eq!((vault.contents(), files(vault.profile.dir())), (now.clone(), before.clone()))
            }
            Ok(restored) => {
                assert_eq!((restored.counts.messages, last), (10, Some(Step::MovedIn)));
                assert!(stop > 6, "it could be stopped {stop} times");
                return;
            }
            Err(error) => panic!("stopped at call {stop}: {error}"),
        }
    }
}

#[test]
fn two_restores_in_one_second_keep_both_old_vaults() {
    let vault = Vault::with(2);
    let info = vault.back_up(1);
    let first = vault.restore(&info.path).unwrap().set_aside.unwrap();
    let second = vault.restore(&info.path).unwrap().set_aside.unwrap();
    assert!(first != second && first.exists() && second.exists());
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap().len(), 2);
}

#[test]
fn an_older_schema_is_brought_up_to_date() {
    let vault = Vault::with(2);
    // The fixture of schema 1, under this vault's key.
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vault-v1.db");
    fs::copy(fixture, vault.profile.database()).unwrap();
    let outside = raw(&vault.profile.database(), &crate::room::KEY);
    let hex: String = vault.database_key().iter().map(|byte| format!("{byte:02x}")).collect();
    outside.execute_batch(&format!("PRAGMA rekey = \"x'{hex}'\"")).unwrap();
    drop(outside);
    let info = backup::make(&vault.profile, &vault.request(&vault.profile.backups(), 1, None), &mut on).unwrap();
    assert_eq!(info.about.as_ref().unwrap().schema, 1);
    let counts = vault.restore(&info.path).unwrap().counts;
    assert_eq!(counts.messages, info.about.unwrap().counts.unwrap().messages);
    assert!(counts.messages > 0);
    let schema: i64 =
        raw(&vault.profile.database(), &vault.database_key()).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(schema, evenkeel_store::SCHEMA_VERSION);
}

#[test]
fn a_backup_of_another_vault_needs_an_empty_profile() {
    let (vault, other) = (Vault::with(2), Vault::with(5));
    let theirs = other.back_up(1);
    let before = vault.contents();
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    let error = failed(other.restore_to(&theirs.path, &vault.profile, &lock));
    assert!(matches!(error, BackupError::OtherVault { .. }), "{error}");
    assert_eq!(vault.contents(), before);
    let empty = Profile::new(vault.folder.path().join("empty"));
    let lock = VaultLock::exclusive(&empty).unwrap();
    assert!(other.restore_to(&theirs.path, &empty, &lock).unwrap().adopted_key_slots);
    assert_eq!(contents(&empty.database(), &other.database_key()), other.contents());
}

#[test]
fn lost_key_slots_come_back_with_a_backup() {
    let vault = Vault::with(3);
    let info = vault.back_up(1);
    fs::remove_file(vault.profile.key_slots()).unwrap();
    fs::write(vault.profile.key_slots_copy(), b"damaged").unwrap();
    let restored = vault.restore(&info.path).unwrap();
    assert!(restored.adopted_key_slots && restored.set_aside.is_some());
    assert_eq!(KeyFile::read(&vault.profile).unwrap().vault_id(), vault.key_file.vault_id());
    assert_eq!(fs::read(vault.profile.dir().join("vault.keys.2.damaged-1")).unwrap(), b"damaged");
}

#[test]
fn a_database_is_whole_or_not_and_looking_changes_nothing() {
    let vault = Vault::with(30);
    let whole = |vault: &Vault| backup::database_is_whole(&vault.profile, vault.keys()).unwrap();
    let path = vault.profile.database();
    assert!(whole(&vault));
    assert!(!backup::database_is_whole(&vault.profile, Vault::with(1).keys()).unwrap(), "another key");
    let bytes = fs::read(&path).unwrap();
    for (what, damaged) in [
        ("a flipped bit", [&bytes[..bytes.len() / 2], &[bytes[bytes.len() / 2] ^ 1], &bytes[bytes.len() / 2 + 1..]].concat()),
        ("cut", bytes[..bytes.len() - 8_192].to_vec()),
        ("no header", [&[7; 4_096], &bytes[4_096..]].concat()),
        ("text", b"not a database".to_vec()),
        ("empty", Vec::new()),
    ] {
        fs::write(&path, &damaged).unwrap();
        assert!(!whole(&vault), "{what}");
        assert_eq!(fs::read(&path).unwrap(), damaged, "{what}");
    }
    fs::remove_file(&path).unwrap();
    assert!(!whole(&vault) && !path.exists());
    fs::write(&path, &bytes).unwrap();
    raw(&path, &vault.database_key()).execute_batch("PRAGMA user_version = 9999").unwrap();
    assert!(!whole(&vault), "of a newer version");
}

#[test]
fn newer_key_slots_of_the_same_vault_stay() {
    let mut vault = Vault::with(3);
    let info = vault.back_up(1);
    let code = evenkeel_vault::renew_recovery_code(&vault.profile, &mut vault.key_file, &vault.root, day(3)).unwrap();
    vault.restore(&info.path).unwrap();
    let slots = KeyFile::read(&vault.profile).unwrap();
    assert!(evenkeel_vault::unlock_recovery(&slots, &code.text()).is_ok());
    assert!(evenkeel_vault::unlock_recovery(&slots, &vault.code).is_err());
}

#[test]
fn a_vault_in_use_is_not_replaced() {
    let vault = Vault::with(2);
    let info = vault.back_up(1);
    let shared = VaultLock::shared(&vault.profile).unwrap();
    let error = failed(vault.restore_to(&info.path, &vault.profile, &shared));
    assert!(matches!(error, BackupError::InUse), "{error}");
    assert_eq!(backup::finish_pending_restore(&vault.profile, &shared).unwrap(), PendingRestore::None);
    fs::write(vault.profile.dir().join("restore.journal"), b"{").unwrap();
    let error = failed(backup::finish_pending_restore(&vault.profile, &shared));
    assert!(matches!(error, BackupError::JournalDamaged { .. }), "{error}");
    assert!(vault.profile.database().exists());
}

#[test]
fn a_journal_never_leads_out_of_the_profile() {
    let vault = Vault::with(2);
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    for (work, aside) in
        [("../../elsewhere", "vault.db.pre-restore-1"), ("a", "../vault.db.pre-restore-1"), ("a", "vault.keys"), ("", "")]
    {
        let journal = format!(r#"{{"format":1,"work":"{work}","aside":"{aside}","adoptsKeySlots":false,"sha256":""}}"#);
        fs::write(vault.profile.dir().join("restore.journal"), journal).unwrap();
        let error = failed(backup::finish_pending_restore(&vault.profile, &lock));
        assert!(matches!(error, BackupError::JournalDamaged { .. }), "{work} {aside}: {error}");
    }
}

#[test]
fn the_preview_says_what_would_change_and_changes_nothing() {
    let vault = Vault::with(10);
    let store = vault.store();
    let (leaving, revision) = context(2, "Rational Advisor");
    store.write(|write| write.insert_context(&leaving, &revision)).unwrap();
    let info = store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut on).unwrap();
    let (coming, revision) = context(3, "Supportive Guide");
    store
        .write(|write| {
            write.insert_context(&coming, &revision)?;
            write.insert_conversation(&conversation(2, 3))
        })
        .unwrap();
    let outside = raw(&vault.profile.database(), &vault.database_key());
    outside.execute_batch("PRAGMA foreign_keys = ON; DELETE FROM contexts WHERE last_interaction_at % 10 = 2").unwrap();
    drop(outside);
    add(&store, 11, 14);
    store.write(|write| write.delete_message(message(14, None).id, at(30))).unwrap();
    let before = vault.contents();
    let preview = backup::preview(&info.path, vault.keys(), &vault.profile, Some(&store), &mut on).unwrap();
    assert_eq!(preview.then, BackupCounts { contexts: 2, conversations: 1, messages: 10 });
    assert_eq!(preview.now, BackupCounts { contexts: 2, conversations: 2, messages: 13 });
    let names = |contexts: &[backup::NamedContext]| contexts.iter().map(|one| (one.id, one.name.clone())).collect::<Vec<_>>();
    assert_eq!(names(&preview.returning), [(context_id(2), "Rational Advisor".to_owned())]);
    assert_eq!(names(&preview.vanishing), [(context_id(3), "Supportive Guide".to_owned())]);
    assert_eq!((preview.lost_messages, preview.returning_messages), (3, 0));
    assert_eq!(preview.lost_between, Some((at(21), at(23))));
    assert_eq!(preview.backup.made_at, day(1));
    assert_eq!(vault.contents(), before);
    // On a machine without the vault everything comes back.
    let preview =
        backup::preview(&info.path, vault.keys(), &Profile::new(vault.folder.path().join("new")), None, &mut on).unwrap();
    assert_eq!((preview.now.messages, preview.returning_messages, preview.returning.len()), (0, 10, 2));
}

#[test]
fn a_restored_vault_deletes_nothing_that_it_was_about_to_delete() {
    let vault = Vault::with(10);
    let store = vault.store();
    let (gone, revision) = context(2, "Rational Advisor");
    store
        .write(|write| {
            write.insert_context(&gone, &revision)?;
            write.insert_conversation(&conversation(2, 1))?;
            write.delete_message(message(10, None).id, at(30))?;
            write.trash_context(context_id(2), at(40))?;
            write.trash_conversations(&[conversation(2, 1).id], at(40))?;
            write.mark_trash_shown(at(50))?;
            write.set_purge_due(TrashId::Context(context_id(2)), Some(1_000))?;
            write.set_purge_due(TrashId::Conversation(conversation(2, 1).id), Some(1_000))?;
            write.add_running_ms(90_000_000)?;
            for key in [state_key::SWEPT, state_key::RESTED, state_key::SET_ASIDE] {
                write.put_app_state(key, "{}")?;
            }
            write.plan_job("cleanup", Some(at(60)))?;
            write.begin_job("cleanup", at(70))
        })
        .unwrap();
    let info = store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut on).unwrap();
    drop(store);
    vault.restore(&info.path).unwrap();
    let store = vault.store();
    let trash = store.read(|read| read.trash()).unwrap();
    let times: Vec<_> = trash.iter().map(|item| (item.deleted_at, item.shown_at, item.purge_due_running_ms)).collect();
    assert_eq!(times, [(at(40), None, None); 2], "it has to be shown anew");
    let job = store.read(|read| read.job("cleanup")).unwrap().unwrap();
    assert_eq!((job.is_begun(), job.next_run_at, job.result), (false, None, Some(JobResult::Interrupted)));
    let state = |key| store.read(|read| read.app_state(key)).unwrap();
    assert_eq!([state_key::SWEPT, state_key::RESTED, state_key::SET_ASIDE].map(state), [None, None, None]);
    let hold: DeletionHold = serde_json::from_str(&state(state_key::DELETION_HOLD).unwrap()).unwrap();
    let running = std::time::Duration::from_millis(store.read(|read| read.running_ms()).unwrap());
    assert_eq!(hold.left(running), evenkeel_domain::HOLD_AFTER_JUMP);
    assert_eq!(state(state_key::CLOCK_SEEN), Some(day(50).timestamp_millis().to_string()));
    assert_eq!(store.read(|read| read.deleted_message_count(day(50))).unwrap(), 0, "a week begins for them too");
    assert_eq!(store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_database_set_aside_can_be_deleted_with_its_log_and_nothing_else_can() {
    let vault = Vault::with(2);
    let info = vault.back_up(1);
    let aside = vault.restore(&info.path).unwrap().set_aside.unwrap();
    let log = vault.profile.dir().join(format!("{}-wal", aside.file_name().unwrap().to_str().unwrap()));
    fs::write(&log, b"what was in its log").unwrap();
    for other in [vault.profile.database(), log.clone(), info.path.clone(), vault.folder.path().join("vault.db.pre-restore-1")] {
        assert!(backup::remove_set_aside(&vault.profile, &other).is_err(), "{}", other.display());
    }
    assert!(aside.exists() && log.exists() && info.path.exists());
    backup::remove_set_aside(&vault.profile, &aside).unwrap();
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), Vec::<std::path::PathBuf>::new());
    assert!(!aside.exists() && !log.exists() && vault.profile.database().exists());
}
