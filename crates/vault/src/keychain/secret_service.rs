//! The Secret Service of Linux desktops (gnome-keyring, KWallet, KeePassXC) over D-Bus.
//!
//! Before the store library is asked, which unlocks and so may open a prompt, the service is
//! asked what is locked. Runs on threads of its own only.

use super::{KeychainError, KeychainState, SERVICE, translate};
use keyring_core::Entry;
use keyring_core::api::CredentialStoreApi;
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use uuid::Uuid;
use zbus::blocking::Connection;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};
use zbus_secret_service_keyring_store::Store;

const BUS_NAME: &str = "org.freedesktop.secrets";
const SERVICE_PATH: &str = "/org/freedesktop/secrets";
const SERVICE_INTERFACE: &str = "org.freedesktop.Secret.Service";
const COLLECTION_INTERFACE: &str = "org.freedesktop.Secret.Collection";
const LABEL: &str = "Evenkeel vault key";

pub(super) fn state(vault_id: Uuid) -> Result<KeychainState, KeychainError> {
    let bus = Connection::session().map_err(|e| KeychainError::Unavailable { reason: e.to_string() })?;
    let (open, locked) = find_items(&bus, vault_id)?;
    Ok(if !open.is_empty() {
        KeychainState::Present
    } else if !locked.is_empty() || default_is_locked(&bus)? {
        KeychainState::Locked
    } else {
        KeychainState::Missing
    })
}

pub(super) fn get(vault_id: Uuid, may_prompt: bool) -> Result<SecretString, KeychainError> {
    let locked = look_first(vault_id, may_prompt)?;
    let read = entry(vault_id).and_then(|entry| entry.get_password());
    read.map(SecretString::from).map_err(|e| translate(&e, locked && still_locked(vault_id)))
}

pub(super) fn set(vault_id: Uuid, secret: &SecretString, may_prompt: bool) -> Result<(), KeychainError> {
    let locked = look_first(vault_id, may_prompt)?;
    let written = entry(vault_id).and_then(|entry| entry.set_password(secret.expose_secret()));
    written.map_err(|e| translate(&e, locked && still_locked(vault_id)))
}

pub(super) fn delete(vault_id: Uuid, may_prompt: bool) -> Result<(), KeychainError> {
    let locked = look_first(vault_id, may_prompt)?;
    match entry(vault_id).and_then(|entry| entry.delete_credential()) {
        Err(e) => match translate(&e, locked && still_locked(vault_id)) {
            KeychainError::Missing => Ok(()),
            error => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

/// Whether something is locked; refuses to go on where that would open a prompt unasked.
fn look_first(vault_id: Uuid, may_prompt: bool) -> Result<bool, KeychainError> {
    let locked = state(vault_id)? == KeychainState::Locked;
    if locked && !may_prompt { Err(KeychainError::Locked) } else { Ok(locked) }
}

/// After a failure: a keychain that was unlocked meanwhile and fails is not locked but broken.
fn still_locked(vault_id: Uuid) -> bool {
    state(vault_id).is_ok_and(|state| state == KeychainState::Locked)
}

fn entry(vault_id: Uuid) -> keyring_core::Result<Entry> {
    // A new store each time: a connection that failed once must not fail for good.
    let label = HashMap::from([("label", LABEL)]);
    Store::new()?.build(SERVICE, &vault_id.to_string(), Some(&label))
}

/// Unlocked and locked items of the vault.
fn find_items(bus: &Connection, vault_id: Uuid) -> Result<(Vec<OwnedObjectPath>, Vec<OwnedObjectPath>), KeychainError> {
    let user = vault_id.to_string();
    let attributes = HashMap::from([("service", SERVICE), ("username", user.as_str())]);
    bus.call_method(Some(BUS_NAME), SERVICE_PATH, Some(SERVICE_INTERFACE), "SearchItems", &(attributes,))
        .and_then(|reply| reply.body().deserialize())
        .map_err(|e| bus_error(&e))
}

/// Whether the collection for new items is locked; `false` if there is none.
fn default_is_locked(bus: &Connection) -> Result<bool, KeychainError> {
    let collection: OwnedObjectPath = bus
        .call_method(Some(BUS_NAME), SERVICE_PATH, Some(SERVICE_INTERFACE), "ReadAlias", &("default",))
        .and_then(|reply| reply.body().deserialize())
        .map_err(|e| bus_error(&e))?;
    if collection.as_str() == "/" {
        return Ok(false);
    }
    let property = (COLLECTION_INTERFACE, "Locked");
    let value: OwnedValue = bus
        .call_method(Some(BUS_NAME), &*collection, Some("org.freedesktop.DBus.Properties"), "Get", &property)
        .and_then(|reply| reply.body().deserialize())
        .map_err(|e| bus_error(&e))?;
    bool::try_from(value).map_err(|e| KeychainError::Failed { reason: e.to_string() })
}

/// A bus that cannot reach or start the service is told from a service that answers an error.
fn bus_error(error: &zbus::Error) -> KeychainError {
    const UNREACHABLE: [&str; 6] = ["ServiceUnknown", "NameHasNoOwner", "Spawn", "NoReply", "TimedOut", "Disconnected"];
    let reason = error.to_string();
    let unreachable = match error {
        zbus::Error::MethodError(name, ..) => name
            .strip_prefix("org.freedesktop.DBus.Error.")
            .is_some_and(|rest| UNREACHABLE.iter().any(|known| rest.starts_with(known))),
        zbus::Error::InputOutput(_) | zbus::Error::Connection(..) => true,
        _ => false,
    };
    if unreachable { KeychainError::Unavailable { reason } } else { KeychainError::Failed { reason } }
}
