//! Reading a branch upwards the short way: ids are made in order of birth, so a branch lies in the
//! index of its conversation nearly as it is read, with what hangs beside it in between. Following
//! the parents one by one touches twice the pages.

use super::message::{message, message_columns};
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{Conversation, ConversationId, Message, MessageId};
use rusqlite::Row;
use std::cell::Cell;
use std::collections::HashSet;

/// Which part of a branch is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Climb {
    /// Where it ends.
    pub leaf: MessageId,
    /// Nothing before this one, where it is on the way.
    pub from: Option<MessageId>,
    /// So many messages at most.
    pub limit: u32,
}

impl ReadHandle<'_> {
    /// The part of a branch, the oldest first; `None` where it does not lie together, because much
    /// hangs beside it or ids were not made in order. `sql` gives the messages of a conversation (?1)
    /// from an id (?2) downwards, the id first; `read` makes one of a row, with its parent.
    pub(super) fn climb<T>(
        &self,
        sql: &str,
        conversation_id: ConversationId,
        part: Climb,
        read: impl Fn(&Row<'_>) -> Result<(Option<MessageId>, T), StoreError>,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query((bytes(conversation_id.uuid()), bytes(part.leaf.uuid())))?;
        let (mut path, mut wanted, mut beside) = (Vec::new(), Some(part.leaf).filter(|_| part.limit > 0), 0);
        while let Some(next) = wanted {
            let Some(row) = rows.next()? else { return Ok(None) };
            if id::<MessageId>(row, 0)? != next {
                beside += 1;
                if beside > part.limit {
                    return Ok(None);
                }
                continue;
            }
            let (parent, item) = read(row)?;
            path.push(item);
            wanted = parent.filter(|_| path.len() < part.limit as usize && part.from != Some(next));
        }
        path.reverse();
        Ok(Some(path))
    }

    /// A conversation with the newest `limit` messages of the branch that it shows, the oldest first; `None`
    /// if there is none of this id. Costs little more than reading those rows.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversation_at_newest(
        &self,
        id: ConversationId,
        limit: u32,
    ) -> Result<Option<(Conversation, Vec<Message>)>, StoreError> {
        let Some(conversation) = self.conversation(id)? else { return Ok(None) };
        let messages = match conversation.active_leaf_id {
            Some(leaf) => match self.page(id, leaf, limit, Some(conversation.message_count))? {
                Some(page) => page,
                None => self.path_by_parents(leaf, limit)?,
            },
            None => Vec::new(),
        };
        Ok(Some((conversation, messages)))
    }

    /// The page of messages that ends with `leaf`, as [`ReadHandle::path`] gives it, by the short way.
    pub(super) fn page_above(&self, leaf: MessageId, limit: u32) -> Result<Option<Vec<Message>>, StoreError> {
        self.page(self.node(leaf)?.conversation_id, leaf, limit, None)
    }

    /// `count` is the number of the conversation's messages, where it is known: if the branch has all
    /// of them, nothing has siblings.
    fn page(
        &self,
        conversation_id: ConversationId,
        leaf: MessageId,
        limit: u32,
        count: Option<u32>,
    ) -> Result<Option<Vec<Message>>, StoreError> {
        let sql = concat!(
            "SELECT ",
            message_columns!(),
            ", m.depth FROM messages m WHERE m.conversation_id = ?1 AND m.id <= ?2 ORDER BY m.id DESC"
        );
        let part = Climb { leaf, from: None, limit };
        let length = Cell::new(0);
        let path = self.climb(sql, conversation_id, part, |row| {
            let found = message(row)?;
            length.set(length.get().max(row.get::<_, u32>(20)?.saturating_add(1)));
            Ok((found.parent_id, found))
        })?;
        let Some(mut path) = path else { return Ok(None) };
        let is_all = count == Some(length.get());
        let forks = if is_all { HashSet::new() } else { self.forks(conversation_id, &path)? };
        for message in &mut path {
            let is_alone = is_all || message.parent_id.is_some_and(|parent| !forks.contains(&parent));
            message.sibling_ids = if is_alone { vec![message.id] } else { self.children(conversation_id, message.parent_id)? };
        }
        Ok(Some(path))
    }

    /// The parents of a page's messages that have more than one child. What hangs beside the page is
    /// little, so they lie together too.
    fn forks(&self, conversation_id: ConversationId, page: &[Message]) -> Result<HashSet<MessageId>, StoreError> {
        let parents = || page.iter().filter_map(|message| message.parent_id.map(MessageId::uuid));
        let Some((first, last)) = parents().min().zip(parents().max()) else { return Ok(HashSet::new()) };
        let sql = "SELECT parent_id FROM messages WHERE conversation_id = ?1 AND parent_id BETWEEN ?2 AND ?3
                   GROUP BY parent_id HAVING count(*) > 1";
        let forks = self.all(sql, (bytes(conversation_id.uuid()), bytes(first), bytes(last)), |row| id(row, 0))?;
        Ok(forks.into_iter().collect())
    }
}
