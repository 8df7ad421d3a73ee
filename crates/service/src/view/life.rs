//! What the service gives and takes of the life of contexts, presets and conversations.

use evenkeel_domain::{Context, FieldError, Message, PersonaField, Preset};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page of contexts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ContextPage {
    /// In the order asked for.
    pub contexts: Vec<Context>,
    /// Number on all pages.
    pub total_count: u32,
}

/// A page of presets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PresetPage {
    /// Experimental ones first.
    pub presets: Vec<Preset>,
    /// Number on all pages.
    pub total_count: u32,
}

/// The part of a draft that advice is given on; it may be half written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PersonaDraft {
    /// At most 120 characters.
    pub name: String,
    /// At most 32,000 characters.
    pub system_prompt: String,
    /// At most 8,000 characters.
    pub personality: String,
    /// Tokens of a reply; `None` = nothing is to be said of them.
    pub max_tokens: Option<u32>,
}

impl PersonaDraft {
    /// Checks that no text is longer than it may be; none has to be there yet.
    pub(crate) fn check(&self) -> Result<(), FieldError> {
        let texts =
            [("name", &self.name, 120), ("systemPrompt", &self.system_prompt, 32_000), ("personality", &self.personality, 8_000)];
        for (field, text, most) in texts {
            let count = text.chars().count();
            if count > most {
                let value = format!("{count} characters");
                return Err(FieldError { field, value, range: format!("at most {most} characters") });
            }
        }
        Ok(())
    }
}

/// What could be better about a persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PersonaAdvice {
    /// The advice's stable name, such as `no_stance`.
    pub code: String,
    /// Where it stands.
    pub field: PersonaField,
    /// The passage meant, at most 120 characters.
    pub quote: Option<String>,
    /// What is meant and what to do, in English.
    pub message: String,
    /// Facts for the sentence in the user's language: `tokens` and `window`.
    pub details: BTreeMap<String, String>,
}

/// The history budget that suits a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RecommendedHistory {
    /// The model's window in tokens.
    pub window: u32,
    /// Tokens to offer as `maxHistoryTokens`.
    pub max_history_tokens: u32,
}

/// Messages after a known one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LaterMessages {
    /// Oldest first.
    pub messages: Vec<Message>,
    /// Whether still later ones exist.
    pub has_later: bool,
}

/// How a conversation is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// The shown branch, to read.
    Markdown,
    /// Every branch, with all that is known of each message.
    Json,
    /// The shown branch, as plain text.
    Text,
}

impl ExportFormat {
    /// The ending of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Text => "txt",
        }
    }
}
