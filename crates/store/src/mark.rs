//! The high-water mark: how far messages were acknowledged, kept beside the database. A log that lost its
//! end still opens clean, as if the last messages had never been; only something outside can tell.
//!
//! In every state that a crash can leave, the mark says no more than the database holds: it rises after
//! COMMIT, and falls, synced, before a COMMIT that takes the newest messages away. So it may lag behind, and
//! never cries without need. It is bound to the database by its salt; a restored one begins a new mark.
//!
//! ```text
//! 16 bytes    the database's salt, its first bytes
//! i64         the highest message number that was acknowledged
//! u64         how often it fell
//! 8 bytes     beginning of the SHA-256 of the above
//! ```
//! Integers are little-endian.

use crate::StoreError;
use crate::connection::Salt;
use crate::file::with_suffix;
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

const SUFFIX: &str = ".mark";
const SALT: usize = size_of::<Salt>();
const BYTES: usize = SALT + 8 + 8 + 8;

/// The highest number that a message has had, and so what the mark is compared with. Deleted messages count as long as
/// they can come back.
const NEWEST: &str =
    "SELECT max (coalesce ((SELECT max (key) FROM messages), 0), coalesce ((SELECT max (key) FROM deleted_messages), 0))";

/// What the mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    newest: i64,
    falls: u64,
}

/// The mark of an open database.
pub(crate) struct Mark {
    file: File,
    salt: Salt,
}

/// What is to be noted once a transaction is committed.
#[must_use]
pub(crate) struct Rise(Option<Record>);

/// Messages that were acknowledged and are not in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortfall {
    pub(crate) acknowledged: i64,
    pub(crate) found: i64,
}

impl Mark {
    /// The mark of the database at `path`, made where there is none yet. A disk that does not allow one is no
    /// reason not to open the vault.
    pub(crate) fn open(path: &Path, salt: Salt) -> Option<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let opened = options.open(with_suffix(path, SUFFIX));
        let opened = opened.inspect_err(
            |error| tracing::warn!(os = error.raw_os_error(), %error, "the mark beside the database cannot be kept"),
        );
        Some(Self { file: opened.ok()?, salt })
    }

    /// What is missing from the database that `connection` sees. Looking changes nothing.
    pub(crate) fn shortfall(path: &Path, salt: Salt, connection: &Connection) -> Result<Option<Shortfall>, StoreError> {
        let read = || parse(&fs::read(with_suffix(path, SUFFIX)).ok()?, salt);
        let mut before = read();
        while let Some(record) = before {
            let Some(found) = newest(connection)? else { return Ok(None) };
            if found >= record.newest {
                return Ok(None);
            }
            // Another process may have taken messages away between the two looks.
            let after = read();
            if after == before {
                return Ok(Some(Shortfall { acknowledged: record.newest, found }));
            }
            before = after;
        }
        Ok(None)
    }

    /// The highest number that a message has had in the database that `connection` sees.
    pub(crate) fn newest(connection: &Connection) -> Result<Option<i64>, StoreError> {
        newest(connection)
    }

    /// Begins the mark anew at what the database holds, whatever it said.
    pub(crate) fn begin_anew(&self, connection: &Connection) -> Result<(), StoreError> {
        let Some(newest) = newest(connection)? else { return Ok(()) };
        let falls = self.read().map_or(0, |record| record.falls + 1);
        if let Err(error) = self.put(Record { newest, falls }, true) {
            tracing::warn!(os = error.raw_os_error(), %error, "the mark beside the database cannot be kept");
        }
        Ok(())
    }

    /// Looks, inside a transaction that is about to be committed, how the mark has to change, and lets it fall if
    /// it has to. `Err` is a mark that cannot be written though it has to fall: then nothing may be committed.
    /// `before` is the highest number at the transaction's beginning: where it went down, the mark falls even if it
    /// lags so far behind that it need not, so that a rise that another process has still to note does not count.
    pub(crate) fn before_commit(&self, connection: &Connection, before: Option<i64>) -> Result<Rise, StoreError> {
        let Some(newest) = newest(connection)? else { return Ok(Rise(None)) };
        let has_sunk = before.is_some_and(|before| before > newest);
        let record = self.read();
        let falls = record.map_or(0, |record| record.falls);
        match record {
            Some(record) if record.newest == newest && !has_sunk => Ok(Rise(None)),
            Some(record) if record.newest > newest || has_sunk => {
                let fallen = self.file.lock().and_then(|()| {
                    let put = self.put(Record { newest: newest.min(record.newest), falls: falls + 1 }, true);
                    self.file.unlock().and(put)
                });
                fallen.map_err(|source| StoreError::File { action: "lower the mark of", path: "vault.db".into(), source })?;
                Ok(Rise(None))
            }
            _ => Ok(Rise(Some(Record { newest, falls }))),
        }
    }

    /// Lets the mark rise after COMMIT. It is not synced: what a power cut takes of it only makes it lag.
    pub(crate) fn after_commit(&self, rise: Rise) {
        let Rise(Some(record)) = rise else { return };
        // Whoever holds the lock is about to note something newer; nobody who has saved a message waits for that.
        if self.file.try_lock().is_err() {
            return;
        }
        // One that fell meanwhile, by another process, knows better.
        let is_outdated = self.read().is_some_and(|now| now.falls != record.falls || now.newest >= record.newest);
        let put = if is_outdated { Ok(()) } else { self.put(record, false) };
        let risen = self.file.unlock().and(put);
        if let Err(error) = risen {
            tracing::warn!(os = error.raw_os_error(), %error, "the mark beside the database lags behind");
        }
    }

    fn read(&self) -> Option<Record> {
        let (mut file, mut bytes) = (&self.file, [0; BYTES]);
        file.seek(SeekFrom::Start(0)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        parse(&bytes, self.salt)
    }

    fn put(&self, record: Record, durably: bool) -> io::Result<()> {
        let mut bytes = self.salt.to_vec();
        bytes.extend_from_slice(&record.newest.to_le_bytes());
        bytes.extend_from_slice(&record.falls.to_le_bytes());
        let sum = sum(&bytes);
        bytes.extend_from_slice(&sum);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&bytes)?;
        if durably { file.sync_data() } else { Ok(()) }
    }
}

fn parse(bytes: &[u8], salt: Salt) -> Option<Record> {
    let (body, found) = bytes.split_last_chunk::<8>()?;
    let is_ours = bytes.len() == BYTES && body.starts_with(&salt) && *found == sum(body);
    let (newest, falls) = body.get(SALT..)?.split_first_chunk::<8>()?;
    is_ours.then_some(Record { newest: i64::from_le_bytes(*newest), falls: u64::from_le_bytes(*falls.first_chunk()?) })
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut sum = [0; 8];
    sum.copy_from_slice(&Sha256::digest(bytes)[..8]);
    sum
}

/// The highest number in the database; `None` in a schema that has no such table yet.
fn newest(connection: &Connection) -> Result<Option<i64>, StoreError> {
    match connection.prepare_cached(NEWEST) {
        Err(rusqlite::Error::SqlInputError { .. } | rusqlite::Error::SqliteFailure(..)) if !has_tables(connection)? => Ok(None),
        statement => Ok(Some(statement?.query_row([], |row| row.get(0))?)),
    }
}

fn has_tables(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('messages', 'deleted_messages')";
    Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0))? == 2)
}
