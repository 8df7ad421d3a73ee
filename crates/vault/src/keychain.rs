//! The keychain of the operating system: one item per vault, under the service `evenkeel` with
//! the vault's id as user name.
//!
//! Keychain calls are synchronous, panic on a worker of an async runtime, and block without
//! limit while the desktop asks for a password. So every call runs on a thread of its own and
//! its answer is waited for with a limit: see [`Keychain`] and [`KeychainTask`].

#[cfg(not(target_os = "linux"))]
mod native;
#[cfg(target_os = "linux")]
mod secret_service;

#[cfg(not(target_os = "linux"))]
use native as system;
#[cfg(target_os = "linux")]
use secret_service as system;

use crate::{VaultError, seal};
use data_encoding::BASE64;
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

/// Service name of the item.
pub(crate) const SERVICE: &str = "evenkeel";
const DEFAULT_LIMIT: Duration = Duration::from_secs(1);

/// Why the keychain gave no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// No session bus, no keychain service, or the service does not start.
    #[error("no keychain can be reached ({reason})")]
    Unavailable {
        /// What the system answered.
        reason: String,
    },
    /// The keychain is locked: it was not to be asked, the user declined, or nothing can ask.
    #[error("the keychain is locked")]
    Locked,
    /// No answer within the limit; it may still come.
    #[error("the keychain has not answered yet")]
    Waiting,
    /// The keychain is open and holds no item of this vault.
    #[error("the keychain holds no key of this vault")]
    Missing,
    /// Any other failure.
    #[error("the keychain failed ({reason})")]
    Failed {
        /// What it answered, without any secret.
        reason: String,
    },
}

/// What the keychain says of a vault's item without being asked to unlock anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeychainState {
    /// The item is there and can be read without a question to the user.
    Present,
    /// The item, or the collection that it would be in, is locked.
    Locked,
    /// The keychain is open and has no such item.
    Missing,
}

/// Somewhere that keeps one secret text per vault.
pub trait SecretStore: Send + Sync {
    /// The secret of a vault.
    ///
    /// # Errors
    /// [`KeychainError`].
    fn get(&self, vault_id: Uuid) -> Result<SecretString, KeychainError>;

    /// Stores the secret of a vault in place of an earlier one.
    ///
    /// # Errors
    /// [`KeychainError`]; after `Waiting` it may still be stored.
    fn set(&self, vault_id: Uuid, secret: &SecretString) -> Result<(), KeychainError>;

    /// Removes the secret of a vault; succeeds if there is none.
    ///
    /// # Errors
    /// [`KeychainError`].
    fn delete(&self, vault_id: Uuid) -> Result<(), KeychainError>;

    /// Whether it has the secret of a vault. A keychain that may ask the user tells it without asking.
    ///
    /// # Errors
    /// [`KeychainError`].
    fn state(&self, vault_id: Uuid) -> Result<KeychainState, KeychainError> {
        match self.get(vault_id) {
            Ok(_) => Ok(KeychainState::Present),
            Err(KeychainError::Missing) => Ok(KeychainState::Missing),
            Err(KeychainError::Locked) => Ok(KeychainState::Locked),
            Err(error) => Err(error),
        }
    }
}

/// A question to the keychain that runs on its own thread.
///
/// Dropping it stops the waiting, not the question: a password prompt that is open stays open,
/// and its late answer is thrown away.
pub struct KeychainTask<T> {
    answer: Receiver<Result<T, KeychainError>>,
}

impl<T: Send + 'static> KeychainTask<T> {
    /// Waits for the answer at most `limit`. Blocks: not for the UI thread or an async worker.
    ///
    /// # Errors
    /// [`KeychainError::Waiting`] if there is no answer yet (ask again, or drop the task), and
    /// the answer's own error. Once it has answered, another wait gives `Failed`.
    pub fn wait(&mut self, limit: Duration) -> Result<T, KeychainError> {
        match self.answer.recv_timeout(limit) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(KeychainError::Waiting),
            Err(RecvTimeoutError::Disconnected) => Err(stopped()),
        }
    }

    /// Waits for the answer without a limit: until the user has answered the keychain's prompt.
    ///
    /// # Errors
    /// The answer's own error.
    pub fn wait_for_user(self) -> Result<T, KeychainError> {
        self.answer.recv().unwrap_or_else(|_| Err(stopped()))
    }

    fn start(work: impl FnOnce() -> Result<T, KeychainError> + Send + 'static) -> Result<Self, KeychainError> {
        let (sender, answer) = sync_channel(1);
        let question = std::thread::Builder::new().name("keychain".to_owned());
        question
            .spawn(move || {
                // Nobody listens any more after a cancel; the secret is wiped when dropped.
                let _ = sender.send(work());
            })
            .map_err(|e| KeychainError::Failed { reason: format!("no thread could be started: {e}") })?;
        Ok(Self { answer })
    }
}

fn stopped() -> KeychainError {
    KeychainError::Failed { reason: "the question to it broke off".to_owned() }
}

