//! Another root key: everything stays, nothing of the old key opens it, and whenever it is killed one of them does.

use crate::killed::{REKEY, killed_at};
use crate::vault::{Vault, add, contents, day, failed, files, on};
use evenkeel_store::backup::{self, BackupError, BackupResult, Progress, RekeyRequest, RestoreRequest, Step, Watch};
use evenkeel_vault::{
    KeyFile, KeychainError, NewRoot, Profile, RootKey, SecretStore, SlotSecrets, Use, VaultLock, new_root, unlock_recovery,
};
use secrecy::SecretString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// These vaults have no keychain slot.
struct NoKeychain;

impl SecretStore for NoKeychain {
    fn get(&self, _: Uuid) -> Result<SecretString, KeychainError> {
        Err(KeychainError::Missing)
    }
    fn set(&self, _: Uuid, _: &SecretString) -> Result<(), KeychainError> {
        Err(KeychainError::Locked)
    }
    fn delete(&self, _: Uuid) -> Result<(), KeychainError> {
        Ok(())
    }
}

/// The present root key and slots of a profile, and others.
fn roots(profile: &Profile, code: &str) -> (KeyFile, RootKey, NewRoot) {
    let key_file = KeyFile::read(profile).unwrap();
    let root = unlock_recovery(&key_file, code).unwrap();
    let secrets = SlotSecrets { keychain: &NoKeychain, passphrase: None, recovery_code: code };
    let new = new_root(&key_file, &root, &secrets, day(40)).unwrap();
    (key_file, root, new)
}

/// Gives the vault of a profile another root key.
pub fn rekeyed(profile: &Profile, code: &str, watch: &mut Watch<'_>) -> Result<PathBuf, BackupError> {
    let (key_file, root, new) = roots(profile, code);
    let lock = VaultLock::exclusive(profile).unwrap();
    let request =
        RekeyRequest { profile, lock: &lock, root: &root, key_file: &key_file, new: &new, reseal: &|_| Ok(()), now: day(50) };
    backup::rekey(&request, watch)
}

/// The key of the database that the slots on the disk lead to.
fn present_key(profile: &Profile, code: &str) -> [u8; 32] {
    let key_file = KeyFile::read(profile).unwrap();
    *unlock_recovery(&key_file, code).unwrap().subkey(key_file.vault_id(), Use::Database)
}

fn holds(profile: &Profile, code: &str) -> Vec<String> {
    contents(&profile.database(), &present_key(profile, code))
}

#[test]
fn everything_stays_and_the_old_key_opens_only_what_was_set_aside() {
    let vault = Vault::with(40);
    let (before, old_slots) = (vault.contents(), KeyFile::read(&vault.profile).unwrap());
    let mut steps = Vec::new();
    let mut watch = |progress: Progress| {
        if steps.last() != Some(&progress.step) {
            steps.push(progress.step);
        }
        ControlFlow::Continue(())
    };
    let aside = rekeyed(&vault.profile, &vault.code, &mut watch).unwrap();
    assert_eq!(steps, [Step::Rekeying, Step::Checking, Step::Journalling, Step::Swapping, Step::SetAside, Step::MovedIn]);
    let key = present_key(&vault.profile, &vault.code);
    assert_ne!(key, vault.database_key());
    assert_eq!(holds(&vault.profile, &vault.code), before);
    assert!(evenkeel_store::Store::open(&vault.profile.database(), &vault.database_key(), day(51)).is_err());
    assert_eq!(contents(&aside, &vault.database_key()), before);
    // The slots that open it are beside it, and go with it.
    let beside = PathBuf::from(format!("{}-keys", aside.display()));
    let kept = KeyFile::from_bytes(&std::fs::read(&beside).unwrap(), "kept").unwrap();
    assert_eq!(kept, old_slots);
    assert_eq!(backup::set_aside_databases(&vault.profile).unwrap(), std::slice::from_ref(&aside));
    backup::remove_set_aside(&vault.profile, &aside).unwrap();
    assert!(!aside.exists() && !beside.exists());
    assert_eq!(files(&vault.profile.dir().join("work")).len(), 1, "only the lock is left");
}

#[test]
fn it_can_be_stopped_until_it_is_written_down_and_changes_nothing() {
    let vault = Vault::with(300);
    // One look has made the folder for work.
    vault.back_up(1);
    let (now, before) = (vault.contents(), files(vault.profile.dir()));
    for stop in 1.. {
        let mut left = stop;
        let mut watch = |_: Progress| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match rekeyed(&vault.profile, &vault.code, &mut watch) {
            Err(BackupError::Cancelled) => {
                assert_eq!((vault.contents(), files(vault.profile.dir())), (now.clone(), before.clone()));
            }
            Ok(_) => {
                assert!(stop > 3, "it could be stopped {stop} times");
                return;
            }
            Err(error) => panic!("stopped at call {stop}: {error}"),
        }
    }
}

