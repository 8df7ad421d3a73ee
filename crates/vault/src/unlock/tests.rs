#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    CreateOptions, Created, KeychainError, PassphraseCost, Profile, Traces, VaultLock, add_keychain_slot, add_passphrase_slot,
    create, mark_recovery_confirmed, renew_recovery_code,
};
use chrono::DateTime;
use evenkeel_domain::ErrorCode;
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use tempfile::TempDir;
use uuid::Uuid;

/// A keychain in memory that can be told to fail.
#[derive(Default)]
struct Memory {
    items: Mutex<HashMap<Uuid, String>>,
    get_fails: Option<KeychainError>,
    set_fails: Option<KeychainError>,
    mangles: bool,
}

impl SecretStore for Memory {
    fn get(&self, vault_id: Uuid) -> Result<SecretString, KeychainError> {
        if let Some(error) = &self.get_fails {
            return Err(error.clone());
        }
        let items = self.items.lock().unwrap();
        items.get(&vault_id).map(|s| SecretString::from(s.as_str())).ok_or(KeychainError::Missing)
    }

    fn set(&self, vault_id: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        if let Some(error) = &self.set_fails {
            return Err(error.clone());
        }
        let mut text = secret.expose_secret().to_owned();
        if self.mangles {
            text.pop();
        }
        self.items.lock().unwrap().insert(vault_id, text);
        Ok(())
    }

    fn delete(&self, vault_id: Uuid) -> Result<(), KeychainError> {
        self.items.lock().unwrap().remove(&vault_id);
        Ok(())
    }
}

fn profile() -> (TempDir, Profile) {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile::new(dir.path().join("profile"));
    (dir, profile)
}

fn make(profile: &Profile, options: CreateOptions<'_>) -> Result<Created, VaultError> {
    let lock = VaultLock::exclusive(profile)?;
    create(profile, options, &lock)
}

fn with_keychain(keychain: &Memory) -> CreateOptions<'_> {
    CreateOptions { keychain: Some(keychain), ..CreateOptions::default() }
}

fn failure<T>(result: Result<T, VaultError>) -> VaultError {
    result.err().unwrap()
}

#[test]
fn every_slot_opens_the_same_root_after_reading_it_back() {
    let (_dir, profile) = profile();
    let keychain = Memory::default();
    let options = CreateOptions {
        passphrase: Some("correct horse".into()),
        passphrase_cost: PassphraseCost::FLOOR,
        ..with_keychain(&keychain)
    };
    let made = make(&profile, options).ok().unwrap();
    let file = KeyFile::read(&profile).unwrap();
    assert_eq!(file.slots().len(), 3);
    for root in [
        unlock_keychain(&file, &keychain),
        unlock_recovery(&file, &made.recovery_code.text()),
        unlock_passphrase(&file, "correct horse".into()),
    ] {
        assert_eq!(root.ok().unwrap().expose(), made.root.expose());
    }
    let wrong = failure(unlock_passphrase(&file, "Correct horse".into()));
    assert!(matches!(wrong, VaultError::WrongKey(SlotKind::Passphrase)));
    assert_eq!(wrong.code(), ErrorCode::WrongKey);
}

#[test]
fn a_vault_is_made_only_where_nothing_of_one_exists() {
    let made_of: [fn(&Profile) -> std::path::PathBuf; 4] =
        [|p| p.database(), |p| p.key_slots(), |p| p.key_slots_copy(), |p| p.backups().join("b")];
    for trace in made_of {
        let (_dir, profile) = profile();
        profile.prepare().unwrap();
        fs::write(trace(&profile), b"").unwrap();
        let keychain = Memory::default();
        let error = failure(make(&profile, with_keychain(&keychain)));
        assert_eq!(error.code(), ErrorCode::VaultExists);
        assert!(keychain.items.lock().unwrap().is_empty(), "nothing may be stored");
    }
}

