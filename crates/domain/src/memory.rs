//! What is remembered of a conversation beside its messages: summaries, and values that the user told.

use crate::limits::characters;
use crate::{ContextId, ConversationId, FieldError, MessageId, ModelChoice, StateValueId, SummaryId, TokenCount};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most characters of a summary that the user writes.
const SUMMARY_CHARACTERS: usize = 16_000;
/// Most characters of the name of a value.
pub(crate) const NAME_CHARACTERS: usize = 64;
/// Most bytes of a value as JSON.
const VALUE_BYTES: usize = 8_192;

/// A message that a line of a summary rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// How the summary's text names it, such as `m12`: the twelfth message of the branch.
    pub label: String,
    /// The message.
    pub message_id: MessageId,
}

/// Notes that stand for the older part of a conversation. Immutable: an edit is a new one in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Its id.
    pub id: SummaryId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The last message that it covers; it applies to the branches that this message is on.
    pub up_to_id: MessageId,
    /// The messages that it was made from, oldest first, beside the summary before it.
    pub message_ids: Vec<MessageId>,
    /// The messages that its lines name, also those of summaries before it.
    pub evidence: Vec<Evidence>,
    /// The notes: fixed headings, and lines that end with the labels of the messages they rest on.
    pub text: String,
    /// Lines that have to stand in every later summary: those that the user wrote.
    pub pinned: Vec<String>,
    /// Tokens of the text.
    pub tokens: TokenCount,
    /// The model that wrote it; `None` where the user did.
    pub model: Option<ModelChoice>,
    /// 1 for the first of a branch, one more for each that was made after it.
    pub round: u32,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The user wrote it, in place of a model's.
    pub is_edited: bool,
    /// A message that it rests on was deleted, so it is not sent any more.
    pub is_stale: bool,
}

impl Summary {
    /// Checks a text that the user wrote: 1–16,000 visible characters.
    ///
    /// # Errors
    /// It is outside, with field, value and range.
    pub fn check_text(text: &str) -> Result<(), FieldError> {
        characters("text", text, 1, SUMMARY_CHARACTERS)
    }
}

/// Who a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum StateSource {
    /// A model took it from what the user said.
    Extraction,
    /// The user set it.
    User,
}

impl StateSource {
    /// The source's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extraction => "extraction",
            Self::User => "user",
        }
    }
}

/// One value of a conversation's state. Another value of the same name supersedes it; nothing is
/// overwritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct StateValue {
    /// Its id.
    pub id: StateValueId,
    /// The context whose schema names it.
    pub context_id: ContextId,
    /// The conversation that it was told in.
    pub conversation_id: ConversationId,
    /// Its name in the schema.
    pub name: String,
    /// The value as compact JSON.
    pub value: String,
    /// The message of the user that it was taken from; `None` where the user set it.
    pub evidence_id: Option<MessageId>,
    /// Since when it holds.
    pub valid_from: DateTime<Utc>,
    /// Until when it held; `None` = it holds.
    pub valid_to: Option<DateTime<Utc>>,
    /// The user pinned it: no model supersedes it.
    pub is_pinned: bool,
    /// The user set it in place of a model's.
    pub is_edited: bool,
    /// Who it comes from.
    pub source: StateSource,
    /// The value that it contradicts: the one that it superseded, or for a suggestion the one that stays.
    pub conflicts_with_id: Option<StateValueId>,
    /// It never held: the model read it, but a value that is pinned or the user's own stands against it.
    pub is_suggestion: bool,
}

impl StateValue {
    /// Whether a model may not supersede it.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        self.is_pinned || self.source == StateSource::User
    }

    /// Checks the name of a value and reads the value itself: JSON of at most 8,192 bytes.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn checked(name: &str, json: &str) -> Result<Value, FieldError> {
        characters("name", name, 1, NAME_CHARACTERS)?;
        let fail = |range: String| {
            let value = json.chars().take(80).collect();
            FieldError { field: "value", value, range }
        };
        if json.len() > VALUE_BYTES {
            return Err(fail(format!("JSON of at most {VALUE_BYTES} bytes")));
        }
        serde_json::from_str(json).map_err(|error| fail(format!("JSON, such as \"Lisbon\", 3 or true ({error})")))
    }
}
