//! Conversations: one row for each thread; its messages are in their own table.

use super::purge::Doomed;
use super::tag::Tagged;
use crate::column::{bytes, id, json, maybe_id, maybe_time, of_time, time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, Conversation, ConversationId, ConversationQuery, MessageId, TitleSource};
use rusqlite::{Row, params};

const TITLE_SOURCES: [TitleSource; 3] = [TitleSource::Beginning, TitleSource::Model, TitleSource::User];

macro_rules! select_conversations {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.context_id, v.title, v.active_leaf_id, v.message_count, v.created_at, v.last_activity_at,
                    v.title_source, v.is_pinned, v.is_archived, v.deleted_at,
                    (SELECT json_group_array (t.tag ORDER BY t.place) FROM conversation_tags t WHERE t.conversation_id = v.id)
             FROM conversations v ",
            $rest
        )
    };
}
pub(super) use select_conversations;

pub(super) fn conversation(row: &Row<'_>) -> Result<Conversation, StoreError> {
    Ok(Conversation {
        id: id(row, 0)?,
        context_id: id(row, 1)?,
        title: row.get(2)?,
        title_source: variant(row, 7, &TITLE_SOURCES, TitleSource::as_str)?,
        active_leaf_id: maybe_id(row, 3)?,
        message_count: row.get(4)?,
        is_pinned: row.get(8)?,
        is_archived: row.get(9)?,
        tags: json(row, 11)?,
        created_at: time(row, 5)?,
        last_activity_at: time(row, 6)?,
        deleted_at: maybe_time(row, 10)?,
    })
}

impl ReadHandle<'_> {
    /// One conversation, in the trash or not.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversation(&self, conversation_id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        self.one(select_conversations!("WHERE v.id = ?1"), [bytes(conversation_id.uuid())], conversation)
    }

    /// Conversations of one context or of all, as [`ReadHandle::conversations_page`] lists them.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations(&self, context_id: Option<ContextId>, limit: u32, offset: u32) -> Result<Vec<Conversation>, StoreError> {
        self.list_conversations(&ConversationQuery { context_id, limit, offset, ..ConversationQuery::default() })
    }

    /// Number of conversations of one context or of all, without those in archive and trash.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn conversation_count(&self, context_id: Option<ContextId>) -> Result<u64, StoreError> {
        self.count_conversations(&ConversationQuery { context_id, ..ConversationQuery::default() })
    }

    /// Number of messages in all conversations of a context, those in the trash too. Costs the same
    /// however many conversations there are: triggers keep it.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn message_count(&self, context_id: ContextId) -> Result<u64, StoreError> {
        self.number("SELECT message_count FROM contexts WHERE id = ?1", [bytes(context_id.uuid())])
    }
}

impl WriteHandle<'_> {
    /// Stores a new conversation. It has no messages yet: `active_leaf_id` and `message_count`
    /// follow from the messages that are inserted.
    ///
    /// # Errors
    /// `NotFound` if its context does not exist; `Defect` if the id is taken; `Storage`, `DiskFull`.
    pub fn insert_conversation(&mut self, conversation: &Conversation) -> Result<(), StoreError> {
        if self.context(conversation.context_id)?.is_none() {
            return Err(StoreError::not_found(Noun::Context, conversation.context_id));
        }
        self.execute(
            "INSERT INTO conversations (id, context_id, title, title_source, active_leaf_id, message_count, is_pinned, is_archived,
                 created_at, last_activity_at, deleted_at)
             VALUES (?1, ?2, ?3, ?4, NULL, 0, ?5, ?6, ?7, ?8, ?9)",
            params![
                bytes(conversation.id.uuid()),
                bytes(conversation.context_id.uuid()),
                conversation.title,
                conversation.title_source.as_str(),
                conversation.is_pinned,
                conversation.is_archived,
                conversation.created_at.timestamp_millis(),
                conversation.last_activity_at.timestamp_millis(),
                of_time(conversation.deleted_at),
            ],
        )?;
        self.put_tags(Tagged::Conversation, bytes(conversation.id.uuid()), &conversation.tags)?;
        self.changed(Noun::Conversation, conversation.id);
        Ok(())
    }

    /// Gives a conversation the title that the user chose.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn rename_conversation(&mut self, id: ConversationId, title: &str) -> Result<(), StoreError> {
        let sql = "UPDATE conversations SET title = ?2, title_source = 'user' WHERE id = ?1";
        self.execute_on(Noun::Conversation, &id, sql, (bytes(id.uuid()), title))
    }

    /// Gives a conversation the title that a model found. Does nothing, and answers false, where
    /// the user gave it one.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn title_conversation(&mut self, id: ConversationId, title: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE conversations SET title = ?2, title_source = 'model' WHERE id = ?1 AND title_source <> 'user'";
        if self.execute(sql, (bytes(id.uuid()), title))? > 0 {
            self.changed(Noun::Conversation, id);
            return Ok(true);
        }
        self.conversation(id)?.map(|_| false).ok_or_else(|| StoreError::not_found(Noun::Conversation, id))
    }

    /// Puts a conversation before the others, or back among them.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_conversation_pinned(&mut self, id: ConversationId, is_pinned: bool) -> Result<(), StoreError> {
        let sql = "UPDATE conversations SET is_pinned = ?2 WHERE id = ?1";
        self.execute_on(Noun::Conversation, &id, sql, (bytes(id.uuid()), is_pinned))
    }

    /// Puts a conversation into the archive, or takes it out.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_conversation_archived(&mut self, id: ConversationId, is_archived: bool) -> Result<(), StoreError> {
        let sql = "UPDATE conversations SET is_archived = ?2 WHERE id = ?1";
        self.execute_on(Noun::Conversation, &id, sql, (bytes(id.uuid()), is_archived))
    }

    /// Gives a conversation these tags and no others.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_conversation_tags(&mut self, id: ConversationId, tags: &[String]) -> Result<(), StoreError> {
        if self.conversation(id)?.is_none() {
            return Err(StoreError::not_found(Noun::Conversation, id));
        }
        self.put_tags(Tagged::Conversation, bytes(id.uuid()), tags)?;
        self.changed(Noun::Conversation, id);
        Ok(())
    }

    /// Deletes a conversation for good, with all its messages and drafts, from the trash or not.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_conversation(&mut self, id: ConversationId) -> Result<(), StoreError> {
        match self.purge(Doomed::One(id))?.is_empty() {
            true => Err(StoreError::not_found(Noun::Conversation, id)),
            false => Ok(()),
        }
    }

    /// Chooses the branch that is shown, by its newest message.
    ///
    /// # Errors
    /// `NotFound` if there is no such conversation, or no such message in it; `Storage`, `DiskFull`.
    pub fn set_active_leaf(&mut self, id: ConversationId, leaf: MessageId) -> Result<(), StoreError> {
        let changed = self.execute(
            "UPDATE conversations SET active_leaf_id = ?2
             WHERE id = ?1 AND EXISTS (SELECT 1 FROM messages WHERE conversation_id = ?1 AND id = ?2)",
            (bytes(id.uuid()), bytes(leaf.uuid())),
        )?;
        if changed == 0 {
            return Err(match self.conversation(id)? {
                Some(_) => StoreError::not_found(Noun::Message, leaf),
                None => StoreError::not_found(Noun::Conversation, id),
            });
        }
        self.changed(Noun::Conversation, id);
        Ok(())
    }
}
