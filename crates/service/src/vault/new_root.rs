//! Another root key for the open vault.

use super::closing::ClosedVault;
use crate::backup::blocking;
use crate::connection::reseal_token;
use crate::provider::reseal_keys;
use crate::scheduler::JobKind;
use crate::tool::reseal_secrets;
use crate::{KeyChange, RestoreProgress, RootSecrets, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::JobResult;
use evenkeel_store::backup::{self, BackupError, Progress, RekeyRequest, finish_pending_restore, remove_set_aside};
use evenkeel_vault::{KeyFile, NewRoot, Profile, SlotSecrets, Use, VaultError, new_root};
use secrecy::SecretString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// A vault that was closed for another root key, and what became of that.
struct Rekeyed {
    vault: ClosedVault,
    /// Where the database under the old key is; `None` if that is not known, or still the vault.
    aside: Option<PathBuf>,
    outcome: Result<(), BackupError>,
}

impl Service {
    /// Gives the vault another root key: everything in it is copied into a database under that key, checked, and swapped, and
    /// every way into it is made anew. What opens it stays what it was. The vault is closed meanwhile; `watch` is told how far
    /// the work is. At the end a backup is made, which the recovery code is proven to open, and the old database is destroyed.
    /// Backups from before open with the code that was in force then. Nothing is given where it was cancelled. Where a lock was
    /// asked for meanwhile, the vault is locked afterwards, and the backup is made when it is next open.
    ///
    /// # Errors
    /// The code or the passphrase is mistyped, wrong or missing; the keychain does not give its key; another process uses the
    /// vault; it is damaged; the disk is full. The vault is as before then, and open again.
    pub async fn vault_renew_root(
        &self,
        secrets: RootSecrets,
        watch: impl FnMut(RestoreProgress) + Send + 'static,
    ) -> Result<Option<KeyChange>, ServiceError> {
        let _turn = self.0.keys.turn.lock().await;
        let stop = self.0.keys.begin_stoppable();
        let code = Zeroizing::new(secrets.recovery_code);
        let (present, new) = self.prepare_root(code.clone(), secrets.passphrase.map(SecretString::from)).await?;
        // No backup opens with the new key yet: where none can be made at the end, one is due.
        self.plan_backup(self.now()).await?;
        let closed = self.close_for_change().await?;
        let (profile, now) = (self.profile(), self.now());
        let work = move || Ok(rekeyed(&profile, closed, (present, new), now, told(stop, watch)));
        let done = blocking("giving the vault another root key", work).await;
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                self.vault_failed(&error);
                return Err(error);
            }
        };
        self.open_again(done.vault).await;
        match done.outcome {
            Err(BackupError::Cancelled) => return Ok(None),
            outcome => outcome?,
        }
        let change = self.changed_keys(Some(code), false).await?;
        if change.backup.is_some() {
            let next = JobKind::Backup.next_run(self.now(), JobResult::Ok);
            if let Err(error) = self.plan_backup(next).await {
                tracing::debug!(code = error.code().as_str(), %error, "another backup will be made soon");
            }
            if let Some(aside) = done.aside {
                self.destroy_aside(aside).await;
            }
        }
        Ok(Some(change))
    }

    /// Stops giving the vault another root key, as long as nothing was swapped.
    pub fn vault_cancel_root(&self) {
        self.0.keys.stop();
    }

    /// Makes the key and its slots, which shows whether the secrets are right before anything is closed.
    async fn prepare_root(
        &self,
        code: Zeroizing<String>,
        passphrase: Option<SecretString>,
    ) -> Result<(KeyFile, NewRoot), ServiceError> {
        let (opened, profile, now) = (self.0.gate.opened()?, self.profile(), self.now());
        let keychain = self.0.options.patient_keychain.clone();
        blocking("making a root key", move || {
            let present = KeyFile::read(&profile)?;
            if !present.is_of_same_root(&opened.key_file) {
                return Err(VaultError::InUse.into());
            }
            let secrets = SlotSecrets { keychain: &*keychain, passphrase, recovery_code: &code };
            let new = new_root(&present, &opened.root, &secrets, now)?;
            Ok((present, new))
        })
        .await
    }

    /// Plans the next backup.
    async fn plan_backup(&self, at: DateTime<Utc>) -> Result<(), ServiceError> {
        self.session()?.write(move |w| w.plan_job(JobKind::Backup.name(), Some(at))).await
    }

    /// Destroys the database under the old key; where that fails, it goes as other databases that were set aside do.
    async fn destroy_aside(&self, aside: PathBuf) {
        let profile = self.profile();
        let removed = blocking("removing the old database", move || Ok(remove_set_aside(&profile, &aside)?)).await;
        if let Err(error) = removed {
            tracing::warn!(code = error.code().as_str(), %error, "the database under the old key could not be removed yet");
        }
    }
}

/// Tells of progress, and stops the work where that is asked for.
fn told(
    stop: CancellationToken,
    mut watch: impl FnMut(RestoreProgress) + Send + 'static,
) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |progress| {
        watch(progress.into());
        if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn rekeyed(
    profile: &Profile,
    closed: ClosedVault,
    (present, new): (KeyFile, NewRoot),
    now: DateTime<Utc>,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Rekeyed {
    let vault_id = present.vault_id();
    // Another process may have changed a slot before the vault was closed, and the new ones know nothing of that.
    if !KeyFile::read(profile).is_ok_and(|found| found == present) {
        return Rekeyed { vault: closed, aside: None, outcome: Err(BackupError::InUse) };
    }
    let (old_secrets, new_secrets) = (closed.root.subkey(vault_id, Use::Secrets), new.root.subkey(vault_id, Use::Secrets));
    let request = RekeyRequest {
        profile,
        lock: &closed.lock,
        root: &closed.root,
        key_file: &present,
        new: &new,
        reseal: &|w| {
            reseal_keys(w, vault_id, &old_secrets, &new_secrets)?;
            reseal_secrets(w, vault_id, &old_secrets, &new_secrets)?;
            reseal_token(w, vault_id, &old_secrets, &new_secrets)
        },
        now,
    };
    let outcome = backup::rekey(&request, &mut watch);
    if outcome.is_err()
        && let Err(error) = finish_pending_restore(profile, &closed.lock)
    {
        tracing::warn!(code = error.code().as_str(), %error, "a swap of the vault that was cut off waits for the next start");
    }
    // An error may have come after the point of no return: what lies on the disk decides.
    if KeyFile::read(profile).is_ok_and(|found| found.is_of_same_root(&new.key_file)) {
        let vault = ClosedVault { root: Arc::new(new.root), key_file: new.key_file, lock: closed.lock };
        return Rekeyed { vault, aside: outcome.ok(), outcome: Ok(()) };
    }
    let vault = ClosedVault { key_file: present, ..closed };
    Rekeyed { vault, aside: None, outcome: outcome.map(drop) }
}
