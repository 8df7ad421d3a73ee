//! Forgetting a context for good.

use crate::column::{bytes, id};
use crate::{Noun, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, Revision};

impl WriteHandle<'_> {
    /// Deletes a context for good, from the trash or not: its conversations with all their messages
    /// and what the index holds of them, drafts, tags, and the revisions that nothing else uses.
    ///
    /// What it said in conversations of other contexts is theirs and stays, with the revisions it
    /// was said under. Then a tombstone without name, texts or settings keeps its place as agent of
    /// those messages; nothing reads or lists it, and it goes with the last of them.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn purge_context(&mut self, context_id: ContextId, now: DateTime<Utc>) -> Result<(), StoreError> {
        if self.context(context_id)?.is_none() {
            return Err(StoreError::not_found(Noun::Context, context_id));
        }
        let bytes = bytes(context_id.uuid());
        let sql = "DELETE FROM conversations WHERE context_id = ?1 RETURNING id";
        let conversations = self.all(sql, [bytes], |row| id::<ConversationId>(row, 0))?;
        for conversation in conversations {
            self.changed(Noun::Conversation, conversation);
        }
        for sql in [
            "DELETE FROM context_revisions WHERE context_id = ?1",
            "DELETE FROM context_tags WHERE context_id = ?1",
            "DELETE FROM composer_drafts WHERE context_id = ?1",
        ] {
            self.execute(sql, [bytes])?;
        }
        let nameless = Revision::new("", "", "", None, DateTime::UNIX_EPOCH);
        self.put_revision(&nameless)?;
        self.execute(
            "UPDATE contexts SET revision_id = ?2, temperature = 0, max_tokens = 0, max_history_tokens = 0, expiry_days = NULL,
                 provider_id = NULL, model = NULL, preset_id = NULL, created_at = 0, updated_at = 0, last_interaction_at = 0,
                 expires_at = NULL, is_active = 0, deleted_at = NULL, trash_shown_at = NULL, purge_due_running_ms = NULL,
                 purged_at = ?3 WHERE id = ?1",
            (bytes, nameless.id.as_str(), now.timestamp_millis()),
        )?;
        self.forget_unused_revisions()?;
        self.changed(Noun::Context, context_id);
        Ok(())
    }

    /// Deletes the tombstones and the revisions that nothing refers to any more.
    pub(super) fn forget_unused_revisions(&mut self) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM contexts WHERE purged_at IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM messages WHERE context_id = contexts.id)
               AND NOT EXISTS (SELECT 1 FROM deleted_messages WHERE context_id = contexts.id)
               AND NOT EXISTS (SELECT 1 FROM reply_drafts WHERE context_id = contexts.id)",
            [],
        )?;
        self.execute(
            "DELETE FROM revisions WHERE id NOT IN (SELECT revision_id FROM contexts)
               AND id NOT IN (SELECT revision_id FROM context_revisions)
               AND NOT EXISTS (SELECT 1 FROM messages WHERE revision_id = revisions.id)
               AND NOT EXISTS (SELECT 1 FROM deleted_messages WHERE revision_id = revisions.id)
               AND NOT EXISTS (SELECT 1 FROM reply_drafts WHERE revision_id = revisions.id)",
            [],
        )?;
        Ok(())
    }
}
