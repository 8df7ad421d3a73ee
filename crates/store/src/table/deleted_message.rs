//! Deleting a message, and undoing that.
//!
//! The tree that is shown is the tree of birth without the messages that are deleted: each message
//! hangs below the nearest of its ancestors of birth that is still there. So the order in which
//! messages are deleted and brought back does not matter.

use super::message::message;
use super::tree::Node;
use crate::column::{bytes, id, maybe_id};
use crate::{Deed, Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, Message, MessageId};
use rusqlite::params;

/// What is the same in both tables.
macro_rules! kept_columns {
    () => {
        "key, id, conversation_id, context_id, role, content, reasoning, status, tokens, tokenizer, revision_id, provider_id, \
         model, prompt_tokens, completion_tokens, cached_tokens, created_at, metadata"
    };
}

/// Makes all messages below one deeper or less deep by `?3`.
const SHIFT_BELOW: &str = "UPDATE messages SET depth = depth + ?3 WHERE key IN (
        WITH RECURSIVE below (key, id) AS (
            SELECT key, id FROM messages WHERE conversation_id = ?1 AND parent_id = ?2
            UNION ALL
            SELECT c.key, c.id FROM below b CROSS JOIN messages c
                ON c.conversation_id = ?1 AND c.parent_id = b.id AND c.key > b.key
        )
        SELECT key FROM below)";

/// A deleted message, as far as the tree goes.
struct Lost {
    key: i64,
    conversation_id: ConversationId,
    first_parent: Option<MessageId>,
}

impl ReadHandle<'_> {
    /// The conversation of a message that was deleted and can still be brought back, and the context that it was of.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn deleted_message_place(&self, message_id: MessageId) -> Result<Option<(ConversationId, ContextId)>, StoreError> {
        let sql = "SELECT conversation_id, context_id FROM deleted_messages WHERE id = ?1";
        self.one(sql, [bytes(message_id.uuid())], |row| Ok((id(row, 0)?, id(row, 1)?)))
    }

    /// Number of messages that were deleted before a time and can still be brought back.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn deleted_message_count(&self, before: DateTime<Utc>) -> Result<u64, StoreError> {
        self.number("SELECT count(*) FROM deleted_messages WHERE deleted_at < ?1", [before.timestamp_millis()])
    }

    /// Messages of a conversation whose deletion can be undone, the last deleted first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn deleted_messages(&self, conversation_id: ConversationId) -> Result<Vec<Message>, StoreError> {
        let sql = "SELECT id, conversation_id, context_id, parent_id, role, content, reasoning, status, tokens, tokenizer,
                       revision_id, provider_id, model, prompt_tokens, completion_tokens, cached_tokens, created_at,
                       (SELECT f.vote FROM feedback f WHERE f.message_id = d.id), NULL, json_extract (d.metadata, '$.source')
                   FROM deleted_messages d WHERE conversation_id = ?1 ORDER BY deleted_at DESC, key DESC";
        self.all(sql, [bytes(conversation_id.uuid())], message)
    }

    fn lost(&self, message_id: MessageId) -> Result<Option<Lost>, StoreError> {
        let sql = "SELECT key, conversation_id, parent_id FROM deleted_messages WHERE id = ?1";
        self.one(sql, [bytes(message_id.uuid())], |row| {
            Ok(Lost { key: row.get(0)?, conversation_id: id(row, 1)?, first_parent: maybe_id(row, 2)? })
        })
    }

    /// Climbs from a message towards the root of its tree of birth, over deleted ones, to the first
    /// that is there. A key that does not shrink on the way ends the climb: the file is damaged.
    fn nearest_survivor(&self, start: Option<MessageId>) -> Result<Option<MessageId>, StoreError> {
        let (mut at, mut below) = (start, i64::MAX);
        while let Some(message_id) = at {
            match self.lost(message_id)? {
                Some(lost) if lost.key < below => (at, below) = (lost.first_parent, lost.key),
                Some(_) => return Ok(None),
                None => break,
            }
        }
        let Some(message_id) = at else { return Ok(None) };
        self.one("SELECT id FROM messages WHERE id = ?1", [bytes(message_id.uuid())], |row| id(row, 0))
    }

    /// Whether `ancestor` is on the way that leads from `start` towards the root over deleted ones.
    fn climbs_over(&self, start: Option<MessageId>, ancestor: MessageId) -> Result<bool, StoreError> {
        let (mut at, mut below) = (start, i64::MAX);
        while let Some(message_id) = at {
            if message_id == ancestor {
                return Ok(true);
            }
            match self.lost(message_id)? {
                Some(lost) if lost.key < below => (at, below) = (lost.first_parent, lost.key),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether a message is on the branch that ends at `leaf`; false where either is not there.
    /// Costs time in proportion to the distance between the two.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn is_on_branch(&self, message_id: MessageId, leaf: MessageId) -> Result<bool, StoreError> {
        let sql = "WITH RECURSIVE branch (key, id, parent_id) AS (
                SELECT key, id, parent_id FROM messages WHERE id = ?2
                UNION ALL
                SELECT p.key, p.id, p.parent_id
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key
                WHERE b.id <> ?1
            )
            SELECT count(*) FROM branch WHERE id = ?1";
        Ok(self.number(sql, (bytes(message_id.uuid()), bytes(leaf.uuid())))? > 0)
    }

    /// The leaf to show once a message is gone; looked up while it is still there.
    fn leaf_without(&self, message_id: MessageId, node: &Node) -> Result<Option<MessageId>, StoreError> {
        let child = self.children(node.conversation_id, Some(message_id))?.pop();
        let siblings = self.children(node.conversation_id, node.parent_id)?;
        let sibling = siblings.into_iter().rfind(|&sibling| sibling != message_id);
        match child.or(sibling) {
            Some(start) => self.deepest_leaf(start).map(Some),
            None => Ok(node.parent_id),
        }
    }
}

