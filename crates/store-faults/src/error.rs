//! Why a run of faults ended early.

use evenkeel_store::StoreError;
use evenkeel_store::backup::BackupError;
use evenkeel_vault::VaultError;

/// A broken promise, or a fault that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The vault did not do what it promises.
    #[error("a promise was broken: {0}")]
    Broken(String),
    /// A file of the test itself could not be read or written.
    #[error("the faults could not be made: {0}")]
    System(#[from] std::io::Error),
    /// The store failed where nothing was wrong.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A backup or restore failed where nothing was wrong.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The keys failed where nothing was wrong.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// A statement beside the store failed.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
}

/// Says which promise was broken unless it was kept.
pub(crate) fn promise(is_kept: bool, what: impl FnOnce() -> String) -> Result<(), FaultError> {
    if is_kept { Ok(()) } else { Err(FaultError::Broken(what())) }
}
