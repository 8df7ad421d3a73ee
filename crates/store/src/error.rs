//! What can go wrong in the store, told apart by what the user can do about it.

use crate::Noun;
use evenkeel_domain::ErrorCode;
use rusqlite::{Error as SqlError, ErrorCode as SqlCode, ffi};
use std::path::PathBuf;

/// An error of the store. No variant carries text of the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The thing named does not exist.
    #[error("there is no {} {id}; it may have been deleted in another window", noun.as_str())]
    NotFound {
        /// What kind of thing.
        noun: Noun,
        /// Its id.
        id: String,
    },
    /// The disk is full.
    #[error("the disk that holds the vault is full; free some space and try again, nothing that was saved is lost")]
    DiskFull {
        /// What SQLite said.
        #[source]
        source: SqlError,
    },
    /// Another process wrote for longer than the waiting time of 5 s.
    #[error("another process has been writing to the vault for over 5 seconds; wait for it or close it, then try again")]
    Busy {
        /// What SQLite said.
        #[source]
        source: SqlError,
    },
    /// The file does not decrypt or its structure is broken. SQLCipher does not tell the two apart;
    /// the key itself has been checked against the key slots before it comes here.
    #[error("the vault's database is damaged ({source}); it was left as it is, restore the newest backup")]
    Damaged {
        /// What SQLite said.
        #[source]
        source: SqlError,
    },
    /// Messages that were acknowledged are not in the database: its log has lost its end.
    #[error(
        "the vault's log has lost its end: message {acknowledged} was saved and the newest that can be read is {found}; \
         everything was left as it is, keep a copy of it before the vault is opened without them"
    )]
    TailLost {
        /// The number of the newest message that was acknowledged.
        acknowledged: i64,
        /// The number of the newest one that is there.
        found: i64,
    },
    /// A stored value does not fit its column's meaning.
    #[error("the vault's database is damaged: {what} cannot be read; it was left as it is, restore the newest backup")]
    DamagedValue {
        /// Table and column, or the kind of value.
        what: String,
    },
    /// There is no database where one has to be.
    #[error("the vault's database {} is missing or empty; put it back or restore a backup", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file is an unencrypted SQLite database.
    #[error("{} is not encrypted and so is no vault of Evenkeel; it was left as it is", path.display())]
    Plaintext {
        /// The file.
        path: PathBuf,
    },
    /// A restore was interrupted, so the database in its place may be about to be replaced.
    #[error("a restore of this vault was interrupted ({} says how far it was); start Evenkeel again to finish it", path.display())]
    RestorePending {
        /// The note of the restore.
        path: PathBuf,
    },
    /// A new database was to be made where a file is already.
    #[error("{} exists already; open it, or move it away before a new vault is made", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer version.
    #[error(
        "the vault has schema {found} and this version knows up to {known}; install the newer version, the file was not touched"
    )]
    TooNew {
        /// Schema of the file.
        found: i64,
        /// Newest schema of this build.
        known: i64,
    },
    /// A migration that was applied is not the one in this build.
    #[error(
        "migration {version} of the vault differs from the one in this build; install a released version, the file was not touched"
    )]
    MigrationEdited {
        /// Its number.
        version: i64,
    },
    /// Reading or writing a file failed.
    #[error("could not {action} {}: {source}; what was saved before is safe, check the disk and the file's permissions", path.display())]
    File {
        /// What was tried, such as "create".
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Reading or writing the database failed for another reason.
    #[error("the vault's database could not be read or written ({source}); what was saved before is safe, try again")]
    Storage {
        /// What SQLite said.
        #[source]
        source: SqlError,
    },
    /// A caller broke a rule of the store; a defect of Evenkeel.
    #[error("defect in Evenkeel's store: {what}; nothing was changed, please report it")]
    Defect {
        /// Which rule.
        what: String,
    },
}

