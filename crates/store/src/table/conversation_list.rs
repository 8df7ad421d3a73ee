//! Lists of conversations: filtered, sorted, a part at a time.

use super::context_list::wanted_text;
use super::conversation::{conversation, select_conversations};
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{Conversation, ConversationId, ConversationQuery};
use rusqlite::{params_from_iter, types::Value};

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
        let Filter { mut sql, mut values } = filter(query);
        sql.insert_str(0, select_conversations!(""));
        sql.push_str(if query.oldest_first {
            " ORDER BY v.is_pinned DESC, v.last_activity_at, v.id LIMIT ? OFFSET ?"
        } else {
            " ORDER BY v.is_pinned DESC, v.last_activity_at DESC, v.id DESC LIMIT ? OFFSET ?"
        });
        values.extend([Value::from(query.limit), Value::from(query.offset)]);
        self.all(&sql, params_from_iter(values), conversation)
    }

    pub(super) fn count_conversations(&self, query: &ConversationQuery) -> Result<u64, StoreError> {
        let Filter { sql, values } = filter(query);
        self.number(&format!("SELECT count(*) FROM conversations v {sql}"), params_from_iter(values))
    }
}

struct Filter {
    sql: String,
    values: Vec<Value>,
}

/// Only the conditions that are asked for: one that may or may not hold would use no index. The
/// texts are constants, so the number of different statements stays small.
fn filter(query: &ConversationQuery) -> Filter {
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    match query.context_id {
        Some(context_id) => {
            parts.push("v.context_id = ?");
            values.push(Value::from(bytes(context_id.uuid()).to_vec()));
        }
        None => parts.push("v.context_id NOT IN (SELECT id FROM contexts WHERE deleted_at IS NOT NULL)"),
    }
    parts.push(if query.only_deleted { "v.deleted_at IS NOT NULL" } else { "v.deleted_at IS NULL" });
    if !query.include_archived && !query.only_deleted {
        parts.push("v.is_archived = 0");
    }
    if let Some(tag) = wanted_text(query.tag.as_deref()) {
        parts.push("v.id IN (SELECT conversation_id FROM conversation_tags WHERE folded = ?)");
        values.push(Value::from(tag));
    }
    if let Some(text) = wanted_text(query.text.as_deref()) {
        parts.push("instr (folded (v.title), ?)");
        values.push(Value::from(text));
    }
    Filter { sql: format!("WHERE {}", parts.join(" AND ")), values }
}
