//! Opening a vault by one of its slots.

use crate::keychain::{SecretStore, decode_secret};
use crate::recovery::RecoveryCode;
use crate::slot::SlotKind;
use crate::{KeyFile, RootKey, VaultError};
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

/// Fails unless both are the same key.
pub(crate) fn same_root(opened: &RootKey, root: &RootKey, kind: SlotKind) -> Result<(), VaultError> {
    use subtle::ConstantTimeEq;
    if bool::from(opened.expose().ct_eq(root.expose())) { Ok(()) } else { Err(VaultError::WrongKey(kind)) }
}

#[cfg(test)]
mod tests;
