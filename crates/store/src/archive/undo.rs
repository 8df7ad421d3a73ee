//! Taking back what an import that was cut off has added, as long as the user has not changed it since.

use super::apply::Apply;
use super::error::ArchiveError;
use super::journal::{Journal, Noted, mark};
use super::merge::Place;
use super::record::{Kind, Record};
use super::rows::Rows;
use crate::column::bytes;
use crate::{Noun, Purge, ReadHandle, Store, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, PresetId, TrashId, TrashItem};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Notes that are read at a time.
const SOME: u32 = 100;
/// In which order it goes: first what hangs on something, then that.
const ORDER: [Kind; 11] = [
    Kind::StateValue,
    Kind::Summary,
    Kind::Receipt,
    Kind::Message,
    Kind::Conversation,
    Kind::Context,
    Kind::FormerContext,
    Kind::ModelFile,
    Kind::Provider,
    Kind::Preset,
    Kind::Settings,
];

/// What undoing an import has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoReport {
    /// Things that are gone again; a conversation counts as one.
    pub removed: u64,
    /// Things that were changed or used since they came, and stay.
    pub kept: u64,
}

/// Takes back what an import has added that was cut off. `go_on` is asked now and then; what is left then is taken
/// back by the next call.
///
/// # Errors
/// `Store`; `Cancelled`.
pub fn undo_import(store: &Store, now: DateTime<Utc>, go_on: &mut dyn FnMut() -> bool) -> Result<UndoReport, ArchiveError> {
    let begun = store.write(|write| {
        let Some(mut head) = Journal::head(write)? else { return Ok(false) };
        head.is_undoing = true;
        Journal::put_head(write, &head).map(|()| true)
    })?;
    let mut report = UndoReport::default();
    if !begun {
        return Ok(report);
    }
    for kind in ORDER {
        loop {
            let notes = store.read(|read| Journal::some(read, kind, SOME))?;
            if notes.is_empty() {
                break;
            }
            for (id, noted) in in_order(store, kind, notes)? {
                if !go_on() {
                    return Err(ArchiveError::Cancelled);
                }
                if undo_one(store, kind, &id, &noted, now)? { report.removed += 1 } else { report.kept += 1 }
            }
        }
    }
    store.write(|write| {
        write.forget_unused_revisions()?;
        Journal::end(write)
    })?;
    Ok(report)
}

/// Messages the newest first, so that each goes before its parent; but only where all of them are at hand.
fn in_order(store: &Store, kind: Kind, mut notes: Vec<(String, Noted)>) -> Result<Vec<(String, Noted)>, StoreError> {
    if kind == Kind::Message {
        let all = store.read(|read| Journal::some(read, kind, u32::MAX))?;
        let mut keyed = store.read(|read| {
            all.into_iter().map(|note| Ok((key_of(read, &note.0)?, note))).collect::<Result<Vec<_>, StoreError>>()
        })?;
        keyed.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        notes = keyed.into_iter().map(|(_, note)| note).collect();
    }
    Ok(notes)
}

fn key_of(read: &ReadHandle<'_>, message: &str) -> Result<i64, StoreError> {
    let sql = "SELECT key FROM messages WHERE id = ?1";
    Ok(read.one(sql, [bytes(uuid(message))], |row| Ok(row.get(0)?))?.unwrap_or(0))
}

/// Every id in the journal is one that was read from a record; another one names nothing.
fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).unwrap_or_default()
}

/// Takes back one thing; false if it stays. Its note is gone in any case.
fn undo_one(store: &Store, kind: Kind, id: &str, noted: &Noted, now: DateTime<Utc>) -> Result<bool, ArchiveError> {
    if kind == Kind::Conversation {
        return undo_conversation(store, id, noted, now);
    }
    store.try_write(|write| {
        Journal::strike(write, kind, id)?;
        let found = Rows::new(write)?.find(kind, id)?;
        // Gone already: by the user, or with what it hung on.
        let Some(found) = found else { return Ok(true) };
        if mark(&found)? != noted.mark {
            return Ok(false);
        }
        if let Some(before) = &noted.before {
            put_back(write, before, now)?;
            return Ok(true);
        }
        remove(write, &found, now)
    })
}

/// A conversation goes in portions, as out of the trash.
fn undo_conversation(store: &Store, id: &str, noted: &Noted, now: DateTime<Utc>) -> Result<bool, ArchiveError> {
    let conversation = ConversationId::from(uuid(id));
    let deleted_at = DateTime::from_timestamp_millis(now.timestamp_millis()).unwrap_or(now);
    let item = store.try_write(|write| {
        let found = Rows::new(write)?.find(Kind::Conversation, id)?;
        let Some(found @ Record::Conversation(_)) = found else { return Ok::<_, ArchiveError>(None) };
        let sql = "SELECT deleted_at FROM conversations WHERE id = ?1";
        let trashed = write.one(sql, [bytes(conversation.uuid())], |row| Ok(row.get::<_, Option<i64>>(0)?))?.flatten();
        if mark(&found)? != noted.mark {
            return Ok(None);
        }
        // Already in the trash: an undoing that was cut off has put it there, or the user as it came.
        if trashed.is_none() {
            take_back_votes(write, conversation)?;
            write.trash_conversations(&[conversation], deleted_at)?;
        }
        let deleted_at = trashed.and_then(DateTime::from_timestamp_millis).unwrap_or(deleted_at);
        Ok(Some(in_trash(conversation, deleted_at)))
    })?;
    let removed = match item {
        Some(item) => matches!(store.purge(&item, now, &mut || true)?, Purge::Gone),
        None => false,
    };
    store.write(|write| Journal::strike(write, Kind::Conversation, id))?;
    Ok(removed)
}

