//! Time and chance, passed in so that tests can hold them still.

use chrono::{DateTime, Utc};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Tells the time and gives randomness for ids.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> DateTime<Utc>;
    /// Time since a fixed moment, by a clock that nobody sets; it stands while the machine sleeps.
    fn monotonic(&self) -> Duration {
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGIN.elapsed()
    }
    /// Randomness for one id.
    fn random(&self) -> [u8; 10];
    /// The user's time zone as an IANA name, or an offset such as `+02:00`.
    fn zone(&self) -> String;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        if getrandom::fill(&mut bytes).is_err() {
            // Ids must differ, not be secret: the nanoseconds do where the system gives no randomness.
            let nanos = Utc::now().timestamp_nanos_opt().unwrap_or_default();
            bytes[..8].copy_from_slice(&nanos.to_le_bytes());
        }
        bytes
    }

    fn zone(&self) -> String {
        chrono::Local::now().offset().to_string()
    }
}
