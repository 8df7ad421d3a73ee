//! What can go wrong with a vault's keys and files.

use crate::keychain::KeychainError;
use crate::recovery::CodeMistake;
use crate::slot::SlotKind;
use evenkeel_domain::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the vault's keys, key-slot file, keychain, lock or folder.
///
/// The seven states that a person can meet at start (Unavailable, Locked, Waiting, Missing,
/// WrongKey, Damaged, TooNew) are variants of their own, because each has its own way out.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// No keychain service can be reached.
    #[error("No keychain can be reached ({reason}); start it and try again, or open the vault with the recovery code")]
    Unavailable {
        /// What the system answered.
        reason: String,
    },
    /// The keychain is locked and was not unlocked.
    #[error("The keychain is locked; unlock it and try again, or open the vault with the recovery code")]
    Locked,
    /// The keychain has not answered yet, most often because it asks the user for a password.
    #[error("The keychain has not answered yet; answer its question, or open the vault with the recovery code")]
    Waiting,
    /// The keychain works but holds no key of this vault.
    #[error("The keychain holds no key of this vault; open it with the recovery code to store the key again")]
    Missing,
    /// The keychain answered with an error of its own.
    #[error("The keychain failed ({reason}); try again, or open the vault with the recovery code")]
    KeychainFailed {
        /// What the keychain answered, without any secret.
        reason: String,
    },
    /// The key-slot file is whole, but the key given does not open its slot.
    #[error("The {0} does not belong to this vault; check it, or open the vault another way")]
    WrongKey(SlotKind),
    /// A file is not what was written.
    #[error("{what} is damaged ({reason}); it was left as it is: restore it from a backup")]
    Damaged {
        /// The file or value.
        what: String,
        /// What does not fit.
        reason: String,
    },
    /// A file was written by a newer version of Evenkeel.
    #[error("The key-slot file has format {found}, this version knows formats up to {known}; install a newer Evenkeel")]
    TooNew {
        /// Format number in the file.
        found: u32,
        /// Newest format number that this version reads.
        known: u32,
    },
    /// Something of a vault is in the folder where a new one was to be made.
    #[error("There is a vault here already ({found}); open it, or choose another profile folder")]
    Exists {
        /// What was found.
        found: String,
    },
    /// Nothing of a vault is in the folder.
    #[error("There is no vault in this profile folder yet; make one first")]
    NoVault,
    /// The vault has no slot of the kind asked for.
    #[error("This vault cannot be opened by {0}; open it another way")]
    NoSlot(SlotKind),
    /// A vault was to be made with no way to open it but the recovery code, and that was not asked for.
    #[error("A vault needs a keychain or a passphrase; choose one, or say that the recovery code alone shall open it")]
    NoOpener,
    /// Without this slot only the recovery code would be left.
    #[error("Without the {0} only the recovery code would open this vault; add another way before you remove it")]
    LastOpener(SlotKind),
    /// The recovery code was mistyped: its own check digits do not fit.
    #[error("The recovery code was mistyped ({0}); compare it with your copy and type it again")]
    RecoveryCodeMistyped(#[from] CodeMistake),
    /// The passphrase is empty, or its cost is outside the allowed range.
    #[error("The passphrase cannot be used ({reason}); choose another")]
    PassphraseRefused {
        /// What is wrong with it.
        reason: String,
    },
    /// A recovery code was to be written beside the vault that it opens.
    #[error(
        "{path} is inside the profile folder, and whoever copies the vault would have its recovery code with it; choose a place outside"
    )]
    InsideProfile {
        /// Where it was to be written.
        path: PathBuf,
    },
    /// The data was moved to a folder that is not there.
    #[error(
        "The data was moved to {path}, which cannot be reached ({reason}); connect its drive and try again, no new vault is made meanwhile"
    )]
    Away {
        /// The folder.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The data cannot be moved so.
    #[error(
        "The data was not moved because of {path}: {reason}. Everything is where it was; change that, or choose a new or empty folder"
    )]
    MoveRefused {
        /// The folder chosen, or the file that stands against it.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The disk that the data was to be moved to has too little room.
    #[error(
        "The data needs {needed} bytes and the disk of {path} has {free}; free some space or choose another folder, everything is where it was"
    )]
    NoRoom {
        /// The folder chosen.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Another process holds the vault in a way that excludes this, or changed it meanwhile.
    #[error("Another Evenkeel is using this vault; close it and try again")]
    InUse,
    /// A file or folder is there and could not be read.
    #[error("{} could not be read: {source}; check the disk and the permissions, then try again", path.display())]
    Unread {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Writing failed.
    #[error("{what} failed: {source}; check the disk and the folder's permissions, then try again")]
    Io {
        /// What was being done, to what.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl VaultError {
    /// The code that leaves the app. `DiskFull` is told apart from other I/O errors.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable { .. } | Self::KeychainFailed { .. } => ErrorCode::KeychainUnavailable,
            Self::Locked => ErrorCode::KeychainLocked,
            Self::Waiting => ErrorCode::KeychainWaiting,
            Self::Missing => ErrorCode::KeychainMissing,
            Self::WrongKey(_) => ErrorCode::WrongKey,
            Self::Damaged { .. } => ErrorCode::VaultDamaged,
            Self::TooNew { .. } => ErrorCode::VaultTooNew,
            Self::Exists { .. } => ErrorCode::VaultExists,
            Self::NoVault | Self::NoSlot(_) => ErrorCode::NotFound,
            Self::NoOpener | Self::LastOpener(_) | Self::RecoveryCodeMistyped(_) | Self::PassphraseRefused { .. } => {
                ErrorCode::InvalidParameter
            }
            Self::InsideProfile { .. } => ErrorCode::PlaceRefused,
            Self::Away { .. } => ErrorCode::VaultAway,
            Self::MoveRefused { .. } => ErrorCode::MoveRefused,
            Self::NoRoom { .. } => ErrorCode::DiskFull,
            Self::InUse => ErrorCode::VaultInUse,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorCode::DiskFull,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorCode::NotWritable,
                _ => ErrorCode::Storage,
            },
            Self::Unread { .. } => ErrorCode::Storage,
        }
    }

    /// For what was not written to.
    pub(crate) fn unread(path: &Path, source: io::Error) -> Self {
        Self::Unread { path: path.to_owned(), source }
    }

    pub(crate) fn io(doing: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { what: format!("{doing} {}", path.display()), source }
    }

    pub(crate) fn damaged(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged { what: what.into(), reason: reason.into() }
    }
}

impl From<KeychainError> for VaultError {
    fn from(error: KeychainError) -> Self {
        match error {
            KeychainError::Unavailable { reason } => Self::Unavailable { reason },
            KeychainError::Locked => Self::Locked,
            KeychainError::Waiting => Self::Waiting,
            KeychainError::Missing => Self::Missing,
            KeychainError::Failed { reason } => Self::KeychainFailed { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_read_is_not_called_not_writable() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(VaultError::unread(Path::new("vault.keys"), refused()).code(), ErrorCode::Storage);
        assert_eq!(VaultError::io("Writing", Path::new("vault.keys"), refused()).code(), ErrorCode::NotWritable);
    }
}
