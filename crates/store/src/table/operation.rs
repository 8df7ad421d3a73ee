//! Operations: what tools did, by conversation. Nothing is read here without naming the conversation, but for an
//! export of all and for what goes by itself.

use crate::column::{bytes, count, id, json, maybe_id, of_json, of_time, time};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, ErrorBody, Operation, OperationId};
use rusqlite::{Row, params};

/// Those that are there with what they rest on: neither their reply nor what it answers is deleted, and their conversation
/// is not in the trash. A reply that was never stored answers what the user had said last, or what stands in the record.
macro_rules! shown_operations {
    () => {
        "FROM operations o
         WHERE NOT EXISTS (SELECT 1 FROM conversations v JOIN contexts c ON c.id = v.context_id
                           WHERE v.id = o.conversation_id AND (v.deleted_at IS NOT NULL OR c.deleted_at IS NOT NULL))
           AND NOT EXISTS (SELECT 1 FROM deleted_messages d WHERE d.id = o.message_id)
           AND NOT EXISTS (SELECT 1 FROM messages m JOIN deleted_messages d ON d.id = coalesce (m.first_parent_id, m.parent_id)
                           WHERE m.id = o.message_id)
           AND NOT EXISTS (SELECT 1 FROM deleted_messages d
                           WHERE d.conversation_id = o.conversation_id AND d.role = 'user' AND d.key <= o.after_key
                             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = o.message_id)
                             AND (d.content = o.query
                                  OR NOT EXISTS (SELECT 1 FROM messages u
                                                 WHERE u.conversation_id = o.conversation_id AND u.role = 'user'
                                                   AND u.key > d.key AND u.key <= o.after_key))) "
    };
}

macro_rules! select_operations {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.conversation_id, o.context_id, o.message_id, o.at, o.query, o.source, o.tool_name, o.arguments, \
             o.result, o.metadata, o.duration_ms, o.error ",
            shown_operations!(),
            $rest
        )
    };
}

fn operation(row: &Row<'_>) -> Result<Operation, StoreError> {
    let error: Option<String> = row.get(12)?;
    let damaged = |_| StoreError::DamagedValue { what: "the error of an operation".to_owned() };
    Ok(Operation {
        id: id(row, 0)?,
        conversation_id: id(row, 1)?,
        context_id: id(row, 2)?,
        message_id: maybe_id(row, 3)?,
        at: time(row, 4)?,
        query: row.get(5)?,
        source: row.get(6)?,
        tool_name: row.get(7)?,
        arguments: json(row, 8)?,
        result: json(row, 9)?,
        metadata: json(row, 10)?,
        duration_ms: row.get(11)?,
        error: error.map(|error| serde_json::from_str::<ErrorBody>(&error)).transpose().map_err(damaged)?,
    })
}

impl ReadHandle<'_> {
    /// Operations of a conversation whose tool's name `fits`, the newest first: at most `most` of them after the
    /// first `skipped`. Here as in every other list, those are left out whose message is deleted, until that is undone.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn operations(
        &self,
        conversation_id: ConversationId,
        (skipped, most): (u64, u32),
        fits: impl Fn(&str) -> bool,
    ) -> Result<Vec<Operation>, StoreError> {
        let sql = select_operations!("AND o.conversation_id = ?1 ORDER BY o.key DESC");
        let mut left = skipped;
        self.some(sql, [bytes(conversation_id.uuid())], usize::try_from(most).unwrap_or(usize::MAX), |row| {
            if !fits(&row.get::<_, String>(7)?) {
                return Ok(None);
            }
            if left > 0 {
                left -= 1;
                return Ok(None);
            }
            operation(row).map(Some)
        })
    }

    /// Whether tools did anything in a conversation; nothing of what they did is read.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn has_operations(&self, conversation_id: ConversationId) -> Result<bool, StoreError> {
        let sql = concat!("SELECT EXISTS (SELECT 1 ", shown_operations!(), "AND o.conversation_id = ?1)");
        Ok(self.number(sql, [bytes(conversation_id.uuid())])? > 0)
    }

    /// One operation of a conversation.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn operation(&self, conversation_id: ConversationId, operation_id: OperationId) -> Result<Option<Operation>, StoreError> {
        let sql = select_operations!("AND o.conversation_id = ?1 AND o.id = ?2");
        self.one(sql, (bytes(conversation_id.uuid()), bytes(operation_id.uuid())), operation)
    }

    /// Whether the operations of a conversation go by themselves, and when they were last used; `None` where there
    /// never were any.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn operation_session(&self, conversation_id: ConversationId) -> Result<Option<(bool, DateTime<Utc>)>, StoreError> {
        let sql = "SELECT is_transient, last_used_at FROM operation_sessions WHERE conversation_id = ?1";
        self.one(sql, [bytes(conversation_id.uuid())], |row| Ok((row.get(0)?, time(row, 1)?)))
    }

    /// The tools that were used in a conversation, by name, and how often.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn operation_tools(&self, conversation_id: ConversationId) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = concat!(
            "SELECT o.tool_name, count(*) ",
            shown_operations!(),
            "AND o.conversation_id = ?1 GROUP BY o.tool_name ORDER BY o.tool_name"
        );
        self.all(sql, [bytes(conversation_id.uuid())], |row| Ok((row.get(0)?, count(row, 1)?)))
    }

    /// Gives the operations of a conversation, or of all of them one after the other, the oldest first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`; whatever `visit` answers.
    pub fn each_operation<E: From<StoreError>>(
        &self,
        conversation_id: Option<ConversationId>,
        mut visit: impl FnMut(Operation) -> Result<(), E>,
    ) -> Result<(), E> {
        let each = |row: &Row<'_>| visit(operation(row)?);
        match conversation_id {
            Some(one) => self.each(select_operations!("AND o.conversation_id = ?1 ORDER BY o.key"), [bytes(one.uuid())], each),
            None => self.each(select_operations!("ORDER BY o.conversation_id, o.key"), [], each),
        }
    }
}

