//! A clock that moves only when it is told to.

use chrono::{DateTime, TimeDelta, Utc};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// A clock for tests: time stands until it is moved, ids count up.
#[derive(Debug)]
pub struct FixedClock {
    millis: AtomicI64,
    passed: AtomicU64,
    count: AtomicU64,
}

impl FixedClock {
    /// A clock that stands at the given time.
    #[must_use]
    pub fn at(time: DateTime<Utc>) -> Self {
        Self { millis: AtomicI64::new(time.timestamp_millis()), passed: AtomicU64::new(0), count: AtomicU64::new(0) }
    }

    /// The time it shows; each look moves it by a millisecond, so that order shows in time.
    pub fn now(&self) -> DateTime<Utc> {
        let millis = self.millis.fetch_add(1, Ordering::SeqCst);
        DateTime::from_timestamp_millis(millis).unwrap_or_default()
    }

    /// Sets it to another time, as a person does: the monotonic time stays.
    pub fn advance(&self, by: TimeDelta) {
        self.millis.fetch_add(by.num_milliseconds(), Ordering::SeqCst);
    }

    /// Lets time pass, by both clocks.
    pub fn pass(&self, by: TimeDelta) {
        self.advance(by);
        let millis = u64::try_from(by.num_milliseconds()).unwrap_or(0);
        self.passed.fetch_add(millis, Ordering::SeqCst);
    }

    /// The time that has passed.
    pub fn monotonic(&self) -> Duration {
        Duration::from_millis(self.passed.load(Ordering::SeqCst))
    }

    /// Bytes that never come twice.
    pub fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.count.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        bytes
    }
}