#[test]
fn making_needs_the_exclusive_lock_of_this_profile() {
    let (_dir, profile) = profile();
    let (_other_dir, other) = self::profile();
    let options = || CreateOptions { recovery_only: true, ..CreateOptions::default() };
    let shared = VaultLock::shared(&profile).unwrap();
    assert!(matches!(failure(create(&profile, options(), &shared)), VaultError::InUse));
    let foreign = VaultLock::exclusive(&other).unwrap();
    assert!(matches!(failure(create(&profile, options(), &foreign)), VaultError::InUse));
    assert!(!profile.traces().any());
}

#[test]
fn recovery_only_has_to_be_said() {
    let (_dir, profile) = profile();
    assert!(matches!(failure(make(&profile, CreateOptions::default())), VaultError::NoOpener));
    assert_eq!(profile.traces(), Traces::default());
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    assert!(matches!(failure(unlock_keychain(&made.key_file, &Memory::default())), VaultError::NoSlot(SlotKind::Keychain)));
    assert!(matches!(failure(unlock_passphrase(&made.key_file, "x".into())), VaultError::NoSlot(SlotKind::Passphrase)));
}

#[test]
fn a_keychain_that_fails_leaves_no_half_vault() {
    let failed = || KeychainError::Failed { reason: "x".to_owned() };
    for (keychain, code) in [
        (Memory { set_fails: Some(KeychainError::Waiting), ..Memory::default() }, ErrorCode::KeychainWaiting),
        (Memory { set_fails: Some(KeychainError::Locked), ..Memory::default() }, ErrorCode::KeychainLocked),
        (Memory { get_fails: Some(failed()), ..Memory::default() }, ErrorCode::KeychainUnavailable),
        (Memory { get_fails: Some(KeychainError::Missing), ..Memory::default() }, ErrorCode::KeychainMissing),
        (Memory { mangles: true, ..Memory::default() }, ErrorCode::KeychainUnavailable),
    ] {
        let (_dir, profile) = profile();
        assert_eq!(failure(make(&profile, with_keychain(&keychain))).code(), code);
        assert!(!profile.traces().any());
        assert!(keychain.items.lock().unwrap().is_empty(), "the item is taken back");
    }
}

