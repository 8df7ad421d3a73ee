//! Backups while no vault is open: one that is damaged or lost, or that was on another machine.

use super::{BackupInfo, ClosedRestore, RestoreProgress, blocking};
use crate::{Service, ServiceError};
use evenkeel_store::backup::{self, BackupError, EXTENSION};
use secrecy::SecretString;
use std::path::PathBuf;

impl Service {
    /// The backups in the profile, newest first, while no vault is open: what their fronts say without a key,
    /// and what their last checks have found.
    ///
    /// # Errors
    /// A vault is open, locked by the user or being opened; the data was moved to a folder that is not
    /// there; the folder of backups cannot be read.
    pub async fn backup_list_closed(&self) -> Result<Vec<BackupInfo>, ServiceError> {
        self.0.gate.check_restorable()?;
        let whereabouts = self.0.whereabouts.clone();
        let listing =
            blocking("listing the backups", move || match backup::list(&whereabouts.look()?.profile().backups(), None) {
                Err(BackupError::FolderMissing { .. }) => Ok(Vec::new()),
                listed => Ok(listed?),
            });
        Ok(BackupInfo::of_folder(&listing.await?))
    }

    /// Says what a file is that the user chose, as far as that can be known without a key; it can be
    /// restored from then on.
    ///
    /// # Errors
    /// A vault is open, locked by the user or being opened; the file cannot be found, or is named as no
    /// backup is.
    pub async fn backup_choose_closed(&self, path: PathBuf) -> Result<BackupInfo, ServiceError> {
        self.0.gate.check_restorable()?;
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            return Err(BackupError::Foreign { path }.into());
        }
        self.0.chosen_backups.put(&path);
        self.looked_at_with(path, None).await
    }

    /// Restores a backup while no vault is open, and opens the vault. `secret` is the recovery code or the
    /// passphrase that was in force when the backup was made; `watch` is told how far the work is.
    ///
    /// The database that was there is set aside, and so are damaged key slots. Key slots of the same vault
    /// that can be read stay, since they may be newer. Where only keys were lost, in the key-slot file or in the
    /// keychain, and the database is whole, it stays too: all that is needed from the backup is the key, and
    /// what was written since the backup is not given away.
    ///
    /// # Errors
    /// A vault is open, locked by the user or being opened, or another process uses it; the file was not listed
    /// and not chosen; the code is mistyped or does not open the backup; the backup is damaged, foreign, of a newer
    /// version, or of another vault than the one whose key slots are here; the disk is full or cannot be
    /// written. All is as before then.
    pub async fn backup_restore_closed(
        &self,
        path: PathBuf,
        secret: String,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<ClosedRestore, ServiceError> {
        let secret = SecretString::from(secret);
        self.check_known(&path)?;
        self.bring_back(path, secret, watch).await
    }
}
