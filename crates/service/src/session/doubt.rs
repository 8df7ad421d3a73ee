//! What errors of the vault say beyond themselves: that it may be damaged, or that its drive is gone.

use crate::ServiceError;
use evenkeel_domain::ErrorCode;
use evenkeel_store::StoreError;
use evenkeel_vault::VaultError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Whether the open vault is suspected of damage.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// Where the database is; `None` = in memory.
    database: Option<PathBuf>,
    is_raised: AtomicBool,
    called: Notify,
}

impl Doubt {
    /// Begins with no doubt.
    pub fn new(database: Option<PathBuf>) -> Self {
        Self { database, is_raised: AtomicBool::new(false), called: Notify::new() }
    }

    /// Suspects the vault; the next look of the scheduler checks it.
    pub fn raise(&self) {
        self.is_raised.store(true, Ordering::Relaxed);
    }

    /// Whether it is suspected.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Relaxed)
    }

    /// Takes the suspicion back: it is being checked.
    pub fn settle(&self) {
        self.is_raised.store(false, Ordering::Relaxed);
    }

    /// Ends when an error has raised the doubt.
    pub async fn called(&self) {
        self.called.notified().await;
    }

    /// An error of the vault as it leaves the service.
    pub fn told(&self, error: StoreError) -> ServiceError {
        match error.code() {
            ErrorCode::VaultDamaged => {
                self.raise();
                self.called.notify_one();
            }
            // What was open a moment ago does not vanish by itself: its drive was taken away.
            ErrorCode::Storage => {
                if let Some(path) = self.database.as_ref().filter(|path| !path.exists()) {
                    let folder = path.parent().unwrap_or(path).to_owned();
                    return VaultError::Away { path: folder, reason: error.to_string() }.into();
                }
            }
            _ => {}
        }
        error.into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn damaged() -> StoreError {
        StoreError::DamagedValue { what: "messages.content".into() }
    }

    fn failed() -> StoreError {
        StoreError::File { action: "read", path: "vault.db".into(), source: std::io::ErrorKind::TimedOut.into() }
    }

    #[tokio::test]
    async fn damage_raises_it_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault.db");
        std::fs::write(&path, b"here").unwrap();
        let doubt = Doubt::new(Some(path.clone()));
        assert_eq!(doubt.told(failed()).code(), ErrorCode::Storage);
        assert!(!doubt.is_raised());
        assert_eq!(doubt.told(damaged()).code(), ErrorCode::VaultDamaged);
        doubt.called().await;
        assert!(doubt.is_raised());
        doubt.settle();
        assert!(!doubt.is_raised());
        std::fs::remove_file(path).unwrap();
        let away = doubt.told(failed()).to_body();
        assert_eq!((away.code, away.details["path"].as_str()), (ErrorCode::VaultAway, folder.path().to_str().unwrap()));
    }
}