impl StoreError {
    /// The error's stable name.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::DiskFull { .. } => ErrorCode::DiskFull,
            Self::Busy { .. } | Self::RestorePending { .. } => ErrorCode::VaultInUse,
            Self::Damaged { .. }
            | Self::TailLost { .. }
            | Self::DamagedValue { .. }
            | Self::Missing { .. }
            | Self::Plaintext { .. } => ErrorCode::VaultDamaged,
            Self::Exists { .. } => ErrorCode::VaultExists,
            Self::TooNew { .. } => ErrorCode::VaultTooNew,
            Self::File { source, action, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull => ErrorCode::DiskFull,
                std::io::ErrorKind::PermissionDenied if *action == "read" => ErrorCode::Storage,
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => ErrorCode::NotWritable,
                _ => ErrorCode::Storage,
            },
            Self::Storage { source } => match source.sqlite_error_code() {
                Some(SqlCode::ReadOnly | SqlCode::PermissionDenied) => ErrorCode::NotWritable,
                _ => ErrorCode::Storage,
            },
            Self::MigrationEdited { .. } | Self::Defect { .. } => ErrorCode::Internal,
        }
    }

    pub(crate) fn not_found(noun: Noun, id: impl ToString) -> Self {
        Self::NotFound { noun, id: id.to_string() }
    }

    pub(crate) fn defect(what: impl Into<String>) -> Self {
        Self::Defect { what: what.into() }
    }

    /// Whether a row was refused by a rule of the schema.
    pub(crate) fn is_constraint(error: &SqlError) -> bool {
        error.sqlite_error_code() == Some(SqlCode::ConstraintViolation)
    }
}

impl From<SqlError> for StoreError {
    fn from(source: SqlError) -> Self {
        match &source {
            SqlError::SqliteFailure(failure, _) => match failure.code {
                SqlCode::DiskFull => Self::DiskFull { source },
                // Growing the shared-memory index fails with this code on a full disk.
                SqlCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::DiskFull { source },
                SqlCode::DatabaseBusy | SqlCode::DatabaseLocked => Self::Busy { source },
                SqlCode::NotADatabase | SqlCode::DatabaseCorrupt => Self::Damaged { source },
                SqlCode::ConstraintViolation => Self::defect(format!("a row was refused ({source})")),
                // The general code stands for SQL that does not fit the schema.
                _ if failure.extended_code == ffi::SQLITE_ERROR => Self::defect(source.to_string()),
                _ => Self::Storage { source },
            },
            SqlError::FromSqlConversionFailure(..)
            | SqlError::IntegralValueOutOfRange(..)
            | SqlError::Utf8Error(..)
            | SqlError::InvalidColumnType(..) => Self::DamagedValue { what: source.to_string() },
            SqlError::SqlInputError { .. } => Self::defect(source.to_string()),
            _ => Self::Storage { source },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn a_full_disk_is_told_from_other_failures() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (x BLOB) STRICT; PRAGMA max_page_count = 3;").unwrap();
        let error = connection.execute("INSERT INTO t VALUES (zeroblob(100000))", []).expect_err("the database is full");
        assert_eq!(StoreError::from(error).code(), ErrorCode::DiskFull);
        let error = connection.execute("INSERT INTO t VALUES ('text')", []).expect_err("text in a BLOB column");
        assert_eq!(StoreError::from(error).code(), ErrorCode::Internal);
        let error = connection.execute("INSERT INTO nowhere VALUES (1)", []).expect_err("no such table");
        assert_eq!(StoreError::from(error).code(), ErrorCode::Internal);
    }

    #[test]
    fn a_disk_that_fills_up_while_making_a_file_counts_too() {
        let full = |kind: std::io::ErrorKind| StoreError::File { action: "create", path: "v.db".into(), source: kind.into() };
        assert_eq!(full(std::io::ErrorKind::StorageFull).code(), ErrorCode::DiskFull);
        assert_eq!(full(std::io::ErrorKind::ReadOnlyFilesystem).code(), ErrorCode::NotWritable);
        assert_eq!(full(std::io::ErrorKind::TimedOut).code(), ErrorCode::Storage);
    }
}
