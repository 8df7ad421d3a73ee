//! State: the values that a user told in a conversation, with their history.

use crate::column::{bytes, id, maybe_id, maybe_time, of_time, time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, MessageId, StateSource, StateValue, StateValueId};
use rusqlite::{Row, params};
use std::collections::{BTreeMap, HashSet};

const SOURCES: [StateSource; 2] = [StateSource::Extraction, StateSource::User];

/// The columns that `value` reads.
macro_rules! select_values {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.context_id, v.conversation_id, v.name, v.value, v.evidence_id, v.valid_from, v.valid_to, v.is_pinned,
                    v.is_edited, v.source, v.conflicts_with, v.is_suggestion FROM state_values v ",
            $rest
        )
    };
}

fn value(row: &Row<'_>) -> Result<StateValue, StoreError> {
    Ok(StateValue {
        id: id(row, 0)?,
        context_id: id(row, 1)?,
        conversation_id: id(row, 2)?,
        name: row.get(3)?,
        value: row.get(4)?,
        evidence_id: maybe_id(row, 5)?,
        valid_from: time(row, 6)?,
        valid_to: maybe_time(row, 7)?,
        is_pinned: row.get(8)?,
        is_edited: row.get(9)?,
        source: variant(row, 10, &SOURCES, StateSource::as_str)?,
        conflicts_with_id: maybe_id(row, 11)?,
        is_suggestion: row.get(12)?,
    })
}

/// A value that was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldValue {
    /// Its id, should it be new.
    pub id: StateValueId,
    /// Its name.
    pub name: String,
    /// The value as compact JSON; the same value has to be the same text.
    pub value: String,
    /// The message that it was taken from; `None` where the user sets it.
    pub evidence_id: Option<MessageId>,
}

/// Where values are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatePlace {
    /// The context whose schema names them.
    pub context_id: ContextId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The newest message of the branch.
    pub leaf: Option<MessageId>,
    /// When.
    pub now: DateTime<Utc>,
}

