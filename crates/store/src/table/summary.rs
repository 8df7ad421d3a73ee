//! Summaries: notes that stand for the older part of a branch.

use crate::column::{bytes, id, json, model, of_json, of_model, time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, ConversationId, Evidence, MessageId, Summary, SummaryId, TokenCount};
use rusqlite::{Row, params};
use std::collections::BTreeMap;

/// Whether a summary counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Valid,
    Stale,
    Replaced,
    Removed,
}

impl State {
    const ALL: [Self; 4] = [Self::Valid, Self::Stale, Self::Replaced, Self::Removed];

    fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Stale => "stale",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
        }
    }
}

/// A row with what the domain does not know of it.
struct Stored {
    key: i64,
    state: State,
    summary: Summary,
}

/// The columns that `stored` reads.
macro_rules! select_summaries {
    ($rest:literal) => {
        concat!(
            "SELECT s.key, s.state, s.id, s.conversation_id, s.up_to_id, s.text, s.pinned, s.tokens, s.tokenizer, s.provider_id,
                    s.model, s.round, s.is_edited, s.created_at FROM summaries s ",
            $rest
        )
    };
}

fn stored(row: &Row<'_>) -> Result<Stored, StoreError> {
    let state = variant(row, 1, &State::ALL, State::as_str)?;
    let summary = Summary {
        id: id(row, 2)?,
        conversation_id: id(row, 3)?,
        up_to_id: id(row, 4)?,
        message_ids: Vec::new(),
        evidence: Vec::new(),
        text: row.get(5)?,
        pinned: json(row, 6)?,
        tokens: TokenCount { tokens: row.get(7)?, tokenizer: row.get(8)? },
        model: model(row, 9)?,
        round: row.get(11)?,
        is_edited: row.get(12)?,
        created_at: time(row, 13)?,
        is_stale: state == State::Stale,
    };
    Ok(Stored { key: row.get(0)?, state, summary })
}

/// A message that a summary is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummarySource {
    /// Its place on the branch, counted from 1: the number of its label.
    pub place: u32,
    /// The message.
    pub message_id: MessageId,
}

/// A summary to be stored, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSummary {
    /// The summary; `message_ids` and `evidence` follow from `messages`.
    pub summary: Summary,
    /// The messages that it was made from, oldest first.
    pub messages: Vec<SummarySource>,
    /// Messages that it rests on as well, and which come after those that it covers.
    pub beside: Vec<SummarySource>,
    /// The summary that it was made from beside them.
    pub previous: Option<SummaryId>,
}

