//! Messages: the nodes of a conversation's tree.

use crate::limits::page;
use crate::{ContextId, ConversationId, FieldError, MessageId, ModelChoice, RevisionId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// A context, answering.
    Assistant,
    /// Instructions to the model.
    System,
}

impl Role {
    /// The role's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// How a message came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum MessageStatus {
    /// Whole.
    Complete,
    /// The user stopped the reply; what had arrived is kept.
    Stopped,
    /// The reply broke off (connection, crash, error); what had arrived is kept.
    Interrupted,
    /// The model's token limit cut the reply.
    Truncated,
}

impl MessageStatus {
    /// The status's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Truncated => "truncated",
        }
    }
}

/// Tokens of one text, counted once and kept with the tokenizer's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TokenCount {
    /// Number of tokens.
    pub tokens: u32,
    /// `o200k` or the name of an engine model; a name that ends in `~` marks an estimate.
    pub tokenizer: String,
}

/// What a provider reported for one reply, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u32,
    /// Tokens of the reply.
    pub completion_tokens: u32,
    /// Tokens of the request that a cache served; `None` where the provider does not say.
    pub cached_tokens: Option<u32>,
}

/// The user's judgement of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Vote {
    /// Thumbs up.
    Up,
    /// Thumbs down.
    Down,
}

/// One message. Immutable once stored: an edit or a new reply is a sibling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's own id.
    pub id: MessageId,
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// The context it was written to or by (the agent of an assistant message).
    pub context_id: ContextId,
    /// The message it follows; `None` for a first message.
    pub parent_id: Option<MessageId>,
    /// Who wrote it.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The model's reasoning, where it gave one.
    pub reasoning: Option<String>,
    /// How it ended.
    pub status: MessageStatus,
    /// Tokens of the content.
    pub token_count: Option<TokenCount>,
    /// The persona revision an assistant message was answered under.
    pub revision_id: Option<RevisionId>,
    /// The model that wrote an assistant message.
    pub model: Option<ModelChoice>,
    /// What the provider reported for an assistant message.
    pub usage: Option<Usage>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
    /// All messages with the same parent in order of birth, this one included: the branches to switch between.
    pub sibling_ids: Vec<MessageId>,
    /// The user's judgement of it; beside the message, not a part of what is immutable.
    pub vote: Option<Vote>,
    /// Older messages that were sent with the question, those that are still there.
    #[serde(default)]
    pub citations: Vec<Citation>,
    /// The program that wrote a user's message, by the name that it gives itself; `None` for the user.
    #[serde(default)]
    pub source: Option<String>,
}

/// An older message that a reply had before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// How it begins, on one line: at most 80 characters.
    pub beginning: String,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

impl Citation {
    /// Most characters of a beginning.
    const BEGINNING: usize = 80;

    /// Cites a message by what its text begins with.
    #[must_use]
    pub fn of(message_id: MessageId, conversation_id: ConversationId, text: &str, created_at: DateTime<Utc>) -> Self {
        Self { message_id, conversation_id, beginning: beginning(text, Self::BEGINNING), created_at }
    }
}

/// How a text begins, on one line, in at most so many characters.
#[must_use]
pub fn beginning(text: &str, most: usize) -> String {
    let line = |character: char| if character.is_whitespace() || character.is_control() { ' ' } else { character };
    let mut characters = text.trim().chars().map(line);
    let mut begun: String = characters.by_ref().take(most.saturating_sub(1)).collect();
    match (characters.next(), characters.next()) {
        (Some(last), None) => begun.push(last),
        (Some(_), Some(_)) => begun = format!("{}…", begun.trim_end()),
        _ => {}
    }
    begun
}

/// Which messages of a context to list, and which page of them: on every branch, in order of birth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageQuery {
    /// The context whose conversations they are in.
    pub context_id: ContextId,
    /// Only those of this conversation.
    pub conversation_id: Option<ConversationId>,
    /// As in [`ConversationsShown`](crate::ConversationsShown).
    pub among: Option<Vec<ContextId>>,
    /// The newest first.
    pub newest_first: bool,
    /// The page, from 1.
    pub page: u32,
    /// Messages a page, 1–500.
    pub page_size: u32,
}

impl MessageQuery {
    /// Checks page and page size.
    ///
    /// # Errors
    /// The first that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        page(self.page, self.page_size)
    }
}

/// Messages of a context: those that every wish names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageSelection {
    /// The context whose conversations they are in.
    pub context_id: ContextId,
    /// Only those of this conversation.
    pub conversation_id: Option<ConversationId>,
    /// As in [`ConversationsShown`](crate::ConversationsShown).
    pub among: Option<Vec<ContextId>>,
    /// Only those with these ids.
    pub ids: Option<Vec<MessageId>>,
    /// Only those that were stored before this time.
    pub older_than: Option<DateTime<Utc>>,
}
