//! Tags of contexts and conversations; they are read with the row they belong to.

use crate::{StoreError, WriteHandle};
use evenkeel_domain::folded;
use rusqlite::params;

/// What has tags.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tagged {
    Context,
    Conversation,
}

impl WriteHandle<'_> {
    /// Makes these the tags; of two that are the same in lower case, the first one stays.
    pub(super) fn put_tags(&mut self, tagged: Tagged, id: [u8; 16], tags: &[String]) -> Result<(), StoreError> {
        let (clear, add) = match tagged {
            Tagged::Context => (
                "DELETE FROM context_tags WHERE context_id = ?1",
                "INSERT INTO context_tags (context_id, folded, tag, place) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            ),
            Tagged::Conversation => (
                "DELETE FROM conversation_tags WHERE conversation_id = ?1",
                "INSERT INTO conversation_tags (conversation_id, folded, tag, place) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            ),
        };
        self.execute(clear, [id])?;
        for (place, tag) in (0_i64..).zip(tags) {
            let tag = tag.trim();
            self.execute(add, params![id, folded(tag), tag, place])?;
        }
        Ok(())
    }
}
