//! Time that passes at will, so that a journey through the window can let days go by. Debug builds
//! alone have it: whoever can set the clock of an app can make it delete.

use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_service::{Clock, ServiceOptions, SystemClock};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Names the file with the seconds that have passed more than did.
const VARIABLE: &str = "EVENKEEL_CLOCK_SHIFT";

/// Puts the shifted clock into the options where the environment wishes for it.
pub fn wished(options: ServiceOptions) -> ServiceOptions {
    match std::env::var_os(VARIABLE).filter(|file| !file.is_empty()) {
        Some(file) => ServiceOptions { clock: Arc::new(ShiftedClock::new(file.into())), ..options },
        None => options,
    }
}

/// The system's clock, ahead by the seconds in a file. The monotonic time is ahead as much, so that
/// they count as time that passed; the wall clock alone would have jumped, and deletions would rest.
#[derive(Debug)]
struct ShiftedClock {
    file: PathBuf,
    furthest: AtomicU32,
}

impl ShiftedClock {
    fn new(file: PathBuf) -> Self {
        Self { file, furthest: AtomicU32::new(0) }
    }

    /// The shift in seconds. A file that is missing, half written or says less than before changes
    /// nothing: monotonic time never goes back.
    fn seconds(&self) -> u32 {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let wish = text.trim().parse().unwrap_or(0);
        self.furthest.fetch_max(wish, Ordering::SeqCst).max(wish)
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> DateTime<Utc> {
        SystemClock.now() + TimeDelta::seconds(self.seconds().into())
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic() + Duration::from_secs(self.seconds().into())
    }

    fn random(&self) -> [u8; 10] {
        SystemClock.random()
    }

    fn zone(&self) -> String {
        SystemClock.zone()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use evenkeel_domain::{ClockSample, ClockVerdict, ClockWatch};

    #[test]
    fn days_pass_by_both_clocks_and_never_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shift");
        let clock = ShiftedClock::new(file.clone());
        let sample = || ClockSample { wall: clock.now(), monotonic: clock.monotonic() };
        let first = sample();
        let mut watch = ClockWatch::new(first);
        let mut last = first;
        for (text, days) in [("864000\n", 10), ("", 10), ("5", 10), ("-1", 10), ("1728000", 20), ("4294967296", 20)] {
            std::fs::write(&file, text).unwrap();
            let now = sample();
            assert_eq!(now.wall.signed_duration_since(first.wall).num_days(), days, "{text:?}");
            assert_eq!(watch.observe(now), ClockVerdict::Steady, "{text:?}");
            assert!(now.wall >= last.wall && now.monotonic >= last.monotonic, "{text:?}");
            last = now;
        }
    }
}
