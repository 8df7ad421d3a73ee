//! Messages of a whole context, a page at a time, and those that a selection names.

use super::conversation::{conversation, select_conversations};
use super::message::{message, message_columns};
use crate::column::{bytes, id, of_time, time};
use crate::{ReadHandle, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, Conversation, ConversationId, Message, MessageId, MessageQuery, MessageSelection};

/// The messages of `?1`, or of its conversation `?2`; none from the trash, and none of another context that is
/// local only and took part there.
macro_rules! of_context {
    () => {
        "FROM conversations v CROSS JOIN messages m ON m.conversation_id = v.id \
         WHERE v.context_id = ?1 AND v.deleted_at IS NULL AND (?2 IS NULL OR v.id = ?2) \
         AND (m.context_id = v.context_id OR m.context_id NOT IN (SELECT id FROM contexts WHERE local_only)) "
    };
}

/// A message as far as choosing it goes: its id, its conversation, and when it was stored.
pub type SelectedMessage = (MessageId, ConversationId, DateTime<Utc>);

impl ReadHandle<'_> {
    /// A page of the messages of a context over all its conversations and branches, in order of birth, and how many
    /// there are on all pages. Their siblings are left out. Costs time in proportion to the number of messages, not
    /// to their length.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn messages_page(&self, query: &MessageQuery) -> Result<(Vec<Message>, u64), StoreError> {
        let (context, within) = (bytes(query.context_id.uuid()), query.conversation_id.map(|id| bytes(id.uuid())));
        let offset = i64::from(query.page.saturating_sub(1)) * i64::from(query.page_size);
        // The keys alone are sorted; the texts are read for one page.
        let sql = if query.newest_first {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT m.key ",
                of_context!(),
                "ORDER BY m.key DESC LIMIT ?3 OFFSET ?4) ORDER BY m.key DESC"
            )
        } else {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT m.key ",
                of_context!(),
                "ORDER BY m.key LIMIT ?3 OFFSET ?4) ORDER BY m.key"
            )
        };
        let messages = self.all(sql, (context, within, query.page_size, offset), message)?;
        Ok((messages, self.number(concat!("SELECT count(*) ", of_context!()), (context, within))?))
    }

    /// The messages that a selection names, the newest first; those that it names by id, whatever their age.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn selected_messages(&self, selection: &MessageSelection) -> Result<Vec<SelectedMessage>, StoreError> {
        let (context, within) = (bytes(selection.context_id.uuid()), selection.conversation_id.map(|id| bytes(id.uuid())));
        let selected = |row: &rusqlite::Row<'_>| Ok((id(row, 0)?, id(row, 1)?, time(row, 2)?));
        let Some(ids) = &selection.ids else {
            let sql = concat!(
                "SELECT m.id, m.conversation_id, m.created_at ",
                of_context!(),
                "AND (?3 IS NULL OR m.created_at < ?3) ORDER BY m.key DESC"
            );
            return self.all(sql, (context, within, of_time(selection.older_than)), selected);
        };
        let sql = concat!("SELECT m.id, m.conversation_id, m.created_at, m.key ", of_context!(), "AND m.id = ?3");
        let mut found = Vec::with_capacity(ids.len());
        for message in ids {
            let row = self.one(sql, (context, within, bytes(message.uuid())), |row| {
                Ok((row.get::<_, i64>(3)?, (id(row, 0)?, id(row, 1)?, time(row, 2)?)))
            })?;
            found.extend(row);
        }
        found.sort_unstable_by_key(|(key, _)| std::cmp::Reverse(*key));
        found.dedup_by_key(|(key, _)| *key);
        Ok(found.into_iter().map(|(_, message)| message).collect())
    }

    /// The conversation of a context in which something was said last; none from archive or trash.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn newest_conversation(&self, context: ContextId) -> Result<Option<Conversation>, StoreError> {
        let sql = select_conversations!(
            "WHERE v.context_id = ?1 AND v.deleted_at IS NULL AND v.is_archived = 0
             ORDER BY v.last_activity_at DESC, v.id DESC LIMIT 1"
        );
        self.one(sql, [bytes(context.uuid())], conversation)
    }
}
