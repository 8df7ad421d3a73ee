#![allow(clippy::unwrap_used)]
use super::*;
use crate::{CreateOptions, KeychainError, create};
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
struct Memory {
    secrets: Mutex<HashMap<Uuid, String>>,
    locked: AtomicBool,
}

impl Memory {
    fn lock(&self, locked: bool) {
        self.locked.store(locked, Ordering::SeqCst);
    }

    fn is_empty(&self) -> bool {
        self.secrets.lock().unwrap().is_empty()
    }
}

impl SecretStore for Memory {
    fn get(&self, vault: Uuid) -> Result<SecretString, KeychainError> {
        self.secrets.lock().unwrap().get(&vault).cloned().map(SecretString::from).ok_or(KeychainError::Missing)
    }
    fn set(&self, vault: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        self.secrets.lock().unwrap().insert(vault, secret.expose_secret().to_owned());
        Ok(())
    }
    fn delete(&self, vault: Uuid) -> Result<(), KeychainError> {
        if self.locked.load(Ordering::SeqCst) {
            return Err(KeychainError::Locked);
        }
        self.secrets.lock().unwrap().remove(&vault);
        Ok(())
    }
}

fn furnished(dir: &Path, keychain: &Memory) -> (Profile, KeyFile, VaultLock) {
    let profile = Profile::new(dir.join("profile"));
    let lock = VaultLock::exclusive(&profile).unwrap();
    let made = create(&profile, CreateOptions { keychain: Some(keychain), ..CreateOptions::default() }, &lock).unwrap();
    for name in ["vault.db", "vault.db-wal", "vault.db.pre-restore-1", "vault.keys.damaged-1", "restore.journal"] {
        fs::write(profile.dir().join(name), b"x").unwrap();
    }
    for folder in [profile.work().join("backup-1"), profile.jobs()] {
        fs::create_dir_all(folder).unwrap();
    }
    for path in [profile.backups().join("a.ekbackup"), profile.models().join("m.gguf"), profile.dir().join("letter.txt")] {
        fs::write(path, b"x").unwrap();
    }
    (profile, made.key_file, lock)
}

fn names(profile: &Profile) -> Vec<String> {
    let entries = fs::read_dir(profile.dir()).unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    found
}

#[test]
fn everything_of_the_vault_goes_and_the_rest_stays() {
    for (models, expected) in [(false, vec!["letter.txt", "models", "vault.lock"]), (true, vec!["letter.txt", "vault.lock"])] {
        let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
        let (profile, keys, lock) = furnished(dir.path(), &keychain);
        assert!(erase(&profile, &keychain, &keys, models, &lock).unwrap());
        assert_eq!(names(&profile), expected);
        assert!(!profile.traces().any() && keychain.is_empty());
        create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
    }
}

#[test]
fn an_erasure_that_was_cut_off_is_finished_and_never_without_the_lock() {
    let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
    let (profile, keys, lock) = furnished(dir.path(), &keychain);
    assert!(!finish_erasure(&profile, &keychain, &lock).unwrap());
    let note = serde_json::to_vec(&Erasure { vault_id: Some(keys.vault_id()), models: false, has_item: true }).unwrap();
    fs::write(mark(&profile), note).unwrap();
    fs::remove_file(profile.key_slots()).unwrap();
    assert!(erasure_is_pending(&profile));
    let shared = lock.downgrade().unwrap();
    assert!(matches!(finish_erasure(&profile, &keychain, &shared), Err(VaultError::InUse)));
    assert!(matches!(erase(&profile, &keychain, &keys, true, &shared), Err(VaultError::InUse)));
    assert!(profile.database().exists());
    drop(shared);
    let lock = VaultLock::exclusive(&profile).unwrap();
    assert!(finish_erasure(&profile, &keychain, &lock).unwrap());
    assert_eq!(names(&profile), ["letter.txt", "models", "vault.lock"]);
    assert!(keychain.is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_is_removed_and_not_followed() {
    let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
    let (profile, keys, lock) = furnished(dir.path(), &keychain);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("m.gguf"), b"x").unwrap();
    fs::remove_dir_all(profile.models()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, profile.models()).unwrap();
    erase(&profile, &keychain, &keys, true, &lock).unwrap();
    assert!(elsewhere.join("m.gguf").exists() && fs::symlink_metadata(profile.models()).is_err());
}

#[test]
fn an_item_in_a_locked_keychain_is_told_noted_and_removed_later() {
    let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
    let (profile, keys, lock) = furnished(dir.path(), &keychain);
    // Key slots that cannot be read any more do not hide which item is meant.
    for copy in [profile.key_slots(), profile.key_slots_copy()] {
        fs::write(copy, b"not what it was").unwrap();
    }
    keychain.lock(true);
    assert!(!erase(&profile, &keychain, &keys, false, &lock).unwrap());
    assert!(!erasure_is_pending(&profile) && !profile.traces().any(), "all the rest is gone");
    assert_eq!(names(&profile), ["forgetting.json", "letter.txt", "models", "vault.lock"]);
    let note = fs::read_to_string(profile.dir().join(LEFT)).unwrap();
    assert_eq!(note, format!("[\"{}\"]", keys.vault_id()), "the id alone");
    assert_eq!(forget_left_items(&profile, &keychain).unwrap(), 1);
    keychain.lock(false);
    assert_eq!(forget_left_items(&profile, &keychain).unwrap(), 0);
    assert!(keychain.is_empty() && !profile.dir().join(LEFT).exists());
    assert_eq!(forget_left_items(&profile, &keychain).unwrap(), 0);
}

#[test]
fn the_note_of_left_items_goes_along_with_the_vault() {
    let dir = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| Profile::new(dir.path().join(name)));
    for profile in [&from, &to] {
        fs::create_dir(profile.dir()).unwrap();
    }
    let [one, other, both] = [1, 2, 3].map(Uuid::from_u128);
    note_left_items(&from, &BTreeSet::from([one, both])).unwrap();
    note_left_items(&to, &BTreeSet::from([other, both])).unwrap();
    assert!(has_files(&from));
    for _ in 0..2 {
        hand_over_left_items(&from, &to).unwrap();
        assert_eq!(left_items(&to).unwrap(), BTreeSet::from([one, other, both]));
        assert!(!has_files(&from) && names(&from).is_empty());
    }
}

#[test]
fn the_item_of_a_vault_that_came_back_stays() {
    let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
    let (profile, keys, lock) = furnished(dir.path(), &keychain);
    keychain.lock(true);
    assert!(!erase(&profile, &keychain, &keys, false, &lock).unwrap());
    keychain.lock(false);
    fs::write(profile.key_slots(), b"not readable yet").unwrap();
    assert_eq!(forget_left_items(&profile, &keychain).unwrap(), 1);
    fs::remove_file(profile.key_slots()).unwrap();
    assert!(crate::adopt_key_slots(&profile, &keys, &lock).unwrap());
    assert_eq!(forget_left_items(&profile, &keychain).unwrap(), 0);
    assert!(!keychain.is_empty() && !profile.dir().join(LEFT).exists());
}

#[test]
fn a_vault_without_a_keychain_leaves_no_item() {
    let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
    let profile = Profile::new(dir.path().join("profile"));
    let lock = VaultLock::exclusive(&profile).unwrap();
    let made = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
    keychain.lock(true);
    assert!(erase(&profile, &keychain, &made.key_file, true, &lock).unwrap());
    assert_eq!(names(&profile), ["vault.lock"]);
}
