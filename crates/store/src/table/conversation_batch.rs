//! What is done to many conversations at once, and which they are. Each write is a part of its caller's transaction and
//! returns the conversations that it changed.

use super::purge::Doomed;
use crate::column::{bytes, id};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, TrashId};
use rusqlite::Params;

impl ReadHandle<'_> {
    /// The conversations of one context, or of all, whose last activity was before a time, archived
    /// ones too; none from the trash, and no pinned ones where they are kept.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations_older_than(
        &self,
        context_id: Option<ContextId>,
        before: DateTime<Utc>,
        keep_pinned: bool,
    ) -> Result<Vec<ConversationId>, StoreError> {
        self.all(
            "SELECT id FROM conversations
             WHERE deleted_at IS NULL AND (?1 IS NULL OR context_id = ?1) AND last_activity_at < ?2 AND (NOT ?3 OR is_pinned = 0)
             ORDER BY id",
            (context_id.map(|context_id| bytes(context_id.uuid())), before.timestamp_millis(), keep_pinned),
            |row| id(row, 0),
        )
    }

    /// All conversations of a context that do not lie in the trash, pinned and archived ones too.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversations_of_context(&self, context_id: ContextId) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "SELECT id FROM conversations WHERE context_id = ?1 AND deleted_at IS NULL ORDER BY id";
        self.all(sql, [bytes(context_id.uuid())], |row| id(row, 0))
    }
}

impl WriteHandle<'_> {
    /// Puts conversations into the trash; those that are not there or lie in it already are passed over.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn trash_conversations(&mut self, ids: &[ConversationId], now: DateTime<Utc>) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1 AND deleted_at IS NULL RETURNING id";
        self.each_conversation(ids, |write, id| write.conversations_changed(sql, (id, now.timestamp_millis())))
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
