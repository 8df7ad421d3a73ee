//! Another root key for a vault: the key itself and the slots that wrap it. Nothing is written here.

use crate::keychain::{SecretStore, decode_secret};
use crate::recovery::RecoveryCode;
use crate::slot::{PassphraseCost, Slot, SlotKind};
use crate::unlock::same_root;
use crate::{KeyFile, RootKey, VaultError, seal, unlock_keychain, unlock_passphrase, unlock_recovery};
use chrono::{DateTime, Utc};
use secrecy::SecretString;

/// What opens the slots of a vault, each of which has to be made anew for another root key.
pub struct SlotSecrets<'a> {
    /// The keychain; asked only where the vault has a slot for it.
    pub keychain: &'a dyn SecretStore,
    /// The passphrase; needed only where the vault has a slot for one.
    pub passphrase: Option<SecretString>,
    /// The recovery code as it was typed.
    pub recovery_code: &'a str,
}

/// A root key that no database has yet.
pub struct NewRoot {
    /// The key.
    pub root: RootKey,
    /// The slots of the same vault for it, opened by what opened the old ones.
    pub key_file: KeyFile,
}

/// Makes another root key for a vault, and a slot for each that it has. What opens a slot stays as it is, so that the
/// keychain need not be written: with that, no interruption leaves a keychain that fits neither root.
///
/// # Errors
/// [`VaultError::WrongKey`] or [`VaultError::RecoveryCodeMistyped`] if a secret does not open its present slot;
/// [`VaultError::NoSlot`] if the passphrase is missing; the keychain's errors; [`VaultError::Io`].
pub fn new_root(
    key_file: &KeyFile,
    root: &RootKey,
    secrets: &SlotSecrets<'_>,
    now: DateTime<Utc>,
) -> Result<NewRoot, VaultError> {
    let made = RootKey::generate()?;
    let mut slots = Vec::with_capacity(key_file.slots().len());
    for slot in key_file.slots() {
        let rewrapped = match slot.kind() {
            SlotKind::Keychain => for_keychain(key_file, root, &made, secrets.keychain),
            SlotKind::Recovery => for_recovery(key_file, root, &made, secrets.recovery_code),
            SlotKind::Passphrase => {
                let passphrase = secrets.passphrase.clone().ok_or(VaultError::NoSlot(SlotKind::Passphrase))?;
                let cost = slot.passphrase_cost().unwrap_or_default();
                for_passphrase(key_file, root, &made, passphrase, cost)
            }
        };
        slots.push(rewrapped?.made(Some(now)));
    }
    let root_id = uuid::Builder::from_random_bytes(seal::random()?).into_uuid();
    Ok(NewRoot { key_file: key_file.of_new_root(root_id, slots), root: made })
}

fn for_keychain(key_file: &KeyFile, root: &RootKey, made: &RootKey, keychain: &dyn SecretStore) -> Result<Slot, VaultError> {
    same_root(&unlock_keychain(key_file, keychain)?, root, SlotKind::Keychain)?;
    let secret = decode_secret(&keychain.get(key_file.vault_id())?).ok_or(VaultError::WrongKey(SlotKind::Keychain))?;
    Slot::for_keychain(key_file.vault_id(), made, &secret)
}

fn for_recovery(key_file: &KeyFile, root: &RootKey, made: &RootKey, typed: &str) -> Result<Slot, VaultError> {
    same_root(&unlock_recovery(key_file, typed)?, root, SlotKind::Recovery)?;
    Slot::for_recovery(key_file.vault_id(), made, &RecoveryCode::parse(typed)?)
}

fn for_passphrase(
    key_file: &KeyFile,
    root: &RootKey,
    made: &RootKey,
    passphrase: SecretString,
    cost: PassphraseCost,
) -> Result<Slot, VaultError> {
    same_root(&unlock_passphrase(key_file, passphrase.clone())?, root, SlotKind::Passphrase)?;
    Slot::for_passphrase(key_file.vault_id(), made, &passphrase, cost)
}
