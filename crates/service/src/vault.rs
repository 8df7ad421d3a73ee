//! The vault's life: made once, opened, locked; and what the window is told of it.

mod closing;
mod gate;
mod idle;
mod keys;
mod new_root;
mod opening;
mod rescuing;
mod restoring;
mod slots;
mod typed;

pub(crate) use closing::ClosedVault;
pub(crate) use gate::Gate;
pub(crate) use keys::KeyWork;
pub(crate) use opening::Opened;

use crate::settings::idle_time;
use crate::{RecoverySheet, RecoveryWords, Service, ServiceError, UnlockMethod, VaultOptions, VaultState, VaultStatus};
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_vault::VaultError;
use gate::Phase;
use opening::Opener;
use secrecy::SecretString;
use std::path::PathBuf;

/// How many groups of the recovery code are asked for.
const ASKED_GROUPS: usize = 2;

impl Service {
    /// Where the vault stands. The first call opens it by keychain; while the keychain waits for
    /// the user, each call listens for the answer for a moment; a call after the drive with the
    /// data has come back opens it too.
    pub async fn vault_status(&self) -> VaultStatus {
        let is_first = self.0.gate.is_untried();
        if is_first || self.0.gate.state().0 == VaultState::Waiting || self.is_back() {
            self.open_by(UnlockMethod::Keychain).await;
        }
        if is_first {
            self.forget_left_items();
        }
        self.status()
    }

    /// Makes a vault where nothing of one exists, and gives its recovery code, once.
    ///
    /// # Errors
    /// Something of a vault exists, the keychain does not take the key, the passphrase is too
    /// short, or the folder cannot be written. Nothing is left behind then.
    pub async fn vault_create(&self, options: VaultOptions) -> Result<RecoverySheet, ServiceError> {
        if let Some(passphrase) = &options.passphrase {
            slots::check_passphrase(passphrase)?;
        }
        if self.0.gate.has_seen_vault() && !self.profile().traces().any() {
            return Err(self.taken_away());
        }
        let opener = self.opener();
        let task = tokio::task::spawn_blocking(move || opener.create(options));
        let (opened, code) = task.await.map_err(|error| ServiceError::internal("making the vault", &error))??;
        Ok(self.ask_back(opened, code))
    }

    /// Takes back the groups of the recovery code that were asked for, in their order.
    ///
    /// # Errors
    /// A group is not as it was shown; it can be typed again.
    pub async fn vault_confirm_recovery(&self, answers: Vec<String>) -> Result<VaultStatus, ServiceError> {
        let opened = self.0.gate.confirm(&answers)?;
        let opener = self.opener();
        let task = tokio::task::spawn_blocking(move || opener.confirm(opened));
        let opened = task.await.map_err(|error| ServiceError::internal("noting the recovery code", &error))??;
        self.opened(opened);
        Ok(self.status())
    }

    /// Makes a new recovery code in place of one that was never typed back.
    ///
    /// # Errors
    /// No code is waiting to be typed back, or the key slots cannot be written.
    pub async fn vault_renew_recovery(&self) -> Result<RecoverySheet, ServiceError> {
        let opened = self.0.gate.unconfirmed()?;
        let opener = self.opener();
        let task = tokio::task::spawn_blocking(move || opener.renew(opened));
        let (opened, code) = task.await.map_err(|error| ServiceError::internal("making a recovery code", &error))??;
        Ok(self.ask_back(opened, code))
    }

    /// Writes the recovery code that waits to be typed back into a text file that only its owner may read.
    ///
    /// # Errors
    /// No code is waiting, the words are too long, the file would lie in the profile folder, or it cannot be written.
    pub async fn vault_save_recovery(&self, path: PathBuf, words: RecoveryWords) -> Result<(), ServiceError> {
        words.check()?;
        let code = self.0.keys.code().map_or_else(|| self.0.gate.code(), Ok)?;
        let text = words.around(&code);
        let profile = self.profile();
        let task = tokio::task::spawn_blocking(move || evenkeel_vault::save_recovery_code(&profile, &path, &text));
        Ok(task.await.map_err(|error| ServiceError::internal("writing the recovery code", &error))??)
    }

    /// Opens the vault.
    ///
    /// # Errors
    /// The recovery code is mistyped, or the passphrase or code is wrong. What the keychain
    /// answers is told by the state.
    pub async fn vault_unlock(&self, method: UnlockMethod) -> Result<VaultStatus, ServiceError> {
        let typed = !matches!(method, UnlockMethod::Keychain);
        let error = self.open_by(method).await;
        match error {
            Some(error) if typed => Err(error),
            _ => Ok(self.status()),
        }
    }

    /// Gives up waiting for the keychain; the question stays where it is, and the screen offers the other ways.
    pub async fn vault_cancel_waiting(&self) -> VaultStatus {
        self.0.gate.stop_waiting();
        self.status()
    }

    /// Stops replies, closes the vault and wipes its keys. One that is closed for a change is locked once that is done.
    pub async fn vault_lock(&self) -> VaultStatus {
        if self.session().is_ok() {
            self.stop_jobs().await;
            self.finish_replies().await;
            self.engines().unload().await;
            self.0.keys.forget();
            self.0.gate.close_open();
        }
        // Also where a change has begun while replies were stopped.
        self.0.keys.want_lock(|_| true);
        self.status()
    }

    /// Goes on with an opened vault; first its recovery code has to be typed back, if it never was.
    fn entered(&self, opened: Opened) {
        if opened.key_file.recovery_confirmed() {
            self.opened(opened);
        } else {
            self.0.gate.set(Phase::Confirm { opened, asked: None });
        }
    }

