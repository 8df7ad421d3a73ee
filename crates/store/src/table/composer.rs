//! What is typed and not sent.

use crate::column::{bytes, maybe_id, time};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ComposerDraft, DraftKey};
use rusqlite::Row;

fn composer_draft(row: &Row<'_>) -> Result<ComposerDraft, StoreError> {
    let key = match (maybe_id(row, 0)?, maybe_id(row, 1)?) {
        (Some(id), None) => DraftKey::Conversation(id),
        (None, Some(id)) => DraftKey::Context(id),
        _ => return Err(StoreError::DamagedValue { what: "composer_drafts.conversation_id".into() }),
    };
    Ok(ComposerDraft { key, text: row.get(2)?, updated_at: time(row, 3)? })
}

fn of_key(key: DraftKey) -> (Option<[u8; 16]>, Option<[u8; 16]>) {
    match key {
        DraftKey::Conversation(id) => (Some(bytes(id.uuid())), None),
        DraftKey::Context(id) => (None, Some(bytes(id.uuid()))),
    }
}

impl ReadHandle<'_> {
    /// What is typed for a conversation, or for a new one with a context.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn composer_draft(&self, key: DraftKey) -> Result<Option<ComposerDraft>, StoreError> {
        let sql = match key {
            DraftKey::Conversation(_) => {
                "SELECT conversation_id, context_id, text, updated_at FROM composer_drafts WHERE conversation_id = coalesce(?1, ?2)"
            }
            DraftKey::Context(_) => {
                "SELECT conversation_id, context_id, text, updated_at FROM composer_drafts WHERE context_id = coalesce(?1, ?2)"
            }
        };
        self.one(sql, of_key(key), composer_draft)
    }
}

impl WriteHandle<'_> {
    /// Keeps what is typed; an empty text is kept by keeping nothing.
    ///
    /// # Errors
    /// `NotFound` if the conversation or context is gone; `Storage`, `DiskFull`.
    pub fn put_composer_draft(&mut self, key: DraftKey, text: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        if text.is_empty() {
            return self.clear_composer_draft(key);
        }
        let (noun, owner) = match key {
            DraftKey::Conversation(id) => (Noun::Conversation, self.conversation(id)?.map(|_| ()).ok_or(id.to_string())),
            DraftKey::Context(id) => (Noun::Context, self.context(id)?.map(|_| ()).ok_or(id.to_string())),
        };
        owner.map_err(|id| StoreError::not_found(noun, id))?;
        let (conversation, context) = of_key(key);
        // Only one of the two unique columns is filled, so only its conflict can happen.
        self.execute(
            "INSERT INTO composer_drafts (conversation_id, context_id, text, updated_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at",
            (conversation, context, text, now.timestamp_millis()),
        )?;
        self.changed(Noun::Draft, key);
        Ok(())
    }

    /// Forgets what is typed, if anything is: it was sent.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn clear_composer_draft(&mut self, key: DraftKey) -> Result<(), StoreError> {
        let sql = "DELETE FROM composer_drafts WHERE conversation_id = ?1 OR context_id = ?2";
        if self.execute(sql, of_key(key))? > 0 {
            self.changed(Noun::Draft, key);
        }
        Ok(())
    }
}