/// The keychain of this desktop: the Secret Service on Linux, Keychain Services on macOS, the
/// Credential Manager on Windows.
///
/// Every call gives [`KeychainError::Waiting`] when there is no answer within the limit. A `get`
/// that waits is kept: the next `get` for the same vault listens to it instead of opening a
/// second password prompt.
pub struct Keychain {
    limit: Duration,
    may_prompt: bool,
    pending: Mutex<HashMap<Uuid, KeychainTask<SecretString>>>,
}

impl Default for Keychain {
    fn default() -> Self {
        Self::new()
    }
}

impl Keychain {
    /// Waits one second for an answer and lets the desktop ask the user to unlock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }

    /// As [`Keychain::new`] with another limit.
    #[must_use]
    pub fn with_limit(limit: Duration) -> Self {
        Self { limit, may_prompt: true, pending: Mutex::default() }
    }

    /// Answers [`KeychainError::Locked`] at once where the desktop would ask for a password.
    /// Only the Secret Service can tell beforehand; other systems may still ask.
    #[must_use]
    pub fn without_prompt(mut self) -> Self {
        self.may_prompt = false;
        self
    }

    /// Looks without asking the user for anything.
    ///
    /// # Errors
    /// [`KeychainError::Unavailable`], `Waiting` if the service does not answer, `Failed`.
    pub fn state(&self, vault_id: Uuid) -> Result<KeychainState, KeychainError> {
        KeychainTask::start(move || system::state(vault_id))?.wait(self.limit)
    }

    /// Asks for the secret and returns at once. Drop the task to cancel.
    ///
    /// # Errors
    /// [`KeychainError::Failed`] if no thread can be started.
    pub fn start_get(&self, vault_id: Uuid) -> Result<KeychainTask<SecretString>, KeychainError> {
        let may_prompt = self.may_prompt;
        KeychainTask::start(move || system::get(vault_id, may_prompt))
    }

    /// Stops listening to a `get` that waits; the next one asks anew.
    pub fn cancel(&self, vault_id: Uuid) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&vault_id);
    }
}

impl SecretStore for Keychain {
    fn get(&self, vault_id: Uuid) -> Result<SecretString, KeychainError> {
        // Held while waiting: a second caller joins the first question instead of asking its own.
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut task = match pending.remove(&vault_id) {
            Some(task) => task,
            None => self.start_get(vault_id)?,
        };
        let answer = task.wait(self.limit);
        if matches!(answer, Err(KeychainError::Waiting)) {
            pending.insert(vault_id, task);
        }
        answer
    }

    fn set(&self, vault_id: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        let (may_prompt, secret) = (self.may_prompt, secret.clone());
        KeychainTask::start(move || system::set(vault_id, &secret, may_prompt))?.wait(self.limit)
    }

    fn delete(&self, vault_id: Uuid) -> Result<(), KeychainError> {
        let may_prompt = self.may_prompt;
        KeychainTask::start(move || system::delete(vault_id, may_prompt))?.wait(self.limit)
    }

    fn state(&self, vault_id: Uuid) -> Result<KeychainState, KeychainError> {
        Keychain::state(self, vault_id)
    }
}

/// Stores a new random secret as base64 text (some keychains mangle bytes from 128 up) and reads
/// it back before anything relies on it.
pub(crate) fn store_new_secret(keychain: &dyn SecretStore, vault_id: Uuid) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    let secret = Zeroizing::new(seal::random::<32>()?);
    let text = SecretString::from(BASE64.encode(&*secret));
    keychain.set(vault_id, &text)?;
    let read = keychain.get(vault_id)?;
    if bool::from(read.expose_secret().as_bytes().ct_eq(text.expose_secret().as_bytes())) {
        Ok(secret)
    } else {
        Err(VaultError::KeychainFailed { reason: "it gave back another text than was stored".to_owned() })
    }
}

/// The 32 bytes of a secret's text; `None` if it is not what Evenkeel stores.
pub(crate) fn decode_secret(text: &SecretString) -> Option<Zeroizing<[u8; 32]>> {
    let mut bytes = BASE64.decode(text.expose_secret().trim().as_bytes()).ok()?;
    let secret = <[u8; 32]>::try_from(bytes.as_slice()).ok().map(Zeroizing::new);
    bytes.zeroize();
    secret
}

/// Turns an answer of the store library into ours; `locked` says what was seen beforehand.
fn translate(error: &keyring_core::Error, locked: bool) -> KeychainError {
    use keyring_core::Error;
    match error {
        // A locked collection may hide its items: then nobody knows whether there is one.
        Error::NoEntry | Error::PlatformFailure(_) if locked => KeychainError::Locked,
        Error::NoEntry => KeychainError::Missing,
        Error::NoStorageAccess(_) => KeychainError::Locked,
        // These carry secret bytes, which belong in no message.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => KeychainError::Failed { reason: "the item is not text".to_owned() },
        Error::Ambiguous(items) => KeychainError::Failed {
            reason: format!("it has {} items for this vault; delete those that are not needed", items.len()),
        },
        other => KeychainError::Failed { reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests;
