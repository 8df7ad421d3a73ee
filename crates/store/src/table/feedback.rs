//! Votes on replies, and the counters of the presets that they go to.

use crate::column::bytes;
use crate::{Noun, StoreError, WriteHandle};
use evenkeel_domain::{MessageId, Vote};
use rusqlite::Row;

/// The vote in a column that may be empty.
pub(super) fn vote(row: &Row<'_>, column: usize) -> Result<Option<Vote>, StoreError> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|vote| if vote > 0 { Vote::Up } else { Vote::Down }))
}

fn number(vote: Vote) -> i64 {
    match vote {
        Vote::Up => 1,
        Vote::Down => -1,
    }
}

impl WriteHandle<'_> {
    /// Keeps the user's judgement of a message; `None` takes it back. The counters of the preset
    /// that its context was made from follow.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `DiskFull`.
    pub fn set_feedback(&mut self, message_id: MessageId, vote: Option<Vote>) -> Result<(), StoreError> {
        let id = bytes(message_id.uuid());
        let sql = "SELECT c.preset_id FROM messages m JOIN contexts c ON c.id = m.context_id WHERE m.id = ?1";
        let preset: Option<String> =
            self.one(sql, [id], |row| Ok(row.get(0)?))?.ok_or_else(|| StoreError::not_found(Noun::Message, message_id))?;
        let sql = "DELETE FROM feedback WHERE message_id = ?1 RETURNING vote, preset_id";
        if let Some((before, of)) = self.one(sql, [id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)))? {
            self.count_vote(of.as_deref(), before, -1)?;
        }
        if let Some(vote) = vote.map(number) {
            let sql = "INSERT INTO feedback (message_id, vote, preset_id) VALUES (?1, ?2, ?3)";
            self.execute(sql, (id, vote, preset.as_deref()))?;
            self.count_vote(preset.as_deref(), vote, 1)?;
        }
        self.changed(Noun::Message, message_id);
        Ok(())
    }

    fn count_vote(&mut self, preset: Option<&str>, vote: i64, by: i64) -> Result<(), StoreError> {
        let Some(preset) = preset else { return Ok(()) };
        // A preset that was deleted and made again under its id has lost its counters.
        let sql = "INSERT INTO preset_use (preset_id, thumbs_up, thumbs_down)
                   SELECT id, max (0, (?2 > 0) * ?3), max (0, (?2 < 0) * ?3) FROM presets WHERE id = ?1
                   ON CONFLICT (preset_id) DO UPDATE SET
                       thumbs_up = max (0, thumbs_up + (?2 > 0) * ?3), thumbs_down = max (0, thumbs_down + (?2 < 0) * ?3)";
        if self.execute(sql, (preset, vote, by))? > 0 {
            self.changed(Noun::Preset, preset);
        }
        Ok(())
    }
}
