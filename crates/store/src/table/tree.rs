//! How messages hang together: branches and siblings. What a deletion does to them is in `deleted_message`.
//!
//! Each walk needs `key` to shrink towards the root, as it does in every tree that was written
//! here; so even a damaged file with a ring of parents ends it.

use super::climb::Climb;
use super::message::{ROLES, message, message_columns};
use crate::column::{bytes, id, maybe_id, maybe_revision, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, ConversationId, Message, MessageId, RevisionId, Role};
use rusqlite::Row;

/// What a prompt needs of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchText {
    /// The message.
    pub id: MessageId,
    /// The context it was written to or by.
    pub context_id: ContextId,
    /// Who wrote it.
    pub role: Role,
    /// The text.
    pub content: String,
    /// Its tokens, where they were counted.
    pub tokens: Option<u32>,
    /// The persona revision that it was answered under.
    pub revision_id: Option<RevisionId>,
}

/// The columns that `text` reads, of a table named `m`.
macro_rules! text_columns {
    () => {
        "m.id, m.context_id, m.role, m.content, m.tokens, m.revision_id"
    };
}

fn text(row: &Row<'_>) -> Result<BranchText, StoreError> {
    Ok(BranchText {
        id: id(row, 0)?,
        context_id: id(row, 1)?,
        role: variant(row, 2, &ROLES, Role::as_str)?,
        content: row.get(3)?,
        tokens: row.get(4)?,
        revision_id: maybe_revision(row, 5)?,
    })
}

