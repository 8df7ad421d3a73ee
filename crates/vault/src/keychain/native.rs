//! Keychain Services of macOS and the Credential Manager of Windows. Neither can tell
//! beforehand whether it would ask the user, so `may_prompt` has no effect here.

use super::{KeychainError, KeychainState, SERVICE, translate};
use keyring_core::Entry;
use keyring_core::api::CredentialStoreApi;
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store;
#[cfg(target_os = "windows")]
use windows_native_keyring_store::Store;

pub(super) fn state(vault_id: Uuid) -> Result<KeychainState, KeychainError> {
    match get(vault_id, false) {
        Ok(_) => Ok(KeychainState::Present),
        Err(KeychainError::Missing) => Ok(KeychainState::Missing),
        Err(KeychainError::Locked) => Ok(KeychainState::Locked),
        Err(error) => Err(error),
    }
}

pub(super) fn get(vault_id: Uuid, _may_prompt: bool) -> Result<SecretString, KeychainError> {
    let read = entry(vault_id).and_then(|entry| entry.get_password());
    read.map(SecretString::from).map_err(|e| translate(&e, false))
}

pub(super) fn set(vault_id: Uuid, secret: &SecretString, _may_prompt: bool) -> Result<(), KeychainError> {
    let written = entry(vault_id).and_then(|entry| entry.set_password(secret.expose_secret()));
    written.map_err(|e| translate(&e, false))
}

pub(super) fn delete(vault_id: Uuid, _may_prompt: bool) -> Result<(), KeychainError> {
    match entry(vault_id).and_then(|entry| entry.delete_credential()) {
        Ok(()) | Err(keyring_core::Error::NoEntry) => Ok(()),
        Err(e) => Err(translate(&e, false)),
    }
}

#[cfg(any(target_os = "macos", target_os = "windows"))]
fn entry(vault_id: Uuid) -> keyring_core::Result<Entry> {
    Store::new()?.build(SERVICE, &vault_id.to_string(), None)
}

#[cfg(not(any(target_os = "macos", target_os = "windows")))]
fn entry(_vault_id: Uuid) -> keyring_core::Result<Entry> {
    Err(keyring_core::Error::NotSupportedByStore(format!("{SERVICE} knows no keychain of this system")))
}