impl ReadHandle<'_> {
    /// All values of a conversation, the newest first: those that hold on some branch, that were
    /// superseded, and suggestions.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn state_history(&self, conversation: ConversationId) -> Result<Vec<StateValue>, StoreError> {
        self.all(select_values!("WHERE v.conversation_id = ?1 ORDER BY v.key DESC"), [bytes(conversation.uuid())], value)
    }

    /// The values that hold on the branch which ends at `leaf`, by name. Costs time in proportion to the
    /// values, and where the conversation has branches to the distance to the oldest evidence.
    ///
    /// # Errors
    /// `NotFound` if there is no such message; `Storage`, `Damaged` or `DamagedValue`.
    pub fn state(&self, conversation: ConversationId, leaf: Option<MessageId>) -> Result<Vec<StateValue>, StoreError> {
        let sql = select_values!("WHERE v.conversation_id = ?1 AND NOT v.is_suggestion ORDER BY v.key DESC");
        let all = self.all(sql, [bytes(conversation.uuid())], value)?;
        if all.is_empty() {
            return Ok(all);
        }
        let on_branch = self.evidence_on_branch(conversation, leaf)?;
        let holds = |value: &StateValue| value.evidence_id.is_none_or(|evidence| on_branch.contains(&evidence));
        let mut state: BTreeMap<String, StateValue> = BTreeMap::new();
        for mut value in all.into_iter().filter(holds) {
            // What superseded it may stand on another branch.
            value.valid_to = None;
            state.entry(value.name.clone()).or_insert(value);
        }
        Ok(state.into_values().collect())
    }

    /// One value.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn state_value(&self, id: StateValueId) -> Result<Option<StateValue>, StoreError> {
        self.one(select_values!("WHERE v.id = ?1"), [bytes(id.uuid())], value)
    }

    /// The contexts that a conversation's values were told to.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn state_contexts(&self, conversation: ConversationId) -> Result<Vec<ContextId>, StoreError> {
        let sql = "SELECT DISTINCT m.context_id FROM state_values v CROSS JOIN messages m ON m.id = v.evidence_id
                   WHERE v.conversation_id = ?1";
        self.all(sql, [bytes(conversation.uuid())], |row| id(row, 0))
    }

    /// Whether values were taken from a message already.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn is_read_for_state(&self, message: MessageId) -> Result<bool, StoreError> {
        Ok(self.number("SELECT count(*) FROM state_reads WHERE message_id = ?1", [bytes(message.uuid())])? > 0)
    }

    /// The messages that are evidence for a value and stand on the branch.
    fn evidence_on_branch(
        &self,
        conversation: ConversationId,
        leaf: Option<MessageId>,
    ) -> Result<HashSet<MessageId>, StoreError> {
        let Some(leaf) = leaf else { return Ok(HashSet::new()) };
        let of = bytes(conversation.uuid());
        let sql =
            "SELECT m.id, m.key FROM state_values v CROSS JOIN messages m ON m.id = v.evidence_id WHERE v.conversation_id = ?1";
        let evidence = self.all(sql, [of], |row| Ok((id::<MessageId>(row, 0)?, row.get::<_, i64>(1)?)))?;
        let Some(oldest) = evidence.iter().map(|(_, key)| *key).min() else { return Ok(HashSet::new()) };
        // Without forks the branch is all there is.
        let all = self.number("SELECT message_count FROM conversations WHERE id = ?1", [of])?;
        if u64::from(self.branch_length(leaf)?) == all {
            return Ok(evidence.into_iter().map(|(message, _)| message).collect());
        }
        let sql = "WITH RECURSIVE branch (key, id, parent_id) AS (
                SELECT key, id, parent_id FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.key, p.id, p.parent_id
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key WHERE p.key >= ?2
            )
            SELECT id FROM branch";
        let branch: HashSet<MessageId> = self.all(sql, (bytes(leaf.uuid()), oldest), |row| id(row, 0))?.into_iter().collect();
        Ok(evidence.into_iter().map(|(message, _)| message).filter(|message| branch.contains(message)).collect())
    }
}

