#![allow(clippy::unwrap_used)]
use super::*;
use crate::durable::interruption::{killed_at, step};
use crate::{CreateOptions, SlotKind, VaultLock, create};
use secrecy::ExposeSecret;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use tempfile::TempDir;
use uuid::Uuid;

const OLD: &str = "the old passphrase";
const NEW: &str = "another passphrase";

/// A keychain in memory whose every change is a step at which a test can end everything.
#[derive(Default, Clone)]
struct Memory(std::sync::Arc<Mutex<HashMap<Uuid, String>>>);

impl Memory {
    /// What it holds, on its own.
    fn copied(&self) -> Self {
        Self(std::sync::Arc::new(Mutex::new(self.0.lock().unwrap().clone())))
    }
}

impl SecretStore for Memory {
    fn get(&self, vault_id: Uuid) -> Result<SecretString, KeychainError> {
        self.0.lock().unwrap().get(&vault_id).map(|text| SecretString::from(text.as_str())).ok_or(KeychainError::Missing)
    }

    fn set(&self, vault_id: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        step();
        self.0.lock().unwrap().insert(vault_id, secret.expose_secret().to_owned());
        step();
        Ok(())
    }

    fn delete(&self, vault_id: Uuid) -> Result<(), KeychainError> {
        step();
        self.0.lock().unwrap().remove(&vault_id);
        step();
        Ok(())
    }
}

/// A vault that can be copied as it lies on the disk.
struct Vault {
    _dir: TempDir,
    profile: Profile,
    keychain: Memory,
    file: KeyFile,
    root: RootKey,
    code: RecoveryCode,
}

fn now(day: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + chrono::TimeDelta::days(day)
}

/// Made on day 1 with the slots that are wished.
fn vault(with_keychain: bool, passphrase: Option<&str>) -> Vault {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile::new(dir.path().join("profile"));
    let keychain = Memory::default();
    let options = CreateOptions {
        keychain: with_keychain.then_some(&keychain as &dyn SecretStore),
        passphrase: passphrase.map(SecretString::from),
        passphrase_cost: PassphraseCost::FLOOR,
        recovery_only: true,
        now: Some(now(1)),
    };
    let lock = VaultLock::exclusive(&profile).unwrap();
    let made = create(&profile, options, &lock).ok().unwrap();
    let (file, root, code) = (made.key_file, made.root, made.recovery_code);
    Vault { _dir: dir, profile, keychain, file, root, code }
}