#[test]
fn killed_at_any_step_the_vault_opens_with_the_same_code_and_everything_is_in_it() {
    for (step, is_new) in [
        (Step::Rekeying, false),
        (Step::Checking, false),
        (Step::Journalling, false),
        (Step::Swapping, true),
        (Step::SetAside, true),
        (Step::MovedIn, true),
    ] {
        let vault = Vault::with(30);
        let before = vault.contents();
        killed_at(step, &vault, &vault.profile, Some(Path::new(REKEY)));
        assert_eq!(backup::restore_is_pending(&vault.profile), is_new, "{step:?}");
        let lock = VaultLock::exclusive(&vault.profile).unwrap();
        backup::finish_pending_restore(&vault.profile, &lock).unwrap();
        drop(lock);
        assert_eq!(holds(&vault.profile, &vault.code), before, "{step:?}");
        assert_eq!(present_key(&vault.profile, &vault.code) != vault.database_key(), is_new, "{step:?}");
        assert_eq!(KeyFile::read(&vault.profile).unwrap().root_id().is_some(), is_new, "{step:?}");
        // It goes on, and can be done again.
        rekeyed(&vault.profile, &vault.code, &mut on).unwrap();
        assert_eq!(holds(&vault.profile, &vault.code), before, "{step:?}");
    }
}

#[test]
fn a_copy_that_was_damaged_meanwhile_is_undone_with_its_slots() {
    for step in [Step::Swapping, Step::SetAside] {
        let vault = Vault::with(30);
        let before = vault.contents();
        killed_at(step, &vault, &vault.profile, Some(Path::new(REKEY)));
        let mut work = std::fs::read_dir(vault.profile.dir().join("work")).unwrap().map(|entry| entry.unwrap().path());
        std::fs::remove_file(work.find(|path| path.is_dir()).unwrap().join("ready.db")).unwrap();
        if step == Step::Swapping {
            // Before the slots and the database were changed there is nothing to undo but the note: as if it came after.
            let lock = VaultLock::exclusive(&vault.profile).unwrap();
            std::fs::rename(vault.profile.database(), vault.profile.dir().join("vault.db.pre-restore-20261110T141320Z")).unwrap();
            drop(lock);
        }
        let lock = VaultLock::exclusive(&vault.profile).unwrap();
        let outcome = backup::finish_pending_restore(&vault.profile, &lock).unwrap();
        assert_eq!(outcome, backup::PendingRestore::Undone, "{step:?}");
        assert_eq!(vault.contents(), before, "{step:?}");
        assert_eq!(KeyFile::read(&vault.profile).unwrap().root_id(), None, "{step:?}");
        assert_eq!(holds(&vault.profile, &vault.code), before, "{step:?}");
    }
}

#[test]
fn what_cannot_be_sealed_anew_stops_it() {
    let vault = Vault::with(3);
    let (key_file, root, new) = roots(&vault.profile, &vault.code);
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    let refuse: &backup::Reseal<'_> = &|_| Err(evenkeel_store::StoreError::DamagedValue { what: "a sealed key".into() });
    let request = RekeyRequest {
        profile: &vault.profile,
        lock: &lock,
        root: &root,
        key_file: &key_file,
        new: &new,
        reseal: refuse,
        now: day(50),
    };
    let before = vault.contents();
    assert!(matches!(failed(backup::rekey(&request, &mut on)), BackupError::Store(_)));
    assert_eq!(vault.contents(), before);
    assert!(!backup::restore_is_pending(&vault.profile));
    let elsewhere = VaultLock::exclusive(&Profile::new(vault.folder.path().join("elsewhere"))).unwrap();
    let request = RekeyRequest { lock: &elsewhere, ..request };
    assert!(matches!(failed(backup::rekey(&request, &mut on)), BackupError::InUse));
}

#[test]
fn a_backup_from_before_comes_back_with_the_keys_of_its_time() {
    let vault = Vault::with(5);
    let then = vault.contents();
    let info = vault.back_up(1);
    add(&vault.store(), 6, 9);
    let aside = rekeyed(&vault.profile, &vault.code, &mut on).unwrap();
    backup::remove_set_aside(&vault.profile, &aside).unwrap();
    let now = holds(&vault.profile, &vault.code);
    let later = KeyFile::read(&vault.profile).unwrap();
    let later_root = unlock_recovery(&later, &vault.code).unwrap();
    let keys = backup::VaultKeys { root: &later_root, vault_id: later.vault_id() };
    assert_eq!(backup::list(&vault.profile.backups(), Some(keys)).unwrap()[0].result, BackupResult::WrongKey);

    let root = unlock_recovery(&backup::key_slots(&info.path).unwrap(), &vault.code).unwrap();
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    let request = RestoreRequest { path: &info.path, root: &root, profile: &vault.profile, lock: &lock, now: day(60) };
    let restored = backup::restore(&request, &mut on).unwrap();
    drop(lock);
    assert!(restored.adopted_key_slots);
    assert_eq!(vault.contents(), then);
    assert_eq!(holds(&vault.profile, &vault.code), then);
    // What was set aside opens with the slots that are beside it.
    let aside = restored.set_aside.unwrap();
    let beside = std::fs::read(format!("{}-keys", aside.display())).unwrap();
    let slots = KeyFile::from_bytes(&beside, "beside").unwrap();
    let root = unlock_recovery(&slots, &vault.code).unwrap();
    assert_eq!(contents(&aside, &root.subkey(slots.vault_id(), Use::Database)), now);
}
