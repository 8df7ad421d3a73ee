//! Ranges of every field and the check that names field, value and range.

use crate::{ErrorBody, ErrorCode};
use serde::{Deserialize, Serialize};

/// A value outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}; it must be {range}")]
pub struct FieldError {
    /// Name of the field in JSON.
    pub field: &'static str,
    /// The value, shortened to 80 characters.
    pub value: String,
    /// The allowed range in words.
    pub range: String,
}

impl From<FieldError> for ErrorBody {
    fn from(error: FieldError) -> Self {
        Self::new(ErrorCode::InvalidParameter, error.to_string())
            .with("field", error.field)
            .with("value", error.value)
            .with("range", error.range)
    }
}

/// Configurable limits with the defaults of the design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Contexts in a vault.
    pub contexts: u32,
    /// Messages in a context.
    pub messages_per_context: u32,
    /// Bytes (UTF-8) of one message.
    pub message_bytes: u32,
    /// Bytes of the vault's database, without what deleting has freed in it.
    pub vault_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { contexts: 1_000, messages_per_context: 1_000_000, message_bytes: 1 << 20, vault_bytes: 50 << 30 }
    }
}

impl Limits {
    /// Checks the limits themselves: contexts 1–100,000, messages in a context 100–10,000,000, bytes
    /// of a message 1 KiB–16 MiB, bytes of the vault 64 MiB–1 TiB.
    ///
    /// # Errors
    /// The first that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("limits.contexts", self.contexts, 1, 100_000)?;
        number("limits.messagesPerContext", self.messages_per_context, 100, 10_000_000)?;
        number("limits.messageBytes", self.message_bytes, 1 << 10, 16 << 20)?;
        number("limits.vaultBytes", self.vault_bytes, 64 << 20, 1 << 40)
    }

    /// Checks the text of a message.
    ///
    /// # Errors
    /// `text` is empty or blank, holds a NUL, or is over `message_bytes`.
    pub fn check_message(&self, text: &str) -> Result<(), FieldError> {
        let fail = |value: String, range: String| Err(FieldError { field: "text", value, range });
        if text.trim().is_empty() {
            return fail("empty".into(), "at least one visible character".into());
        }
        if text.len() > self.message_bytes as usize {
            return fail(format!("{} bytes", text.len()), format!("at most {} bytes", self.message_bytes));
        }
        if let Some(at) = text.find('\0') {
            return fail(format!("a NUL character at byte {at}"), "text without NUL characters".into());
        }
        Ok(())
    }
}

/// Checks that a text has between `min` and `max` characters and no NUL.
pub(crate) fn characters(field: &'static str, text: &str, min: usize, max: usize) -> Result<(), FieldError> {
    let count = text.chars().count();
    if (min..=max).contains(&count) && !text.contains('\0') && (min == 0 || !text.trim().is_empty()) {
        return Ok(());
    }
    let value = if text.contains('\0') { "text with a NUL character".into() } else { format!("{count} characters") };
    Err(FieldError { field, value, range: format!("{min} to {max} visible characters") })
}

/// Checks that a number lies in a range.
pub(crate) fn number<T: PartialOrd + std::fmt::Display>(field: &'static str, value: T, min: T, max: T) -> Result<(), FieldError> {
    if value >= min && value <= max {
        return Ok(());
    }
    Err(FieldError { field, value: value.to_string(), range: format!("{min} to {max}") })
}

/// Checks a page, counted from 1, and the number of items on it, 1–500.
pub(crate) fn page(page: u32, page_size: u32) -> Result<(), FieldError> {
    number("page", page, 1, u32::MAX)?;
    number("pageSize", page_size, 1, 500)
}
