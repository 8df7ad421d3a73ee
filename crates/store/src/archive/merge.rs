//! What becomes of each record of an archive in a vault. Nothing in the vault is overwritten: what has the same
//! id stays as it is, except for presets and providers that the app itself has put there.

use super::journal::Journal;
use super::record::{ConversationRecord, ENGINE, Kind, MessageRecord, Record};
use super::rows::Rows;
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{ContextId, ConversationId};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use uuid::Uuid;

/// Why a record is not taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The vault has it with other content, which stays.
    Different,
    /// It lies in the vault's trash, or its companion or conversation does, or the message was deleted.
    InTrash,
    /// What it hangs on is not taken over.
    Hangs,
    /// Its id belongs to something else in the vault.
    Elsewhere,
    /// Its conversation is in the vault already, and summaries and values of that stay as they are.
    ConversationKept,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::Different, Self::InTrash, Self::Hangs, Self::Elsewhere, Self::ConversationKept];
}

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is added.
    Add,
    /// The vault has it just so.
    Same,
    /// The vault stays as it is.
    Keep(Reason),
}

/// How the conversation stands in the vault whose parts come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// This import adds it, now or before it was cut off.
    Ours,
    /// It was there before.
    Theirs,
    /// It is left out with all its parts.
    Out,
}

/// What was decided until now, as far as later records hang on it.
pub(super) struct Merge {
    take_settings: bool,
    /// There was no companion yet, so that what the app has put there by itself gives way.
    is_new_vault: bool,
    contexts: HashSet<ContextId>,
    pub place: Place,
    /// Messages and summaries of the conversation that are not in the vault and do not get there.
    absent: HashSet<Uuid>,
}

impl Merge {
    pub fn new(take_settings: bool, is_new_vault: bool) -> Self {
        Self { take_settings, is_new_vault, contexts: HashSet::new(), place: Place::Out, absent: HashSet::new() }
    }

