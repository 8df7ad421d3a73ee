//! A clock that moves only when it is told to.

use chrono::{DateTime, TimeDelta, Utc};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A clock for tests: time stands until it is moved, ids count up.
#[derive(Debug)]
pub struct FixedClock {
    millis: AtomicI64,
    count: AtomicU64,
}

impl FixedClock {
    /// A clock that stands at the given time.
    #[must_use]
    pub fn at(time: DateTime<Utc>) -> Self {
        Self { millis: AtomicI64::new(time.timestamp_millis()), count: AtomicU64::new(0) }
    }

    /// The time it shows; each look moves it by a millisecond, so that order shows in time.
    pub fn now(&self) -> DateTime<Utc> {
        let millis = self.millis.fetch_add(1, Ordering::SeqCst);
        DateTime::from_timestamp_millis(millis).unwrap_or_default()
    }

    /// Moves it.
    pub fn advance(&self, by: TimeDelta) {
        self.millis.fetch_add(by.num_milliseconds(), Ordering::SeqCst);
    }

    /// Bytes that never come twice.
    pub fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.count.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        bytes
    }
}
