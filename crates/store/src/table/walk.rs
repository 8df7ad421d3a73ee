//! Reading a branch downwards: the page below a message, and the page at the beginning.

use crate::column::{bytes, id};
use crate::{Noun, ReadHandle, StoreError};
use evenkeel_domain::{ConversationId, Message, MessageId};
use std::collections::HashSet;

impl ReadHandle<'_> {
    /// The next `limit` messages after one, the oldest first: the page below it. It follows the
    /// branch that is shown; from a message that is not on it, the newest answer at each fork.
    /// Costs time in proportion to `limit`, and where the way forks to the distance from the end.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn path_after(&self, message_id: MessageId, limit: u32) -> Result<Vec<Message>, StoreError> {
        let conversation_id = self.node(message_id)?.conversation_id;
        let shown = self.conversation(conversation_id)?.and_then(|conversation| conversation.active_leaf_id);
        self.walk_down(conversation_id, Some(message_id), shown, limit)
    }

    /// The first `limit` messages of the branch that ends at `leaf`, the oldest first.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn path_from_start(&self, leaf: MessageId, limit: u32) -> Result<Vec<Message>, StoreError> {
        let length = self.branch_length(leaf)?;
        let conversation_id = self.node(leaf)?.conversation_id;
        self.walk_down(conversation_id, None, Some(leaf), limit.min(length))
    }

    fn walk_down(
        &self,
        conversation_id: ConversationId,
        start: Option<MessageId>,
        target: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let (mut at, mut way, mut above) = (start, Vec::new(), None::<HashSet<MessageId>>);
        let mut last = self.key(start)?;
        for _ in 0..limit {
            let siblings = self.children(conversation_id, at)?;
            let Some(&newest) = siblings.last() else { break };
            let mut next = newest;
            if let (Some(target), true) = (target, siblings.len() > 1) {
                // Read once a page, and only where the way forks.
                let above: &HashSet<MessageId> = match &mut above {
                    Some(above) => above,
                    none => none.insert(self.above(target, last)?),
                };
                next = siblings.iter().copied().find(|sibling| above.contains(sibling)).unwrap_or(newest);
            }
            let key = self.key(Some(next))?;
            // As in every walk: a ring in a damaged file ends it.
            if key <= last {
                break;
            }
            let message = self.message(next)?.ok_or_else(|| StoreError::not_found(Noun::Message, next))?;
            way.push(message);
            (at, last) = (Some(next), key);
        }
        Ok(way)
    }

    /// A message with all above it that are younger than `key`.
    fn above(&self, leaf: MessageId, key: i64) -> Result<HashSet<MessageId>, StoreError> {
        let sql = "WITH RECURSIVE branch (key, id, parent_id) AS (
                SELECT key, id, parent_id FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.key, p.id, p.parent_id
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key
                WHERE p.key > ?2
            )
            SELECT id FROM branch";
        Ok(self.all(sql, (bytes(leaf.uuid()), key), |row| id(row, 0))?.into_iter().collect())
    }

    fn key(&self, message_id: Option<MessageId>) -> Result<i64, StoreError> {
        let Some(message_id) = message_id else { return Ok(0) };
        let sql = "SELECT key FROM messages WHERE id = ?1";
        let key = self.one(sql, [bytes(message_id.uuid())], |row| Ok(row.get(0)?))?;
        key.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))
    }
}