    fn opened(&self, opened: Opened) {
        self.engines().set_idle(idle_time(&opened.session.settings()));
        self.vault_touched();
        self.0.gate.set(Phase::Open(opened));
        self.start_jobs();
        self.watch_idleness();
    }

    fn ask_back(&self, opened: Opened, code: evenkeel_vault::RecoveryCode) -> RecoverySheet {
        let groups = code.groups();
        let asked = self.asked_groups(groups.len());
        self.0.gate.set(Phase::Confirm { opened, asked: Some((code, asked.clone())) });
        RecoverySheet { groups, ask_groups: asked, created_at: self.now() }
    }

    /// Which groups of a code are to be typed back.
    fn asked_groups(&self, count: usize) -> Vec<u32> {
        let random = self.random();
        let mut asked: Vec<u32> = Vec::new();
        for byte in random.iter().cycle().take(64) {
            let group = (u32::from(*byte) + u32::try_from(asked.len()).unwrap_or(0)) % u32::try_from(count).unwrap_or(1);
            if !asked.contains(&group) {
                asked.push(group);
            }
            if asked.len() == ASKED_GROUPS {
                break;
            }
        }
        asked.sort_unstable();
        asked
    }

    /// Opens the vault and notes the outcome; gives the error where there is one.
    async fn open_by(&self, method: UnlockMethod) -> Option<ServiceError> {
        if !self.0.gate.begin() {
            if self.session().is_ok() {
                return None;
            }
            let message = "the vault is being opened; wait a moment";
            return Some(ErrorBody::new(ErrorCode::Busy, message).into());
        }
        let opener = self.opener();
        let task = tokio::task::spawn_blocking(move || match method {
            UnlockMethod::Keychain => opener.by_keychain(),
            UnlockMethod::RecoveryCode { code } => opener.by_recovery(&code).map(Some),
            UnlockMethod::Passphrase { passphrase } => opener.by_passphrase(SecretString::from(passphrase)).map(Some),
        });
        let outcome = match task.await {
            Ok(outcome) => outcome,
            Err(error) => Err(ServiceError::internal("opening the vault", &error)),
        };
        let outcome = match outcome {
            Ok(None) | Err(ServiceError::Vault(VaultError::NoVault)) if self.0.gate.has_seen_vault() => Err(self.taken_away()),
            outcome => outcome,
        };
        match outcome {
            Ok(None) => self.0.gate.set(Phase::Closed(VaultState::New, None)),
            Ok(Some(opened)) => self.entered(opened),
            // Nothing is wrong: this vault opens with what the user knows.
            Err(error) if is_without_keychain(&error) => {
                self.0.gate.failed(VaultState::LockedByUser, None);
                return Some(error);
            }
            Err(error) => {
                self.0.gate.failed(state_of(&error), Some(error.to_body()));
                return Some(error);
            }
        }
        None
    }

    /// A vault that this process had open does not vanish by itself: its drive or folder was taken away, and that is
    /// no first run.
    fn taken_away(&self) -> ServiceError {
        let reason = "nothing of the vault is there any more".to_owned();
        VaultError::Away { path: self.profile_dir(), reason }.into()
    }

    /// Removes what a locked keychain has kept of vaults that were erased; nobody waits for it.
    fn forget_left_items(&self) {
        let (profile, keychain) = (self.profile(), self.0.options.keychain.clone());
        tokio::task::spawn_blocking(move || match evenkeel_vault::forget_left_items(&profile, &*keychain) {
            Ok(0) => {}
            Ok(left) => tracing::warn!(left, "the keychain keeps items of vaults that were erased"),
            Err(error) => {
                tracing::warn!(code = error.code().as_str(), %error, "the note of keychain items could not be read or written")
            }
        });
    }

    fn status(&self) -> VaultStatus {
        let (state, error) = self.0.gate.state();
        let key_file = evenkeel_vault::KeyFile::read(&self.profile()).ok();
        let has = |kind| key_file.as_ref().is_some_and(|file| file.has(kind));
        VaultStatus {
            state,
            profile_dir: self.profile_dir().display().to_string(),
            has_keychain_slot: has(evenkeel_vault::SlotKind::Keychain),
            has_passphrase: has(evenkeel_vault::SlotKind::Passphrase),
            has_key_slots: key_file.is_some(),
            keychain_available: error.as_ref().is_none_or(|error| error.code != ErrorCode::KeychainUnavailable),
            error,
        }
    }

    fn opener(&self) -> Opener {
        let (options, changes) = (self.0.options.clone(), self.0.changes.clone());
        Opener { options, changes, whereabouts: self.0.whereabouts.clone() }
    }

    /// Whether the data could not be reached and now can.
    fn is_back(&self) -> bool {
        let was_away = self.0.gate.state().1.is_some_and(|error| error.code == ErrorCode::VaultAway);
        was_away && self.0.whereabouts.look().is_ok()
    }
}

fn is_without_keychain(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Vault(VaultError::NoSlot(evenkeel_vault::SlotKind::Keychain)))
}

fn state_of(error: &ServiceError) -> VaultState {
    match error.code() {
        ErrorCode::KeychainLocked => VaultState::Locked,
        ErrorCode::KeychainWaiting => VaultState::Waiting,
        ErrorCode::KeychainMissing => VaultState::Missing,
        ErrorCode::WrongKey | ErrorCode::InvalidParameter => VaultState::WrongKey,
        ErrorCode::VaultDamaged => VaultState::Damaged,
        ErrorCode::VaultTooNew => VaultState::TooNew,
        // A lock held by another process, a full disk, a failed keychain: the screen shows the sentence.
        _ => VaultState::Unavailable,
    }
}
