//! Changing the key slots of an open vault: the new slot is written, has to open the vault as it was read back, and only
//! then takes the place of the old one in the second copy of the file.

use crate::keychain::{KeychainError, SecretStore, decode_secret, store_new_secret};
use crate::recovery::RecoveryCode;
use crate::slot::{PassphraseCost, Slot, SlotKind};
use crate::unlock::same_root;
use crate::{KeyFile, Profile, RootKey, VaultError, unlock_keychain, unlock_passphrase, unlock_recovery};
use chrono::{DateTime, Utc};
use secrecy::SecretString;

/// Makes the keychain open this vault (again), after it was opened another way.
///
/// If the keychain has a secret for this vault already, the slot is made for that one: another
/// copy of the vault on this machine may depend on it. Otherwise a new secret is stored and
/// read back first. The old slot is replaced only once the new one has opened.
///
/// # Errors
/// The keychain's errors, [`VaultError::InUse`] if the file was changed meanwhile,
/// [`VaultError::Io`]. The slots are then as before.
pub fn add_keychain_slot(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    keychain: &dyn SecretStore,
    now: DateTime<Utc>,
) -> Result<(), VaultError> {
    let vault_id = key_file.vault_id();
    let present = match keychain.get(vault_id) {
        Ok(text) => decode_secret(&text),
        Err(KeychainError::Missing) => None,
        Err(error) => return Err(error.into()),
    };
    let secret = match present {
        Some(secret) => secret,
        None => store_new_secret(keychain, vault_id)?,
    };
    let slot = Slot::for_keychain(vault_id, root, &secret)?.made(Some(now));
    let changed = key_file.with_slot(slot);
    key_file.replace(profile, changed, |read| same_root(&unlock_keychain(read, keychain)?, root, SlotKind::Keychain))
}

/// Makes a passphrase open this vault, in place of an earlier one. Takes about two seconds with the usual cost, since it
/// has to open the vault before the earlier one goes.
///
/// # Errors
/// [`VaultError::PassphraseRefused`], [`VaultError::InUse`], [`VaultError::Io`]; the slots are
/// then as before.
pub fn add_passphrase_slot(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    passphrase: SecretString,
    cost: PassphraseCost,
    now: DateTime<Utc>,
) -> Result<(), VaultError> {
    let slot = Slot::for_passphrase(key_file.vault_id(), root, &passphrase, cost)?.made(Some(now));
    let changed = key_file.with_slot(slot);
    key_file.replace(profile, changed, |read| same_root(&unlock_passphrase(read, passphrase)?, root, SlotKind::Passphrase))
}

/// Takes the passphrase away.
///
/// # Errors
/// [`VaultError::LastOpener`] without a keychain slot; [`VaultError::NoSlot`]; [`VaultError::InUse`], [`VaultError::Io`].
/// The slots are then as before.
pub fn remove_passphrase_slot(profile: &Profile, key_file: &mut KeyFile) -> Result<(), VaultError> {
    key_file.slot(SlotKind::Passphrase)?;
    if !key_file.has(SlotKind::Keychain) {
        return Err(VaultError::LastOpener(SlotKind::Passphrase));
    }
    let changed = key_file.without_slot(SlotKind::Passphrase);
    key_file.replace(profile, changed, |_| Ok(()))
}

/// Takes the keychain's slot away, so that the vault opens only with something that is typed. `typed_code` has to be the
/// recovery code: where the passphrase is forgotten afterwards, nothing else is left.
///
/// The secret stays in the keychain, where it opens nothing but older copies of the slots;
/// [`forget_keychain_secret`] removes it.
///
/// # Errors
/// [`VaultError::LastOpener`] without a passphrase; [`VaultError::RecoveryCodeMistyped`], [`VaultError::WrongKey`];
/// [`VaultError::NoSlot`]; [`VaultError::InUse`], [`VaultError::Io`]. The slots are then as before.
pub fn remove_keychain_slot(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    typed_code: &str,
) -> Result<(), VaultError> {
    key_file.slot(SlotKind::Keychain)?;
    if !key_file.has(SlotKind::Passphrase) {
        return Err(VaultError::LastOpener(SlotKind::Keychain));
    }
    let changed = key_file.without_slot(SlotKind::Keychain);
    // Asked before anything is written: the code may be mistyped.
    same_root(&unlock_recovery(&changed, typed_code)?, root, SlotKind::Recovery)?;
    key_file.replace(profile, changed, |read| same_root(&unlock_recovery(read, typed_code)?, root, SlotKind::Recovery))
}

/// Removes from the keychain what opened a slot that the vault has no longer; nothing where it has one.
///
/// # Errors
/// The keychain's errors; it can be called again.
pub fn forget_keychain_secret(key_file: &KeyFile, keychain: &dyn SecretStore) -> Result<(), VaultError> {
    if key_file.has(SlotKind::Keychain) {
        return Ok(());
    }
    Ok(keychain.delete(key_file.vault_id())?)
}

/// Makes a new recovery code; the old one opens the vault no longer (older backups it does).
/// The new one counts as not confirmed. For a vault whose code was never typed back; otherwise
/// [`new_recovery_code`] and [`replace_recovery_code`] leave the old one in force until then.
///
/// # Errors
/// [`VaultError::InUse`], [`VaultError::Io`]; the old code is then still good.
pub fn renew_recovery_code(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    now: DateTime<Utc>,
) -> Result<RecoveryCode, VaultError> {
    let code = RecoveryCode::generate()?;
    put_recovery_code(profile, key_file, root, &code, (now, false))?;
    Ok(code)
}

/// A recovery code that opens nothing yet.
///
/// # Errors
/// [`VaultError::Io`] if the system gives no random bytes.
pub fn new_recovery_code() -> Result<RecoveryCode, VaultError> {
    RecoveryCode::generate()
}

/// Puts a code that the user has typed back in the place of the recovery code.
///
/// # Errors
/// [`VaultError::InUse`], [`VaultError::Io`]; the old code is then still good.
pub fn replace_recovery_code(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    code: &RecoveryCode,
    now: DateTime<Utc>,
) -> Result<(), VaultError> {
    put_recovery_code(profile, key_file, root, code, (now, true))
}

fn put_recovery_code(
    profile: &Profile,
    key_file: &mut KeyFile,
    root: &RootKey,
    code: &RecoveryCode,
    (now, is_confirmed): (DateTime<Utc>, bool),
) -> Result<(), VaultError> {
    let slot = Slot::for_recovery(key_file.vault_id(), root, code)?.made(Some(now));
    let changed = key_file.with_slot(slot).with_recovery_confirmed(is_confirmed);
    key_file.replace(profile, changed, |read| same_root(&unlock_recovery(read, &code.text())?, root, SlotKind::Recovery))
}

/// Notes that the user has typed back the recovery code, or part of it.
///
/// # Errors
/// [`VaultError::InUse`], [`VaultError::Io`].
pub fn mark_recovery_confirmed(profile: &Profile, key_file: &mut KeyFile) -> Result<(), VaultError> {
    if key_file.recovery_confirmed() {
        return Ok(());
    }
    let changed = key_file.with_recovery_confirmed(true);
    key_file.replace(profile, changed, |_| Ok(()))
}

#[cfg(test)]
mod tests;
