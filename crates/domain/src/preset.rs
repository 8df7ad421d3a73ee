//! Presets: templates for contexts.

use crate::limits::{characters, number, page};
use crate::{FieldError, PresetId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

mod built_in;
pub use built_in::{BUILT_IN_PRESETS, BuiltInPreset};

/// Settings that a context made from a preset begins with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DefaultSettings {
    /// 0–1.
    pub temperature: f32,
    /// 1–131,072 tokens.
    pub max_tokens: u32,
    /// 500–2,000,000 tokens.
    pub max_history_tokens: u32,
    /// 1–3,650 days; `None` = never.
    pub expiry_days: Option<u32>,
}

/// A template for contexts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Preset {
    /// The preset's id.
    pub id: PresetId,
    /// Shown name, 1–120 characters.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Instructions to the model.
    pub system_prompt: String,
    /// The personality in words.
    pub default_personality: String,
    /// Settings of a new context.
    pub default_settings: DefaultSettings,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last edited.
    pub updated_at: DateTime<Utc>,
    /// False hides it from the list.
    pub is_active: bool,
    /// Any JSON, as text; `{"experimental":true}` marks an experimental preset.
    pub metadata: String,
    /// Contexts that were made from it.
    pub use_count: u32,
    /// Replies of its contexts that the user liked.
    pub thumbs_up: u32,
    /// Replies of its contexts that the user disliked.
    pub thumbs_down: u32,
    /// It ships with the app and can be reset to its shipped text.
    pub is_built_in: bool,
    /// A built-in one that the user changed or hid.
    pub is_edited: bool,
}

impl Preset {
    /// Whether the metadata marks it as experimental.
    #[must_use]
    pub fn is_experimental(&self) -> bool {
        let metadata = serde_json::from_str::<serde_json::Value>(&self.metadata).ok();
        metadata.is_some_and(|metadata| metadata.get("experimental") == Some(&serde_json::Value::Bool(true)))
    }
}

/// Everything needed for a preset of the user's own, or for another wording of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PresetDraft {
    /// 1–120 characters.
    pub name: String,
    /// What it is for, at most 2,000 characters.
    pub description: String,
    /// 1–32,000 characters.
    pub system_prompt: String,
    /// At most 8,000 characters.
    pub default_personality: String,
    /// Settings of a new context, in the ranges of a context.
    pub default_settings: DefaultSettings,
    /// Any JSON, as text of at most 65,536 bytes; a blank one = `{}`.
    pub metadata: String,
}

/// The most bytes of a preset's metadata.
const METADATA_BYTES: usize = 1 << 16;

impl PresetDraft {
    /// Checks every field against its range.
    ///
    /// # Errors
    /// The first field that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        let settings = &self.default_settings;
        characters("name", &self.name, 1, 120)?;
        characters("description", &self.description, 0, 2_000)?;
        characters("systemPrompt", &self.system_prompt, 1, 32_000)?;
        characters("defaultPersonality", &self.default_personality, 0, 8_000)?;
        number("temperature", settings.temperature, 0.0, 1.0)?;
        number("maxTokens", settings.max_tokens, 1, 131_072)?;
        number("maxHistoryTokens", settings.max_history_tokens, 500, 2_000_000)?;
        settings.expiry_days.map_or(Ok(()), |days| number("expiryDays", days, 1, 3_650))?;
        number("metadata", self.metadata.len(), 0, METADATA_BYTES)?;
        let invalid = |error: serde_json::Error| FieldError {
            field: "metadata",
            value: error.to_string().chars().take(80).collect(),
            range: "JSON".into(),
        };
        serde_json::from_str::<serde_json::Value>(self.metadata_or_empty()).map(|_| ()).map_err(invalid)
    }

    /// The metadata; of a blank one, the empty object.
    #[must_use]
    pub fn metadata_or_empty(&self) -> &str {
        let metadata = self.metadata.trim();
        if metadata.is_empty() { "{}" } else { metadata }
    }
}

/// Which presets to list, and which page of them: experimental ones first, then the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct PresetQuery {
    /// Lists hidden ones too.
    pub include_inactive: bool,
    /// The page, from 1.
    pub page: u32,
    /// Presets a page, 1–500.
    pub page_size: u32,
}

impl Default for PresetQuery {
    fn default() -> Self {
        Self { include_inactive: false, page: 1, page_size: 10 }
    }
}

impl PresetQuery {
    /// Checks page and page size.
    ///
    /// # Errors
    /// The first that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        page(self.page, self.page_size)
    }
}
