//! What an import has added, so that one that was cut off can go on or be undone. It lies in the state of the
//! app while an import is under way, and is gone afterwards: it needs no table of its own.

use super::error::ArchiveError;
use super::lines::hex;
use super::record::{Kind, Record};
use crate::column::of_json;
use crate::{ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const HEAD: &str = "import";

/// An import that was begun and has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingImport {
    /// The archive's file.
    pub path: String,
    /// The digest of its records.
    pub sha256: String,
    /// When it was begun.
    pub started_at: DateTime<Utc>,
    /// The settings are taken over too.
    pub take_settings: bool,
    /// There was no companion in the vault before.
    pub is_new_vault: bool,
    /// It is being undone.
    pub is_undoing: bool,
}

/// What is noted of one thing that was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Noted {
    /// What it was when it came, as far as only the user changes that.
    pub mark: String,
    /// What stood in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Record>,
}

/// The notes of an import.
pub(super) struct Journal;

impl Journal {
    /// The import that has not ended.
    pub fn head(read: &ReadHandle<'_>) -> Result<Option<PendingImport>, StoreError> {
        let Some(text) = read.app_state(HEAD)? else { return Ok(None) };
        let damaged = |_| StoreError::DamagedValue { what: "app_state.import".into() };
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    pub fn put_head(write: &mut WriteHandle<'_>, head: &PendingImport) -> Result<(), StoreError> {
        let text = of_json(head)?;
        write.put_app_state(HEAD, &text)
    }

    /// Whether this import has added something.
    pub fn has(read: &ReadHandle<'_>, kind: Kind, id: &str) -> Result<bool, StoreError> {
        Ok(read.app_state(&key(kind, id))?.is_some())
    }

    /// Notes something that is added; what stood in its place is kept with it.
    pub fn note(write: &mut WriteHandle<'_>, record: &Record, before: Option<Record>) -> Result<(), ArchiveError> {
        let Some((kind, id)) = record.kind().zip(id_of(record)) else { return Ok(()) };
        let noted = of_json(&Noted { mark: mark(record)?, before })?;
        let sql = "INSERT INTO app_state (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";
        write.execute(sql, (key(kind, &id), noted))?;
        Ok(())
    }

    /// The ids of what was added of a kind, so many at most.
    pub fn some(read: &ReadHandle<'_>, kind: Kind, most: u32) -> Result<Vec<(String, Noted)>, StoreError> {
        let prefix = key(kind, "");
        // What follows the point in the order of characters ends the range.
        let end = format!("{HEAD}.{}/", kind.as_str());
        let after = i64::try_from(prefix.len()).unwrap_or(i64::MAX) + 1;
        let sql = "SELECT substr (key, ?3), value FROM app_state WHERE key > ?1 AND key < ?2 ORDER BY key LIMIT ?4";
        read.all(sql, (&prefix, end, after, most), |row| Ok((row.get(0)?, crate::column::json(row, 1)?)))
    }

    /// Forgets that something was added.
    pub fn strike(write: &mut WriteHandle<'_>, kind: Kind, id: &str) -> Result<(), StoreError> {
        write.execute("DELETE FROM app_state WHERE key = ?1", [key(kind, id)]).map(drop)
    }

    /// Forgets all of it.
    pub fn end(write: &mut WriteHandle<'_>) -> Result<(), StoreError> {
        write.execute("DELETE FROM app_state WHERE key = ?1 OR (key > ?1 || '.' AND key < ?1 || '/')", [HEAD])?;
        write.changed(crate::Noun::AppState, HEAD);
        Ok(())
    }
}

fn key(kind: Kind, id: &str) -> String {
    format!("{HEAD}.{}.{id}", kind.as_str())
}

/// The id that a record has among those of its kind.
pub(super) fn id_of(record: &Record) -> Option<String> {
    Some(match record {
        Record::Settings(_) => "settings".to_owned(),
        Record::Preset(one) => one.id.to_string(),
        Record::Provider(one) => one.id.to_string(),
        Record::ModelFile(one) => one.id.clone(),
        Record::Revision(one) => one.id.to_string(),
        Record::Context(one) => one.id.to_string(),
        Record::FormerContext(one) => one.id.to_string(),
        Record::Conversation(one) => one.id.to_string(),
        Record::Message(one) => one.id.to_string(),
        Record::Receipt(one) => one.id.to_string(),
        Record::Summary(one) => one.id.to_string(),
        Record::StateValue(one) => one.id.to_string(),
        Record::End(_) => return None,
    })
}

/// By which it is seen whether the user has changed something since it came.
pub(super) fn mark(record: &Record) -> Result<String, StoreError> {
    let mut plain = record.clone();
    match &mut plain {
        // A lifetime that ends is no doing of the user.
        Record::Context(one) => {
            one.is_active = true;
            one.updated_at = one.created_at;
        }
        // It follows from the messages while they come.
        Record::Conversation(one) => one.shown_message_id = None,
        _ => {}
    }
    Ok(hex(&Sha256::digest(of_json(&plain)?.as_bytes())))
}
