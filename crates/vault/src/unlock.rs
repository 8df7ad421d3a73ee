//! Opening a vault by one of its slots, and changing slots once it is open.

use crate::keychain::{KeychainError, SecretStore, decode_secret, store_new_secret};
use crate::recovery::RecoveryCode;
use crate::slot::{PassphraseCost, Slot, SlotKind};
use crate::{KeyFile, Profile, RootKey, VaultError};
use secrecy::SecretString;

/// Opens the vault with the secret in the keychain. Blocks as long as `keychain` does.
///
/// # Errors
/// [`VaultError::NoSlot`], [`VaultError::WrongKey`] if the secret is another one or no secret of
/// Evenkeel at all, and the keychain's errors. [`VaultError::Missing`] is no reason to make a
/// new vault.
pub fn unlock_keychain(key_file: &KeyFile, keychain: &dyn SecretStore) -> Result<RootKey, VaultError> {
    let slot = key_file.slot(SlotKind::Keychain)?;
    let text = keychain.get(key_file.vault_id())?;
    let secret = decode_secret(&text).ok_or(VaultError::WrongKey(SlotKind::Keychain))?;
    slot.open_with_keychain(key_file.vault_id(), &secret)
}

/// Opens the vault with a typed recovery code, read as [`RecoveryCode::parse`] does.
///
/// # Errors
/// [`VaultError::RecoveryCodeMistyped`] if it is no recovery code, [`VaultError::WrongKey`] if
/// it is that of another vault or an older one of this vault, [`VaultError::NoSlot`].
pub fn unlock_recovery(key_file: &KeyFile, typed: &str) -> Result<RootKey, VaultError> {
    let code = RecoveryCode::parse(typed)?;
    key_file.slot(SlotKind::Recovery)?.open_with_recovery(key_file.vault_id(), &code)
}

/// Opens the vault with its passphrase. Takes about a second and, by default, 256 MiB.
///
/// # Errors
/// [`VaultError::WrongKey`], [`VaultError::NoSlot`], [`VaultError::Io`] without enough memory.
pub fn unlock_passphrase(key_file: &KeyFile, passphrase: SecretString) -> Result<RootKey, VaultError> {
    key_file.slot(SlotKind::Passphrase)?.open_with_passphrase(key_file.vault_id(), &passphrase)
}

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
    let changed = key_file.with_slot(Slot::for_keychain(vault_id, root, &secret)?);
    same_root(&unlock_keychain(&changed, keychain)?, root, SlotKind::Keychain)?;
    key_file.replace(profile, changed)
}

/// Makes a passphrase open this vault, in place of an earlier one.
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
) -> Result<(), VaultError> {
    let slot = Slot::for_passphrase(key_file.vault_id(), root, &passphrase, cost)?;
    let changed = key_file.with_slot(slot);
    key_file.replace(profile, changed)
}

/// Makes a new recovery code; the old one opens the vault no longer (older backups it does).
/// The new one counts as not confirmed.
///
/// # Errors
/// [`VaultError::InUse`], [`VaultError::Io`]; the old code is then still good.
pub fn renew_recovery_code(profile: &Profile, key_file: &mut KeyFile, root: &RootKey) -> Result<RecoveryCode, VaultError> {
    let code = RecoveryCode::generate()?;
    let slot = Slot::for_recovery(key_file.vault_id(), root, &code)?;
    let changed = key_file.with_slot(slot).with_recovery_confirmed(false);
    same_root(&unlock_recovery(&changed, &code.text())?, root, SlotKind::Recovery)?;
    key_file.replace(profile, changed)?;
    Ok(code)
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
    key_file.replace(profile, changed)
}

fn same_root(opened: &RootKey, root: &RootKey, kind: SlotKind) -> Result<(), VaultError> {
    use subtle::ConstantTimeEq;
    if bool::from(opened.expose().ct_eq(root.expose())) { Ok(()) } else { Err(VaultError::WrongKey(kind)) }
}

#[cfg(test)]
mod tests;
