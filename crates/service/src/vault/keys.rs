//! What is under way with the keys of the open vault.

use evenkeel_domain::{ClockSample, Settings};
use evenkeel_vault::{RecoveryCode, SleepWatch};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// A recovery code that was shown and opens nothing before it was typed back.
pub(crate) struct Renewal {
    pub code: RecoveryCode,
    /// The groups that were asked for.
    pub asked: Vec<u32>,
}

/// While the vault is closed for a change: what the user wishes of a lock, and whether one was asked for meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Absence {
    pub on_sleep: bool,
    pub when_hidden: bool,
    is_lock_wanted: bool,
}

/// Changes of keys, one at a time, and when somebody last used a window.
#[derive(Default)]
pub(crate) struct KeyWork {
    /// Held by each change.
    pub turn: tokio::sync::Mutex<()>,
    renewal: Mutex<Option<Renewal>>,
    stop: Mutex<Option<CancellationToken>>,
    absence: Mutex<Option<Absence>>,
    touched: Mutex<Option<ClockSample>>,
    sleep: OnceLock<SleepWatch>,
}

impl KeyWork {
    pub fn begin_renewal(&self, renewal: Renewal) {
        *lock(&self.renewal) = Some(renewal);
    }

    /// Looks at the code that waits to be typed back.
    pub fn with_renewal<T>(&self, look: impl FnOnce(&Renewal) -> T) -> Option<T> {
        lock(&self.renewal).as_ref().map(look)
    }

    /// Wipes the code that waits to be typed back.
    pub fn end_renewal(&self) {
        *lock(&self.renewal) = None;
    }

    /// The code that waits to be typed back.
    pub fn code(&self) -> Option<Zeroizing<String>> {
        self.with_renewal(|renewal| renewal.code.text())
    }

    /// Begins something that [`KeyWork::stop`] stops.
    pub fn begin_stoppable(&self) -> CancellationToken {
        let stop = CancellationToken::new();
        *lock(&self.stop) = Some(stop.clone());
        stop
    }

    pub fn stop(&self) {
        if let Some(stop) = &*lock(&self.stop) {
            stop.cancel();
        }
    }

    /// Notes that the vault is closed for a change and will be opened again.
    pub fn begin_absence(&self, settings: &Settings) {
        let absence = Absence { on_sleep: settings.lock_on_sleep, when_hidden: settings.lock_when_hidden, is_lock_wanted: false };
        *lock(&self.absence) = Some(absence);
    }

    /// Asks for a lock once the change is done, if the vault is closed for one and the user wishes it so.
    pub fn want_lock(&self, is_wished: impl Fn(&Absence) -> bool) {
        if let Some(absence) = lock(&self.absence).as_mut().filter(|absence| is_wished(absence)) {
            absence.is_lock_wanted = true;
        }
    }

    /// Ends it; tells whether a lock was asked for.
    pub fn end_absence(&self) -> bool {
        lock(&self.absence).take().is_some_and(|absence| absence.is_lock_wanted)
    }

    /// Notes that somebody uses a window.
    pub fn touch(&self, at: ClockSample) {
        *lock(&self.touched) = Some(at);
    }

    pub fn touched(&self) -> Option<ClockSample> {
        *lock(&self.touched)
    }

    /// Begins to listen for the machine's sleep, once.
    pub fn watch_sleep(&self, watch: impl FnOnce() -> SleepWatch) {
        let _ = self.sleep.get_or_init(watch);
    }

    pub fn hears_sleep(&self) -> bool {
        self.sleep.get().is_some_and(SleepWatch::is_watching)
    }

    /// Wipes what is not to outlive the open vault.
    pub fn forget(&self) {
        self.end_renewal();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
