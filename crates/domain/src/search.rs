//! Searching what was said.

use crate::limits::{characters, number};
use crate::{ContextId, ConversationId, FieldError, MessageId, Role};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What to look for. All words have to be in one message, the last one as its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct SearchQuery {
    /// The user's words, 1–1,000 characters.
    pub text: String,
    /// Only in conversations of this context.
    pub context_id: Option<ContextId>,
    /// Only what was said then or later.
    pub from: Option<DateTime<Utc>>,
    /// Only what was said before.
    pub until: Option<DateTime<Utc>>,
    /// At most so many hits, 1–100.
    pub limit: u32,
    /// The `cursor` of the last hit of the page before.
    pub before: Option<String>,
}

impl Default for SearchQuery {
    fn default() -> Self {
        Self { text: String::new(), context_id: None, from: None, until: None, limit: 20, before: None }
    }
}

impl SearchQuery {
    /// Checks every field against its range.
    ///
    /// # Errors
    /// The first field that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        characters("text", &self.text, 1, 1_000)?;
        number("limit", self.limit, 1, 100)?;
        match self.before.as_deref() {
            Some(cursor) if cursor.parse::<i64>().is_err() => {
                let value = cursor.chars().take(80).collect();
                Err(FieldError { field: "before", value, range: "the cursor of a hit".into() })
            }
            _ => Ok(()),
        }
    }
}

/// A piece of a hit's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    /// The text, never empty.
    pub text: String,
    /// It is what was looked for.
    pub is_match: bool,
}

/// A message that has what was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The context it was written to or by.
    pub context_id: ContextId,
    /// The conversation's title.
    pub conversation_title: String,
    /// Who wrote it.
    pub role: Role,
    /// The text around the first match, in order.
    pub snippet: Vec<SnippetPart>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
    /// Goes into `before` to get the hits after this one; stays good when messages come and go.
    pub cursor: String,
}
