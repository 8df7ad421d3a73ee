//! Conversations: one row for each thread; its messages are in their own table.

use crate::column::{bytes, id, maybe_id, time};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, Conversation, ConversationId, MessageId};
use rusqlite::{Row, params};

macro_rules! select_conversations {
    ($rest:literal) => {
        concat!(
            "SELECT id, context_id, title, active_leaf_id, message_count, created_at, last_activity_at FROM conversations ",
            $rest
        )
    };
}

fn conversation(row: &Row<'_>) -> Result<Conversation, StoreError> {
    Ok(Conversation {
        id: id(row, 0)?,
        context_id: id(row, 1)?,
        title: row.get(2)?,
        active_leaf_id: maybe_id(row, 3)?,
        message_count: row.get(4)?,
        created_at: time(row, 5)?,
        last_activity_at: time(row, 6)?,
    })
}

impl ReadHandle<'_> {
    /// One conversation.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversation(&self, conversation_id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        self.one(select_conversations!("WHERE id = ?1"), [bytes(conversation_id.uuid())], conversation)
    }

    /// Conversations of one context or of all, newest activity first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations(&self, context_id: Option<ContextId>, limit: u32, offset: u32) -> Result<Vec<Conversation>, StoreError> {
        // Two statements, since one with "or all" would use no index.
        match context_id {
            Some(context_id) => self.all(
                select_conversations!("WHERE context_id = ?1 ORDER BY last_activity_at DESC, id DESC LIMIT ?2 OFFSET ?3"),
                (bytes(context_id.uuid()), limit, offset),
                conversation,
            ),
            None => self.all(
                select_conversations!("ORDER BY last_activity_at DESC, id DESC LIMIT ?1 OFFSET ?2"),
                (limit, offset),
                conversation,
            ),
        }
    }

    /// Number of conversations of one context or of all.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn conversation_count(&self, context_id: Option<ContextId>) -> Result<u64, StoreError> {
        match context_id {
            Some(id) => self.number("SELECT count(*) FROM conversations WHERE context_id = ?1", [bytes(id.uuid())]),
            None => self.number("SELECT count(*) FROM conversations", []),
        }
    }

    /// Number of messages in all conversations of a context.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn message_count(&self, context_id: ContextId) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(sum(message_count), 0) FROM conversations WHERE context_id = ?1";
        self.number(sql, [bytes(context_id.uuid())])
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
            "INSERT INTO conversations (id, context_id, title, active_leaf_id, message_count, created_at, last_activity_at)
             VALUES (?1, ?2, ?3, NULL, 0, ?4, ?5)",
            params![
                bytes(conversation.id.uuid()),
                bytes(conversation.context_id.uuid()),
                conversation.title,
                conversation.created_at.timestamp_millis(),
                conversation.last_activity_at.timestamp_millis(),
            ],
        )?;
        self.changed(Noun::Conversation, conversation.id);
        Ok(())
    }

    /// Gives a conversation another title.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn rename_conversation(&mut self, id: ConversationId, title: &str) -> Result<(), StoreError> {
        self.execute_on(Noun::Conversation, &id, "UPDATE conversations SET title = ?2 WHERE id = ?1", (bytes(id.uuid()), title))
    }

    /// Deletes a conversation with all its messages and drafts.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_conversation(&mut self, id: ConversationId) -> Result<(), StoreError> {
        self.execute_on(Noun::Conversation, &id, "DELETE FROM conversations WHERE id = ?1", [bytes(id.uuid())])
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
