//! The one place that knows whether the vault is open.

use super::opening::Opened;
use crate::{ServiceError, VaultState, session::Session};
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError};
use evenkeel_vault::{KeyFile, RecoveryCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use zeroize::Zeroizing;

/// Where the vault stands, with what each stand needs.
pub(crate) enum Phase {
    /// Nothing was tried yet.
    Untried,
    /// It is being opened.
    Opening,
    /// Not open, and why.
    Closed(VaultState, Option<ErrorBody>),
    /// Open, but the recovery code has not been typed back.
    Confirm {
        opened: Opened,
        /// The code and the groups asked for; `None` after a restart, when a new code is needed.
        asked: Option<(RecoveryCode, Vec<u32>)>,
    },
    /// Open.
    Open(Opened),
}

/// Guards the phase.
pub(crate) struct Gate {
    phase: Mutex<Phase>,
    states: broadcast::Sender<VaultState>,
    /// A vault was open in this process and was not erased.
    has_seen_vault: AtomicBool,
}

impl Gate {
    /// Nothing tried yet; every change of state is told to `states`.
    pub fn new(states: broadcast::Sender<VaultState>) -> Self {
        Self { phase: Mutex::new(Phase::Untried), states, has_seen_vault: AtomicBool::new(false) }
    }

    pub fn session(&self) -> Result<Arc<Session>, ServiceError> {
        match &*self.lock() {
            Phase::Open(opened) => Ok(opened.session.clone()),
            _ => Err(locked()),
        }
    }

    /// The open vault with its keys.
    pub fn opened(&self) -> Result<Opened, ServiceError> {
        match &*self.lock() {
            Phase::Open(opened) => Ok(opened.clone()),
            _ => Err(locked()),
        }
    }

    /// Notes that the key slots of the open vault have changed.
    pub fn put_key_file(&self, key_file: KeyFile) {
        if let Phase::Open(opened) = &mut *self.lock() {
            opened.key_file = key_file;
        }
    }

    /// Whether a vault was open in this process and was not erased by it.
    pub fn has_seen_vault(&self) -> bool {
        self.has_seen_vault.load(Ordering::Relaxed)
    }

    /// Notes that the vault is no more, by the user's own word.
    pub fn forget_vault(&self) {
        self.has_seen_vault.store(false, Ordering::Relaxed);
    }

    pub fn set(&self, phase: Phase) {
        if matches!(phase, Phase::Open(_)) {
            self.has_seen_vault.store(true, Ordering::Relaxed);
        }
        *self.lock() = phase;
        let _ = self.states.send(self.state().0);
    }

    /// Begins anew without telling.
    pub fn forget(&self) {
        *self.lock() = Phase::Untried;
    }

    pub fn close(&self) {
        self.set(Phase::Closed(VaultState::LockedByUser, None));
    }

    /// Closes it if it is open.
    pub fn close_open(&self) {
        if matches!(*self.lock(), Phase::Open(_)) {
            self.close();
        }
    }

    /// Whether nothing was tried yet.
    pub fn is_untried(&self) -> bool {
        matches!(*self.lock(), Phase::Untried)
    }

    /// Begins an opening; false while one is under way or the vault is open.
    pub fn begin(&self) -> bool {
        let mut phase = self.lock();
        let may = matches!(*phase, Phase::Untried | Phase::Closed(..));
        if may {
            *phase = Phase::Opening;
        }
        may
    }

    /// Refuses a restore where a vault is open, locked by the user or being opened.
    pub fn check_restorable(&self) -> Result<(), ServiceError> {
        restorable(&self.lock()).map(drop)
    }

    /// Begins a restore where no vault is open; gives where it stood, to go back to.
    pub fn begin_restore(&self) -> Result<(VaultState, Option<ErrorBody>), ServiceError> {
        let mut phase = self.lock();
        let stood = restorable(&phase)?;
        *phase = Phase::Opening;
        Ok(stood)
    }

    /// Notes a failed opening, unless the user has opened it another way meanwhile.
    pub fn failed(&self, state: VaultState, error: Option<ErrorBody>) {
        let mut phase = self.lock();
        if matches!(*phase, Phase::Opening | Phase::Closed(..)) {
            *phase = Phase::Closed(state, error);
        }
    }

    pub fn stop_waiting(&self) {
        let mut phase = self.lock();
        if let Phase::Closed(VaultState::Waiting, _) | Phase::Opening = *phase {
            let message = "the keychain was not waited for; unlock it and try again, or use the recovery code";
            *phase = Phase::Closed(VaultState::Locked, Some(ErrorBody::new(ErrorCode::KeychainLocked, message)));
        }
    }

    pub fn state(&self) -> (VaultState, Option<ErrorBody>) {
        match &*self.lock() {
            Phase::Untried | Phase::Opening => (VaultState::Opening, None),
            Phase::Closed(state, error) => (*state, error.clone()),
            Phase::Confirm { .. } => (VaultState::ConfirmRecovery, None),
            Phase::Open(_) => (VaultState::Open, None),
        }
    }

    /// Checks what was typed back, and gives the opened vault if it is right. The phase stays until
    /// that is on disk.
    pub fn confirm(&self, answers: &[String]) -> Result<Opened, ServiceError> {
        let phase = self.lock();
        let Phase::Confirm { opened, asked: Some((code, asked)) } = &*phase else {
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, "no recovery code is waiting to be typed back").into());
        };
        check_answers(code, asked, answers)?;
        Ok(opened.clone())
    }

    /// The recovery code that waits to be typed back.
    pub fn code(&self) -> Result<Zeroizing<String>, ServiceError> {
        match &*self.lock() {
            Phase::Confirm { asked: Some((code, _)), .. } => Ok(code.text()),
            _ => Err(ErrorBody::new(ErrorCode::InvalidParameter, "no recovery code is waiting to be typed back").into()),
        }
    }

    /// The opened vault whose recovery code has to be made again.
    pub fn unconfirmed(&self) -> Result<Opened, ServiceError> {
        match &*self.lock() {
            Phase::Confirm { opened, .. } => Ok(opened.clone()),
            _ => Err(ErrorBody::new(ErrorCode::InvalidParameter, "no recovery code is waiting to be typed back").into()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks groups of a code that were typed back, in the order in which they were asked for.
pub(super) fn check_answers(code: &RecoveryCode, asked: &[u32], answers: &[String]) -> Result<(), ServiceError> {
    let is_right = |at: usize, group: u32| answers.get(at).is_some_and(|answer| code.group_matches(group as usize, answer));
    match asked.iter().enumerate().find(|(at, group)| !is_right(*at, **group)) {
        None => Ok(()),
        Some((at, group)) => {
            let value = format!("answer {}", at + 1);
            Err(FieldError { field: "answers", value, range: format!("group {} as it was shown", group + 1) }.into())
        }
    }
}

fn locked() -> ServiceError {
    ErrorBody::new(ErrorCode::VaultLocked, "the vault is locked; unlock it to go on").into()
}

/// Where a vault stands that a backup may take the place of without being asked for its own key: not one that is
/// open, nor one that the user has locked, which is whole and opens by its key. A vault that waits for its
/// recovery code to be typed back is open too.
fn restorable(phase: &Phase) -> Result<(VaultState, Option<ErrorBody>), ServiceError> {
    match phase {
        Phase::Untried | Phase::Opening | Phase::Closed(VaultState::Waiting, _) => {
            Err(ErrorBody::new(ErrorCode::Busy, "the vault is being opened; wait a moment").into())
        }
        Phase::Open(_) | Phase::Confirm { .. } | Phase::Closed(VaultState::LockedByUser, _) => {
            let message = "the vault that is here can be opened; open it and restore the backup from the settings";
            Err(ErrorBody::new(ErrorCode::VaultExists, message).into())
        }
        Phase::Closed(state, error) => Ok((*state, error.clone())),
    }
}