impl ReadHandle<'_> {
    /// The texts of the newest `limit` messages of the branch that ends at `leaf`, the oldest first;
    /// none before `from`, where that is on the way. Costs time in proportion to what is read.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn branch_texts(&self, leaf: MessageId, from: Option<MessageId>, limit: u32) -> Result<Vec<BranchText>, StoreError> {
        let conversation_id = self.node(leaf)?.conversation_id;
        let sql = concat!(
            "SELECT ",
            text_columns!(),
            ", m.parent_id FROM messages m WHERE m.conversation_id = ?1 AND m.id <= ?2 ORDER BY m.id DESC"
        );
        let read = |row: &Row<'_>| Ok((maybe_id(row, 6)?, text(row)?));
        match self.climb(sql, conversation_id, Climb { leaf, from, limit }, read)? {
            Some(texts) => Ok(texts),
            None => self.texts_by_parents(leaf, from, limit),
        }
    }

    fn texts_by_parents(&self, leaf: MessageId, from: Option<MessageId>, limit: u32) -> Result<Vec<BranchText>, StoreError> {
        let sql = concat!(
            "WITH RECURSIVE branch (key, id, parent_id, step) AS (
                SELECT key, id, parent_id, 1 FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.key, p.id, p.parent_id, b.step + 1
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key
                WHERE b.step < ?2 AND b.id IS NOT ?3
            )
            SELECT ",
            text_columns!(),
            ", b.step FROM branch b CROSS JOIN messages m ON m.key = b.key"
        );
        let from = from.map(|from| bytes(from.uuid()));
        let mut path = self.all(sql, (bytes(leaf.uuid()), limit, from), |row| Ok((row.get::<_, i64>(6)?, text(row)?)))?;
        path.sort_by_key(|(step, _)| std::cmp::Reverse(*step));
        Ok(path.into_iter().map(|(_, text)| text).collect())
    }

    /// The newest `limit` messages of the branch that ends at `leaf`, the oldest of them first and
    /// `leaf` last. Costs time in proportion to `limit`, whatever the history.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn path(&self, leaf: MessageId, limit: u32) -> Result<Vec<Message>, StoreError> {
        match self.page_above(leaf, limit)? {
            Some(page) => Ok(page),
            None => self.path_by_parents(leaf, limit),
        }
    }

    /// As `path`, for a branch that does not lie together.
    pub(super) fn path_by_parents(&self, leaf: MessageId, limit: u32) -> Result<Vec<Message>, StoreError> {
        let sql = concat!(
            "WITH RECURSIVE branch (key, parent_id, step) AS (
                 SELECT key, parent_id, 1 FROM messages WHERE id = ?1
                 UNION ALL
                 SELECT p.key, p.parent_id, b.step + 1
                 FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key
                 WHERE b.step < ?2
             )
             SELECT ",
            message_columns!(),
            ", b.step,
             EXISTS (SELECT 1 FROM messages s
                     WHERE s.conversation_id = m.conversation_id AND s.parent_id IS m.parent_id AND s.key <> m.key)
             FROM branch b CROSS JOIN messages m ON m.key = b.key"
        );
        let mut path = self
            .all(sql, (bytes(leaf.uuid()), limit), |row| Ok((row.get::<_, i64>(20)?, message(row)?, row.get::<_, bool>(21)?)))?;
        path.sort_by_key(|(step, ..)| std::cmp::Reverse(*step));
        let with_siblings = path.into_iter().map(|(_, mut message, has_others)| {
            // Most have none, and asking for them one by one costs more than the page itself.
            message.sibling_ids = match has_others {
                true => self.children(message.conversation_id, message.parent_id)?,
                false => vec![message.id],
            };
            Ok(message)
        });
        with_siblings.collect()
    }

    /// The newest `limit` messages before one, the oldest of them first: the page above it.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn path_before(&self, message_id: MessageId, limit: u32) -> Result<Vec<Message>, StoreError> {
        let sql = "SELECT parent_id FROM messages WHERE id = ?1";
        let parent = self.one(sql, [bytes(message_id.uuid())], |row| maybe_id(row, 0))?;
        match parent.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))? {
            Some(parent) => self.path(parent, limit),
            None => Ok(Vec::new()),
        }
    }

    /// Number of messages of the branch that ends at `leaf`; read, not counted.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage` or `Damaged`.
    pub fn branch_length(&self, leaf: MessageId) -> Result<u32, StoreError> {
        let sql = "SELECT depth + 1 FROM messages WHERE id = ?1";
        let length = self.one(sql, [bytes(leaf.uuid())], |row| Ok(row.get(0)?))?;
        length.ok_or_else(|| StoreError::not_found(Noun::Message, leaf))
    }

    /// All messages with the same parent as the given one, in order of birth, itself included.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage` or `Damaged`.
    pub fn siblings(&self, message_id: MessageId) -> Result<Vec<MessageId>, StoreError> {
        let node = self.node(message_id)?;
        self.children(node.conversation_id, node.parent_id)
    }

    /// Where switching to a message leads: its most recent child, that one's most recent child, and
    /// so on to the end. Costs time in proportion to the length of that way.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage` or `Damaged`.
    pub fn deepest_leaf(&self, message_id: MessageId) -> Result<MessageId, StoreError> {
        let sql = "WITH RECURSIVE way (key, id, conversation_id) AS (
                SELECT key, id, conversation_id FROM messages WHERE id = ?1
                UNION ALL
                SELECT m.key, m.id, m.conversation_id FROM way w CROSS JOIN messages m ON m.key = (
                    SELECT max (c.key) FROM messages c
                    WHERE c.conversation_id = w.conversation_id AND c.parent_id = w.id AND c.key > w.key)
            )
            SELECT id FROM way ORDER BY key DESC LIMIT 1";
        let leaf = self.one(sql, [bytes(message_id.uuid())], |row| id(row, 0))?;
        leaf.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))
    }

    /// Children of a message, or first messages of a conversation, in order of birth.
    pub(super) fn children(
        &self,
        conversation_id: ConversationId,
        parent: Option<MessageId>,
    ) -> Result<Vec<MessageId>, StoreError> {
        self.all(
            "SELECT id FROM messages WHERE conversation_id = ?1 AND parent_id IS ?2 ORDER BY key",
            (bytes(conversation_id.uuid()), parent.map(|parent| bytes(parent.uuid()))),
            |row| id(row, 0),
        )
    }

    pub(super) fn node(&self, message_id: MessageId) -> Result<Node, StoreError> {
        let sql = "SELECT conversation_id, parent_id FROM messages WHERE id = ?1";
        let node = self.one(sql, [bytes(message_id.uuid())], |row| {
            Ok(Node { conversation_id: id(row, 0)?, parent_id: maybe_id(row, 1)? })
        })?;
        node.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))
    }
}

/// Where a message hangs.
pub(super) struct Node {
    pub(super) conversation_id: ConversationId,
    pub(super) parent_id: Option<MessageId>,
}

impl WriteHandle<'_> {
    /// Turns the refusal of a row that refers to a conversation, a context and a parent into the
    /// one of them that does not exist.
    pub(super) fn explain_missing(
        &self,
        error: rusqlite::Error,
        conversation_id: ConversationId,
        context_id: ContextId,
        parent_id: Option<MessageId>,
    ) -> Result<StoreError, StoreError> {
        if self.conversation(conversation_id)?.is_none() {
            return Ok(StoreError::not_found(Noun::Conversation, conversation_id));
        }
        if self.context(context_id)?.is_none() {
            return Ok(StoreError::not_found(Noun::Context, context_id));
        }
        let Some(parent_id) = parent_id else { return Ok(error.into()) };
        match self.message(parent_id)? {
            Some(parent) if parent.conversation_id == conversation_id => Ok(error.into()),
            _ => Ok(StoreError::not_found(Noun::Message, parent_id)),
        }
    }
}