    /// Decides about the next record; all before it have to be decided, and those to be added added if they
    /// are to be.
    pub fn fate(&mut self, read: &ReadHandle<'_>, rows: &Rows<'_, '_>, record: &Record) -> Result<Fate, StoreError> {
        match record {
            Record::Conversation(one) => self.conversation(read, rows, record, one),
            Record::Context(one) => {
                let sql = "SELECT deleted_at IS NOT NULL, purged_at IS NOT NULL FROM contexts WHERE id = ?1";
                let found = read.one(sql, [bytes(one.id.uuid())], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let fate = match found {
                    Some((true, _)) => Fate::Keep(Reason::InTrash),
                    // A nameless place in conversations of others gets its companion back.
                    None | Some((_, true)) => Fate::Add,
                    Some(_) => alike(rows.like(record)?.as_ref(), record),
                };
                if fate != Fate::Keep(Reason::InTrash) {
                    self.contexts.insert(one.id);
                }
                Ok(fate)
            }
            Record::Message(one) => self.message(read, rows, record, one),
            Record::Receipt(_) | Record::Summary(_) | Record::StateValue(_) => self.part(rows, record),
            _ => self.alone(read, rows, record),
        }
    }

    /// Records that hang on nothing.
    fn alone(&self, read: &ReadHandle<'_>, rows: &Rows<'_, '_>, record: &Record) -> Result<Fate, StoreError> {
        let fate = alike(rows.like(record)?.as_ref(), record);
        Ok(match (record, fate) {
            (Record::Settings(_), Fate::Keep(_)) if self.take_settings => Fate::Add,
            // As the app has put it there, it is nobody's yet.
            (Record::Preset(one), Fate::Same | Fate::Keep(_)) => {
                let untouched = "SELECT count(*) FROM presets WHERE id = ?1 AND is_edited = 0";
                if read.number(untouched, [one.id.as_str()])? > 0 { Fate::Add } else { fate }
            }
            (Record::Provider(one), Fate::Keep(_)) if one.id.uuid() == ENGINE && self.is_new_vault => Fate::Add,
            // A revision is its text; when it was first used is told by its contexts.
            (Record::Revision(_) | Record::FormerContext(_), Fate::Keep(_)) => Fate::Same,
            _ => fate,
        })
    }

    fn conversation(
        &mut self,
        read: &ReadHandle<'_>,
        rows: &Rows<'_, '_>,
        record: &Record,
        one: &ConversationRecord,
    ) -> Result<Fate, StoreError> {
        self.absent = HashSet::new();
        let sql = "SELECT v.deleted_at IS NOT NULL OR c.deleted_at IS NOT NULL FROM conversations v
            JOIN contexts c ON c.id = v.context_id WHERE v.id = ?1";
        let in_trash = read.one(sql, [bytes(one.id.uuid())], |row| Ok(row.get::<_, bool>(0)?))?;
        let (place, fate) = match in_trash {
            Some(true) => (Place::Out, Fate::Keep(Reason::InTrash)),
            Some(false) if Journal::has(read, Kind::Conversation, &one.id.to_string())? => (Place::Ours, Fate::Same),
            Some(false) => (Place::Theirs, alike(rows.like(record)?.as_ref(), record)),
            None if self.contexts.contains(&one.context_id) => (Place::Ours, Fate::Add),
            None => (Place::Out, Fate::Keep(Reason::InTrash)),
        };
        self.place = place;
        Ok(fate)
    }

    fn message(
        &mut self,
        read: &ReadHandle<'_>,
        rows: &Rows<'_, '_>,
        record: &Record,
        one: &MessageRecord,
    ) -> Result<Fate, StoreError> {
        if self.place == Place::Out {
            return Ok(Fate::Keep(Reason::InTrash));
        }
        let fate = match home(read, one.id.uuid())? {
            Some((conversation, false)) if conversation == one.conversation_id => {
                return Ok(alike(rows.like(record)?.as_ref(), record));
            }
            Some((conversation, true)) if conversation == one.conversation_id => Fate::Keep(Reason::InTrash),
            Some(_) => Fate::Keep(Reason::Elsewhere),
            None if one.parent_id.is_some_and(|parent| self.absent.contains(&parent.uuid())) => Fate::Keep(Reason::Hangs),
            None => Fate::Add,
        };
        if fate != Fate::Add {
            self.absent.insert(one.id.uuid());
        }
        Ok(fate)
    }

    /// Receipts, summaries and values.
    fn part(&mut self, rows: &Rows<'_, '_>, record: &Record) -> Result<Fate, StoreError> {
        if self.place == Place::Out {
            return Ok(Fate::Keep(Reason::InTrash));
        }
        if let Some(found) = rows.like(record)? {
            return Ok(alike(Some(&found), record));
        }
        let is_absent = |id: Uuid| self.absent.contains(&id);
        let hangs = match record {
            Record::Receipt(one) => is_absent(one.id.uuid()),
            Record::Summary(one) => {
                let rests_on = one.messages.values().chain([&one.up_to_id]).map(|id| id.uuid());
                rests_on.chain(one.sources.iter().map(|id| id.uuid())).any(is_absent)
            }
            Record::StateValue(one) => one.evidence_id.is_some_and(|id| is_absent(id.uuid())),
            _ => false,
        };
        let fate = match record {
            _ if hangs => Fate::Keep(Reason::Hangs),
            Record::Summary(_) | Record::StateValue(_) if self.place == Place::Theirs => Fate::Keep(Reason::ConversationKept),
            _ => Fate::Add,
        };
        if let (Record::Summary(one), Fate::Keep(_)) = (record, fate) {
            self.absent.insert(one.id.uuid());
        }
        Ok(fate)
    }
}

/// Whether a record is the vault's.
fn alike(found: Option<&Record>, record: &Record) -> Fate {
    match found {
        None => Fate::Add,
        Some(found) if found == record => Fate::Same,
        Some(_) => Fate::Keep(Reason::Different),
    }
}

/// The conversation of a message in the vault, and whether it was deleted there.
fn home(read: &ReadHandle<'_>, message: Uuid) -> Result<Option<(ConversationId, bool)>, StoreError> {
    let sql = "SELECT conversation_id, 0 FROM messages WHERE id = ?1
        UNION ALL SELECT conversation_id, 1 FROM deleted_messages WHERE id = ?1 LIMIT 1";
    read.one(sql, [bytes(message)], |row| Ok((id(row, 0)?, row.get(1)?)))
}
