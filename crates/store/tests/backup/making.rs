//! What a backup is of, what it leaves behind, and what can stop it.

use crate::room::{at, context_id, message_id};
use crate::vault::{Vault, add, day, failed, files, on, raw};
use evenkeel_domain::ErrorCode;
use evenkeel_store::Store;
use evenkeel_store::backup::{self, BackupCounts, BackupError, BackupResult, BackupStamp, Step};
use evenkeel_vault::{KeyFile, Profile, VaultLock, unlock_recovery};
use std::fs;
use std::ops::ControlFlow;

#[test]
fn a_backup_says_what_is_in_it_and_is_proved() {
    let vault = Vault::with(20);
    let info = vault.back_up(1);
    let about = info.about.clone().unwrap();
    assert_eq!(about.counts, Some(BackupCounts { contexts: 1, conversations: 1, messages: 20 }));
    assert_eq!(
        (about.made_at, about.schema, about.vault_id),
        (day(1), evenkeel_store::SCHEMA_VERSION, vault.key_file.vault_id())
    );
    assert_eq!((info.verified_at, &info.result), (Some(day(1)), &BackupResult::Verified));
    assert_eq!(info.size_bytes, fs::metadata(&info.path).unwrap().len());
    assert_eq!(info.path.file_name().unwrap(), "evenkeel-20260922T141320Z-01010101.ekbackup");
    assert_eq!(vault.list(), std::slice::from_ref(&info));
    assert_eq!(vault.verify(&info.path).unwrap().verified_at, Some(day(99)));
    assert_eq!(vault.list()[0].verified_at, Some(day(99)));
}

#[test]
fn nothing_is_left_beside_it_and_others_cannot_read_it() {
    let vault = Vault::with(3);
    let info = vault.back_up(1);
    let (index, lock) = (vault.profile.backups().join("backups.json"), vault.profile.backups().join("backups.lock"));
    assert_eq!(files(&vault.profile.backups()), [index, lock, info.path.clone()]);
    assert_eq!(files(&vault.profile.dir().join("work")), [vault.profile.dir().join("work/lock")]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for file in files(vault.profile.dir()) {
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "{}", file.display());
        }
    }
}

#[test]
fn no_word_of_a_message_is_readable_in_any_file() {
    let vault = Vault::with(9);
    let store = vault.store();
    let mut found = 0;
    let mut watch = |_| {
        for file in files(vault.profile.dir()) {
            let bytes = fs::read(file).unwrap_or_default();
            assert!(!bytes.windows(13).any(|part| part == b"what was said" || part == b"Calm Counselo"));
            assert!(!bytes.windows(32).any(|part| part == vault.database_key()));
            found += usize::from(!bytes.is_empty());
        }
        ControlFlow::Continue(())
    };
    store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut watch).unwrap();
    assert!(found > 20, "the work files were looked at too");
}

