//! Opening one encrypted connection: the key first, then every setting, each for a reason.

use crate::StoreError;
use evenkeel_domain::folded;
use rusqlite::{Connection, OpenFlags, config::DbConfig, functions::FunctionFlags};
use secrecy::{ExposeSecret, SecretBox, zeroize::Zeroizing};
use std::{fmt::Write, fs, io::Read, path::Path, time::Duration};

/// The raw database key; it is wiped when dropped and has no text form.
pub(crate) type Key = SecretBox<[u8; 32]>;

/// The first bytes of an encrypted database, random for each.
pub(crate) type Salt = [u8; 16];

/// How long a connection waits for another process before it gives up.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// First bytes of an unencrypted database (SQLite file format, section 1.3.1).
const PLAINTEXT_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The one that writes; page cache of at most 64 MB.
    Write,
    /// One of those that only read; page cache of at most 8 MB.
    Read,
}

/// Opens an existing database for writing and proves that it decrypts. Nothing is written: even the
/// write-ahead log is left alone on close until [`settle`] was called, so that a file this version
/// may not touch stays as it is.
pub(crate) fn open(path: &Path, key: &Key) -> Result<Connection, StoreError> {
    // Only where that fails it is looked into the file by another way, which says why.
    open_beside(path, key).map_err(|error| peek(path).err().unwrap_or(error))
}

/// The database's salt, its first bytes, as the connection has read them.
pub(crate) fn salt(connection: &Connection) -> Result<Salt, StoreError> {
    let digits: String = connection.query_row("PRAGMA cipher_salt", [], |row| row.get(0))?;
    let number =
        u128::from_str_radix(&digits, 16).map_err(|error| StoreError::defect(format!("no salt of a database ({error})")))?;
    Ok(number.to_be_bytes())
}

/// Like [`open`], for a file that this process may have open already, or that may still be empty: it does not look
/// into the file by another way. On Unix, closing any handle to a file drops all locks that the process has on it, and
/// without SQLite's lock another process that closes the database takes itself for the last one and removes the log
/// that this one goes on writing to.
pub(crate) fn create(path: &Path, key: &Key) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    unlock(&connection, key)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let version: Option<String> = connection.query_row("PRAGMA cipher_version", [], |row| row.get(0)).ok();
    if version.is_none_or(|version| version.is_empty()) {
        return Err(StoreError::defect("this build's SQLite has no encryption (cipher_version is empty)"));
    }
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

/// Opens one more connection to a database that this process has open, which [`create`] says more about.
pub(crate) fn open_beside(path: &Path, key: &Key) -> Result<Connection, StoreError> {
    // Only its length is asked for: that opens nothing.
    if fs::metadata(path).is_ok_and(|found| found.len() == 0) {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    create(path, key)
}

/// Whether every page that a connection has read was whole. In the place of one that was not, SQLCipher gives zeros:
/// mostly SQLite trips over them, but the end of a long text is read without any error. From then on the
/// connection gives zeros for every page that it does not hold yet.
pub(crate) fn is_intact(connection: &Connection) -> bool {
    // The answer is made when the statement is prepared, so none is kept.
    connection.query_row("PRAGMA cipher_status", [], |row| row.get::<_, String>(0)).is_ok_and(|status| status == "1")
}

/// The same for a connection that has only read, at a hundredth of the cost: SQLCipher takes the right to write away from
/// a connection that has met such a page outside a writing transaction.
pub(crate) fn has_read_intact(connection: &Connection) -> bool {
    // One that never had that right is asked itself.
    connection.is_readonly(rusqlite::MAIN_DB).is_ok_and(|is_readonly| !is_readonly) || is_intact(connection)
}

/// Fails where [`is_intact`] does not hold.
pub(crate) fn refuse_broken(connection: &Connection) -> Result<(), StoreError> {
    if is_intact(connection) { Ok(()) } else { Err(StoreError::DamagedValue { what: "a page".to_owned() }) }
}

/// Opens one more connection to the database of this name in the memory of this process, and makes
/// it where there is none yet.
pub(crate) fn open_memory(name: &str) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Names that begin with a slash are shared between the connections of a process (SQLite, memdb).
    let connection = Connection::open_with_flags(format!("file:/{name}?vfs=memdb"), flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Gives the key, before anything else, and the settings of the encryption.
fn unlock(connection: &Connection, key: &Key) -> Result<(), StoreError> {
    let mut statement = Zeroizing::new(String::with_capacity(96));
    statement.push_str("PRAGMA key = \"x'");
    for byte in key.expose_secret() {
        // Writing to a String cannot fail.
        let _ = write!(statement, "{byte:02x}");
    }
    statement.push_str("'\"");
    connection.execute_batch(&statement)?;
    // Pinning the format keeps a later SQLCipher from reading the file with other defaults. Wiping
    // all of SQLite's memory makes bulk inserts 7 times slower; the key itself is wiped anyway.
    connection.execute_batch(
        "PRAGMA cipher_log_level = NONE;
         PRAGMA cipher_compatibility = 4;
         PRAGMA cipher_memory_security = OFF;",
    )?;
    Ok(())
}

/// Applies the settings of a connection in use; a database in memory has no log to write ahead.
pub(crate) fn settle(connection: &Connection, purpose: Purpose, in_memory: bool) -> Result<(), StoreError> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA mmap_size = 0;
         PRAGMA cell_size_check = ON;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;",
    )?;
    connection.set_prepared_statement_cache_capacity(160);
    // SQLite's own lower() knows ASCII alone. It stands in no table, trigger or index, so that the
    // file needs nothing but SQLCipher to be read.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("folded", 1, flags, |call| Ok(call.get::<Option<String>>(0)?.map(|text| folded(&text))))?;
    match purpose {
        Purpose::Write if in_memory => {}
        Purpose::Write => {
            let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
            if mode != "wal" {
                return Err(StoreError::defect(format!("the journal mode is {mode} where it has to be wal")));
            }
            // The log is cut back to 16 MB after a checkpoint, or one large import would keep its size for ever.
            connection.execute_batch("PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 16777216;")?;
        }
        Purpose::Read => connection.execute_batch("PRAGMA cache_size = -8192; PRAGMA query_only = ON;")?,
    }
    Ok(())
}

/// Refuses a file that is missing, empty or not encrypted. Only for a file that this process has not open, see [`create`].
pub(crate) fn peek(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { action: "open", path: path.to_owned(), source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing { path: path.to_owned() }),
        Err(error) => return Err(failed(error)),
    };
    let mut header = Vec::with_capacity(PLAINTEXT_HEADER.len());
    file.take(PLAINTEXT_HEADER.len() as u64).read_to_end(&mut header).map_err(failed)?;
    if header.is_empty() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    if header == PLAINTEXT_HEADER {
        return Err(StoreError::Plaintext { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
#[path = "connection/tests.rs"]
mod tests;