impl ReadHandle<'_> {
    /// The summaries of a conversation that stand, the newest first; those that the user has replaced
    /// or removed are not among them. `labels` reads the numbers of the labels in a text.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn summaries(&self, conversation: ConversationId, labels: fn(&str) -> Vec<u32>) -> Result<Vec<Summary>, StoreError> {
        let sql = select_summaries!("WHERE s.conversation_id = ?1 AND s.state IN ('valid', 'stale') ORDER BY s.key DESC");
        let all = self.all(sql, [bytes(conversation.uuid())], stored)?;
        all.into_iter().map(|found| self.with_messages(found, labels)).collect()
    }

    /// One summary, whatever its state, unless it was removed.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn summary(&self, summary: SummaryId, labels: fn(&str) -> Vec<u32>) -> Result<Option<Summary>, StoreError> {
        let found = self.stored_summary(summary)?.filter(|found| found.state != State::Removed);
        found.map(|found| self.with_messages(found, labels)).transpose()
    }

    /// The newest summary that applies to the branch which ends at `leaf`. Costs time in proportion to
    /// the distance from there to its last message, and nothing where the conversation has none.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn applicable_summary(&self, leaf: MessageId) -> Result<Option<Summary>, StoreError> {
        let conversation = bytes(self.node(leaf)?.conversation_id.uuid());
        let oldest = "SELECT min (up_to_key) FROM summaries WHERE conversation_id = ?1 AND state = 'valid'";
        let Some(oldest) = self.one(oldest, [conversation], |row| Ok(row.get::<_, Option<i64>>(0)?))?.flatten() else {
            return Ok(None);
        };
        // Read backwards until the first that has one; the rest of the branch is not looked at.
        let sql = "WITH RECURSIVE branch (key, parent_id) AS (
                SELECT key, parent_id FROM messages WHERE id = ?2
                UNION ALL
                SELECT p.key, p.parent_id
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key WHERE p.key >= ?3
            )
            SELECT b.key FROM branch b
            WHERE EXISTS (SELECT 1 FROM summaries s WHERE s.conversation_id = ?1 AND s.state = 'valid' AND s.up_to_key = b.key)
            LIMIT 1";
        let end = self.one(sql, (conversation, bytes(leaf.uuid()), oldest), |row| Ok(row.get::<_, i64>(0)?))?;
        let Some(end) = end else { return Ok(None) };
        let newest = select_summaries!(
            "WHERE s.conversation_id = ?1 AND s.state = 'valid' AND s.up_to_key = ?2 ORDER BY s.key DESC LIMIT 1"
        );
        Ok(self.one(newest, (conversation, end), stored)?.map(|found| found.summary))
    }

    /// Everything that a summary rests on, the newest first: itself, and those that it was made from.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `Damaged` or `DamagedValue`.
    pub fn summary_chain(&self, summary: SummaryId, labels: fn(&str) -> Vec<u32>) -> Result<Vec<Summary>, StoreError> {
        let own = self.stored_summary(summary)?.ok_or_else(|| StoreError::not_found(Noun::Summary, summary))?;
        let sql = select_summaries!(
            "WHERE s.key IN (SELECT source_key FROM summary_sources WHERE summary_key = ?1) ORDER BY s.key DESC"
        );
        let sources = self.all(sql, [own.key], stored)?;
        std::iter::once(own).chain(sources).map(|found| self.with_messages(found, labels)).collect()
    }

    /// The contexts whose words a summary was made from, or that they were said to.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn summary_contexts(&self, summary: SummaryId) -> Result<Vec<ContextId>, StoreError> {
        let sql = "SELECT DISTINCT m.context_id FROM summaries s CROSS JOIN summary_messages sm CROSS JOIN messages m ON m.id = sm.message_id
                   WHERE s.id = ?1 AND (sm.summary_key = s.key
                       OR sm.summary_key IN (SELECT source_key FROM summary_sources WHERE summary_key = s.key))";
        self.all(sql, [bytes(summary.uuid())], |row| id(row, 0))
    }

    /// The message that stands `steps` before `leaf` on its branch; the first one where that is nearer.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage` or `Damaged`.
    pub fn ancestor(&self, leaf: MessageId, steps: u32) -> Result<MessageId, StoreError> {
        let sql = "WITH RECURSIVE branch (key, id, parent_id, step) AS (
                SELECT key, id, parent_id, 0 FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.key, p.id, p.parent_id, b.step + 1
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key WHERE b.step < ?2
            )
            SELECT id FROM branch ORDER BY step DESC LIMIT 1";
        let found = self.one(sql, (bytes(leaf.uuid()), steps), |row| id(row, 0))?;
        found.ok_or_else(|| StoreError::not_found(Noun::Message, leaf))
    }

    fn stored_summary(&self, summary: SummaryId) -> Result<Option<Stored>, StoreError> {
        self.one(select_summaries!("WHERE s.id = ?1"), [bytes(summary.uuid())], stored)
    }

    fn with_messages(&self, found: Stored, labels: fn(&str) -> Vec<u32>) -> Result<Summary, StoreError> {
        let Stored { key, mut summary, .. } = found;
        let place = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, id::<MessageId>(row, 1)?));
        // What comes after its last message it only rests on.
        let own = "SELECT sm.place, sm.message_id FROM summaries s CROSS JOIN summary_messages sm ON sm.summary_key = s.key
                   LEFT JOIN messages m ON m.id = sm.message_id
                   WHERE s.key = ?1 AND coalesce (m.key, 0) <= s.up_to_key ORDER BY sm.place";
        let own = self.all(own, [key], place)?;
        summary.message_ids = own.iter().map(|(_, message)| *message).collect();
        let wanted = labels(&summary.text);
        let earlier = self.all(
            "SELECT m.place, m.message_id FROM summary_sources s JOIN summary_messages m ON m.summary_key = s.source_key
             WHERE s.summary_key = ?1 AND m.place IN (SELECT value FROM json_each (?2))",
            (key, of_json(&wanted)?),
            place,
        )?;
        let known: BTreeMap<u32, MessageId> = earlier.into_iter().chain(own).collect();
        let named = wanted.into_iter().filter_map(|label| Some((label, *known.get(&label)?)));
        summary.evidence = named.map(|(label, message_id)| Evidence { label: format!("m{label}"), message_id }).collect();
        Ok(summary)
    }
}