impl WriteHandle<'_> {
    /// Deletes one message, so that it can be brought back; what followed it now follows its
    /// parent. Where it was the shown leaf, the newest of its children's branches is shown, else a
    /// sibling's, else its parent. Costs time in proportion to the number of messages after it.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_message(&mut self, message_id: MessageId, now: DateTime<Utc>) -> Result<(), StoreError> {
        let node = self.node(message_id)?;
        let (id, conversation) = (bytes(message_id.uuid()), bytes(node.conversation_id.uuid()));
        let parent = node.parent_id.map(|parent| bytes(parent.uuid()));
        let leaf = self.leaf_without(message_id, &node)?;
        self.execute(SHIFT_BELOW, (conversation, id, -1))?;
        self.execute(
            "UPDATE conversations SET message_count = message_count - 1,
                 active_leaf_id = CASE WHEN active_leaf_id = ?2 THEN ?3 ELSE active_leaf_id END WHERE id = ?1",
            (conversation, id, leaf.map(|leaf| bytes(leaf.uuid()))),
        )?;
        self.execute(
            concat!(
                "INSERT INTO deleted_messages (",
                kept_columns!(),
                ", parent_id, deleted_at) SELECT ",
                kept_columns!(),
                ", coalesce(first_parent_id, parent_id), ?2 FROM messages WHERE id = ?1"
            ),
            (id, now.timestamp_millis()),
        )?;
        for sql in [
            "UPDATE messages SET first_parent_id = coalesce(first_parent_id, parent_id), parent_id = ?3
             WHERE conversation_id = ?1 AND parent_id = ?2",
            "UPDATE reply_drafts SET parent_id = ?3 WHERE conversation_id = ?1 AND parent_id = ?2",
        ] {
            self.execute(sql, (conversation, id, parent))?;
        }
        self.execute("DELETE FROM messages WHERE id = ?1", [id])?;
        self.became(Noun::Message, message_id, Deed::Gone);
        self.changed(Noun::Conversation, node.conversation_id);
        Ok(())
    }

    /// Brings a deleted message back to its place, below the nearest of its ancestors that is there,
    /// and above those of its descendants that are; its branch is shown. Costs time in proportion to
    /// the number of messages after it. Returns it with its siblings.
    ///
    /// # Errors
    /// `NotFound` if it is not among the deleted ones; `Storage`, `DiskFull`.
    pub fn restore_message(&mut self, message_id: MessageId) -> Result<Message, StoreError> {
        let lost = self.lost(message_id)?.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))?;
        let parent = self.nearest_survivor(lost.first_parent)?;
        let (id, conversation) = (bytes(message_id.uuid()), bytes(lost.conversation_id.uuid()));
        self.execute(
            concat!(
                "INSERT INTO messages (",
                kept_columns!(),
                ", parent_id, first_parent_id, depth) SELECT ",
                kept_columns!(),
                ", ?2, CASE WHEN parent_id IS ?2 THEN NULL ELSE parent_id END,
                   coalesce((SELECT depth + 1 FROM messages WHERE id = ?2), 0)
                 FROM deleted_messages WHERE id = ?1"
            ),
            (id, parent.map(|parent| bytes(parent.uuid()))),
        )?;
        self.execute("DELETE FROM deleted_messages WHERE id = ?1", [id])?;
        self.take_children_back(message_id, &lost, parent)?;
        self.doubt_summaries_over(message_id, &lost)?;
        self.execute(SHIFT_BELOW, (conversation, id, 1))?;
        self.execute("UPDATE conversations SET message_count = message_count + 1 WHERE id = ?1", [conversation])?;
        self.show_restored(message_id, lost.conversation_id)?;
        self.became(Noun::Message, message_id, Deed::Made);
        self.changed(Noun::Conversation, lost.conversation_id);
        self.message(message_id)?.ok_or_else(|| StoreError::defect("a restored message is not there"))
    }

    /// A summary that was made while a message was gone covers its place without it: nothing would send it.
    fn doubt_summaries_over(&mut self, message_id: MessageId, lost: &Lost) -> Result<(), StoreError> {
        let sql = "UPDATE summaries SET state = 'stale' WHERE key IN (
                SELECT s.key FROM summaries s
                WHERE s.conversation_id = ?1 AND s.state = 'valid' AND s.up_to_key > ?2 AND EXISTS (
                    WITH RECURSIVE branch (key, id, parent_id) AS (
                        SELECT key, id, parent_id FROM messages WHERE id = s.up_to_id
                        UNION ALL
                        SELECT p.key, p.id, p.parent_id
                        FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key WHERE p.key >= ?2
                    )
                    SELECT 1 FROM branch WHERE id = ?3))";
        self.execute(sql, (bytes(lost.conversation_id.uuid()), lost.key, bytes(message_id.uuid()))).map(drop)
    }

    /// Those of its parent's children that had hung below it come back below it.
    fn take_children_back(&mut self, message_id: MessageId, lost: &Lost, parent: Option<MessageId>) -> Result<(), StoreError> {
        let moved = self.all(
            "SELECT id, first_parent_id FROM messages
             WHERE conversation_id = ?1 AND parent_id IS ?2 AND first_parent_id IS NOT NULL AND key > ?3 ORDER BY key",
            (bytes(lost.conversation_id.uuid()), parent.map(|parent| bytes(parent.uuid())), lost.key),
            |row| Ok((id::<MessageId>(row, 0)?, maybe_id(row, 1)?)),
        )?;
        for (child, first_parent) in moved {
            if self.climbs_over(first_parent, message_id)? {
                self.execute(
                    "UPDATE messages SET parent_id = ?2, first_parent_id = nullif (first_parent_id, ?2) WHERE id = ?1",
                    (bytes(child.uuid()), bytes(message_id.uuid())),
                )?;
            }
        }
        Ok(())
    }

    /// Shows the branch of a restored message, unless the one that is shown goes over it anyway.
    fn show_restored(&mut self, message_id: MessageId, conversation_id: ConversationId) -> Result<(), StoreError> {
        let shown = self.conversation(conversation_id)?.and_then(|conversation| conversation.active_leaf_id);
        let is_shown = match shown {
            Some(leaf) => self.is_on_branch(message_id, leaf)?,
            None => false,
        };
        if is_shown { Ok(()) } else { self.set_active_leaf(conversation_id, self.deepest_leaf(message_id)?) }
    }

    /// Forgets the messages that were deleted before a time: that can no longer be undone. Returns
    /// how many.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn forget_deleted_messages(&mut self, before: DateTime<Utc>) -> Result<u32, StoreError> {
        self.forget_some_deleted_messages(before, u32::MAX)
    }

    /// Like [`WriteHandle::forget_deleted_messages`], but at most so many, the first deleted first.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn forget_some_deleted_messages(&mut self, before: DateTime<Utc>, most: u32) -> Result<u32, StoreError> {
        let sql = "SELECT id FROM deleted_messages WHERE deleted_at < ?1 ORDER BY deleted_at, key LIMIT ?2";
        let old: Vec<MessageId> = self.all(sql, (before.timestamp_millis(), most), |row| id(row, 0))?;
        for &message_id in &old {
            self.forget(message_id)?;
        }
        self.forget_unused_revisions()?;
        Ok(u32::try_from(old.len()).unwrap_or(u32::MAX))
    }

    /// Those that were born below it are from now on as if born below its parent.
    pub(super) fn forget(&mut self, message_id: MessageId) -> Result<(), StoreError> {
        let Some(lost) = self.lost(message_id)? else { return Ok(()) };
        let (id, parent) = (bytes(message_id.uuid()), lost.first_parent.map(|parent| bytes(parent.uuid())));
        for sql in [
            "UPDATE deleted_messages SET parent_id = ?2 WHERE conversation_id = ?3 AND parent_id = ?1",
            "UPDATE messages SET first_parent_id = CASE WHEN parent_id IS ?2 THEN NULL ELSE ?2 END
             WHERE first_parent_id = ?1 AND conversation_id = ?3",
        ] {
            self.execute(sql, params![id, parent, bytes(lost.conversation_id.uuid())])?;
        }
        self.execute("DELETE FROM deleted_messages WHERE id = ?1", [id])?;
        self.changed(Noun::Message, message_id);
        Ok(())
    }
}
