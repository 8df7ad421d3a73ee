//! What can go wrong with an archive, told apart by what the user can do about it.

use crate::StoreError;
use evenkeel_domain::ErrorCode;
use evenkeel_vault::{AgeError, VaultError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An error of writing, reading or importing an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It is not what was written, or was never an archive.
    #[error("the archive cannot be read ({reason}); nothing of it was taken over, use another copy")]
    Invalid {
        /// What does not fit, and in which line.
        reason: String,
    },
    /// A newer version wrote it.
    #[error("the archive has format {found} and this version knows up to {known}; install the newer version")]
    TooNew {
        /// The format in the file.
        found: u32,
        /// The newest that this version reads.
        known: u32,
    },
    /// It is encrypted otherwise than what was given, or the passphrase is refused.
    #[error("the archive was not opened: {0}")]
    Secret(AgeError),
    /// A file stands where it was to be written.
    #[error("there is a file {} already; choose another name, or say that it may be replaced", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The new file did not pass its check.
    #[error("the new archive did not pass its check ({reason}) and was not kept; try again, best on another disk")]
    NotProved {
        /// What was found.
        reason: String,
    },
    /// With the archive the vault would hold more than it may.
    #[error("with the archive there would be {would_be} where {limit} is the limit ({field}); raise the limit, then import")]
    Limit {
        /// Which limit.
        field: &'static str,
        /// What there would be.
        would_be: u64,
        /// The limit.
        limit: u64,
    },
    /// An import of another archive was cut off.
    #[error("the import of another archive was interrupted; finish it or undo it first")]
    Pending,
    /// The watcher stopped the work.
    #[error("the work was stopped as asked")]
    Cancelled,
    /// Reading or writing a file failed.
    #[error("could not {action} {}: {source}; check the disk, then try again", path.display())]
    File {
        /// What was tried, such as "read".
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The vault itself.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of keys.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Why a record cannot be taken in; completes the sentence "line 5: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(String);

impl From<&str> for Unfit {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<String> for Unfit {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl ArchiveError {
    /// The error's stable name.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::ArchiveInvalid,
            Self::TooNew { .. } => ErrorCode::ArchiveTooNew,
            Self::Secret(AgeError::Foreign | AgeError::Damaged | AgeError::TooMuchWork { .. }) => ErrorCode::ArchiveInvalid,
            Self::Secret(AgeError::ShortPassphrase) => ErrorCode::InvalidParameter,
            Self::Secret(_) => ErrorCode::ArchiveLocked,
            Self::Exists { .. } => ErrorCode::FileExists,
            Self::Limit { .. } => ErrorCode::LimitReached,
            Self::Pending => ErrorCode::ImportPending,
            Self::File { source, .. } if source.kind() == ErrorKind::StorageFull => ErrorCode::DiskFull,
            Self::File { source, .. } if source.kind() == ErrorKind::NotFound => ErrorCode::NotFound,
            // What may not be read says nothing about writing.
            Self::File { action: "open" | "read", .. } => ErrorCode::Storage,
            Self::File { source, .. } if is_refused(source.kind()) => ErrorCode::NotWritable,
            Self::NotProved { .. } | Self::Cancelled | Self::File { .. } => ErrorCode::Storage,
            Self::Store(error) => error.code(),
            Self::Vault(error) => error.code(),
        }
    }

    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }

    /// For `map_err` of an operation on a file.
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }

    /// An error while decrypting: damage and a cut show themselves as failures of reading.
    pub(super) fn reading(source: io::Error, path: &Path) -> Self {
        match source.kind() {
            ErrorKind::InvalidData => Self::invalid("a part of it is damaged"),
            ErrorKind::UnexpectedEof => Self::invalid("its end is missing"),
            _ => Self::File { action: "read", path: path.to_owned(), source },
        }
    }

    /// An error of opening it by a passphrase or key.
    pub(super) fn of_age(error: AgeError, path: &Path) -> Self {
        match error {
            AgeError::Io(source) => Self::reading(source, path),
            other => Self::Secret(other),
        }
    }
}

fn is_refused(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_may_not_be_read_is_not_called_not_writable() {
        let refused = |action| ArchiveError::file(action, Path::new("a.evenkeel"))(ErrorKind::PermissionDenied.into());
        assert_eq!(refused("open").code(), ErrorCode::Storage);
        assert_eq!(refused("read").code(), ErrorCode::Storage);
        assert_eq!(refused("create").code(), ErrorCode::NotWritable);
        let gone = ArchiveError::file("open", Path::new("a.evenkeel"))(ErrorKind::NotFound.into());
        assert_eq!(gone.code(), ErrorCode::NotFound);
    }
}
