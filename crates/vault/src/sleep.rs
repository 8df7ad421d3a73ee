//! Hears when the machine is about to sleep, so that keys can be wiped before it does.
//!
//! On Linux logind tells it on the system bus, and waits a few seconds for whoever holds a *delay* lock. Other systems
//! have no such source here: there nothing is watched, and [`SleepWatch::is_watching`] says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Time until it is listened again after the bus was gone.
#[cfg(target_os = "linux")]
const AGAIN: std::time::Duration = std::time::Duration::from_secs(10);

/// Whether the machine's sleep is heard.
#[derive(Debug, Clone, Default)]
pub struct SleepWatch(Arc<AtomicBool>);

impl SleepWatch {
    /// Whether the system tells of a sleep to come; false for a moment after the start, and where nothing can tell.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    #[cfg(target_os = "linux")]
    fn set(&self, is_watching: bool) {
        self.0.store(is_watching, Ordering::SeqCst);
    }
}

/// Calls `before_sleep` each time the machine is about to sleep, on a thread of its own, and keeps it awake until that has
/// returned, as long as the system allows (5 seconds, unless its administrator says otherwise). Returns at once.
pub fn watch_sleep(before_sleep: impl Fn() + Send + 'static) -> SleepWatch {
    let watch = SleepWatch::default();
    #[cfg(target_os = "linux")]
    {
        let seen = watch.clone();
        let thread = std::thread::Builder::new().name("sleep".to_owned());
        let started = thread.spawn(move || {
            // A bus that was there comes back, as after an update of the system; until then nothing is heard, which the
            // answer says.
            while logind::listens(&seen, &before_sleep) {
                std::thread::sleep(AGAIN);
            }
        });
        // Without a thread nothing is watched, which is what the answer says.
        drop(started);
    }
    #[cfg(not(target_os = "linux"))]
    drop(before_sleep);
    watch
}

#[cfg(target_os = "linux")]
mod logind {
    use super::SleepWatch;
    use zbus::blocking::{Connection, Proxy};
    use zbus::zvariant::OwnedFd;

    /// Listens until the bus is gone; false where it never was there.
    pub(super) fn listens(watch: &SleepWatch, before_sleep: &dyn Fn()) -> bool {
        // However it ends, by an error or with the bus, what was begun is what counts.
        let _ = listen(watch, before_sleep);
        let has_listened = watch.is_watching();
        watch.set(false);
        has_listened
    }

    fn listen(watch: &SleepWatch, before_sleep: &dyn Fn()) -> zbus::Result<()> {
        let bus = Connection::system()?;
        let manager = Proxy::new(&bus, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")?;
        let signals = manager.receive_signal("PrepareForSleep")?;
        let mut delay = Some(delay(&manager)?);
        watch.set(true);
        for signal in signals {
            // One that cannot be read is none; the next one can.
            let Ok(begins) = signal.body().deserialize::<bool>() else { continue };
            if begins {
                before_sleep();
                // Letting go of it is what lets the machine sleep.
                drop(delay.take());
            } else if delay.is_none() {
                // Without it the next sleep is heard all the same, with less time for what is to be done.
                delay = self::delay(&manager).ok();
            }
        }
        Ok(())
    }

    fn delay(manager: &Proxy<'_>) -> zbus::Result<OwnedFd> {
        manager.call("Inhibit", &("sleep", "Evenkeel", "The vault is locked before the machine sleeps", "delay"))
    }
}