#[test]
fn mistyped_wrong_and_damaged_are_three_different_errors() {
    let (_dir, profile) = profile();
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let (_other_dir, other) = self::profile();
    let other = make(&other, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();

    let mut mistyped = made.recovery_code.text().to_string();
    let last = if mistyped.ends_with('7') { "8" } else { "7" };
    mistyped.replace_range(mistyped.len() - 1.., last);
    assert!(matches!(failure(unlock_recovery(&made.key_file, &mistyped)), VaultError::RecoveryCodeMistyped(_)));
    let foreign = unlock_recovery(&made.key_file, &other.recovery_code.text());
    assert!(matches!(failure(foreign), VaultError::WrongKey(SlotKind::Recovery)));
    for copy in [profile.key_slots(), profile.key_slots_copy()] {
        fs::write(copy, b"EVENKEEL KEY SLOTS 1\n").unwrap();
    }
    assert!(matches!(KeyFile::read(&profile), Err(VaultError::Damaged { .. })));
}

#[test]
fn a_keychain_with_something_else_in_it_is_a_wrong_key() {
    let (_dir, profile) = profile();
    let keychain = Memory::default();
    let made = make(&profile, with_keychain(&keychain)).ok().unwrap();
    let other = data_encoding::BASE64.encode(&[1; 32]);
    for text in ["", "not base64 !", "AAAA", other.as_str()] {
        keychain.set(made.key_file.vault_id(), &SecretString::from(text)).unwrap();
        let error = failure(unlock_keychain(&made.key_file, &keychain));
        assert!(matches!(error, VaultError::WrongKey(SlotKind::Keychain)), "{text}");
    }
}

#[test]
fn after_recovery_the_keychain_opens_again() {
    let (_dir, profile) = profile();
    let keychain = Memory::default();
    let mut file = make(&profile, with_keychain(&keychain))
        .map(|made| {
            keychain.items.lock().unwrap().clear();
            fs::write(profile.dir().join("code"), made.recovery_code.text().as_bytes()).unwrap();
            made.key_file
        })
        .ok()
        .unwrap();
    assert!(matches!(failure(unlock_keychain(&file, &keychain)), VaultError::Missing));

    let root = unlock_recovery(&file, &fs::read_to_string(profile.dir().join("code")).unwrap()).ok().unwrap();
    add_keychain_slot(&profile, &mut file, &root, &keychain, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(KeyFile::read(&profile).unwrap(), file);
    assert_eq!(unlock_keychain(&file, &keychain).ok().unwrap().expose(), root.expose());
    assert_eq!(file.slots().len(), 2);
}

#[test]
fn a_secret_that_is_there_is_used_and_not_overwritten() {
    let (_dir, profile) = profile();
    let keychain = Memory::default();
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let mut file = made.key_file;
    let theirs = data_encoding::BASE64.encode(&[1; 32]);
    keychain.set(file.vault_id(), &SecretString::from(theirs.as_str())).unwrap();
    add_keychain_slot(&profile, &mut file, &made.root, &keychain, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(keychain.items.lock().unwrap()[&file.vault_id()], theirs);
    assert!(unlock_keychain(&file, &keychain).is_ok());
}

#[test]
fn a_keychain_that_refuses_leaves_the_slots_alone() {
    let (_dir, profile) = profile();
    let keychain = Memory { set_fails: Some(KeychainError::Locked), ..Memory::default() };
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let mut file = made.key_file.clone();
    let refused = add_keychain_slot(&profile, &mut file, &made.root, &keychain, DateTime::UNIX_EPOCH);
    assert!(matches!(failure(refused), VaultError::Locked));
    assert_eq!(file, made.key_file);
    assert_eq!(KeyFile::read(&profile).unwrap(), made.key_file);
}

#[test]
fn passphrases_are_added_and_replaced() {
    let (_dir, profile) = profile();
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let mut file = made.key_file;
    for passphrase in ["first", "second"] {
        let (cost, now) = (PassphraseCost::FLOOR, DateTime::UNIX_EPOCH);
        add_passphrase_slot(&profile, &mut file, &made.root, passphrase.into(), cost, now).unwrap();
        assert_eq!(unlock_passphrase(&file, passphrase.into()).ok().unwrap().expose(), made.root.expose());
    }
    assert!(matches!(failure(unlock_passphrase(&file, "first".into())), VaultError::WrongKey(_)));
    assert_eq!(file.slots().len(), 2);
}

#[test]
fn a_renewed_code_replaces_the_old_one_and_waits_for_confirmation() {
    let (_dir, profile) = profile();
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let mut file = made.key_file;
    assert!(!file.recovery_confirmed());
    mark_recovery_confirmed(&profile, &mut file).unwrap();
    mark_recovery_confirmed(&profile, &mut file).unwrap();
    assert!(KeyFile::read(&profile).unwrap().recovery_confirmed());

    let renewed = renew_recovery_code(&profile, &mut file, &made.root, DateTime::UNIX_EPOCH).ok().unwrap();
    let file = KeyFile::read(&profile).unwrap();
    assert!(!file.recovery_confirmed());
    assert_eq!(unlock_recovery(&file, &renewed.text()).ok().unwrap().expose(), made.root.expose());
    let old = unlock_recovery(&file, &made.recovery_code.text());
    assert!(matches!(failure(old), VaultError::WrongKey(SlotKind::Recovery)));
}

#[test]
fn a_change_that_cannot_be_written_leaves_the_old_slots_in_force() {
    let (_dir, profile) = profile();
    let made = make(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }).ok().unwrap();
    let mut file = made.key_file.clone();
    // Where the unfinished file would be written stands a folder: every write of copy one fails.
    let unfinished = format!("vault.keys{}{}", crate::durable::UNFINISHED, std::process::id());
    fs::create_dir(profile.dir().join(unfinished)).unwrap();
    let failed = renew_recovery_code(&profile, &mut file, &made.root, DateTime::UNIX_EPOCH);
    assert_eq!(failure(failed).code(), ErrorCode::Storage);
    assert_eq!(file, made.key_file);
    assert_eq!(KeyFile::read(&profile).unwrap(), made.key_file);
    assert!(unlock_recovery(&file, &made.recovery_code.text()).is_ok());
}
