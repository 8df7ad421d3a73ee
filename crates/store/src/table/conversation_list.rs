//! Lists of conversations: filtered, sorted, a part at a time.

use super::conversation::{conversation, select_conversations};
use super::filter::{Filter, wanted_text};
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{Conversation, ConversationId, ConversationPlace, ConversationQuery};
use rusqlite::types::Value;

impl ReadHandle<'_> {
    /// A part of the conversations that a query asks for, and how many there are in all.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations_page(&self, query: &ConversationQuery) -> Result<(Vec<Conversation>, u64), StoreError> {
        Ok((self.list_conversations(query)?, self.count_conversations(query)?))
    }

    /// Conversations that still have their beginning for a title and have two replies or more, those
    /// of the newest activity first; none from the trash, nor of a context that lies there.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn untitled_conversations(&self, limit: u32) -> Result<Vec<ConversationId>, StoreError> {
        self.all(
            "SELECT v.id FROM conversations v
             JOIN contexts c ON c.id = v.context_id AND c.deleted_at IS NULL
             WHERE v.title_source = 'beginning' AND v.deleted_at IS NULL AND EXISTS (
                 SELECT 1 FROM messages m WHERE m.conversation_id = v.id AND m.role = 'assistant' LIMIT 1 OFFSET 1)
             ORDER BY v.last_activity_at DESC, v.id DESC LIMIT ?1",
            [limit],
            |row| id(row, 0),
        )
    }

    pub(super) fn list_conversations(&self, query: &ConversationQuery) -> Result<Vec<Conversation>, StoreError> {
        let page = page(query);
        self.all(&page.sql(), page.values(), conversation)
    }

    pub(super) fn count_conversations(&self, query: &ConversationQuery) -> Result<u64, StoreError> {
        let count = count(query);
        self.number(&count.sql(), count.values())
    }
}

pub(super) fn page(query: &ConversationQuery) -> Filter {
    let order = if query.oldest_first {
        "ORDER BY v.is_pinned DESC, v.last_activity_at, v.id"
    } else {
        "ORDER BY v.is_pinned DESC, v.last_activity_at DESC, v.id DESC"
    };
    let mut filter = wanted(select_conversations!(""), SORTED, query);
    if let Some(place) = &query.after {
        after(&mut filter, place, query.oldest_first);
    }
    filter.part(order, query.limit, query.offset)
}

fn after(filter: &mut Filter, place: &ConversationPlace, oldest_first: bool) {
    let pinned = Value::from(place.is_pinned);
    let (time, id) = (Value::from(place.last_activity_at.timestamp_millis()), Value::from(bytes(place.id.uuid()).to_vec()));
    if oldest_first {
        filter.only(
            "v.is_pinned <= ? AND (v.is_pinned < ? OR (v.last_activity_at, v.id) > (?, ?))",
            [pinned.clone(), pinned, time, id],
        );
    } else {
        filter.only("(v.is_pinned, v.last_activity_at, v.id) < (?, ?, ?)", [pinned, time, id]);
    }
}

pub(super) fn count(query: &ConversationQuery) -> Filter {
    wanted("SELECT count(*) FROM conversations v", COUNTED, query)
}

/// What keeps out of a list the trash and the archive.
type Kept = [&'static str; 2];

/// A count finds these in an index.
const COUNTED: Kept = ["v.deleted_at IS NULL", "v.is_archived = 0"];
/// A page is read in its order until it is full. The plus keeps SQLite from going through that
/// index instead, and through all that it finds there.
const SORTED: Kept = ["+v.deleted_at IS NULL", "+v.is_archived = 0"];

fn wanted(from: &'static str, kept: Kept, query: &ConversationQuery) -> Filter {
    let [not_in_trash, not_archived] = kept;
    let mut filter = Filter::of(from);
    match query.context_id {
        Some(context_id) => filter.only("v.context_id = ?", [bytes(context_id.uuid()).to_vec().into()]),
        None => filter.only("v.context_id NOT IN (SELECT id FROM contexts WHERE deleted_at IS NOT NULL)", []),
    }
    filter.only(if query.only_deleted { "v.deleted_at IS NOT NULL" } else { not_in_trash }, []);
    if !query.include_archived && !query.only_deleted {
        filter.only(not_archived, []);
    }
    if let Some(tag) = wanted_text(query.tag.as_deref()) {
        filter.only("v.id IN (SELECT conversation_id FROM conversation_tags WHERE folded = ?)", [tag.into()]);
    }
    if let Some(text) = wanted_text(query.text.as_deref()) {
        filter.only("instr (folded (v.title), ?)", [text.into()]);
    }
    filter
}
