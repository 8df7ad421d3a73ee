//! Conversations: one thread each.

use crate::{ContextId, ConversationId, MessageId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

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
    /// The newest message of the branch that is shown.
    pub active_leaf_id: Option<MessageId>,
    /// Number of messages on all branches.
    pub message_count: u32,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When a message was last stored.
    pub last_activity_at: DateTime<Utc>,
}
