//! Keys of a vault: the root key, the key slots that wrap it, the keychain, the recovery code,
//! the sub-keys derived from it, sealing of small secrets, the profile folder and its lock.
//!
//! One rule above all: a root key is made once, and only where nothing of a vault exists
//! ([`create`] asks [`Profile::traces`]). A keychain that answers "no such item" is no first run:
//! a keychain whose file was truncated answers the same, and a new root key would make the
//! database unreadable for good.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod adopt;
mod age_file;
mod change;
mod create;
mod durable;
mod envelope;
mod erase;
mod error;
mod harden;
mod job_lock;
mod key_file;
mod keychain;
mod lock;
mod moving;
mod new_root;
mod place;
mod profile;
mod recovery;
mod recovery_file;
mod reserve;
mod root;
mod seal;
mod sleep;
mod slot;
mod unlock;

pub use adopt::adopt_key_slots;
pub use age_file::{AgeError, AgeLock, AgeReader, AgeSecret, AgeWriter, age_lock, write_key_file};
pub use change::{
    add_keychain_slot, add_passphrase_slot, forget_keychain_secret, mark_recovery_confirmed, new_recovery_code,
    remove_keychain_slot, remove_passphrase_slot, renew_recovery_code, replace_recovery_code,
};
pub use create::{CreateOptions, Created, create};
pub use durable::{name_new, write as write_durably, write_new, write_streamed};
pub use envelope::{EnvelopeError, envelope_key_of, open_envelope, seal_envelope};
pub use erase::{erase, erasure_is_pending, finish_erasure, forget_left_items};
pub use error::VaultError;
pub use harden::harden_process;
pub use job_lock::JobLock;
pub use key_file::KeyFile;
pub use keychain::{Keychain, KeychainError, KeychainState, KeychainTask, SecretStore};
pub use lock::VaultLock;
pub use moving::{Moved, check_move, move_profile};
pub use new_root::{NewRoot, SlotSecrets, new_root};
pub use place::Place;
pub use profile::{Profile, Traces};
pub use recovery::{CodeMistake, RecoveryCode};
pub use recovery_file::save_recovery_code;
pub use reserve::{RESERVE_BYTES, keep_reserve, release_reserve};
pub use root::{RootKey, Use};
pub use seal::{open, seal};
pub use sleep::{SleepWatch, watch_sleep};
pub use slot::{PassphraseCost, Slot, SlotKind};
pub use unlock::{unlock_keychain, unlock_passphrase, unlock_recovery};
