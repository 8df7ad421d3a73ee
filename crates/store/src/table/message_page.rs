//! Messages of a whole context, a page at a time, and those that a selection names.

use super::conversation::{conversation, select_conversations};
use super::message::{message, message_columns};
use crate::column::{bytes, id, of_json, of_time, time};
use crate::{ReadHandle, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ConversationsShown, Message, MessageId, MessageQuery, MessageSelection,
};
use uuid::Uuid;

/// The conversations of `?1`, or only `?2`; none from the trash, and none in which another context spoke that is not
/// among `?3`, or is local only where that is NULL: what the others said there was made from its words.
macro_rules! seen {
    () => {
        "v.context_id = ?1 AND v.deleted_at IS NULL AND (?2 IS NULL OR v.id = ?2) \
         AND NOT EXISTS (SELECT 1 FROM messages g WHERE g.conversation_id = v.id AND g.context_id <> v.context_id \
             AND CASE WHEN ?3 IS NULL THEN g.context_id IN (SELECT id FROM contexts WHERE local_only) \
                 ELSE g.context_id NOT IN (SELECT unhex (value) FROM json_each (?3)) END) "
    };
}

/// Their messages.
macro_rules! of_context {
    () => {
        concat!("FROM conversations v CROSS JOIN messages m ON m.conversation_id = v.id WHERE ", seen!())
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
        let among = of_contexts(query.among.as_deref())?;
        let offset = i64::from(query.page.saturating_sub(1)) * i64::from(query.page_size);
        // The keys alone are sorted; the texts are read for one page.
        let sql = if query.newest_first {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT m.key ",
                of_context!(),
                "ORDER BY m.key DESC LIMIT ?4 OFFSET ?5) ORDER BY m.key DESC"
            )
        } else {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT m.key ",
                of_context!(),
                "ORDER BY m.key LIMIT ?4 OFFSET ?5) ORDER BY m.key"
            )
        };
        let messages = self.all(sql, (context, within, &among, query.page_size, offset), message)?;
        Ok((messages, self.number(concat!("SELECT count(*) ", of_context!()), (context, within, &among))?))
    }

    /// The messages that a selection names, the newest first; those that it names by id, whatever their age.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn selected_messages(&self, selection: &MessageSelection) -> Result<Vec<SelectedMessage>, StoreError> {
        let (context, within) = (bytes(selection.context_id.uuid()), selection.conversation_id.map(|id| bytes(id.uuid())));
        let among = of_contexts(selection.among.as_deref())?;
        let selected = |row: &rusqlite::Row<'_>| Ok((id(row, 0)?, id(row, 1)?, time(row, 2)?));
        let Some(ids) = &selection.ids else {
            let sql = concat!(
                "SELECT m.id, m.conversation_id, m.created_at ",
                of_context!(),
                "AND (?4 IS NULL OR m.created_at < ?4) ORDER BY m.key DESC"
            );
            return self.all(sql, (context, within, &among, of_time(selection.older_than)), selected);
        };
        let sql = concat!("SELECT m.id, m.conversation_id, m.created_at, m.key ", of_context!(), "AND m.id = ?4");
        let mut found = Vec::with_capacity(ids.len());
        for message in ids {
            let row = self.one(sql, (context, within, &among, bytes(message.uuid())), |row| {
                Ok((row.get::<_, i64>(3)?, (id(row, 0)?, id(row, 1)?, time(row, 2)?)))
            })?;
            found.extend(row);
        }
        found.sort_unstable_by_key(|(key, _)| std::cmp::Reverse(*key));
        found.dedup_by_key(|(key, _)| *key);
        Ok(found.into_iter().map(|(_, message)| message).collect())
    }

    /// The conversations that a query names, the one in which something was said last first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations_shown(&self, query: &ConversationsShown) -> Result<Vec<Conversation>, StoreError> {
        let (context, only) = (bytes(query.context_id.uuid()), query.only.map(|id| bytes(id.uuid())));
        let among = of_contexts(query.among.as_deref())?;
        let sql = concat!(
            select_conversations!("WHERE "),
            seen!(),
            "AND (?4 OR v.is_archived = 0) ORDER BY v.last_activity_at DESC, v.id DESC LIMIT ?5"
        );
        self.all(sql, (context, only, among, query.archived, query.limit), conversation)
    }
}

/// The ids as an array of hex digits, for `json_each`.
pub(super) fn of_contexts(ids: Option<&[ContextId]>) -> Result<Option<String>, StoreError> {
    ids.map(|ids| of_ids(ids.iter().map(|id| id.uuid()))).transpose()
}

/// The same of ids of any kind.
pub(super) fn of_ids(ids: impl Iterator<Item = Uuid>) -> Result<String, StoreError> {
    of_json(&ids.map(|id| id.simple().to_string()).collect::<Vec<_>>())
}