#[test]
fn writing_goes_on_and_the_backup_is_of_one_moment() {
    let vault = Vault::with(600);
    let store = vault.store();
    let (mut newest, mut during_copy) = (600, 0);
    let info = std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let store = &store;
        // A second process's worth of writing, to another table.
        scope.spawn(move || {
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                store.write(|write| write.rename_conversation(crate::room::conversation_id(1), "renamed")).unwrap();
            }
        });
        let mut watch = |progress: backup::Progress| {
            if progress.step == Step::Copying {
                newest += 1;
                during_copy += 1;
                // On the thread that copies: it would wait for itself if the writer were held up.
                add(store, newest, newest);
            }
            ControlFlow::Continue(())
        };
        let info = store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut watch).unwrap();
        stop.send(()).unwrap();
        info
    });
    assert!(during_copy >= 3, "written {during_copy} times during the copy");
    assert_eq!(info.about.unwrap().counts.unwrap().messages, 600);
    assert_eq!(store.read(|read| read.message_count(context_id(1))).unwrap(), newest);
    drop(store);
    vault.restore(&info.path).unwrap();
    let store = vault.store();
    assert_eq!(store.read(|read| read.path(message_id(600), u32::MAX)).unwrap().len(), 600);
    assert!(store.read(|read| read.message(message_id(601))).unwrap().is_none());
    assert_eq!(store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_closed_vault_is_backed_up_without_being_changed() {
    let vault = Vault::with(5);
    let before = fs::read(vault.profile.database()).unwrap();
    let info = backup::make(&vault.profile, &vault.request(&vault.profile.backups(), 1, None), &mut on).unwrap();
    assert_eq!(info.about.unwrap().counts.unwrap().messages, 5);
    assert_eq!(fs::read(vault.profile.database()).unwrap(), before);
}

#[test]
fn the_recovery_code_alone_opens_the_newest_on_an_empty_profile() {
    let rounds: u8 = std::env::var("EVENKEEL_RECOVERY_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let vault = Vault::with(7);
        let stick = vault.folder.path().join("stick");
        fs::create_dir(&stick).unwrap();
        for number in [1, 2] {
            vault.store().backup_to(&vault.request(&stick, number, None), &mut on).unwrap();
        }
        let before = vault.contents();
        fs::remove_dir_all(vault.profile.dir()).unwrap();

        let newest = backup::list(&stick, None).unwrap().remove(0);
        assert_eq!(newest.about.as_ref().unwrap().made_at, day(2));
        let key_file = backup::key_slots(&newest.path).unwrap();
        let root = unlock_recovery(&key_file, &vault.code).unwrap();
        let profile = Profile::new(vault.folder.path().join("new machine"));
        let lock = VaultLock::exclusive(&profile).unwrap();
        let request = backup::RestoreRequest { path: &newest.path, root: &root, profile: &profile, lock: &lock, now: day(3) };
        let restored = backup::restore(&request, &mut on).unwrap();
        assert!(restored.adopted_key_slots && restored.set_aside.is_none());
        assert_eq!(crate::vault::contents(&profile.database(), &vault.database_key()), before);
        assert!(unlock_recovery(&KeyFile::read(&profile).unwrap(), &vault.code).is_ok());
    }
}

#[test]
fn stopping_at_any_moment_leaves_what_was_there() {
    let vault = Vault::with(300);
    let first = vault.back_up(1);
    let store = vault.store();
    let before = files(vault.profile.dir());
    let mut calls = 0;
    let mut count = |_| {
        calls += 1;
        ControlFlow::Continue(())
    };
    let last = store.backup_to(&vault.request(&vault.profile.backups(), 2, None), &mut count).unwrap();
    fs::remove_file(last.path).unwrap();
    // The last call says that the backup has its name already.
    for stop in 1..calls {
        let mut left = stop;
        let mut watch = |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = store.backup_to(&vault.request(&vault.profile.backups(), 3, None), &mut watch);
        assert!(matches!(failed(stopped), BackupError::Cancelled), "call {stop} of {calls}");
        assert_eq!(files(vault.profile.dir()), before, "call {stop} of {calls}");
    }
    assert_eq!(vault.list()[0].path, first.path);
}

#[test]
fn a_folder_that_is_not_there_or_not_writable_is_said_so() {
    let vault = Vault::with(2);
    let store = vault.store();
    let nowhere = vault.folder.path().join("removed drive");
    let error = failed(store.backup_to(&vault.request(&nowhere, 1, None), &mut on));
    assert!(matches!(error, BackupError::FolderMissing { .. }), "{error}");
    let error = failed(store.backup_to(&vault.request(&vault.profile.database(), 1, None), &mut on));
    assert!(matches!(error, BackupError::FolderMissing { .. }), "{error}");
    // Where even root may make no file.
    #[cfg(target_os = "linux")]
    {
        let error = failed(store.backup_to(&vault.request("/sys/kernel".as_ref(), 1, None), &mut on));
        assert!(matches!(error, BackupError::NotWritable { .. }), "{error}");
    }
}

#[test]
fn a_drive_that_is_removed_meanwhile_harms_nothing() {
    for step in [Step::Packing, Step::Unpacking, Step::Publishing] {
        let vault = Vault::with(300);
        let first = vault.back_up(1);
        let stick = vault.folder.path().join("stick");
        fs::create_dir(&stick).unwrap();
        let mut watch = |progress: backup::Progress| {
            if progress.step == step {
                let _ = fs::remove_dir_all(&stick);
            }
            ControlFlow::Continue(())
        };
        let error = failed(vault.store().backup_to(&vault.request(&stick, 2, None), &mut watch));
        assert!(matches!(error, BackupError::FolderMissing { .. }), "{step:?}: {error}");
        assert_eq!(vault.list(), [first]);
        assert_eq!(files(&vault.profile.dir().join("work")).len(), 1, "only the lock is left");
    }
}

#[test]
fn a_damaged_vault_gives_no_backup_and_earlier_ones_stay() {
    let orphaned = Vault::with(60);
    let first = orphaned.back_up(1);
    let outside = raw(&orphaned.profile.database(), &orphaned.database_key());
    outside.execute_batch("PRAGMA foreign_keys = OFF; UPDATE conversations SET context_id = zeroblob(16)").unwrap();
    drop(outside);
    let error =
        failed(orphaned.store().backup_to(&orphaned.request(&orphaned.profile.backups(), 2, Some(&|_| Vec::new())), &mut on));
    assert!(matches!(error, BackupError::NotProved { .. }), "{error}");
    assert_eq!(orphaned.list(), [first]);

    let flipped = Vault::with(60);
    let first = flipped.back_up(1);
    let mut bytes = fs::read(flipped.profile.database()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(flipped.profile.database(), bytes).unwrap();
    let error = failed(backup::make(&flipped.profile, &flipped.request(&flipped.profile.backups(), 2, None), &mut on));
    assert_eq!(error.code(), ErrorCode::VaultDamaged, "{error}");
    assert_eq!(flipped.list(), [first]);
}

#[test]
fn every_kind_of_damage_to_an_open_vault_is_told_as_damage() {
    let vault = Vault::with(60);
    drop(vault.store());
    let path = vault.profile.database();
    let whole = fs::read(&path).unwrap();
    let half = whole.len() / 8_192 * 4_096;
    let struck = |pages: std::ops::Range<usize>| {
        let mut bytes = whole.clone();
        bytes[pages.start * 4_096..pages.end * 4_096].iter_mut().for_each(|byte| *byte ^= 0x5a);
        bytes
    };
    let swapped = [&whole[..half], &whole[half + 4_096..half + 8_192], &whole[half..half + 4_096], &whole[half + 8_192..]];
    let mut kinds = vec![
        ("the first page", struck(0..1)),
        ("all but the first", struck(1..whole.len() / 4_096)),
        ("zeros", [&whole[..half], &vec![0; whole.len() - half]].concat()),
        ("cut at a page", whole[..half].to_vec()),
        ("cut within a page", whole[..half + 77].to_vec()),
        ("text", b"what the disk made of it".to_vec()),
        ("nothing", Vec::new()),
        ("pages in another order", swapped.concat()),
    ];
    kinds.extend((1..whole.len() / 4_096).step_by(7).map(|page| ("one page", struck(page..page + 1))));
    for (what, damaged) in kinds {
        // Open before it happens, as it is for an app that runs.
        let store = vault.store();
        fs::write(&path, &damaged).unwrap();
        let error = failed(store.backup_to(&vault.request(&vault.profile.backups(), 2, None), &mut on));
        assert_eq!(error.code(), ErrorCode::VaultDamaged, "{what}: {error:?}");
        drop(store);
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(vault.profile.dir().join(format!("vault.db{end}")));
        }
        fs::write(&path, &whole).unwrap();
    }
    vault.back_up(3);
}

#[test]
fn rotation_follows_the_rule_and_spares_what_is_not_ours() {
    let (vault, other) = (Vault::with(2), Vault::with(2));
    let folder = vault.profile.backups();
    for number in 1..=4 {
        vault.back_up(number);
    }
    let foreign = folder.join("holiday.ekbackup");
    fs::write(&foreign, b"pictures").unwrap();
    let stranger = other.back_up(9);
    fs::copy(&stranger.path, folder.join(stranger.path.file_name().unwrap())).unwrap();
    let damaged = vault.list().into_iter().find(|info| info.about.as_ref().is_some_and(|about| about.made_at == day(2))).unwrap();
    let mut bytes = fs::read(&damaged.path).unwrap();
    bytes.truncate(9_000);
    fs::write(&damaged.path, bytes).unwrap();
    let keep = |stamps: &[BackupStamp]| stamps.iter().filter(|stamp| stamp.made_at == day(3)).map(|stamp| stamp.id).collect();
    vault.store().backup_to(&vault.request(&folder, 5, Some(&keep)), &mut on).unwrap();
    let left = vault.list();
    let made: Vec<_> = left.iter().filter_map(|info| Some((info.about.as_ref()?.made_at, info.result.clone()))).collect();
    let BackupResult::Damaged { .. } = made[3].1 else { panic!("{made:?}") };
    assert_eq!(made.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [day(9), day(5), day(3), day(2)]);
    assert_eq!(made[0].1, BackupResult::OtherVault);
    assert!(foreign.exists());
    let index = fs::read_to_string(folder.join("backups.json")).unwrap();
    assert!(!index.contains("-01010101") && index.contains("-05050505"), "{index}");
}

#[test]
fn while_a_restore_is_pending_nothing_opens_the_vault() {
    let vault = Vault::with(2);
    fs::write(vault.profile.dir().join("restore.journal"), b"{}").unwrap();
    let opened = Store::open(&vault.profile.database(), &vault.database_key(), at(0));
    assert_eq!(opened.err().unwrap().code(), ErrorCode::VaultInUse);
    let error = failed(backup::make(&vault.profile, &vault.request(&vault.profile.backups(), 1, None), &mut on));
    assert_eq!(error.code(), ErrorCode::VaultInUse);
}

#[cfg(unix)]
#[test]
fn a_backup_and_a_preview_of_an_open_vault_leave_its_locks_alone() {
    let vault = Vault::with(5);
    let store = vault.store();
    let info = store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut on).unwrap();
    backup::preview(&info.path, vault.keys(), &vault.profile, Some(&store), &mut on).unwrap();
    backup::verify(&info.path, vault.keys(), &vault.profile, day(9), &mut on).unwrap();
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let held = |path: &std::path::Path| {
        use std::os::unix::fs::MetadataExt;
        let inode = format!(":{} ", std::fs::metadata(path).unwrap().ino());
        let process = format!(" {} ", std::process::id());
        locks.lines().any(|line| line.contains("POSIX") && line.contains(&process) && line.contains(&inode))
    };
    assert!(locks.is_empty() || held(&vault.profile.database()), "{locks}");
    drop(store);
}