impl WriteHandle<'_> {
    /// Keeps an operation and makes its conversation the one used last; of those beyond `kept` the oldest go.
    ///
    /// # Errors
    /// `NotFound` if the conversation does not exist; `Storage`, `DiskFull`.
    pub fn insert_operation(&mut self, operation: &Operation, kept: u32) -> Result<(), StoreError> {
        self.use_operations(operation.conversation_id, None, operation.at)?;
        let values = params![
            bytes(operation.id.uuid()),
            bytes(operation.conversation_id.uuid()),
            bytes(operation.context_id.uuid()),
            operation.message_id.map(|message| bytes(message.uuid())),
            operation.at.timestamp_millis(),
            operation.query,
            operation.source,
            operation.tool_name,
            of_json(&operation.arguments)?,
            of_json(&operation.result)?,
            of_json(&operation.metadata)?,
            operation.duration_ms,
            operation.error.as_ref().map(of_json).transpose()?,
        ];
        self.execute(
            "INSERT INTO operations (id, conversation_id, context_id, message_id, at, query, source, tool_name, arguments, result,
                 metadata, duration_ms, error, after_key)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
                 max (coalesce ((SELECT max (key) FROM messages), 0), coalesce ((SELECT max (key) FROM deleted_messages), 0)))",
            values,
        )?;
        self.cut_operations(operation.conversation_id, kept)
    }

    /// Notes that the operations of a conversation are used, and where it is said, whether they go by themselves.
    ///
    /// # Errors
    /// `NotFound` if the conversation does not exist; `Storage`, `DiskFull`.
    pub fn use_operations(
        &mut self,
        conversation_id: ConversationId,
        is_transient: Option<bool>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO operation_sessions (conversation_id, is_transient, last_used_at)
             SELECT id, coalesce (?2, 0), ?3 FROM conversations WHERE id = ?1
             ON CONFLICT (conversation_id) DO UPDATE SET
                 is_transient = coalesce (?2, is_transient), last_used_at = excluded.last_used_at";
        if self.execute(sql, (bytes(conversation_id.uuid()), is_transient, now.timestamp_millis()))? == 0 {
            return Err(StoreError::not_found(Noun::Conversation, conversation_id));
        }
        self.changed(Noun::Operation, conversation_id);
        Ok(())
    }

    /// Deletes the operations of a conversation but for the newest so many.
    fn cut_operations(&mut self, conversation_id: ConversationId, kept: u32) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM operations WHERE key IN (
                 SELECT key FROM operations WHERE conversation_id = ?1 ORDER BY key DESC LIMIT -1 OFFSET ?2)",
            (bytes(conversation_id.uuid()), kept),
        )
        .map(drop)
    }

    /// Deletes the operations of every conversation but for the newest so many of each.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn keep_newest_operations(&mut self, kept: u32) -> Result<(), StoreError> {
        let sql = "SELECT conversation_id FROM operations GROUP BY conversation_id HAVING count(*) > ?1";
        for conversation in self.all(sql, [kept], |row| id::<ConversationId>(row, 0))? {
            self.cut_operations(conversation, kept)?;
            self.changed(Noun::Operation, conversation);
        }
        Ok(())
    }

    /// Deletes the operations of transient sessions that were last used before a time, and of those beyond `kept`
    /// that were used longest ago. Says which sessions they were of.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn end_transient_operations(
        &mut self,
        kept: u32,
        unused_since: Option<DateTime<Utc>>,
    ) -> Result<Vec<ConversationId>, StoreError> {
        // That a session is transient stays known: it may come back.
        let sql = "SELECT conversation_id FROM (
                SELECT conversation_id, last_used_at, row_number () OVER (ORDER BY last_used_at DESC, conversation_id) AS place
                FROM operation_sessions s WHERE is_transient = 1
                  AND EXISTS (SELECT 1 FROM operations o WHERE o.conversation_id = s.conversation_id))
             WHERE place > ?1 OR last_used_at < ?2";
        let ended = self.all(sql, (kept, of_time(unused_since)), |row| id::<ConversationId>(row, 0))?;
        for conversation in &ended {
            self.clear_operations(*conversation)?;
        }
        Ok(ended)
    }

    /// Deletes all operations of a conversation, and says how many they were.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn clear_operations(&mut self, conversation_id: ConversationId) -> Result<u64, StoreError> {
        let gone = self.execute("DELETE FROM operations WHERE conversation_id = ?1", [bytes(conversation_id.uuid())])?;
        self.changed(Noun::Operation, conversation_id);
        Ok(u64::try_from(gone).unwrap_or(u64::MAX))
    }

    /// Deletes what a context did, also in conversations of others.
    pub(super) fn forget_operations(&mut self, context_id: ContextId) -> Result<(), StoreError> {
        self.execute("DELETE FROM operations WHERE context_id = ?1", [bytes(context_id.uuid())]).map(drop)
    }
}
