//! The app lock: the vault is locked when nobody uses it, before the machine sleeps, and when its window is hidden, as far as
//! the user wishes so.

use crate::{Inner, Service};
use evenkeel_domain::ClockSample;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often it is looked whether the time is over, with and without a wish for that.
const LOOK: Duration = Duration::from_secs(5);
const SELDOM: Duration = Duration::from_secs(30);

impl Service {
    /// Notes that somebody uses a window.
    pub fn vault_touched(&self) {
        self.0.keys.touch(self.clocks());
    }

    /// Locks the vault if no window was used for as long as the settings say; tells whether it did. A reply that is being
    /// written counts as use.
    pub async fn lock_if_idle(&self) -> bool {
        let Ok(session) = self.session() else { return false };
        let minutes = session.settings().lock_after_minutes;
        drop(session);
        if minutes == 0 {
            return false;
        }
        if !self.replies().is_empty() {
            self.vault_touched();
        }
        let idle = self.0.keys.touched().map_or(Duration::ZERO, |touched| between(touched, self.clocks()));
        if idle < Duration::from_secs(u64::from(minutes) * 60) {
            return false;
        }
        tracing::info!(minutes, "nobody uses the app; the vault is locked");
        self.vault_lock().await;
        true
    }

    /// Locks the vault because the main window is hidden, if the settings wish that.
    pub async fn lock_if_hidden(&self) {
        self.0.keys.want_lock(|absence| absence.when_hidden);
        if self.session().is_ok_and(|session| session.settings().lock_when_hidden) {
            self.vault_lock().await;
        }
    }

    /// Locks the vault because the machine is about to sleep, if the settings wish that.
    pub async fn lock_if_sleeping(&self) {
        self.0.keys.want_lock(|absence| absence.on_sleep);
        if self.session().is_ok_and(|session| session.settings().lock_on_sleep) {
            self.vault_lock().await;
        }
    }

    /// Begins to listen for the machine's sleep, where the system tells of it. Must be called inside a tokio runtime.
    pub fn watch_sleep(&self) {
        let (service, runtime) = (Arc::downgrade(&self.0), tokio::runtime::Handle::current());
        self.0.keys.watch_sleep(|| {
            evenkeel_vault::watch_sleep(move || {
                if let Some(inner) = service.upgrade() {
                    runtime.block_on(Self(inner).lock_if_sleeping());
                }
            })
        });
    }

    /// Begins to look whether the open vault is used.
    pub(super) fn watch_idleness(&self) {
        if self.0.options.job_interval.is_some() {
            tokio::spawn(watch(Arc::downgrade(&self.0), self.stop_of_jobs()));
        }
    }

    fn clocks(&self) -> ClockSample {
        ClockSample { wall: self.now(), monotonic: self.0.options.clock.monotonic() }
    }
}

/// Looks until the vault is closed or the service is gone.
async fn watch(service: Weak<Inner>, stop: CancellationToken) {
    loop {
        let Some(inner) = service.upgrade() else { return };
        let service_now = Service(inner);
        let is_wished = service_now.session().is_ok_and(|session| session.settings().lock_after_minutes > 0);
        // Locking cancels the very token that is waited for below, so nothing of it is waited for here.
        if service_now.lock_if_idle().await {
            return;
        }
        drop(service_now);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(if is_wished { LOOK } else { SELDOM }) => {}
        }
    }
}

/// The time from one reading of the clocks to another. While a machine sleeps its monotonic clock may stand still and the
/// wall clock goes on; a wall clock that was set back takes nothing away.
fn between(earlier: ClockSample, later: ClockSample) -> Duration {
    let by_wall = (later.wall - earlier.wall).to_std().unwrap_or_default();
    later.monotonic.saturating_sub(earlier.monotonic).max(by_wall)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, TimeDelta};

    fn sample(wall_seconds: i64, monotonic: u64) -> ClockSample {
        let wall = DateTime::UNIX_EPOCH + TimeDelta::seconds(wall_seconds);
        ClockSample { wall, monotonic: Duration::from_secs(monotonic) }
    }

    #[test]
    fn the_clock_that_saw_more_counts_and_none_runs_backwards() {
        let begun = sample(1_000, 50);
        for (later, seconds) in [
            (sample(1_060, 110), 60),
            // The machine slept for an hour.
            (sample(4_660, 110), 3_660),
            // The wall clock was set back by a day.
            (sample(-85_340, 110), 60),
            (sample(900, 40), 0),
        ] {
            assert_eq!(between(begun, later), Duration::from_secs(seconds));
        }
    }
}