impl WriteHandle<'_> {
    /// Stores a summary, unless what it rests on has changed since it was begun with: a message was
    /// deleted, the summary before it is no longer valid, or its last message has one by now. Says
    /// whether it was stored.
    ///
    /// # Errors
    /// `Defect` if it is made from no message or the id is taken; `Storage`, `DiskFull`.
    pub fn insert_summary(&mut self, new: &NewSummary) -> Result<bool, StoreError> {
        let conversation = new.summary.conversation_id;
        let ground = || new.messages.iter().chain(&new.beside);
        let ids: Vec<String> = ground().map(|source| source.message_id.uuid().simple().to_string()).collect();
        let there =
            "SELECT count(*) FROM messages WHERE conversation_id = ?1 AND id IN (SELECT unhex (value) FROM json_each (?2))";
        let all_there = self.number(there, (bytes(conversation.uuid()), of_json(&ids)?))? == ids.len() as u64;
        let previous = new.previous.map(|previous| self.stored_summary(previous)).transpose()?.flatten();
        let is_ground_firm = previous.as_ref().map_or(new.previous.is_none(), |previous| previous.state == State::Valid);
        let Some(end) = self.key_of(new.summary.up_to_id)?.filter(|_| all_there && is_ground_firm) else { return Ok(false) };
        let taken = "SELECT count(*) FROM summaries WHERE conversation_id = ?1 AND state = 'valid' AND up_to_key = ?2";
        if self.number(taken, (bytes(conversation.uuid()), end))? > 0 {
            return Ok(false);
        }
        let key = self.add_summary(&new.summary, end)?;
        for source in ground() {
            let sql = "INSERT INTO summary_messages (summary_key, place, message_id) VALUES (?1, ?2, ?3)";
            self.execute(sql, (key, source.place, bytes(source.message_id.uuid())))?;
        }
        if let Some(previous) = previous {
            let sql = "INSERT INTO summary_sources (summary_key, source_key)
                       SELECT ?1, ?2 UNION SELECT ?1, source_key FROM summary_sources WHERE summary_key = ?2";
            self.execute(sql, (key, previous.key))?;
        }
        Ok(true)
    }

    /// Puts a summary of the user's in the place of another: it covers and rests on the same, and what
    /// rested on the other does not count any more.
    ///
    /// # Errors
    /// `NotFound` if there is no such summary, or it is stale or was replaced; `Storage`, `DiskFull`.
    pub fn replace_summary(&mut self, replaced: SummaryId, edited: &Summary) -> Result<(), StoreError> {
        let old = self.standing(replaced)?;
        if old.state == State::Stale {
            return Err(StoreError::not_found(Noun::Summary, replaced));
        }
        let end = self.key_of(old.summary.up_to_id)?.ok_or_else(|| StoreError::not_found(Noun::Summary, replaced))?;
        self.execute("UPDATE summaries SET state = 'replaced' WHERE key = ?1", [old.key])?;
        let sql = "UPDATE summaries SET state = 'stale' WHERE state = 'valid'
                     AND key IN (SELECT summary_key FROM summary_sources WHERE source_key = ?1)";
        self.execute(sql, [old.key])?;
        let key = self.add_summary(edited, end)?;
        for sql in [
            "INSERT INTO summary_messages (summary_key, place, message_id)
             SELECT ?1, place, message_id FROM summary_messages WHERE summary_key = ?2",
            "INSERT INTO summary_sources (summary_key, source_key) SELECT ?1, source_key FROM summary_sources WHERE summary_key = ?2",
        ] {
            self.execute(sql, (key, old.key))?;
        }
        Ok(())
    }

    /// Forgets the text of a summary, of those that it replaced and of those that rest on it.
    ///
    /// # Errors
    /// `NotFound` if there is no such summary or it does not stand; `Storage`, `DiskFull`.
    pub fn remove_summary(&mut self, removed: SummaryId) -> Result<(), StoreError> {
        let old = self.standing(removed)?;
        let conversation = old.summary.conversation_id;
        let sql = "UPDATE summaries SET state = 'removed', text = '', pinned = '[]'
                   WHERE state <> 'removed' AND conversation_id = ?1 AND (up_to_id = ?2 OR key IN (
                       SELECT s.summary_key FROM summary_sources s JOIN summaries o ON o.key = s.source_key
                       WHERE o.conversation_id = ?1 AND o.up_to_id = ?2))";
        self.execute(sql, (bytes(conversation.uuid()), bytes(old.summary.up_to_id.uuid())))?;
        self.changed(Noun::Summary, conversation);
        Ok(())
    }

    fn standing(&self, summary: SummaryId) -> Result<Stored, StoreError> {
        let found = self.stored_summary(summary)?;
        let found = found.filter(|found| matches!(found.state, State::Valid | State::Stale));
        found.ok_or_else(|| StoreError::not_found(Noun::Summary, summary))
    }

    fn key_of(&self, message: MessageId) -> Result<Option<i64>, StoreError> {
        self.one("SELECT key FROM messages WHERE id = ?1", [bytes(message.uuid())], |row| Ok(row.get(0)?))
    }

    fn add_summary(&mut self, summary: &Summary, end: i64) -> Result<i64, StoreError> {
        let (provider, model) = of_model(summary.model.as_ref());
        self.execute(
            "INSERT INTO summaries (id, conversation_id, up_to_id, up_to_key, text, pinned, tokens, tokenizer, provider_id, model,
                 round, is_edited, state, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                bytes(summary.id.uuid()),
                bytes(summary.conversation_id.uuid()),
                bytes(summary.up_to_id.uuid()),
                end,
                summary.text,
                of_json(&summary.pinned)?,
                summary.tokens.tokens,
                summary.tokens.tokenizer,
                provider,
                model,
                summary.round,
                summary.is_edited,
                State::Valid.as_str(),
                summary.created_at.timestamp_millis(),
            ],
        )?;
        self.changed(Noun::Summary, summary.conversation_id);
        let key = self.one("SELECT key FROM summaries WHERE id = ?1", [bytes(summary.id.uuid())], |row| Ok(row.get(0)?))?;
        key.ok_or_else(|| StoreError::defect("a stored summary is not there"))
    }
}