impl WriteHandle<'_> {
    /// Takes in what a model read in `messages`, which count as read from now on. A value that holds already
    /// stays; another supersedes it, but one that is pinned or the user's own: then the new one is kept
    /// beside it as a suggestion.
    ///
    /// # Errors
    /// `NotFound` if there is no such leaf; `Storage`, `DiskFull`.
    pub fn tell_state(&mut self, place: StatePlace, told: &[ToldValue], messages: &[MessageId]) -> Result<(), StoreError> {
        let state = self.state(place.conversation_id, place.leaf)?;
        for told in told {
            let held = state.iter().find(|held| held.name == told.name);
            match held {
                Some(held) if held.value == told.value => {}
                Some(held) if held.is_protected() => self.suggest(place, told, held)?,
                _ => self.supersede(place, told, held, StateSource::Extraction)?,
            }
        }
        for message in messages {
            let sql = "INSERT INTO state_reads (message_id, conversation_id)
                       SELECT id, conversation_id FROM messages WHERE id = ?1 ON CONFLICT DO NOTHING";
            self.execute(sql, [bytes(message.uuid())])?;
        }
        Ok(())
    }

    /// Sets a value for the user.
    ///
    /// # Errors
    /// `NotFound` if there is no such leaf; `Storage`, `DiskFull`.
    pub fn set_state(&mut self, place: StatePlace, set: &ToldValue) -> Result<(), StoreError> {
        let state = self.state(place.conversation_id, place.leaf)?;
        let held = state.iter().find(|held| held.name == set.name);
        self.supersede(place, set, held, StateSource::User)
    }

    /// Pins a value, or lets it go again.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn pin_state(&mut self, id: StateValueId, is_pinned: bool) -> Result<(), StoreError> {
        let found = self.state_value(id)?.ok_or_else(|| StoreError::not_found(Noun::State, id))?;
        self.execute("UPDATE state_values SET is_pinned = ?2 WHERE id = ?1", (bytes(id.uuid()), is_pinned))?;
        self.changed(Noun::State, found.conversation_id);
        Ok(())
    }

    /// Forgets a value for good. The one before it does not come back: everything older of its name goes
    /// along, unless it is a suggestion, which nothing rests on.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn forget_state(&mut self, id: StateValueId) -> Result<(), StoreError> {
        let found = self.state_value(id)?.ok_or_else(|| StoreError::not_found(Noun::State, id))?;
        let conversation = bytes(found.conversation_id.uuid());
        let sql = "DELETE FROM state_values WHERE id = ?3 OR (NOT ?4 AND conversation_id = ?1 AND name = ?2
                     AND key < (SELECT key FROM state_values WHERE id = ?3))";
        self.execute(sql, (conversation, &found.name, bytes(id.uuid()), found.is_suggestion))?;
        let sql = "UPDATE state_values SET conflicts_with = NULL WHERE conversation_id = ?1 AND name = ?2
                     AND conflicts_with NOT IN (SELECT id FROM state_values)";
        self.execute(sql, (conversation, &found.name))?;
        self.changed(Noun::State, found.conversation_id);
        Ok(())
    }

    fn suggest(&mut self, place: StatePlace, told: &ToldValue, held: &StateValue) -> Result<(), StoreError> {
        let newest =
            "SELECT value FROM state_values WHERE conversation_id = ?1 AND name = ?2 AND is_suggestion ORDER BY key DESC LIMIT 1";
        let newest: Option<String> =
            self.one(newest, (bytes(place.conversation_id.uuid()), &told.name), |row| Ok(row.get(0)?))?;
        if newest.as_ref() == Some(&told.value) {
            return Ok(());
        }
        let suggested = StateValue { valid_to: Some(place.now), is_suggestion: true, ..new_value(place, told, Some(held.id)) };
        self.add_state(&suggested)
    }

    fn supersede(
        &mut self,
        place: StatePlace,
        told: &ToldValue,
        held: Option<&StateValue>,
        source: StateSource,
    ) -> Result<(), StoreError> {
        if let Some(held) = held {
            let sql = "UPDATE state_values SET valid_to = ?2 WHERE id = ?1";
            self.execute(sql, (bytes(held.id.uuid()), place.now.timestamp_millis()))?;
        }
        let against = held.filter(|held| held.value != told.value).map(|held| held.id);
        let is_users = source == StateSource::User;
        let is_pinned = is_users && held.is_some_and(|held| held.is_pinned);
        let added = StateValue { source, is_pinned, is_edited: is_users && held.is_some(), ..new_value(place, told, against) };
        self.add_state(&added)
    }

    fn add_state(&mut self, value: &StateValue) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO state_values (id, context_id, conversation_id, name, value, evidence_id, valid_from, valid_to, is_pinned,
                 is_edited, source, conflicts_with, is_suggestion)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                bytes(value.id.uuid()),
                bytes(value.context_id.uuid()),
                bytes(value.conversation_id.uuid()),
                value.name,
                value.value,
                value.evidence_id.map(|evidence| bytes(evidence.uuid())),
                value.valid_from.timestamp_millis(),
                of_time(value.valid_to),
                value.is_pinned,
                value.is_edited,
                value.source.as_str(),
                value.conflicts_with_id.map(|other| bytes(other.uuid())),
                value.is_suggestion,
            ],
        )?;
        self.changed(Noun::State, value.conversation_id);
        Ok(())
    }
}

fn new_value(place: StatePlace, told: &ToldValue, conflicts_with_id: Option<StateValueId>) -> StateValue {
    StateValue {
        id: told.id,
        context_id: place.context_id,
        conversation_id: place.conversation_id,
        name: told.name.clone(),
        value: told.value.clone(),
        evidence_id: told.evidence_id,
        valid_from: place.now,
        valid_to: None,
        is_pinned: false,
        is_edited: false,
        source: StateSource::Extraction,
        conflicts_with_id,
        is_suggestion: false,
    }
}
