//! The file: a front that says what it is, then the database to the end.
//!
//! ```text
//! EVENKEEL BACKUP 1\n     magic and format number
//! 32 bytes                SHA-256 of the line above and of everything below, up to the database
//! u32                     length of the front, that is of the three sections
//! u32 + head              JSON, readable by everyone: which vault, when, which version
//! u32 + key slots         the vault's key-slot file as it was
//! u32 + contents          JSON, sealed (AES-256-GCM) and bound to the line and both sections above
//! database                SQLCipher, under the subkey `backup`
//! ```
//! Integers are little-endian. The line, the hash and the length keep their meaning in every later
//! format, so that a damaged file is told from one of a newer version, and both from a wrong key,
//! which only the seal shows.

use super::info::{BackupAbout, BackupCounts, BackupId, BackupKind, VaultKeys};
use super::{BackupError, EXTENSION};
use chrono::{DateTime, Utc};
use evenkeel_vault::{KeyFile, Use, VaultError, open, seal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use uuid::Uuid;

const MAGIC: &str = "EVENKEEL BACKUP ";
/// Format that this version writes, and the newest that it reads.
const VERSION: u32 = 1;
/// Longest first line that is looked at.
const LONGEST_LINE: usize = 32;
const HASH: usize = 32;
const LENGTH: usize = 4;
/// A front has about 4 KiB; one much larger is none of ours.
const MOST_FRONT: u64 = 1 << 20;

/// What everyone may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub id: BackupId,
    pub vault_id: Uuid,
    pub kind: BackupKind,
    pub made_at: DateTime<Utc>,
    pub app_version: String,
    pub schema: i64,
}

/// What only the key shows, and what the database is checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Contents {
    /// Length of the database in bytes.
    pub bytes: u64,
    /// SHA-256 of the database as it lies in the file, in hex.
    pub sha256: String,
    pub census: Census,
}

/// What a database held at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Census {
    /// Rows of every table.
    pub tables: BTreeMap<String, u64>,
    /// The newest message.
    pub newest: Option<Sample>,
    /// One from the middle.
    pub middle: Option<Sample>,
}

/// A message that has to be readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sample {
    pub id: Uuid,
    /// SHA-256 of its text, in hex.
    pub sha256: String,
}

impl Census {
    pub(super) fn counts(&self) -> BackupCounts {
        let of = |table: &str| self.tables.get(table).copied().unwrap_or(0);
        BackupCounts { contexts: of("contexts"), conversations: of("conversations"), messages: of("messages") }
    }
}

/// The front of a file whose hash fits.
pub(super) struct Front {
    pub head: Head,
    key_slots: Vec<u8>,
    /// Everything that the contents are bound to.
    bound: Vec<u8>,
    sealed: Vec<u8>,
    /// Where the database begins.
    pub database_at: u64,
    /// Length of the whole file.
    pub file_bytes: u64,
}

impl Front {
    /// Reads the front and leaves `file` at the beginning of the database.
    pub(super) fn read(file: &mut File, path: &Path) -> Result<Self, BackupError> {
        let failed = |source| BackupError::file("read", path, source);
        let damaged = |reason: &str| BackupError::damaged(path, reason);
        let file_bytes = file.metadata().map_err(failed)?.len();
        let mut start = Vec::with_capacity(LONGEST_LINE + HASH + LENGTH);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.by_ref().take((LONGEST_LINE + HASH + LENGTH) as u64).read_to_end(&mut start).map_err(failed)?;
        if !start.starts_with(MAGIC.as_bytes()) {
            return Err(if is_named_like_ours(path) {
                damaged("it does not begin like a backup")
            } else {
                BackupError::Foreign { path: path.to_owned() }
            });
        }
        let end = start.iter().take(LONGEST_LINE).position(|byte| *byte == b'\n');
        let (line, rest) = start.split_at(end.ok_or_else(|| damaged("its first line has no end"))? + 1);
        let (Some(hash), Some(length)) = (rest.get(..HASH), rest.get(HASH..).and_then(|rest| rest.first_chunk::<LENGTH>()))
        else {
            return Err(damaged("it ends too early"));
        };
        let bytes = u64::from(u32::from_le_bytes(*length));
        if bytes > MOST_FRONT {
            return Err(damaged("its front is too long"));
        }
        let front_at = (line.len() + HASH + LENGTH) as u64;
        let mut sections = Vec::new();
        file.seek(SeekFrom::Start(front_at)).map_err(failed)?;
        file.by_ref().take(bytes).read_to_end(&mut sections).map_err(failed)?;
        if hash_of(line, length, &sections) != hash || sections.len() as u64 != bytes {
            return Err(damaged("the hash of its front does not fit"));
        }
        check_version(line, path)?;
        Self::parse(line, &sections, path).map(|front| Self { database_at: front_at + bytes, file_bytes, ..front })
    }

