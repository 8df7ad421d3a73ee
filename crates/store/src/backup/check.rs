//! Proving a backup: taking the database out again and looking at all of it.

use super::copy::census;
use super::format::{Census, Contents, Front, hex};
use super::info::{BackupInfo, BackupResult, VaultKeys};
use super::progress::{Step, Watch, tell};
use super::work::Work;
use super::{BackupError, index};
use crate::connection::{self, Key};
use crate::file::create_private;
use crate::store::findings;
use crate::{SCHEMA_VERSION, Store, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_vault::{Profile, Use};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Bytes copied between two looks at the watcher.
const CHUNK: usize = 1 << 20;

/// A backup that was taken apart and found whole.
pub(super) struct Proved {
    pub front: Front,
    pub contents: Contents,
    /// The database, still under the backup's key.
    pub database: PathBuf,
}

/// Checks a backup completely, as a restore would, on a copy in the work folder of `profile`; the
/// vault is not touched. The result is noted beside the backup where that can be written.
///
/// # Errors
/// `Damaged`, `Foreign`, `TooNew`, `WrongKey`, `OtherVault`; `FolderMissing`, `DiskFull`, `File`;
/// `Cancelled`.
pub fn verify(
    path: &Path,
    keys: VaultKeys<'_>,
    profile: &Profile,
    now: DateTime<Utc>,
    watch: &mut Watch<'_>,
) -> Result<BackupInfo, BackupError> {
    let work = Work::begin(profile, "verify")?;
    match prove(path, keys, &work, watch) {
        Ok(proved) => {
            let info = BackupInfo {
                path: path.to_owned(),
                size_bytes: proved.front.file_bytes,
                about: Some(proved.front.about(Some(proved.contents.census.counts()))),
                verified_at: Some(now),
                result: BackupResult::Verified,
            };
            index::record(&info);
            Ok(info)
        }
        Err(error) => {
            if let BackupError::Damaged { reason, .. } = &error {
                index::record_damage(path, reason, now);
            }
            Err(error)
        }
    }
}

/// Whether the database in its place opens with these keys, has a schema that this version knows, and
/// is whole, page for page. It is not changed by looking; where there is none, none is whole.
///
/// # Errors
/// `File`, `NotWritable`, `DiskFull`, or `Store` while another process works on it: nobody knows then.
pub fn database_is_whole(profile: &Profile, keys: VaultKeys<'_>) -> Result<bool, BackupError> {
    let path = profile.database();
    let checked = Store::schema(&path, &keys.root.subkey(keys.vault_id, Use::Database)).and_then(|schema| {
        let connection = connection::open(&path, &keys.database(Use::Database))?;
        check_connection(&connection)?;
        Ok(schema <= SCHEMA_VERSION)
    });
    match checked {
        Ok(is_known) => Ok(is_known),
        Err(
            error @ (StoreError::DiskFull { .. }
            | StoreError::Busy { .. }
            | StoreError::RestorePending { .. }
            | StoreError::File { .. }),
        ) => Err(BackupError::of_work(error, &path)),
        // Damage takes many shapes: a schema that is not ours, pages that the disk does not give.
        Err(error) => {
            tracing::info!(code = error.code().as_str(), %error, "the vault's database is not whole");
            Ok(false)
        }
    }
}

/// Takes a backup apart into `work` and checks everything.
pub(super) fn prove(path: &Path, keys: VaultKeys<'_>, work: &Work, watch: &mut Watch<'_>) -> Result<Proved, BackupError> {
    let mut file = open_file(path)?;
    let front = Front::read(&mut file, path)?;
    front.key_file(path)?;
    let contents = front.contents(keys, path)?;
    let database = work.path("unpacked.db");
    unpack(&mut file, path, &contents, &database, watch)?;
    tell(watch, Step::Checking, 0, 0)?;
    check_database(&database, &keys.database(Use::Backup), &contents.census)
        .map_err(|error| BackupError::of_backup(error, path))?;
    Ok(Proved { front, contents, database })
}

/// Opens a backup to read it.
pub(super) fn open_file(path: &Path) -> Result<File, BackupError> {
    File::open(path).map_err(|source| BackupError::file("read", path, source))
}

/// Checks a database and compares it with what it has to hold.
pub(super) fn check_database(path: &Path, key: &Key, expected: &Census) -> Result<(), StoreError> {
    let connection = connection::open(path, key)?;
    check_connection(&connection)?;
    let found = census(&connection)?;
    if found != *expected {
        return Err(damaged(difference(&found, expected)));
    }
    connection.close().map_err(|(_, error)| error.into())
}

/// Page codes, structure and foreign keys.
pub(super) fn check_connection(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    match findings(connection)?.first() {
        Some(finding) => Err(damaged(finding.clone())),
        None => Ok(()),
    }
}

fn damaged(what: String) -> StoreError {
    StoreError::DamagedValue { what }
}

fn difference(found: &Census, expected: &Census) -> String {
    let differs = |table: &&String| found.tables.get(*table) != expected.tables.get(*table);
    match expected.tables.keys().chain(found.tables.keys()).find(differs) {
        Some(table) => format!("the number of rows in table {table}"),
        None => "the newest message or the one in the middle".to_owned(),
    }
}

/// Writes the database of a backup to a file of its own, and compares it with its hash.
fn unpack(file: &mut File, path: &Path, contents: &Contents, target: &Path, watch: &mut Watch<'_>) -> Result<(), BackupError> {
    tell(watch, Step::Unpacking, 0, contents.bytes)?;
    create_private(target).map_err(|error| BackupError::of_work(error, target))?;
    let mut out = File::options().write(true).open(target).map_err(|source| BackupError::file("write", target, source))?;
    let mut reader = file.take(contents.bytes.saturating_add(1));
    let (bytes, sha256) =
        pump((&mut reader, path), (&mut out, target), |done| tell(watch, Step::Unpacking, done, contents.bytes))?;
    if bytes != contents.bytes {
        return Err(BackupError::damaged(path, "the database in it does not have the right length"));
    }
    if sha256 != contents.sha256 {
        return Err(BackupError::damaged(path, "the hash of the database in it does not fit"));
    }
    Ok(())
}

/// Copies to the end; answers how many bytes, and their SHA-256 in hex.
pub(super) fn pump(
    (from, from_path): (&mut dyn Read, &Path),
    (to, to_path): (&mut dyn Write, &Path),
    mut told: impl FnMut(u64) -> Result<(), BackupError>,
) -> Result<(u64, String), BackupError> {
    let mut buffer = vec![0; CHUNK];
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    loop {
        let read = match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.map_err(|source| BackupError::file("read", from_path, source))?,
        };
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(|source| BackupError::file("write", to_path, source))?;
        bytes += read as u64;
        told(bytes)?;
    }
}

#[cfg(test)]
#[path = "check/tests.rs"]
mod tests;
