//! What can go wrong with a backup, told apart by what the user can do about it.

use crate::StoreError;
use evenkeel_domain::ErrorCode;
use evenkeel_vault::VaultError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// An error of making, checking or restoring a backup. After each of them the vault and the
/// backups that were there are as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The backup is not what was written.
    #[error("the backup {} is damaged ({reason}); it was left as it is, use another one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// The file is no backup.
    #[error("{} is no backup of Evenkeel; choose a file whose name ends with .ekbackup", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The backup's format or schema is newer than this version.
    #[error(
        "the backup {} has {what} {found} and this version knows up to {known}; install the newer version", path.display()
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// What is newer: "format" or "schema".
        what: &'static str,
        /// The number in the backup.
        found: i64,
        /// The newest that this version reads.
        known: i64,
    },
    /// The file is whole, but the key given does not open it.
    #[error("the key does not open the backup {}; use the recovery code that was in force when it was made", path.display())]
    WrongKey {
        /// The file.
        path: PathBuf,
    },
    /// The backup is of another vault than the one in question.
    #[error(
        "the backup {} is of another vault ({found}) than this profile's ({wanted}); restore it to an empty profile", path.display()
    )]
    OtherVault {
        /// The file.
        path: PathBuf,
        /// The vault that the backup is of.
        found: Uuid,
        /// The vault that was asked for.
        wanted: Uuid,
    },
    /// A new backup did not pass its check.
    #[error(
        "the new backup did not pass its check ({reason}) and was not kept; earlier backups are as they were, check the vault"
    )]
    NotProved {
        /// What was found.
        reason: String,
    },
    /// The folder is not there: its drive may have been removed.
    #[error("{} cannot be found; connect its drive, or choose another folder", path.display())]
    FolderMissing {
        /// The folder or file.
        path: PathBuf,
    },
    /// The folder may not be written to.
    #[error("nothing can be written to {} ({source}); choose another folder or change its permissions", path.display())]
    NotWritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The disk is full.
    #[error("the disk of {} is full; free some space or choose another folder, earlier backups are as they were", path.display())]
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
    },
    /// Another failure of a file.
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
    /// The watcher stopped the work.
    #[error("the work was stopped as asked; nothing was changed")]
    Cancelled,
    /// A restore needs the vault for itself.
    #[error("another window or program is using this vault; close it, then restore")]
    InUse,
    /// The note of an interrupted restore cannot be read.
    #[error("the note {} of an interrupted restore cannot be read ({reason}); nothing was changed, please report it", path.display())]
    JournalDamaged {
        /// The note.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Reading the vault's own database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault's key slots or folder.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl BackupError {
    /// The error's stable name.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Damaged { .. } | Self::NotProved { .. } | Self::JournalDamaged { .. } => ErrorCode::VaultDamaged,
            Self::Foreign { .. } => ErrorCode::InvalidParameter,
            Self::TooNew { .. } => ErrorCode::VaultTooNew,
            Self::WrongKey { .. } => ErrorCode::WrongKey,
            Self::OtherVault { .. } => ErrorCode::VaultExists,
            Self::FolderMissing { .. } => ErrorCode::NotFound,
            Self::DiskFull { .. } => ErrorCode::DiskFull,
            Self::NotWritable { .. } => ErrorCode::NotWritable,
            Self::File { .. } | Self::Cancelled => ErrorCode::Storage,
            Self::InUse => ErrorCode::VaultInUse,
            Self::Store(error) => error.code(),
            Self::Vault(error) => error.code(),
        }
    }

    pub(super) fn damaged(path: &Path, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn journal(path: &Path, reason: impl ToString) -> Self {
        Self::JournalDamaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// A failure of the system on a file.
    pub(super) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::FolderMissing { path },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::NotWritable { path, source },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::DiskFull { path },
            _ => Self::File { action, path, source },
        }
    }

    /// A failure of a work file, told as one of a file.
    pub(super) fn of_work(error: StoreError, path: &Path) -> Self {
        match error {
            StoreError::File { action, path, source } => Self::file(action, &path, source),
            StoreError::DiskFull { .. } => Self::DiskFull { path: path.to_owned() },
            other => Self::Store(other),
        }
    }

    /// A failure of the database in a backup: what is wrong is the backup, not the vault.
    pub(super) fn of_backup(error: StoreError, path: &Path) -> Self {
        match error {
            StoreError::Damaged { .. }
            | StoreError::DamagedValue { .. }
            | StoreError::Missing { .. }
            | StoreError::Plaintext { .. }
            | StoreError::Defect { .. } => Self::damaged(path, error),
            StoreError::TooNew { found, known } => Self::TooNew { path: path.to_owned(), what: "schema", found, known },
            other => Self::of_work(other, path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_can_do_decides_the_kind() {
        let of = |kind: ErrorKind| BackupError::file("write", Path::new("a"), kind.into());
        assert!(matches!(of(ErrorKind::StorageFull), BackupError::DiskFull { .. }));
        assert!(matches!(of(ErrorKind::ReadOnlyFilesystem), BackupError::NotWritable { .. }));
        assert!(matches!(of(ErrorKind::NotFound), BackupError::FolderMissing { .. }));
        assert!(matches!(of(ErrorKind::BrokenPipe), BackupError::File { .. }));
        assert_eq!(of(ErrorKind::QuotaExceeded).code(), ErrorCode::DiskFull);
        assert_eq!(of(ErrorKind::PermissionDenied).code(), ErrorCode::NotWritable);
        let full = StoreError::File { action: "create", path: "b".into(), source: ErrorKind::StorageFull.into() };
        assert_eq!(BackupError::of_backup(full, Path::new("a")).code(), ErrorCode::DiskFull);
        let newer = StoreError::TooNew { found: 9, known: 1 };
        assert!(matches!(BackupError::of_backup(newer, Path::new("a")), BackupError::TooNew { what: "schema", found: 9, .. }));
    }
}
