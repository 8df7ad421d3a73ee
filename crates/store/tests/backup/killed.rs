//! SIGKILL at every named step: backups that were there stay, and a vault is the old or the new one.

use crate::vault::{Vault, add, contents, day, files, on};
use evenkeel_store::backup::{self, BackupResult, PendingRestore, Progress, RestoreRequest, Step};
use evenkeel_vault::{KeyFile, Profile, VaultLock, unlock_recovery};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROFILE: &str = "EVENKEEL_BACKUP_CHILD_PROFILE";
const CODE: &str = "EVENKEEL_BACKUP_CHILD_CODE";
const STEP: &str = "EVENKEEL_BACKUP_CHILD_STEP";
/// In the place of a backup: the vault is to get another root key.
pub const REKEY: &str = "EVENKEEL_BACKUP_CHILD_REKEY";
const RESTORE: &str = "EVENKEEL_BACKUP_CHILD_RESTORE";

/// Lets another process make backup 2, or restore `restore`, and kills it when it reaches `step`.
pub fn killed_at(step: Step, vault: &Vault, profile: &Profile, restore: Option<&Path>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "killed::working_child", "--ignored", "--nocapture"])
        .env(PROFILE, profile.dir())
        .env(CODE, &vault.code)
        .env(STEP, format!("{step:?}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    match restore {
        Some(path) if path == Path::new(REKEY) => command.env(REKEY, "1"),
        Some(path) => command.env(RESTORE, path),
        None => &mut command,
    };
    let mut process = command.spawn().unwrap();
    let mut reader = BufReader::new(process.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("REACHED") {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{step:?} was never reached: {text}");
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
fn working_child() {
    let Ok(profile) = std::env::var(PROFILE) else { return };
    let profile = Profile::new(profile.into());
    let step = std::env::var(STEP).unwrap();
    let mut watch = |progress: Progress| {
        if format!("{:?}", progress.step) == step {
            let mut out = std::io::stdout().lock();
            writeln!(out, "\nREACHED").unwrap();
            out.flush().unwrap();
            loop {
                std::thread::park();
            }
        }
        ControlFlow::Continue(())
    };
    let code = std::env::var(CODE).unwrap();
    if std::env::var_os(REKEY).is_some() {
        crate::rekeying::rekeyed(&profile, &code, &mut watch).unwrap();
    } else if let Ok(path) = std::env::var(RESTORE) {
        let path = PathBuf::from(path);
        let root = unlock_recovery(&backup::key_slots(&path).unwrap(), &code).unwrap();
        let lock = VaultLock::exclusive(&profile).unwrap();
        let request = RestoreRequest { path: &path, root: &root, profile: &profile, lock: &lock, now: day(50) };
        backup::restore(&request, &mut watch).unwrap();
    } else {
        let key_file = KeyFile::read(&profile).unwrap();
        let root = unlock_recovery(&key_file, &code).unwrap();
        let folder = profile.backups();
        let request = backup::BackupRequest {
            folder: &folder,
            kind: backup::BackupKind::Daily,
            id: backup::BackupId::from_parts(day(2), [2; 10]),
            root: &root,
            key_file: &key_file,
            app_version: "0.1.0",
            now: day(2),
            keep: Some(&|stamps| stamps.iter().map(|stamp| stamp.id).collect()),
        };
        backup::make(&profile, &request, &mut watch).unwrap();
    }
}

#[test]
fn a_backup_that_is_killed_leaves_the_ones_before_and_no_half_one() {
    let steps = [
        (Step::Copying, false),
        (Step::Packing, false),
        (Step::Unpacking, false),
        (Step::Checking, false),
        (Step::Publishing, false),
        (Step::Recording, true),
        (Step::Rotating, true),
    ];
    for (step, is_published) in steps {
        let vault = Vault::with(300);
        let before = vault.contents();
        let first = vault.back_up(1);
        killed_at(step, &vault, &vault.profile, None);
        assert_eq!(vault.contents(), before, "{step:?}");
        let listed = vault.list();
        assert_eq!(listed.len(), if is_published { 2 } else { 1 }, "{step:?}");
        assert_eq!(listed.last().unwrap(), &first, "{step:?}");
        for info in &listed {
            assert_eq!(vault.verify(&info.path).unwrap().result, BackupResult::Verified, "{step:?}");
        }
        // The next one clears away what is left, and the vault goes on.
        add(&vault.store(), 301, 301);
        vault.back_up(3);
        let left = files(&vault.profile.backups());
        assert_eq!(left.len(), listed.len() + 3, "{step:?}: the new one, the index and its lock: {left:?}");
        assert_eq!(files(&vault.profile.dir().join("work")).len(), 1, "{step:?}: only the lock is left");
    }
}

const RESTORE_STEPS: [(Step, bool); 8] = [
    (Step::Unpacking, false),
    (Step::Checking, false),
    (Step::Rekeying, false),
    (Step::Migrating, false),
    (Step::Journalling, false),
    (Step::Swapping, true),
    (Step::SetAside, true),
    (Step::MovedIn, true),
];

#[test]
fn a_restore_that_is_killed_leaves_the_old_vault_or_the_new_one() {
    for (step, is_new) in RESTORE_STEPS {
        let vault = Vault::with(30);
        let then = vault.contents();
        let info = vault.back_up(1);
        add(&vault.store(), 31, 40);
        let now = vault.contents();
        killed_at(step, &vault, &vault.profile, Some(&info.path));
        assert_eq!(backup::restore_is_pending(&vault.profile), is_new, "{step:?}");
        let lock = VaultLock::exclusive(&vault.profile).unwrap();
        let finished = backup::finish_pending_restore(&vault.profile, &lock).unwrap();
        assert_eq!(finished, if is_new { PendingRestore::Finished } else { PendingRestore::None }, "{step:?}");
        assert_eq!(vault.contents(), if is_new { then } else { now.clone() }, "{step:?}");
        let aside = backup::set_aside_databases(&vault.profile).unwrap();
        assert_eq!(aside.len(), usize::from(is_new), "{step:?}");
        if let Some(aside) = aside.first() {
            assert_eq!(contents(aside, &vault.database_key()), now, "{step:?}");
        }
        assert!(!backup::restore_is_pending(&vault.profile));
        assert_eq!(vault.store().full_check().unwrap(), Vec::<String>::new(), "{step:?}");
        drop(lock);
        vault.back_up(2);
        assert_eq!(files(&vault.profile.dir().join("work")).len(), 1, "{step:?}: only the lock is left");
    }
}

#[test]
fn a_restore_to_an_empty_profile_that_is_killed_leaves_nothing_or_the_vault() {
    for (step, is_new) in RESTORE_STEPS {
        let vault = Vault::with(30);
        let info = vault.back_up(1);
        let empty = Profile::new(vault.folder.path().join("empty"));
        killed_at(step, &vault, &empty, Some(&info.path));
        let lock = VaultLock::exclusive(&empty).unwrap();
        backup::finish_pending_restore(&empty, &lock).unwrap();
        assert_eq!(empty.traces().any(), is_new, "{step:?}");
        if is_new {
            assert_eq!(contents(&empty.database(), &vault.database_key()), vault.contents(), "{step:?}");
            assert!(unlock_recovery(&KeyFile::read(&empty).unwrap(), &vault.code).is_ok(), "{step:?}");
        } else {
            vault.restore_to(&info.path, &empty, &lock).unwrap();
        }
    }
}

/// A vault whose restore was killed at `step`: its content, and the folder of the work.
fn interrupted(step: Step) -> (Vault, Vec<String>, PathBuf) {
    let vault = Vault::with(30);
    let info = vault.back_up(1);
    add(&vault.store(), 31, 40);
    let now = vault.contents();
    killed_at(step, &vault, &vault.profile, Some(&info.path));
    let mut work = fs::read_dir(vault.profile.dir().join("work")).unwrap().map(|entry| entry.unwrap().path());
    let folder = work.find(|path| path.is_dir()).unwrap();
    (vault, now, folder)
}

#[test]
fn between_the_database_and_its_log_nothing_is_lost() {
    let (vault, now, _) = interrupted(Step::Swapping);
    // As if it had been killed after the first of the moves.
    let aside = vault.profile.dir().join("vault.db.pre-restore-20261110T141320Z");
    fs::rename(vault.profile.database(), &aside).unwrap();
    fs::write(vault.profile.dir().join("vault.db-wal"), b"the log").unwrap();
    fs::write(vault.profile.dir().join("vault.db-shm"), b"its index").unwrap();
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    assert_eq!(backup::finish_pending_restore(&vault.profile, &lock).unwrap(), PendingRestore::Finished);
    let log = vault.profile.dir().join("vault.db.pre-restore-20261110T141320Z-wal");
    assert_eq!(fs::read(&log).unwrap(), b"the log");
    assert!(!vault.profile.dir().join("vault.db-wal").exists() && !vault.profile.dir().join("vault.db-shm").exists());
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), std::slice::from_ref(&aside));
    assert_ne!(vault.contents(), now);
    assert_eq!(contents(&aside, &vault.database_key()), now);
}

#[test]
fn a_copy_that_was_damaged_meanwhile_is_not_moved_in() {
    for step in [Step::Swapping, Step::SetAside] {
        for is_removed in [false, true] {
            let (vault, now, work) = interrupted(step);
            let ready = work.join("ready.db");
            if is_removed {
                fs::remove_file(ready).unwrap();
            } else {
                let mut bytes = fs::read(&ready).unwrap();
                bytes[5_000] ^= 1;
                fs::write(ready, bytes).unwrap();
            }
            let lock = VaultLock::exclusive(&vault.profile).unwrap();
            backup::finish_pending_restore(&vault.profile, &lock).unwrap();
            assert_eq!(vault.contents(), now, "{step:?} {is_removed}");
            assert!(!backup::restore_is_pending(&vault.profile));
        }
    }
}

#[test]
fn an_interrupted_restore_is_finished_before_the_next_one_and_its_copy_survives_other_work() {
    let (vault, _, _) = interrupted(Step::SetAside);
    let info = vault.list().remove(0);
    // Another process checks a backup meanwhile, and sweeps the work folder.
    backup::verify(&info.path, vault.keys(), &vault.profile, day(60), &mut on).unwrap();
    let restored = vault.restore(&info.path).unwrap();
    assert_eq!(restored.counts.messages, 30);
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap().len(), 2);
}
