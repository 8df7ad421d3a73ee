//! Closing the vault for a change that needs it alone, and opening it again.

use super::gate::Phase;
use super::state_of;
use crate::{Service, ServiceError, VaultState};
use evenkeel_vault::{KeyFile, RootKey, VaultError, VaultLock};
use std::sync::Arc;
use std::time::Duration;

/// How long reading and writing that goes on may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(25);

/// A vault that this process has closed and nobody else can open, with what opens it again.
pub(crate) struct ClosedVault {
    pub root: Arc<RootKey>,
    pub key_file: KeyFile,
    pub lock: VaultLock,
}

impl Service {
    /// Stops everything that uses the vault and closes it.
    ///
    /// # Errors
    /// It is locked, or another process uses it; it is open again then.
    pub(crate) async fn close_for_change(&self) -> Result<ClosedVault, ServiceError> {
        let opened = self.0.gate.opened()?;
        self.stop_jobs().await;
        self.finish_replies().await;
        self.engines().unload().await;
        // Whoever asked for a lock meanwhile has it.
        self.0.gate.opened()?;
        let (root, key_file) = (opened.root.clone(), opened.key_file.clone());
        self.0.keys.begin_absence(&opened.session.settings());
        drop(opened);
        self.0.keys.forget();
        self.0.gate.set(Phase::Opening);
        let profile = &self.profile();
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            match VaultLock::exclusive(profile) {
                Ok(lock) => return Ok(ClosedVault { root, key_file, lock }),
                // Our own readers let go of it when they end.
                Err(VaultError::InUse) if tokio::time::Instant::now() < until => tokio::time::sleep(LOOK).await,
                Err(error) => {
                    self.open_shared(key_file, root).await;
                    return Err(error.into());
                }
            }
        }
    }

    /// Opens a vault that was closed for a change; the state tells how that went.
    pub(crate) async fn open_again(&self, closed: ClosedVault) {
        let opener = self.opener();
        let ClosedVault { root, key_file, lock } = closed;
        let task = tokio::task::spawn_blocking(move || opener.again(key_file, root, lock));
        self.enter(task.await);
    }

    /// Leaves a vault that was moved closed: it opens at its new place, here or after a new start.
    /// Nobody is told, since for the window it is being opened as before.
    pub(crate) fn vault_has_moved(&self) {
        self.0.keys.end_absence();
        self.0.gate.forget();
    }

    /// Notes that there is no vault any more.
    pub(crate) fn vault_is_gone(&self) {
        self.0.keys.end_absence();
        self.0.health.forget();
        self.0.gate.forget_vault();
        self.0.gate.set(Phase::Closed(VaultState::New, None));
    }

    /// Notes that the vault could not be used any further.
    pub(crate) fn vault_failed(&self, error: &ServiceError) {
        self.0.keys.end_absence();
        self.0.gate.set(Phase::Closed(state_of(error), Some(error.to_body())));
    }

    async fn open_shared(&self, key_file: KeyFile, root: Arc<RootKey>) {
        let opener = self.opener();
        let task = tokio::task::spawn_blocking(move || opener.beside_others(key_file, root));
        self.enter(task.await);
    }

    fn enter(&self, outcome: Result<Result<super::Opened, ServiceError>, tokio::task::JoinError>) {
        let outcome = outcome.unwrap_or_else(|error| Err(ServiceError::internal("opening the vault", &error)));
        let is_lock_wanted = self.0.keys.end_absence();
        match outcome {
            // Its keys go with it.
            Ok(_) if is_lock_wanted => self.0.gate.close(),
            Ok(opened) => self.entered(opened),
            Err(error) => self.vault_failed(&error),
        }
    }
}
