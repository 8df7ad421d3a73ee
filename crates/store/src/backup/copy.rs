//! Copying a database to another key, and taking its census.

use super::BackupError;
use super::format::{Census, Sample, hex};
use super::progress::{Step, Watch, tell};
use crate::StoreError;
use crate::connection::{self, Key, refuse_broken};
use crate::file::{create_private, sync_file};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

/// Page size of SQLCipher's format 4, which every connection pins.
const PAGE_BYTES: u64 = 4_096;
/// Pages copied between two looks at the watcher: 1 MiB.
const PAGES: i32 = 256;
/// Pause where SQLite asks to come back later, and how often that is done: half a minute.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: u32 = 600;

/// Copies the database that `source` sees to a new file under `key`. What `source` sees does not
/// change meanwhile if it is inside a transaction, and no writer is kept waiting.
pub(super) fn copy_database(
    source: &Connection,
    target: &Path,
    key: &Key,
    step: Step,
    watch: &mut Watch<'_>,
) -> Result<(), BackupError> {
    let of_work = |error| BackupError::of_work(error, target);
    create_private(target).map_err(of_work)?;
    let mut connection = connection::create(target, key).map_err(of_work)?;
    // Nothing refers to the file until it is whole and synced, so it needs no journal of its own.
    let unsafely = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;";
    connection.execute_batch(unsafely).map_err(|error| of_work(error.into()))?;
    copy_pages(source, &mut connection, step, watch).map_err(|error| match error {
        BackupError::Store(StoreError::DiskFull { .. }) => BackupError::DiskFull { path: target.to_owned() },
        error => error,
    })?;
    // Zeros in the place of a page would be encrypted anew, and look like any other page of the copy.
    refuse_broken(source)?;
    connection.close().map_err(|(_, error)| of_work(error.into()))?;
    leave_wal(target, key).map_err(of_work)?;
    sync_file(target).map_err(of_work)
}

fn copy_pages(source: &Connection, target: &mut Connection, step: Step, watch: &mut Watch<'_>) -> Result<(), BackupError> {
    let bytes = |pages: i32| u64::try_from(pages).unwrap_or(0) * PAGE_BYTES;
    tell(watch, step, 0, 0)?;
    let backup = Backup::new(source, target).map_err(StoreError::from)?;
    let mut pauses = 0;
    loop {
        match backup.step(PAGES).map_err(StoreError::from)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {
                let at = backup.progress();
                tell(watch, step, bytes(at.pagecount - at.remaining), bytes(at.pagecount))?;
            }
            _ if pauses < PAUSES => {
                pauses += 1;
                std::thread::sleep(PAUSE);
            }
            _ => return Err(BackupError::InUse),
        }
    }
}

/// The copied header says that there is a write-ahead log; a file that travels alone has none.
fn leave_wal(path: &Path, key: &Key) -> Result<(), StoreError> {
    let connection = connection::open(path, key)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    if mode != "delete" {
        return Err(StoreError::defect(format!("the journal mode of a copy is {mode} where it has to be delete")));
    }
    connection.close().map_err(|(_, error)| error.into())
}

/// Counts every table and notes two messages.
pub(super) fn census(connection: &Connection) -> Result<Census, StoreError> {
    // A virtual table is counted by the tables that it is made of.
    let sql = "SELECT name FROM sqlite_schema
               WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut tables = std::collections::BTreeMap::new();
    for name in names {
        let quoted = name.replace('"', "\"\"");
        let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM \"{quoted}\""), [], |row| row.get(0))?;
        tables.insert(name, u64::try_from(rows).unwrap_or(0));
    }
    let newest_key: Option<i64> = connection.query_row("SELECT max(key) FROM messages", [], |row| row.get(0))?;
    let key = newest_key.unwrap_or(0);
    Ok(Census { tables, newest: sample(connection, key)?, middle: sample(connection, key / 2)? })
}

/// The message at a place in the order of writing, or the next one that is there.
fn sample(connection: &Connection, key: i64) -> Result<Option<Sample>, StoreError> {
    let sql = "SELECT id, content FROM messages WHERE key >= ?1 ORDER BY key LIMIT 1";
    Ok(connection.query_row(sql, params![key], read_sample).optional()?)
}

fn read_sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let id = Uuid::from_bytes(row.get(0)?);
    let text: String = row.get(1)?;
    Ok(Sample { id, sha256: hex(&Sha256::digest(text.as_bytes())) })
}
