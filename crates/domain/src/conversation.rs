//! Conversations: one thread each.

use crate::limits::number;
use crate::{ContextId, ConversationId, FieldError, MessageId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Who gave a conversation its title.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// Nobody: it is how the first message begins.
    #[default]
    Beginning,
    /// A model, from what was said.
    Model,
    /// The user; no other source replaces it.
    User,
}

impl TitleSource {
    /// The source's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Beginning => "beginning",
            Self::Model => "model",
            Self::User => "user",
        }
    }
}

/// One thread with a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The conversation's id.
    pub id: ConversationId,
    /// The context it was begun with.
    pub context_id: ContextId,
    /// The title; until one is given, the beginning of the first message (at most 80 characters).
    pub title: String,
    /// Who gave it its title.
    pub title_source: TitleSource,
    /// The newest message of the branch that is shown.
    pub active_leaf_id: Option<MessageId>,
    /// Number of messages on all branches.
    pub message_count: u32,
    /// Stands before the others in lists.
    pub is_pinned: bool,
    /// Is left out of lists unless asked for.
    pub is_archived: bool,
    /// The user's tags, at most 20.
    pub tags: Vec<String>,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When a message was last stored.
    pub last_activity_at: DateTime<Utc>,
    /// Since when it lies in the trash; `None` = it does not.
    pub deleted_at: Option<DateTime<Utc>>,
}

impl Conversation {
    /// Where it stands in lists.
    #[must_use]
    pub fn place(&self) -> ConversationPlace {
        ConversationPlace { is_pinned: self.is_pinned, last_activity_at: self.last_activity_at, id: self.id }
    }
}

/// A place in a list of conversations, which stays where it is when others come and go, and when the
/// conversation that stood there has gone itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConversationPlace {
    /// Whether that conversation was pinned.
    pub is_pinned: bool,
    /// When a message was last stored in it.
    pub last_activity_at: DateTime<Utc>,
    /// Its id.
    pub id: ConversationId,
}

/// Which conversations to list, and which part of the list: pinned ones first, then by activity,
/// then by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct ConversationQuery {
    /// Only those of this context; without it, those of every context that is not in the trash.
    pub context_id: Option<ContextId>,
    /// Lists archived ones too.
    pub include_archived: bool,
    /// Lists what is in the trash, archived or not, and nothing else.
    pub only_deleted: bool,
    /// Only those with this tag; letters of either case are alike.
    pub tag: Option<String>,
    /// Only those with this text in the title; letters of either case are alike.
    pub text: Option<String>,
    /// The oldest activity first.
    pub oldest_first: bool,
    /// At most so many, 1–500.
    pub limit: u32,
    /// So many are left out at the beginning.
    pub offset: u32,
    /// Begins after this place, such as that of the last one of the part before: none comes twice or
    /// is passed over when others come and go meanwhile, as it does with an offset.
    pub after: Option<ConversationPlace>,
}

impl Default for ConversationQuery {
    fn default() -> Self {
        Self {
            context_id: None,
            include_archived: false,
            only_deleted: false,
            tag: None,
            text: None,
            oldest_first: false,
            limit: 50,
            offset: 0,
            after: None,
        }
    }
}

impl ConversationQuery {
    /// Checks the limit.
    ///
    /// # Errors
    /// It is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("limit", self.limit, 1, 500)
    }
}

/// What an agent contributed to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct AgentShare {
    /// The context that answered.
    pub context_id: ContextId,
    /// Its name; of one that was purged, the name it last answered under, where that is known.
    pub name: String,
    /// Its messages.
    pub messages: u32,
}

/// Figures of one conversation, over all its branches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConversationStatistics {
    /// All messages.
    pub messages: u32,
    /// Messages of the person.
    pub user_messages: u32,
    /// Messages of contexts.
    pub assistant_messages: u32,
    /// When the oldest message was stored; `None` without messages.
    pub started_at: Option<DateTime<Utc>>,
    /// When the newest message was stored; `None` without messages.
    pub last_activity_at: Option<DateTime<Utc>>,
    /// Milliseconds between the two.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub duration_ms: u64,
    /// Who answered, the one with most messages first.
    pub agents: Vec<AgentShare>,
    /// Tokens of all texts, as counted.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub tokens: u64,
    /// Tokens of all requests, as providers reported.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub prompt_tokens: u64,
    /// Tokens of all replies, as providers reported.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub completion_tokens: u64,
}

/// What a text in the composer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum DraftKey {
    /// A conversation.
    Conversation(ConversationId),
    /// The conversation that is yet to be begun with a context.
    Context(ContextId),
}

impl std::fmt::Display for DraftKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Conversation(id) => write!(f, "conversation:{id}"),
            Self::Context(id) => write!(f, "context:{id}"),
        }
    }
}

/// What is typed and not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ComposerDraft {
    /// What for.
    pub key: DraftKey,
    /// As typed.
    pub text: String,
    /// When it was last kept.
    pub updated_at: DateTime<Utc>,
}

/// Which conversations of a context another program sees: only those in which nobody spoke that is not there for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationsShown {
    /// The context whose conversations they are.
    pub context_id: ContextId,
    /// Only this one.
    pub only: Option<ConversationId>,
    /// The contexts that may have spoken there beside it; `None` = all that are not local only.
    pub among: Option<Vec<ContextId>>,
    /// Those in the archive too.
    pub archived: bool,
    /// At most so many.
    pub limit: u32,
}
