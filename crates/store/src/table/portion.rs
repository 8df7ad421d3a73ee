//! Purging something large without keeping others waiting: in portions, each a transaction of its
//! own that leaves a whole vault. What was begun with cannot come back from the trash any more, half
//! of it gone: a purge that was cut off is taken up again.

use super::app_state::state_key;
use super::purge::Doomed;
use crate::column::{bytes, id, of_json};
use crate::{Noun, ReadHandle, Store, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ConversationId, MessageId, TrashId, TrashItem};
use rusqlite::params;
use std::time::{Duration, Instant};

/// The most messages in a portion: taking each out of the index costs up to 1 ms.
const MOST: usize = 200;
/// The shortest and the longest time in which others may write between two portions.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(250));

/// How a purge ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purge {
    /// It is deleted for good.
    Gone,
    /// It did not lie in the trash any more, and stays.
    Kept,
    /// It was told to stop; the rest goes with the next run.
    Stopped,
}

/// What goes in one transaction.
enum Portion {
    /// Deleted messages of a conversation.
    Deleted(Vec<MessageId>),
    /// The newest messages of a conversation, and the one that is the newest then.
    Messages { of: ConversationId, keys: Vec<i64>, then: Option<i64> },
    /// Whole conversations of a context.
    Conversations(Vec<ConversationId>),
}

impl Store {
    /// Deletes something in the trash for good, if it lies there since when `item` says. It takes about
    /// 2 ms a message, of which others can write in half; `go_on` is asked between the portions. On a full
    /// disk it takes the reserve.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `Busy`; what is left then is an unfinished purge.
    pub fn purge(&self, item: &TrashItem, now: DateTime<Utc>, go_on: &mut dyn FnMut() -> bool) -> Result<Purge, StoreError> {
        let Some(portions) = self.read(|read| read.portions(item))? else { return Ok(Purge::Kept) };
        if !portions.is_empty() && !self.write_freeing(|write| write.begin_purge(item))? {
            return Ok(Purge::Kept);
        }
        for portion in &portions {
            if !go_on() {
                return Ok(Purge::Stopped);
            }
            let began = Instant::now();
            if !self.write_freeing(|write| write.purge_portion(item, portion))? {
                return Ok(Purge::Kept);
            }
            // The writer's lock is not fair: who waits for it gets as much time as was taken.
            std::thread::sleep(began.elapsed().clamp(PAUSE.0, PAUSE.1));
        }
        self.write_freeing(|write| write.purge_last(item, now))
    }
}

impl ReadHandle<'_> {
    /// Everything of an item but its last portion; `None` if it does not lie in the trash as it did.
    fn portions(&self, item: &TrashItem) -> Result<Option<Vec<Portion>>, StoreError> {
        if !self.lies_there(item)? {
            return Ok(None);
        }
        let (mut portions, mut small, mut messages) = (Vec::new(), Vec::new(), 0);
        for (conversation, count) in self.conversations_of(item)? {
            if count > MOST {
                self.cut(conversation, &mut portions)?;
            }
            let count = if count > MOST { 0 } else { count };
            if messages + count > MOST || small.len() >= MOST {
                portions.push(Portion::Conversations(std::mem::take(&mut small)));
                messages = 0;
            }
            small.push(conversation);
            messages += count;
        }
        if matches!(item.id, TrashId::Context(_)) && !small.is_empty() {
            portions.push(Portion::Conversations(small));
        }
        Ok(Some(portions))
    }

    /// The conversations of an item, each with its messages, deleted ones too.
    fn conversations_of(&self, item: &TrashItem) -> Result<Vec<(ConversationId, usize)>, StoreError> {
        let (column, owner) = match item.id {
            TrashId::Context(id) => ("context_id", bytes(id.uuid())),
            TrashId::Conversation(id) => ("id", bytes(id.uuid())),
        };
        let sql = format!(
            "SELECT id, message_count + (SELECT count(*) FROM deleted_messages d WHERE d.conversation_id = v.id)
             FROM conversations v WHERE {column} = ?1 ORDER BY last_activity_at, id"
        );
        self.all(&sql, [owner], |row| Ok((id(row, 0)?, usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0))))
    }

    /// Cuts a conversation into portions after which it is empty. The newest messages go first, so
    /// that each one that is left has its parent.
    fn cut(&self, conversation: ConversationId, portions: &mut Vec<Portion>) -> Result<(), StoreError> {
        let of = [bytes(conversation.uuid())];
        let deleted =
            self.all("SELECT id FROM deleted_messages WHERE conversation_id = ?1 ORDER BY key DESC", of, |row| id(row, 0))?;
        portions.extend(deleted.chunks(MOST).map(|ids| Portion::Deleted(ids.to_vec())));
        let sql = "SELECT key FROM messages WHERE conversation_id = ?1 ORDER BY key DESC";
        let keys: Vec<i64> = self.all(sql, of, |row| Ok(row.get(0)?))?;
        for (number, chunk) in keys.chunks(MOST).enumerate() {
            let then = keys.get((number + 1) * MOST).copied();
            portions.push(Portion::Messages { of: conversation, keys: chunk.to_vec(), then });
        }
        Ok(())
    }

    /// Whether an item lies in the trash since then; it may have been shown and marked meanwhile.
    fn lies_there(&self, item: &TrashItem) -> Result<bool, StoreError> {
        let (sql, owner) = match item.id {
            TrashId::Context(id) => {
                ("SELECT count(*) FROM contexts WHERE id = ?1 AND deleted_at = ?2 AND purged_at IS NULL", id.uuid())
            }
            TrashId::Conversation(id) => ("SELECT count(*) FROM conversations WHERE id = ?1 AND deleted_at = ?2", id.uuid()),
        };
        Ok(self.number(sql, (bytes(owner), item.deleted_at.timestamp_millis()))? > 0)
    }
}

