//! The trash, and how large the vault is.

use crate::{ContextId, ConversationId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What can lie in the trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum TrashId {
    /// A context, with all its conversations.
    Context(ContextId),
    /// A conversation.
    Conversation(ConversationId),
}

/// Something in the trash, with what decides when it may be purged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TrashItem {
    /// What it is.
    pub id: TrashId,
    /// The name of a context, or the title of a conversation.
    pub title: String,
    /// The context that a conversation belongs to, which may lie in the trash too.
    pub context_id: Option<ContextId>,
    /// The name of that context.
    pub context_name: Option<String>,
    /// What counts of it against the share of a vault that one run may purge.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub weight: u64,
    /// It is more than one run may purge without being asked: it goes only by the user's word.
    pub waits: bool,
    /// Since when it lies there.
    pub deleted_at: DateTime<Utc>,
    /// The first start that showed it there; `None` = none yet.
    pub shown_at: Option<DateTime<Utc>>,
    /// The app's running time, in milliseconds, when a run of the scheduler first found it due.
    #[cfg_attr(feature = "specta", specta(type = Option<u32>))]
    pub purge_due_running_ms: Option<u64>,
}

/// What lies in the trash, in short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TrashSummary {
    /// Contexts and conversations; a context stands for its conversations.
    pub count: u32,
    /// When the first of them was deleted; `None` where there is none.
    pub oldest: Option<DateTime<Utc>>,
}

/// Rows and bytes of one kind of thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct KindSize {
    /// Rows.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub rows: u64,
    /// Bytes of the pages that hold them and their indexes.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub bytes: u64,
}

/// How large the database is, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultStatistics {
    /// Messages, those whose deletion can be undone, and replies in progress.
    pub messages: KindSize,
    /// The search index; its rows are the messages that can be found.
    pub index: KindSize,
    /// Contexts, their revisions and tags, and presets.
    pub contexts: KindSize,
    /// Everything else.
    pub others: KindSize,
    /// Bytes that are free inside the file.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub free_bytes: u64,
    /// Bytes of the database without its log.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub database_bytes: u64,
}
