//! The ways into the open vault: shown, added, changed and taken away.

use super::gate::check_answers;
use super::keys::Renewal;
use crate::backup::{blocking, until};
use crate::{BackupInfo, KeyChange, RecoverySheet, Service, ServiceError, SlotName, VaultSlots};
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError};
use evenkeel_store::backup::{self, BackupKind, VaultKeys};
use evenkeel_vault::{
    KeyFile, PassphraseCost, Profile, RootKey, Slot, SlotKind, VaultError, add_keychain_slot, add_passphrase_slot,
    forget_keychain_secret, new_recovery_code, remove_keychain_slot, remove_passphrase_slot, replace_recovery_code,
    unlock_recovery,
};
use secrecy::SecretString;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The fewest characters of a passphrase.
const SHORTEST: usize = 8;

impl Service {
    /// The ways into the open vault.
    ///
    /// # Errors
    /// The vault is locked, or its key slots cannot be read.
    pub async fn vault_slots(&self) -> Result<VaultSlots, ServiceError> {
        self.0.gate.opened()?;
        self.slots_shown().await
    }

    /// The ways into the vault, which are no secret.
    async fn slots_shown(&self) -> Result<VaultSlots, ServiceError> {
        let (profile, hears_sleep) = (self.profile(), self.0.keys.hears_sleep());
        blocking("reading the key slots", move || {
            let key_file = KeyFile::read(&profile)?;
            let earlier = earlier_backups(&profile, &key_file);
            Ok(VaultSlots::of(&key_file, earlier, hears_sleep))
        })
        .await
    }

    /// Lets a passphrase open the vault, in place of an earlier one.
    ///
    /// # Errors
    /// It has fewer than 8 characters, the vault is locked, or the key slots cannot be written; they are as before then.
    pub async fn vault_set_passphrase(&self, passphrase: String) -> Result<KeyChange, ServiceError> {
        check_passphrase(&passphrase)?;
        let (passphrase, now) = (SecretString::from(passphrase), self.now());
        let change = move |profile: &Profile, key_file: &mut KeyFile, root: &RootKey| {
            add_passphrase_slot(profile, key_file, root, passphrase, PassphraseCost::default(), now)
        };
        self.change_slots(change).await?;
        self.changed_keys(None, false).await
    }

    /// Lets the keychain open the vault. It may ask the user something first.
    ///
    /// # Errors
    /// The keychain does not take the key, the vault is locked, or the key slots cannot be written; they are as before then.
    pub async fn vault_add_keychain(&self) -> Result<KeyChange, ServiceError> {
        let (keychain, now) = (self.0.options.patient_keychain.clone(), self.now());
        let change = move |profile: &Profile, key_file: &mut KeyFile, root: &RootKey| {
            add_keychain_slot(profile, key_file, root, &*keychain, now)
        };
        self.change_slots(change).await?;
        self.changed_keys(None, false).await
    }

    /// Takes a way into the vault away. For the keychain's the recovery code has to be given, since with a forgotten
    /// passphrase nothing else would be left; it is proven to open the vault, and the backup that is made after that. Where
    /// the keychain's slot is gone already, what is left of it in the keychain is removed.
    ///
    /// # Errors
    /// It is the recovery code, or the last way but that; the code is mistyped or another one; the vault is locked; or the
    /// key slots cannot be written. They are as before then.
    pub async fn vault_remove_slot(&self, slot: SlotName, recovery_code: Option<String>) -> Result<KeyChange, ServiceError> {
        let code = Zeroizing::new(recovery_code.unwrap_or_default());
        match slot {
            SlotName::RecoveryCode => {
                let value = "recoveryCode".to_owned();
                let range = "keychain or passphrase; the recovery code can only be replaced".to_owned();
                Err(FieldError { field: "slot", value, range }.into())
            }
            SlotName::Passphrase => {
                self.change_slots(|profile, key_file, _| remove_passphrase_slot(profile, key_file)).await?;
                self.changed_keys(None, false).await
            }
            SlotName::Keychain => {
                let typed = code.clone();
                let change = move |profile: &Profile, key_file: &mut KeyFile, root: &RootKey| {
                    match remove_keychain_slot(profile, key_file, root, &typed) {
                        // Once more, for the keychain that kept the key.
                        Err(VaultError::NoSlot(_)) => Ok(()),
                        removed => removed,
                    }
                };
                let key_file = self.change_slots(change).await?;
                let keychain_keeps = !self.keychain_forgets(key_file).await;
                self.changed_keys((!code.is_empty()).then_some(code), keychain_keeps).await
            }
        }
    }

    /// Shows a recovery code that is to take the place of the one in force. It opens nothing before it was typed back with
    /// [`Service::vault_finish_recovery`]; until then the old one is good.
    ///
    /// # Errors
    /// The vault is locked, or the system gives no random bytes.
    pub async fn vault_begin_recovery(&self) -> Result<RecoverySheet, ServiceError> {
        self.0.gate.opened()?;
        let code = new_recovery_code()?;
        let groups = code.groups();
        let asked = self.asked_groups(groups.len());
        self.0.keys.begin_renewal(Renewal { code, asked: asked.clone() });
        Ok(RecoverySheet { groups, ask_groups: asked, created_at: self.now() })
    }