impl Vault {
    fn copy(&self) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().join("profile"));
        copy_folder(self.profile.dir(), profile.dir());
        let (file, keychain) = (self.file.clone(), self.keychain.copied());
        let root = RootKey::from_slice(self.root.expose()).unwrap();
        Self { _dir: dir, profile, keychain, file, root, code: RecoveryCode::parse(&self.code.text()).unwrap() }
    }

    /// What opens it, by the slots as they are on the disk; each has to give the one root key.
    fn opens_by(&self, code: &str, passphrase: &str) -> (bool, bool, bool) {
        let file = KeyFile::read(&self.profile).unwrap();
        let is_root = |opened: Result<RootKey, VaultError>| match opened {
            Ok(root) => {
                assert_eq!(root.expose(), self.root.expose());
                true
            }
            Err(VaultError::WrongKey(_) | VaultError::NoSlot(_) | VaultError::Missing) => false,
            Err(error) => panic!("{error}"),
        };
        (
            is_root(unlock_keychain(&file, &self.keychain)),
            is_root(unlock_recovery(&file, code)),
            is_root(unlock_passphrase(&file, passphrase.into())),
        )
    }

    fn dates(&self) -> Vec<(SlotKind, i64)> {
        let file = KeyFile::read(&self.profile).unwrap();
        let day = |slot: &Slot| (slot.made_at().unwrap() - DateTime::UNIX_EPOCH).num_days();
        file.slots().iter().map(|slot| (slot.kind(), day(slot))).collect()
    }

    /// Nothing is left half done once the file was read: both copies are the same.
    fn is_settled(&self) -> bool {
        let _ = KeyFile::read(&self.profile).unwrap();
        fs::read(self.profile.key_slots()).unwrap() == fs::read(self.profile.key_slots_copy()).unwrap()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

/// Ends `change` at each of its steps on a copy of `vault` and looks at what is left; gives how many steps there are.
fn at_each_step(vault: &Vault, change: impl Fn(&mut Vault), check: impl Fn(&Vault, u32)) -> u32 {
    for n in 0..100 {
        let left = RefCell::new(vault.copy());
        let was_killed = killed_at(n, || change(&mut left.borrow_mut()));
        let left = left.into_inner();
        check(&left, n);
        assert!(left.is_settled(), "step {n}");
        if !was_killed {
            return n;
        }
    }
    panic!("a change without an end");
}

#[test]
fn a_passphrase_is_added_changed_and_taken_away_and_the_rest_stays() {
    let mut vault = vault(true, None);
    let code = vault.code.text();
    let Vault { profile, file, root, .. } = &mut vault;
    add_passphrase_slot(profile, file, root, OLD.into(), PassphraseCost::FLOOR, now(2)).unwrap();
    assert_eq!(vault.opens_by(&code, OLD), (true, true, true));
    let Vault { profile, file, root, .. } = &mut vault;
    add_passphrase_slot(profile, file, root, NEW.into(), PassphraseCost::FLOOR, now(3)).unwrap();
    assert_eq!(vault.opens_by(&code, OLD), (true, true, false));
    assert_eq!(vault.opens_by(&code, NEW), (true, true, true));
    assert_eq!(vault.dates(), [(SlotKind::Recovery, 1), (SlotKind::Keychain, 1), (SlotKind::Passphrase, 3)]);
    remove_passphrase_slot(&vault.profile, &mut vault.file).unwrap();
    assert_eq!(vault.opens_by(&code, NEW), (true, true, false));
    assert!(matches!(remove_passphrase_slot(&vault.profile, &mut vault.file), Err(VaultError::NoSlot(_))));
}

#[test]
fn the_last_way_in_stays_and_a_passphrase_alone_needs_the_proof_of_the_code() {
    let mut only_keychain = vault(true, None);
    let code = only_keychain.code.text();
    let Vault { profile, file, root, .. } = &mut only_keychain;
    assert!(matches!(remove_keychain_slot(profile, file, root, &code), Err(VaultError::LastOpener(SlotKind::Keychain))));
    let mut only_passphrase = vault(false, Some(OLD));
    let Vault { profile, file, .. } = &mut only_passphrase;
    assert!(matches!(remove_passphrase_slot(profile, file), Err(VaultError::LastOpener(SlotKind::Passphrase))));

    let mut both = vault(true, Some(OLD));
    let (own, foreign) = (both.code.text(), RecoveryCode::generate().unwrap().text());
    let before = fs::read(both.profile.key_slots()).unwrap();
    let Vault { profile, file, root, .. } = &mut both;
    assert!(matches!(remove_keychain_slot(profile, file, root, &foreign), Err(VaultError::WrongKey(SlotKind::Recovery))));
    assert!(matches!(remove_keychain_slot(profile, file, root, "ABCD"), Err(VaultError::RecoveryCodeMistyped(_))));
    assert_eq!(fs::read(both.profile.key_slots()).unwrap(), before);
    let Vault { profile, file, root, .. } = &mut both;
    remove_keychain_slot(profile, file, root, &own).unwrap();
    assert_eq!(both.opens_by(&own, OLD), (false, true, true));
    assert_eq!(both.keychain.0.lock().unwrap().len(), 1, "older copies of the slots may still be opened by it");
    forget_keychain_secret(&both.file, &both.keychain).unwrap();
    assert!(both.keychain.0.lock().unwrap().is_empty());
}

#[test]
fn a_secret_that_opens_the_vault_is_not_forgotten() {
    let vault = vault(true, None);
    forget_keychain_secret(&vault.file, &vault.keychain).unwrap();
    assert_eq!(vault.opens_by(&vault.code.text(), OLD), (true, true, false));
}

#[test]
fn a_new_code_opens_nothing_until_it_takes_the_place_of_the_old_one() {
    let mut vault = vault(true, None);
    let (old, new) = (vault.code.text(), new_recovery_code().unwrap());
    assert_eq!(vault.opens_by(&new.text(), OLD), (true, false, false));
    assert_eq!(vault.opens_by(&old, OLD), (true, true, false));
    let Vault { profile, file, root, .. } = &mut vault;
    replace_recovery_code(profile, file, root, &new, now(5)).unwrap();
    assert_eq!(vault.opens_by(&old, OLD), (true, false, false));
    assert_eq!(vault.opens_by(&new.text(), OLD), (true, true, false));
    let read = KeyFile::read(&vault.profile).unwrap();
    assert!(read.recovery_confirmed());
    assert_eq!(vault.dates(), [(SlotKind::Keychain, 1), (SlotKind::Recovery, 5)]);
}

#[test]
fn a_slot_that_does_not_open_as_it_was_read_back_changes_nothing() {
    let mut vault = vault(true, Some(OLD));
    let before = fs::read(vault.profile.key_slots()).unwrap();
    let changed = vault.file.without_slot(SlotKind::Keychain);
    let refused = vault.file.replace(&vault.profile, changed, |_| Err(VaultError::WrongKey(SlotKind::Keychain)));
    assert!(matches!(refused, Err(VaultError::WrongKey(_))));
    for copy in [vault.profile.key_slots(), vault.profile.key_slots_copy()] {
        assert_eq!(fs::read(copy).unwrap(), before);
    }
}

#[test]
fn killed_at_any_step_of_a_change_of_passphrase_the_old_or_the_new_one_opens() {
    let vault = vault(true, Some(OLD));
    let code = vault.code.text();
    let change = |vault: &mut Vault| {
        let Vault { profile, file, root, .. } = vault;
        add_passphrase_slot(profile, file, root, NEW.into(), PassphraseCost::FLOOR, now(2)).unwrap();
    };
    let steps = at_each_step(&vault, change, |left, n| {
        let (keychain, recovery, old) = left.opens_by(&code, OLD);
        let (.., new) = left.opens_by(&code, NEW);
        assert!(keychain && recovery && (old ^ new), "step {n}");
    });
    // Both copies, each begun, half written, written and in its place.
    assert_eq!(steps, 8);
}

#[test]
fn killed_at_any_step_of_a_change_of_code_the_old_or_the_new_one_opens() {
    let vault = vault(true, None);
    let (old, new) = (vault.code.text(), RecoveryCode::generate().unwrap());
    let change = |vault: &mut Vault| {
        let Vault { profile, file, root, .. } = vault;
        replace_recovery_code(profile, file, root, &new, now(2)).unwrap();
    };
    let steps = at_each_step(&vault, change, |left, n| {
        let ((keychain, by_old, _), (_, by_new, _)) = (left.opens_by(&old, OLD), left.opens_by(&new.text(), OLD));
        assert!(keychain && (by_old ^ by_new), "step {n}");
    });
    assert_eq!(steps, 8);
}

#[test]
fn killed_at_any_step_of_taking_the_keychain_away_or_giving_it_back_the_rest_opens() {
    let with_both = vault(true, Some(OLD));
    let code = with_both.code.text();
    let away = |vault: &mut Vault| {
        let Vault { profile, file, root, keychain, .. } = vault;
        remove_keychain_slot(profile, file, root, &code).unwrap();
        forget_keychain_secret(file, keychain).unwrap();
    };
    let steps = at_each_step(&with_both, away, |left, n| {
        let (_, recovery, passphrase) = left.opens_by(&code, OLD);
        assert!(recovery && passphrase, "step {n}");
    });
    assert_eq!(steps, 10);

    let without = vault(false, Some(OLD));
    let code = without.code.text();
    let back = |vault: &mut Vault| {
        let Vault { profile, file, root, keychain, .. } = vault;
        add_keychain_slot(profile, file, root, keychain, now(2)).unwrap();
    };
    let steps = at_each_step(&without, back, |left, n| {
        let (_, recovery, passphrase) = left.opens_by(&code, OLD);
        assert!(recovery && passphrase, "step {n}");
    });
    assert_eq!(steps, 10);
}

#[test]
fn another_root_keeps_every_way_in_and_writes_nothing() {
    let vault = vault(true, Some(OLD));
    let before = fs::read(vault.profile.key_slots()).unwrap();
    let code = vault.code.text();
    let secrets = |passphrase: Option<&str>, code: &str| -> Result<crate::NewRoot, VaultError> {
        let passphrase = passphrase.map(SecretString::from);
        let given = crate::SlotSecrets { keychain: &vault.keychain, passphrase, recovery_code: code };
        crate::new_root(&vault.file, &vault.root, &given, now(9))
    };
    let made = secrets(Some(OLD), &code).ok().unwrap();
    assert_ne!(made.root.expose(), vault.root.expose());
    assert_eq!(made.key_file.vault_id(), vault.file.vault_id());
    assert!(made.key_file.root_id().is_some() && !made.key_file.is_of_same_root(&vault.file));
    for opened in [
        unlock_keychain(&made.key_file, &vault.keychain),
        unlock_recovery(&made.key_file, &code),
        unlock_passphrase(&made.key_file, OLD.into()),
    ] {
        assert_eq!(opened.ok().unwrap().expose(), made.root.expose());
    }
    assert!(matches!(secrets(None, &code), Err(VaultError::NoSlot(SlotKind::Passphrase))));
    assert!(matches!(secrets(Some(NEW), &code), Err(VaultError::WrongKey(SlotKind::Passphrase))));
    assert!(matches!(secrets(Some(OLD), "ABCD"), Err(VaultError::RecoveryCodeMistyped(_))));
    assert_eq!(fs::read(vault.profile.key_slots()).unwrap(), before);
}

#[test]
fn slots_of_another_root_take_the_place_of_the_present_ones_and_read_back() {
    let vault = vault(true, None);
    let code = vault.code.text();
    let secrets = crate::SlotSecrets { keychain: &vault.keychain, passphrase: None, recovery_code: &code };
    let made = crate::new_root(&vault.file, &vault.root, &secrets, now(9)).ok().unwrap();
    let lock = VaultLock::exclusive(&vault.profile).unwrap();
    for n in 0..8 {
        let left = vault.copy();
        let held = VaultLock::exclusive(&left.profile).unwrap();
        assert!(killed_at(n, || drop(crate::adopt_key_slots(&left.profile, &made.key_file, &held))));
        // It is finished by whoever has the note of it, and until then old or new opens.
        let opened = unlock_recovery(&KeyFile::read(&left.profile).unwrap(), &code).ok().unwrap();
        assert!(opened.expose() == vault.root.expose() || opened.expose() == made.root.expose());
        crate::adopt_key_slots(&left.profile, &made.key_file, &held).unwrap();
        assert_eq!(KeyFile::read(&left.profile).unwrap(), made.key_file);
    }
    assert!(crate::adopt_key_slots(&vault.profile, &made.key_file, &lock).unwrap());
    assert!(!crate::adopt_key_slots(&vault.profile, &made.key_file, &lock).unwrap());
}
