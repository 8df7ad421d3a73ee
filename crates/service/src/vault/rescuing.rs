//! Rescuing a vault that is damaged: what it still holds, merged with the newest backup that is whole.

use super::closing::ClosedVault;
use super::gate::Phase;
use super::opening::{Opener, finish_move};
use crate::backup::{blocking, hopeful};
use crate::{RescueOffer, RestoreProgress, Service, ServiceError, UnlockMethod, VaultState};
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_store::backup::{self, BackupError, Progress, RescueRequest, Rescued, VaultKeys};
use evenkeel_vault::{KeyFile, Profile, RootKey, VaultError, VaultLock, unlock_keychain, unlock_passphrase, unlock_recovery};
use secrecy::SecretString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

impl Service {
    /// What a rescue would bring, beside the newest backup alone. Nothing is changed. With a method it is of a vault that is
    /// damaged and does not open; without one, of the vault that is open, which is closed meanwhile.
    ///
    /// # Errors
    /// With a method: the vault is open or not damaged, or the key does not open it. Without: the vault is locked, or another
    /// process uses it. Nothing of it can be read and there is no backup, or the disk is full.
    pub async fn vault_rescue_preview(
        &self,
        method: Option<UnlockMethod>,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<RescueOffer, ServiceError> {
        match method {
            Some(method) => self.rescue_by(method, false, watch).await,
            None => self.rescue_open(false, watch).await,
        }
    }

    /// Puts what can be read of a damaged vault, merged with the newest backup that is whole, in its place and opens
    /// it. The damaged database stays beside it, byte for byte.
    ///
    /// # Errors
    /// As for [`Service::vault_rescue_preview`]; the vault stands where it stood then.
    pub async fn vault_rescue(
        &self,
        method: Option<UnlockMethod>,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<RescueOffer, ServiceError> {
        match method {
            Some(method) => self.rescue_by(method, true, watch).await,
            None => self.rescue_open(true, watch).await,
        }
    }

    /// The same for a vault that is open and in which damage was found: it is closed meanwhile, and open again afterwards.
    async fn rescue_open(
        &self,
        is_wanted: bool,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<RescueOffer, ServiceError> {
        let closed = self.close_for_change().await?;
        let opener = self.opener();
        let work = move || {
            let profile = opener.whereabouts.profile();
            let outcome = opener.rescue_with(&profile, &closed, is_wanted, &mut told_to(watch));
            Ok((closed, outcome))
        };
        match blocking("rescuing the vault", work).await {
            Ok((closed, outcome)) => {
                if is_wanted && outcome.is_ok() {
                    self.0.health.forget();
                }
                self.open_again(closed).await;
                Ok(RescueOffer::of(&outcome?))
            }
            Err(error) => {
                self.vault_failed(&error);
                Err(error)
            }
        }
    }

    async fn rescue_by(
        &self,
        method: UnlockMethod,
        is_wanted: bool,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<RescueOffer, ServiceError> {
        let (state, error) = self.0.gate.begin_restore()?;
        let opener = self.opener();
        let work = move || {
            if state != VaultState::Damaged {
                let message = "the vault is not damaged; open it, or restore a backup";
                return Err(ErrorBody::new(ErrorCode::InvalidParameter, message).into());
            }
            opener.rescue(method, is_wanted, &mut told_to(watch))
        };
        let outcome = blocking("rescuing the vault", work).await;
        match outcome {
            Ok((rescued, Some(vault))) => {
                self.0.health.forget();
                self.open_again(vault).await;
                Ok(RescueOffer::of(&rescued))
            }
            Ok((rescued, None)) => {
                self.0.gate.set(Phase::Closed(state, error));
                Ok(RescueOffer::of(&rescued))
            }
            Err(failure) => {
                self.0.gate.set(Phase::Closed(state, error));
                Err(failure)
            }
        }
    }
}

impl Opener {
    fn rescue(
        &self,
        method: UnlockMethod,
        is_wanted: bool,
        watch: &mut backup::Watch<'_>,
    ) -> Result<(Rescued, Option<ClosedVault>), ServiceError> {
        let place = self.whereabouts.look()?;
        let profile = place.profile();
        let key_file = KeyFile::read(profile)?;
        let root = self.root_by(method, &key_file)?;
        let lock = VaultLock::exclusive(profile)?;
        finish_move(&place, Some(&lock));
        self.finish_interrupted(&lock)?;
        let vault = ClosedVault { root: Arc::new(root), key_file, lock };
        let rescued = self.rescue_with(profile, &vault, is_wanted, watch)?;
        Ok((rescued, is_wanted.then_some(vault)))
    }

    fn rescue_with(
        &self,
        profile: &Profile,
        vault: &ClosedVault,
        is_wanted: bool,
        watch: &mut backup::Watch<'_>,
    ) -> Result<Rescued, ServiceError> {
        let keys = VaultKeys { root: &vault.root, vault_id: vault.key_file.vault_id() };
        let newest = self.newest_whole(profile, keys, watch)?;
        let now = self.options.clock.now();
        let request = RescueRequest { keys, profile, lock: &vault.lock, backup: newest.as_deref(), now };
        Ok(if is_wanted { backup::rescue(&request, watch)? } else { backup::preview_rescue(&request, watch)? })
    }

    fn root_by(&self, method: UnlockMethod, key_file: &KeyFile) -> Result<RootKey, VaultError> {
        match method {
            UnlockMethod::Keychain => unlock_keychain(key_file, &*self.options.keychain),
            UnlockMethod::RecoveryCode { code } => unlock_recovery(key_file, &code),
            UnlockMethod::Passphrase { passphrase } => unlock_passphrase(key_file, SecretString::from(passphrase)),
        }
    }

    /// The newest backup in the profile that is whole, if one of the newest few is.
    fn newest_whole(
        &self,
        profile: &Profile,
        keys: VaultKeys<'_>,
        watch: &mut backup::Watch<'_>,
    ) -> Result<Option<PathBuf>, ServiceError> {
        profile.prepare()?;
        let listed = backup::list(&profile.backups(), Some(keys))?;
        for info in hopeful(&listed) {
            match backup::verify(&info.path, keys, profile, self.options.clock.now(), watch) {
                Ok(_) => return Ok(Some(info.path.clone())),
                Err(error @ (BackupError::DiskFull { .. } | BackupError::Cancelled)) => return Err(error.into()),
                Err(error) => {
                    tracing::warn!(code = error.code().as_str(), %error, "a backup cannot fill the gaps of the damaged vault")
                }
            }
        }
        Ok(None)
    }
}

/// Passes on how far the work is; a rescue is not stopped half way.
fn told_to(mut watch: impl FnMut(RestoreProgress)) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |progress| {
        watch(progress.into());
        ControlFlow::Continue(())
    }
}
