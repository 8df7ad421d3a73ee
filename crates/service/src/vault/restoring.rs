//! Bringing a vault back from a backup while it is not open: damaged, lost, or on another machine.

use super::closing::ClosedVault;
use super::gate::Phase;
use super::opening::{Opener, finish_move};
use crate::backup::blocking;
use crate::{ClosedRestore, RestoreProgress, Service, ServiceError, VaultState};
use evenkeel_store::backup::{self, BackupError, Progress, RestoreRequest, VaultKeys};
use evenkeel_vault::{
    KeyFile, Profile, RootKey, SlotKind, VaultError, VaultLock, adopt_key_slots, unlock_passphrase, unlock_recovery,
};
use secrecy::{ExposeSecret, SecretString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A vault that is in its place again, and closed.
struct BroughtBack {
    vault: ClosedVault,
    kept_database: bool,
    set_aside: Option<PathBuf>,
}

impl Service {
    /// Restores a backup with the code or passphrase that opens it, and opens the vault.
    ///
    /// # Errors
    /// As for [`Service::backup_restore_closed`]; the vault stands where it stood then.
    pub(crate) async fn bring_back(
        &self,
        path: PathBuf,
        secret: SecretString,
        mut watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<ClosedRestore, ServiceError> {
        let (state, error) = self.0.gate.begin_restore()?;
        let opener = self.opener();
        let work = move || {
            let mut told = move |progress: Progress| {
                watch(progress.into());
                ControlFlow::Continue(())
            };
            opener.bring_back(&path, secret, state, &mut told)
        };
        match blocking("restoring a backup", work).await {
            Ok(back) => {
                self.open_again(back.vault).await;
                let set_aside = back.set_aside.map(|path| path.display().to_string());
                Ok(ClosedRestore { status: self.status(), kept_database: back.kept_database, set_aside })
            }
            Err(failure) => {
                self.0.gate.set(Phase::Closed(state, error));
                Err(failure)
            }
        }
    }
}

impl Opener {
    fn bring_back(
        &self,
        path: &Path,
        secret: SecretString,
        state: VaultState,
        watch: &mut backup::Watch<'_>,
    ) -> Result<BroughtBack, ServiceError> {
        let place = self.whereabouts.look()?;
        let profile = place.profile();
        let of_backup = backup::key_slots(path)?;
        let root = unlocked(&of_backup, secret, path)?;
        let lock = VaultLock::exclusive(profile)?;
        finish_move(&place, Some(&lock));
        self.finish_interrupted(&lock)?;

        let slots_are_lost = slots_are_lost(profile, &of_backup, path)?;
        let keys = VaultKeys { root: &root, vault_id: of_backup.vault_id() };
        let kept_database = (slots_are_lost || lacks_its_key(state)) && backup::database_is_whole(profile, keys)?;
        let set_aside = if kept_database {
            adopt_key_slots(profile, &of_backup, &lock)?;
            tracing::info!("the vault's database is whole and had only lost its keys; nothing was replaced");
            None
        } else {
            let request = RestoreRequest { path, root: &root, profile, lock: &lock, now: self.options.clock.now() };
            backup::restore(&request, watch)?.set_aside
        };
        let mut key_file = KeyFile::read(profile)?;
        self.mend(&mut key_file, &root);
        Ok(BroughtBack { vault: ClosedVault { root: Arc::new(root), key_file, lock }, kept_database, set_aside })
    }
}

/// The root key of a backup, by its recovery code or its passphrase, whichever was typed.
fn unlocked(slots: &KeyFile, secret: SecretString, path: &Path) -> Result<RootKey, ServiceError> {
    let unlocked = match unlock_recovery(slots, secret.expose_secret()) {
        Err(VaultError::RecoveryCodeMistyped(_) | VaultError::WrongKey(_) | VaultError::NoSlot(_))
            if slots.has(SlotKind::Passphrase) =>
        {
            unlock_passphrase(slots, secret)
        }
        unlocked => unlocked,
    };
    unlocked.map_err(|error| match error {
        VaultError::WrongKey(_) | VaultError::NoSlot(_) => BackupError::WrongKey { path: path.to_owned() }.into(),
        error => error.into(),
    })
}

/// Whether the profile has no key slots that can be read. Those of another vault are an error.
fn slots_are_lost(profile: &Profile, of_backup: &KeyFile, path: &Path) -> Result<bool, ServiceError> {
    match KeyFile::read(profile) {
        Ok(present) if present.vault_id() == of_backup.vault_id() => Ok(false),
        Ok(present) => {
            let (found, wanted) = (of_backup.vault_id(), present.vault_id());
            Err(BackupError::OtherVault { path: path.to_owned(), found, wanted }.into())
        }
        Err(VaultError::NoVault | VaultError::Damaged { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Whether the vault did not open for want of its key, so that nothing speaks against its database. Where the
/// database itself was found damaged, it is not tried once more.
fn lacks_its_key(state: VaultState) -> bool {
    matches!(state, VaultState::Unavailable | VaultState::Locked | VaultState::Missing | VaultState::WrongKey)
}