    fn parse(line: &[u8], sections: &[u8], path: &Path) -> Result<Self, BackupError> {
        let damaged = || BackupError::damaged(path, "the parts of its front do not fit");
        let (head, rest) = section(sections).ok_or_else(damaged)?;
        let (key_slots, rest) = section(rest).ok_or_else(damaged)?;
        let bound = [line, sections.strip_suffix(rest).ok_or_else(damaged)?].concat();
        let (sealed, rest) = section(rest).ok_or_else(damaged)?;
        if !rest.is_empty() {
            return Err(damaged());
        }
        let head = serde_json::from_slice(head).map_err(|error| BackupError::damaged(path, error))?;
        Ok(Self { head, key_slots: key_slots.to_vec(), bound, sealed: sealed.to_vec(), database_at: 0, file_bytes: 0 })
    }

    /// The key slots in it. They are those of the vault that it is of.
    pub(super) fn key_file(&self, path: &Path) -> Result<KeyFile, BackupError> {
        let key_file = KeyFile::from_bytes(&self.key_slots, "the key slots").map_err(|error| match error {
            VaultError::TooNew { found, known } => {
                let (found, known) = (found.into(), known.into());
                BackupError::TooNew { path: path.to_owned(), what: "key slots of format", found, known }
            }
            error => BackupError::damaged(path, error),
        })?;
        if key_file.vault_id() == self.head.vault_id {
            Ok(key_file)
        } else {
            Err(BackupError::damaged(path, "its key slots are of another vault"))
        }
    }

    /// What only the key shows.
    pub(super) fn contents(&self, keys: VaultKeys<'_>, path: &Path) -> Result<Contents, BackupError> {
        if keys.vault_id != self.head.vault_id {
            let (found, wanted) = (self.head.vault_id, keys.vault_id);
            return Err(BackupError::OtherVault { path: path.to_owned(), found, wanted });
        }
        let key = keys.root.subkey(keys.vault_id, Use::BackupContents);
        // The hash of the front fits, so it is the key that does not.
        let plain = open(&key, &self.bound, &self.sealed).map_err(|_| BackupError::WrongKey { path: path.to_owned() })?;
        serde_json::from_slice(&plain).map_err(|error| BackupError::damaged(path, error))
    }

    pub(super) fn about(&self, counts: Option<BackupCounts>) -> BackupAbout {
        let Head { id, vault_id, kind, made_at, app_version, schema } = self.head.clone();
        BackupAbout { id, vault_id, kind, made_at, app_version, schema, counts }
    }
}

/// The bytes before the database. Their number depends on the lengths of what is given alone, not
/// on the hash in the contents.
pub(super) fn front_bytes(
    head: &Head,
    key_file: &KeyFile,
    contents: &Contents,
    keys: VaultKeys<'_>,
) -> Result<Vec<u8>, BackupError> {
    let json = |error: serde_json::Error| crate::StoreError::defect(format!("a backup's front has no JSON form ({error})"));
    let line = format!("{MAGIC}{VERSION}\n").into_bytes();
    let mut sections = Vec::new();
    put_section(&mut sections, &serde_json::to_vec(head).map_err(json)?)?;
    put_section(&mut sections, &key_file.to_bytes()?)?;
    let bound = [line.as_slice(), &sections].concat();
    let key = keys.root.subkey(keys.vault_id, Use::BackupContents);
    put_section(&mut sections, &seal(&key, &bound, &serde_json::to_vec(contents).map_err(json)?)?)?;
    let length = length_of(&sections)?;
    let hash = hash_of(&line, &length, &sections);
    Ok([line.as_slice(), &hash, &length, &sections].concat())
}

/// The name of a backup: it sorts by time.
pub(super) fn file_name(id: BackupId, made_at: DateTime<Utc>) -> String {
    format!("evenkeel-{}-{}.{EXTENSION}", made_at.format("%Y%m%dT%H%M%SZ"), id.short())
}

fn is_named_like_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("evenkeel-"))
}

/// Lowercase hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn check_version(line: &[u8], path: &Path) -> Result<(), BackupError> {
    let number = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix(MAGIC)?.trim_end().parse::<u32>().ok());
    match number {
        Some(VERSION) => Ok(()),
        Some(found) if found > VERSION => {
            Err(BackupError::TooNew { path: path.to_owned(), what: "format", found: found.into(), known: VERSION.into() })
        }
        _ => Err(BackupError::damaged(path, "its format number is none")),
    }
}

fn hash_of(line: &[u8], length: &[u8; LENGTH], sections: &[u8]) -> [u8; HASH] {
    let mut hash = Sha256::new();
    hash.update(line);
    hash.update(length);
    hash.update(sections);
    hash.finalize().into()
}

fn length_of(bytes: &[u8]) -> Result<[u8; LENGTH], BackupError> {
    let length = u32::try_from(bytes.len()).map_err(|_| crate::StoreError::defect("a part of a backup's front is too long"))?;
    Ok(length.to_le_bytes())
}

fn put_section(sections: &mut Vec<u8>, bytes: &[u8]) -> Result<(), BackupError> {
    sections.extend_from_slice(&length_of(bytes)?);
    sections.extend_from_slice(bytes);
    Ok(())
}

/// The first section and what follows it.
fn section(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
#[path = "format/tests.rs"]
mod tests;
