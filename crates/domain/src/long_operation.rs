//! Operations that took long: from when on, and who is told of their end.

use crate::FieldError;
use crate::limits::{characters, number};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Who is told of the end of an operation that took long. As it begins, nobody is. It is in no archive, since what is
/// imported may not name an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LongOperationSettings {
    /// Seconds from which on an operation has taken long, 1–86,400.
    pub seconds: u32,
    /// The desktop says so, where it may say anything.
    pub notifies: bool,
    /// Address that a note without any content is sent to, at most 2,000 characters; empty = none.
    pub webhook: String,
}

impl Default for LongOperationSettings {
    fn default() -> Self {
        Self { seconds: 30, notifies: false, webhook: String::new() }
    }
}

impl LongOperationSettings {
    /// Checks the seconds and the length of the address.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("seconds", self.seconds, 1, 86_400)?;
        characters("webhook", &self.webhook, 0, 2_000)
    }

    /// Whether an operation that took so many milliseconds has taken long.
    #[must_use]
    pub fn is_long(&self, duration_ms: u32) -> bool {
        u64::from(duration_ms) >= u64::from(self.seconds) * 1_000
    }
}

/// A note of an operation's end that did not arrive, however often it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct WebhookFailure {
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The HTTP status that was answered last; `None` if no answer came.
    pub status: Option<u16>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_long_from_the_second_on_that_is_set() {
        let settings = LongOperationSettings::default();
        assert_eq!([29_999, 30_000, u32::MAX].map(|millis| settings.is_long(millis)), [false, true, true]);
        let field = |settings: LongOperationSettings| settings.check().map_err(|error| error.field);
        assert_eq!(field(settings.clone()), Ok(()));
        assert_eq!(field(LongOperationSettings { seconds: 0, ..settings.clone() }), Err("seconds"));
        assert_eq!(field(LongOperationSettings { seconds: 86_401, ..settings.clone() }), Err("seconds"));
        assert_eq!(field(LongOperationSettings { webhook: "x".repeat(2_001), ..settings }), Err("webhook"));
    }
}