fn in_trash(conversation: ConversationId, deleted_at: DateTime<Utc>) -> TrashItem {
    TrashItem {
        id: TrashId::Conversation(conversation),
        title: String::new(),
        context_id: None,
        context_name: None,
        weight: 0,
        waits: false,
        deleted_at,
        shown_at: None,
        purge_due_running_ms: None,
    }
}

/// The votes on its messages no longer count for their presets.
fn take_back_votes(write: &mut WriteHandle<'_>, conversation: ConversationId) -> Result<(), StoreError> {
    let sql = "SELECT f.preset_id, f.vote > 0, count(*) FROM messages m JOIN feedback f ON f.message_id = m.id
        WHERE m.conversation_id = ?1 AND f.preset_id IS NOT NULL GROUP BY 1, 2";
    let votes = write.all(sql, [bytes(conversation.uuid())], |row| {
        Ok((PresetId::new(row.get::<_, String>(0)?), row.get::<_, bool>(1)?, row.get::<_, i64>(2)?))
    })?;
    for (preset, is_up, count) in votes {
        Apply::new(write)?.count_preset(&preset, if is_up { "thumbs_up" } else { "thumbs_down" }, -count)?;
    }
    Ok(())
}

/// Puts back what stood in the place of something.
fn put_back(write: &mut WriteHandle<'_>, before: &Record, now: DateTime<Utc>) -> Result<(), ArchiveError> {
    Apply::new(write)?.add(before, Place::Out, now)?;
    if let Record::Preset(one) = before {
        write.execute("UPDATE presets SET is_edited = 0 WHERE id = ?1", [one.id.as_str()])?;
    }
    Ok(())
}

/// Removes something that is as it came; false where others use it by now.
fn remove(write: &mut WriteHandle<'_>, found: &Record, now: DateTime<Utc>) -> Result<bool, ArchiveError> {
    let (sql, id, noun) = match found {
        Record::Context(one) => return remove_context(write, one.id, one.preset_id.as_ref(), now),
        Record::Message(one) => {
            let (id, conversation) = (bytes(one.id.uuid()), bytes(one.conversation_id.uuid()));
            let gone = write.execute(
                "DELETE FROM messages WHERE id = ?1
                   AND NOT EXISTS (SELECT 1 FROM messages c WHERE c.conversation_id = ?2 AND c.parent_id = ?1)
                   AND NOT EXISTS (SELECT 1 FROM deleted_messages c WHERE c.conversation_id = ?2 AND c.parent_id = ?1)
                   AND NOT EXISTS (SELECT 1 FROM conversations v WHERE v.id = ?2 AND v.active_leaf_id = ?1)",
                (id, conversation),
            )?;
            if gone > 0 {
                write.execute("UPDATE conversations SET message_count = message_count - 1 WHERE id = ?1", [conversation])?;
            }
            write.changed(Noun::Conversation, one.conversation_id);
            return Ok(gone > 0);
        }
        // They go at the end, where nothing refers to them any more.
        Record::FormerContext(_) | Record::Revision(_) => return Ok(true),
        Record::Conversation(_) | Record::Settings(_) | Record::End(_) => return Ok(false),
        Record::Receipt(one) => ("DELETE FROM receipts WHERE reply_id = ?1", Some(one.id.uuid()), Noun::Message),
        Record::Summary(one) => ("DELETE FROM summaries WHERE id = ?1", Some(one.id.uuid()), Noun::Summary),
        Record::StateValue(one) => ("DELETE FROM state_values WHERE id = ?1", Some(one.id.uuid()), Noun::State),
        Record::Provider(one) => ("DELETE FROM providers WHERE id = ?1", Some(one.id.uuid()), Noun::Provider),
        Record::Preset(one) => {
            write.changed(Noun::Preset, &one.id);
            return Ok(write.execute("DELETE FROM presets WHERE id = ?1", [one.id.as_str()])? > 0);
        }
        Record::ModelFile(one) => {
            write.changed(Noun::ModelFile, &one.id);
            return Ok(write.execute("DELETE FROM model_files WHERE id = ?1", [&one.id])? > 0);
        }
    };
    let gone = write.execute(sql, [id.map(bytes)])?;
    write.changed(noun, "");
    Ok(gone > 0)
}

/// A context goes once no conversation of it is left; where messages of it stand elsewhere, a nameless place stays.
fn remove_context(
    write: &mut WriteHandle<'_>,
    id: ContextId,
    preset: Option<&PresetId>,
    now: DateTime<Utc>,
) -> Result<bool, ArchiveError> {
    let conversations = "SELECT count(*) FROM conversations WHERE context_id = ?1";
    if write.number(conversations, [bytes(id.uuid())])? > 0 {
        return Ok(false);
    }
    write.purge_context(id, now)?;
    if let Some(preset) = preset {
        Apply::new(write)?.count_preset(preset, "contexts_made", -1)?;
    }
    Ok(true)
}