impl WriteHandle<'_> {
    /// Notes that an item is being purged; false if it does not lie in the trash any more.
    fn begin_purge(&mut self, item: &TrashItem) -> Result<bool, StoreError> {
        if !self.lies_there(item)? {
            return Ok(false);
        }
        let mut begun = self.begun_purges()?;
        if !begun.contains(&item.id) {
            begun.push(item.id);
            self.put_app_state(state_key::PURGING, &of_json(&begun)?)?;
        }
        Ok(true)
    }

    fn end_purge(&mut self, item: TrashId) -> Result<(), StoreError> {
        let mut begun = self.begun_purges()?;
        if let Some(place) = begun.iter().position(|one| *one == item) {
            begun.swap_remove(place);
            self.put_app_state(state_key::PURGING, &of_json(&begun)?)?;
        }
        Ok(())
    }

    /// Deletes one portion; false if the item does not lie in the trash any more.
    fn purge_portion(&mut self, item: &TrashItem, portion: &Portion) -> Result<bool, StoreError> {
        if !self.lies_there(item)? {
            return Ok(false);
        }
        match portion {
            Portion::Deleted(ids) => ids.iter().try_for_each(|id| self.forget(*id))?,
            Portion::Messages { of, keys, then } => self.purge_newest(*of, keys, *then)?,
            Portion::Conversations(ids) => drop(self.purge(Doomed::Listed(ids))?),
        }
        Ok(true)
    }

    fn purge_newest(&mut self, conversation: ConversationId, keys: &[i64], then: Option<i64>) -> Result<(), StoreError> {
        let of = bytes(conversation.uuid());
        self.execute("DELETE FROM reply_drafts WHERE conversation_id = ?1", [of])?;
        let sql = "DELETE FROM messages WHERE conversation_id = ?1 AND key IN (SELECT value FROM json_each (?2))";
        let gone = self.execute(sql, (of, of_json(&keys)?))?;
        self.execute(
            "UPDATE conversations SET message_count = message_count - ?2, active_leaf_id = (SELECT id FROM messages WHERE key = ?3)
             WHERE id = ?1",
            params![of, i64::try_from(gone).unwrap_or(0), then],
        )?;
        self.changed(Noun::Conversation, conversation);
        Ok(())
    }

    fn purge_last(&mut self, item: &TrashItem, now: DateTime<Utc>) -> Result<Purge, StoreError> {
        if !self.lies_there(item)? {
            return Ok(Purge::Kept);
        }
        match item.id {
            TrashId::Context(id) => self.purge_context(id, now)?,
            TrashId::Conversation(id) => self.delete_conversation(id)?,
        }
        self.end_purge(item.id)?;
        Ok(Purge::Gone)
    }
}
