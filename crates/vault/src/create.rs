//! Making a vault: the only place where a root key is generated.

use crate::keychain::{SecretStore, store_new_secret};
use crate::recovery::RecoveryCode;
use crate::slot::{PassphraseCost, Slot};
use crate::{KeyFile, Profile, RootKey, VaultError, VaultLock, seal};
use chrono::{DateTime, Utc};
use secrecy::SecretString;
use uuid::Uuid;

/// How a new vault shall be opened. A recovery-code slot is always made besides.
#[derive(Default)]
pub struct CreateOptions<'a> {
    /// Keeps a key in this keychain.
    pub keychain: Option<&'a dyn SecretStore>,
    /// Opens with this passphrase. With a keychain slot too, either of them opens the vault.
    pub passphrase: Option<SecretString>,
    /// Cost of the passphrase; 256 MiB, 3 passes and 4 lanes by default.
    pub passphrase_cost: PassphraseCost,
    /// Allows a vault that only the recovery code opens.
    pub recovery_only: bool,
    /// The time, which is noted with the slots.
    pub now: Option<DateTime<Utc>>,
}

/// A vault that was just made.
pub struct Created {
    /// Its root key.
    pub root: RootKey,
    /// Its key slots, as they are on disk.
    pub key_file: KeyFile,
    /// The recovery code. It is nowhere else: show it now. If it is lost before the user has
    /// confirmed it, [`crate::renew_recovery_code`] makes another.
    pub recovery_code: RecoveryCode,
}

/// Makes a vault: a root key, its slots, and the key-slot file, which is written last. `lock`
/// has to be the exclusive lock of `profile`; hold it on until the database exists.
///
/// An interruption at any point leaves either no vault (at most a keychain item that nothing
/// refers to) or a whole one.
///
/// # Errors
/// [`VaultError::Exists`] if anything of a vault is there; [`VaultError::InUse`] without the
/// exclusive lock; [`VaultError::NoOpener`] with neither keychain nor passphrase nor
/// `recovery_only`; the keychain's errors, [`VaultError::PassphraseRefused`], [`VaultError::Io`].
pub fn create(profile: &Profile, options: CreateOptions<'_>, lock: &VaultLock) -> Result<Created, VaultError> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    let traces = profile.traces();
    if traces.any() {
        return Err(VaultError::Exists { found: traces.to_string() });
    }
    if options.keychain.is_none() && options.passphrase.is_none() && !options.recovery_only {
        return Err(VaultError::NoOpener);
    }
    profile.prepare()?;
    let vault_id = uuid::Builder::from_random_bytes(seal::random()?).into_uuid();
    let made = make(profile, vault_id, &options);
    if let (Err(_), Some(keychain)) = (&made, options.keychain) {
        // An item that nothing refers to is harmless; the first error is the one to report.
        let _ = keychain.delete(vault_id);
    }
    made
}

fn make(profile: &Profile, vault_id: Uuid, options: &CreateOptions<'_>) -> Result<Created, VaultError> {
    let root = RootKey::generate()?;
    let recovery_code = RecoveryCode::generate()?;
    let mut slots = vec![Slot::for_recovery(vault_id, &root, &recovery_code)?];
    if let Some(passphrase) = &options.passphrase {
        slots.push(Slot::for_passphrase(vault_id, &root, passphrase, options.passphrase_cost)?);
    }
    if let Some(keychain) = options.keychain {
        let secret = store_new_secret(keychain, vault_id)?;
        slots.push(Slot::for_keychain(vault_id, &root, &secret)?);
    }
    let slots = slots.into_iter().map(|slot| slot.made(options.now)).collect();
    let key_file = KeyFile::new(vault_id, slots);
    key_file.publish(profile)?;
    Ok(Created { root, key_file, recovery_code })
}
