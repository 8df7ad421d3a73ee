//! What is done to many conversations at once. Each call is a part of its caller's transaction and
//! returns the conversations that it changed.

use super::purge::Doomed;
use crate::column::{bytes, id};
use crate::{Noun, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, TrashId};
use rusqlite::{Params, params};

impl WriteHandle<'_> {
    /// Puts conversations into the trash; those that are not there or lie in it already are passed over.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn trash_conversations(&mut self, ids: &[ConversationId], now: DateTime<Utc>) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1 AND deleted_at IS NULL RETURNING id";
        self.each_conversation(ids, |write, id| write.conversations_changed(sql, (id, now.timestamp_millis())))
    }

    /// Puts the conversations of one context, or of all, into the trash whose last activity was
    /// before a time; pinned ones stay where that is wished.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn trash_conversations_older_than(
        &mut self,
        context_id: Option<ContextId>,
        before: DateTime<Utc>,
        keep_pinned: bool,
        now: DateTime<Utc>,
    ) -> Result<Vec<ConversationId>, StoreError> {
        let context = context_id.map(|context_id| bytes(context_id.uuid()));
        self.conversations_changed(
            "UPDATE conversations SET deleted_at = ?4
             WHERE deleted_at IS NULL AND (?1 IS NULL OR context_id = ?1) AND last_activity_at < ?2 AND (NOT ?3 OR is_pinned = 0)
             RETURNING id",
            params![context, before.timestamp_millis(), keep_pinned, now.timestamp_millis()],
        )
    }

    /// Puts all conversations of a context into the trash, pinned and archived ones too.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn clear_conversations(&mut self, context_id: ContextId, now: DateTime<Utc>) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "UPDATE conversations SET deleted_at = ?2 WHERE context_id = ?1 AND deleted_at IS NULL RETURNING id";
        self.conversations_changed(sql, (bytes(context_id.uuid()), now.timestamp_millis()))
    }

    /// Takes conversations out of the trash; those that do not lie in it are passed over.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn restore_conversations(&mut self, ids: &[ConversationId]) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "UPDATE conversations SET deleted_at = NULL, trash_shown_at = NULL, purge_due_running_ms = NULL
                   WHERE id = ?1 AND deleted_at IS NOT NULL RETURNING id";
        let begun = self.begun_purges()?;
        let whole: Vec<ConversationId> = ids.iter().copied().filter(|id| !begun.contains(&TrashId::Conversation(*id))).collect();
        self.each_conversation(&whole, |write, id| write.conversations_changed(sql, [id]))
    }

    /// Deletes conversations in the trash for good, with all their messages, what the index holds of
    /// them, and drafts; those that do not lie in the trash are passed over.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn purge_conversations(&mut self, ids: &[ConversationId]) -> Result<Vec<ConversationId>, StoreError> {
        self.purge(Doomed::Trashed(ids))
    }

    /// Like [`WriteHandle::purge_conversations`], for those that were put into the trash before a
    /// time and were shown there before it too: a clock that jumped must not purge what the user
    /// never saw there.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn purge_conversations_trashed_before(&mut self, before: DateTime<Utc>) -> Result<Vec<ConversationId>, StoreError> {
        self.purge(Doomed::TrashedBefore(before))
    }

    fn each_conversation(
        &mut self,
        ids: &[ConversationId],
        mut change: impl FnMut(&mut Self, [u8; 16]) -> Result<Vec<ConversationId>, StoreError>,
    ) -> Result<Vec<ConversationId>, StoreError> {
        let mut changed = Vec::with_capacity(ids.len());
        for id in ids {
            changed.append(&mut change(self, bytes(id.uuid()))?);
        }
        Ok(changed)
    }

    fn conversations_changed(&mut self, sql: &str, params: impl Params) -> Result<Vec<ConversationId>, StoreError> {
        let changed = self.all(sql, params, |row| id::<ConversationId>(row, 0))?;
        for id in &changed {
            self.changed(Noun::Conversation, id);
        }
        Ok(changed)
    }
}
