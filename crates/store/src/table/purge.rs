//! Forgetting for good: conversations, contexts, and what nothing uses any more.

use crate::column::{bytes, id, of_json};
use crate::{Noun, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, Revision, StrategyChoice};
use rusqlite::{Params, params};

/// From so many messages on, all at once can be cheaper.
const MANY: u64 = 500;
/// Taking one message out of the index in its place costs about as much as indexing so many anew
/// (measured with 40 words a message: 0.6 to 0.9 ms and 0.013 ms).
const INDEXED_FOR_ONE: u64 = 40;

/// Which conversations go.
#[derive(Clone, Copy)]
pub(super) enum Doomed<'a> {
    /// This one, in the trash or not.
    One(ConversationId),
    /// Those of a context, in the trash or not.
    OfContext(ContextId),
    /// These, in the trash or not.
    Listed(&'a [ConversationId]),
    /// Those of these that lie in the trash.
    Trashed(&'a [ConversationId]),
    /// Those that were put into the trash, and shown there, before a time.
    TrashedBefore(DateTime<Utc>),
}

impl WriteHandle<'_> {
    /// Deletes conversations with everything that hangs on them, and says which. Costs up to 1 ms
    /// a message; [`Store::purge`](crate::Store::purge) does it in portions.
    pub(super) fn purge(&mut self, doomed: Doomed<'_>) -> Result<Vec<ConversationId>, StoreError> {
        match doomed {
            Doomed::One(id) => self.purge_where("id = ?1", [bytes(id.uuid())]),
            Doomed::OfContext(id) => self.purge_where("context_id = ?1", [bytes(id.uuid())]),
            Doomed::Listed(ids) => self.purge_where("id IN (SELECT unhex (value) FROM json_each (?1))", [hex_list(ids)?]),
            Doomed::Trashed(ids) => {
                let which = "id IN (SELECT unhex (value) FROM json_each (?1)) AND deleted_at IS NOT NULL";
                self.purge_where(which, [hex_list(ids)?])
            }
            Doomed::TrashedBefore(time) => self.purge_where("deleted_at < ?1 AND trash_shown_at < ?1", [time.timestamp_millis()]),
        }
    }

    fn purge_where(&mut self, which: &str, params: impl Params + Clone) -> Result<Vec<ConversationId>, StoreError> {
        let counted = format!("SELECT coalesce(sum(message_count), 0) FROM conversations WHERE {which}");
        let going = self.number(&counted, params.clone())?;
        let all = self.number("SELECT coalesce(sum(message_count), 0) FROM conversations", [])?;
        // The index forgets a message either word by word in its place, or with everything else
        // before what stays is indexed anew. FTS5's own "optimize" is no third way: it can leave
        // the words of what is gone behind, marked as deleted.
        let anew = going >= MANY && going * INDEXED_FOR_ONE >= all.saturating_sub(going);
        if anew {
            self.set_secure_index(false)?;
        }
        let sql = format!("DELETE FROM conversations WHERE {which} RETURNING id");
        let purged = self.all(&sql, params, |row| id::<ConversationId>(row, 0))?;
        if anew {
            self.execute("INSERT INTO message_index (message_index) VALUES ('rebuild')", [])?;
            self.set_secure_index(true)?;
        }
        for id in &purged {
            self.changed(Noun::Conversation, id);
        }
        self.forget_unused_revisions()?;
        Ok(purged)
    }

    fn set_secure_index(&mut self, is_secure: bool) -> Result<(), StoreError> {
        let sql = "INSERT INTO message_index (message_index, rank) VALUES ('secure-delete', ?1)";
        self.execute(sql, params![is_secure]).map(drop)
    }

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
        self.purge(Doomed::OfContext(context_id))?;
        self.forget_receipt_texts(context_id)?;
        self.forget_operations(context_id)?;
        for sql in [
            "DELETE FROM context_revisions WHERE context_id = ?1",
            "DELETE FROM context_tags WHERE context_id = ?1",
            "DELETE FROM composer_drafts WHERE context_id = ?1",
            "DELETE FROM state_values WHERE context_id = ?1",
            "DELETE FROM mcp_client_contexts WHERE context_id = ?1",
            "DELETE FROM context_tools WHERE context_id = ?1",
            "UPDATE mcp_access SET context_id = NULL WHERE context_id = ?1",
        ] {
            self.execute(sql, [bytes])?;
        }
        let nameless = Revision::new("", "", "", None, DateTime::UNIX_EPOCH);
        self.put_revision(&nameless)?;
        self.execute(
            "UPDATE contexts SET revision_id = ?2, temperature = 0, max_tokens = 0, max_history_tokens = 0, expiry_days = NULL,
                 provider_id = NULL, model = NULL, preset_id = NULL, created_at = 0, updated_at = 0, last_interaction_at = 0,
                 expires_at = NULL, is_active = 0, deleted_at = NULL, trash_shown_at = NULL, purge_due_running_ms = NULL,
                 strategy = ?4, memory = '{}', purged_at = ?3 WHERE id = ?1",
            (bytes, nameless.id.as_str(), now.timestamp_millis(), of_json(&StrategyChoice::default())?),
        )?;
        self.forget_unused_revisions()?;
        self.changed(Noun::Context, context_id);
        Ok(())
    }

    /// Deletes the tombstones and the revisions that nothing refers to any more.
    pub(crate) fn forget_unused_revisions(&mut self) -> Result<(), StoreError> {
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

fn hex_list(ids: &[ConversationId]) -> Result<String, StoreError> {
    of_json(&ids.iter().map(|id| id.uuid().simple().to_string()).collect::<Vec<_>>())
}
