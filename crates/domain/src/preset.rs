//! Presets: templates for contexts.

use crate::PresetId;
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
}