    /// Takes back the groups of the new recovery code that were asked for, puts it into force, and proves that it opens a
    /// backup that is made with it.
    ///
    /// # Errors
    /// No code is waiting, a group is not as it was shown (it can be typed again), the vault is locked, or the key slots
    /// cannot be written; the old code is good then.
    pub async fn vault_finish_recovery(&self, answers: Vec<String>) -> Result<KeyChange, ServiceError> {
        let none = || ErrorBody::new(ErrorCode::InvalidParameter, "no recovery code is waiting to be typed back");
        let checked = self.0.keys.with_renewal(|renewal| check_answers(&renewal.code, &renewal.asked, &answers));
        checked.ok_or_else(none)??;
        let text = self.0.keys.code().ok_or_else(none)?;
        let (typed, now) = (text.clone(), self.now());
        let change = move |profile: &Profile, key_file: &mut KeyFile, root: &RootKey| {
            let code = evenkeel_vault::RecoveryCode::parse(&typed)?;
            replace_recovery_code(profile, key_file, root, &code, now)
        };
        self.change_slots(change).await?;
        self.0.keys.end_renewal();
        self.changed_keys(Some(text), false).await
    }

    /// Wipes a new recovery code that was not typed back; the one in force stays.
    pub fn vault_cancel_recovery(&self) {
        self.0.keys.end_renewal();
    }

    /// Changes the key slots as they are on the disk, one change at a time.
    async fn change_slots(
        &self,
        change: impl FnOnce(&Profile, &mut KeyFile, &RootKey) -> Result<(), VaultError> + Send + 'static,
    ) -> Result<KeyFile, ServiceError> {
        let _turn = self.0.keys.turn.lock().await;
        let _work = self.work().await;
        let (opened, profile) = (self.0.gate.opened()?, self.profile());
        let changed = blocking("changing the key slots", move || {
            let mut key_file = KeyFile::read(&profile)?;
            if !key_file.is_of_same_root(&opened.key_file) {
                return Err(VaultError::InUse.into());
            }
            change(&profile, &mut key_file, &opened.root)?;
            Ok(key_file)
        })
        .await?;
        self.0.gate.put_key_file(changed.clone());
        Ok(changed)
    }

    /// What a change of keys has come to: a backup under the new keys, which `code`, if given, is proven to open.
    pub(super) async fn changed_keys(
        &self,
        code: Option<Zeroizing<String>>,
        keychain_keeps: bool,
    ) -> Result<KeyChange, ServiceError> {
        let made = self.back_up_new_keys(code).await;
        if let Err(error) = &made {
            tracing::warn!(code = error.code().as_str(), %error, "no backup could be made after a change of keys");
        }
        // The change is in force, also where the vault has been locked meanwhile.
        let slots = self.slots_shown().await?;
        let (backup, backup_error) = match made {
            Ok(backup) => (Some(backup), None),
            Err(error) => (None, Some(error.to_body())),
        };
        Ok(KeyChange { slots, backup, backup_error, keychain_keeps })
    }

    async fn back_up_new_keys(&self, code: Option<Zeroizing<String>>) -> Result<BackupInfo, ServiceError> {
        let _work = self.work().await;
        let made = self.make_backup(BackupKind::AfterKeyChange, None).await?;
        if let Some(code) = code {
            self.prove_code(made.path.clone(), code).await?;
        }
        Ok(BackupInfo::newest(&made))
    }

    /// Opens a backup completely with nothing but a recovery code.
    async fn prove_code(&self, path: PathBuf, code: Zeroizing<String>) -> Result<(), ServiceError> {
        let (profile, now, stop) = (self.profile(), self.now(), self.stop_of_jobs());
        blocking("proving the recovery code", move || {
            let slots = backup::key_slots(&path)?;
            let root = unlock_recovery(&slots, &code)?;
            let keys = VaultKeys { root: &root, vault_id: slots.vault_id() };
            backup::verify(&path, keys, &profile, now, &mut until(stop))?;
            Ok(())
        })
        .await
    }

    /// Whether the keychain has let go of the key of a slot that is gone.
    async fn keychain_forgets(&self, key_file: KeyFile) -> bool {
        let keychain = self.0.options.patient_keychain.clone();
        let forgotten =
            blocking("removing the key from the keychain", move || Ok(forget_keychain_secret(&key_file, &*keychain)?));
        match forgotten.await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(code = error.code().as_str(), %error, "the keychain keeps a key that was taken away");
                false
            }
        }
    }
}

/// Refuses a passphrase that is too short.
pub(super) fn check_passphrase(passphrase: &str) -> Result<(), FieldError> {
    let found = passphrase.chars().count();
    if found >= SHORTEST {
        return Ok(());
    }
    let value = format!("{found} characters");
    Err(FieldError { field: "passphrase", value, range: format!("at least {SHORTEST} characters") })
}

/// How many backups of the profile open with other keys than those of `key_file`.
fn earlier_backups(profile: &Profile, key_file: &KeyFile) -> u32 {
    let Ok(listed) = backup::list(&profile.backups(), None) else { return 0 };
    let opens_otherwise = |path: &PathBuf| backup::key_slots(path).is_ok_and(|slots| !open_alike(&slots, key_file));
    u32::try_from(listed.iter().filter(|info| opens_otherwise(&info.path)).count()).unwrap_or(u32::MAX)
}

/// Whether the same secrets open both. The keychain's slot is made anew now and then for the secret that it has.
fn open_alike(one: &KeyFile, other: &KeyFile) -> bool {
    let typed = |file: &KeyFile| -> Vec<Slot> {
        let mut slots: Vec<_> = file.slots().iter().filter(|slot| slot.kind() != SlotKind::Keychain).cloned().collect();
        slots.sort_by_key(|slot| slot.kind() == SlotKind::Recovery);
        slots
    };
    one.is_of_same_root(other) && one.has(SlotKind::Keychain) == other.has(SlotKind::Keychain) && typed(one) == typed(other)
}
