//! The peer: statements sent to SQLCipher without anything between.

use crate::error::BenchError;
use rusqlite::types::Value;
use rusqlite::{Connection, Params};
use std::fmt::Write;
use std::path::Path;

/// A row as it came.
pub type Cells = Vec<Value>;

/// How many pages a connection keeps, as the store's connections do.
#[derive(Debug, Clone, Copy)]
pub enum Cache {
    /// 8 MB.
    Reader,
    /// 64 MB.
    Writer,
}

/// A connection with the store's settings, so that both sides are equally durable and careful.
pub struct Raw {
    connection: Connection,
}

impl Raw {
    /// Opens a database; without a key one that is not encrypted.
    pub fn open(path: &Path, key: Option<&[u8; 32]>, cache: Cache) -> Result<Self, BenchError> {
        let connection = Connection::open(path)?;
        if let Some(key) = key {
            connection.execute_batch(&format!("PRAGMA key = \"{}\"; PRAGMA cipher_memory_security = OFF;", key_text(key)))?;
        }
        let kibibytes = match cache {
            Cache::Reader => 8_192,
            Cache::Writer => 65_536,
        };
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA mmap_size = 0;
             PRAGMA cell_size_check = ON;
             PRAGMA secure_delete = ON;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -{kibibytes};
             PRAGMA journal_size_limit = 16777216;"
        ))?;
        connection.set_prepared_statement_cache_capacity(160);
        Ok(Self { connection })
    }

    /// All rows of a statement, which is prepared once.
    pub fn rows(&self, sql: &str, params: impl Params) -> Result<Vec<Cells>, BenchError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push((0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?);
        }
        Ok(all)
    }

    /// Runs a statement, which is prepared once and is a transaction of its own outside one.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<(), BenchError> {
        self.connection.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }

    /// Copies everything into a new file, encrypted with a key or not at all. Both come out equally
    /// packed, so they differ in nothing but that.
    pub fn export(&self, to: &Path, key: Option<&[u8; 32]>) -> Result<(), BenchError> {
        let key = key.map(key_text).unwrap_or_default();
        self.connection.execute_batch("PRAGMA foreign_keys = OFF")?;
        self.connection.execute("ATTACH DATABASE ?1 AS twin KEY ?2", (to.to_string_lossy(), key))?;
        self.connection.execute_batch("PRAGMA twin.auto_vacuum = INCREMENTAL")?;
        self.rows("SELECT sqlcipher_export('twin')", [])?;
        let version = self.rows("PRAGMA user_version", [])?;
        if let Some(Value::Integer(version)) = version.first().and_then(|row| row.first()) {
            self.connection.execute_batch(&format!("PRAGMA twin.user_version = {version}"))?;
        }
        self.connection.execute_batch("DETACH DATABASE twin; PRAGMA foreign_keys = ON")?;
        Ok(())
    }
}

/// A raw key, which no password is derived to.
fn key_text(key: &[u8; 32]) -> String {
    let mut text = "x'".to_owned();
    for byte in key {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::store::population::{self, Counts};
    use evenkeel_store::Store;

    const KEY: [u8; 32] = [4; 32];

    #[test]
    fn an_export_holds_the_same_with_a_key_and_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let store = Store::create(&path("vault.db"), &KEY, population::at(0)).unwrap();
        population::seed(&store, Counts::of(200), &mut |_| ()).unwrap();
        drop(store);
        let vault = Raw::open(&path("vault.db"), Some(&KEY), Cache::Reader).unwrap();
        vault.export(&path("sealed.db"), Some(&[5; 32])).unwrap();
        vault.export(&path("plain.db"), None).unwrap();
        let sql = "SELECT m.id, m.content FROM message_index i JOIN messages m ON m.key = i.rowid
                   WHERE message_index MATCH 'ba*' ORDER BY i.rowid DESC";
        let expected = vault.rows(sql, []).unwrap();
        assert!(!expected.is_empty());
        for (name, key) in [("sealed.db", Some(&[5; 32])), ("plain.db", None)] {
            assert_eq!(Raw::open(&path(name), key, Cache::Reader).unwrap().rows(sql, []).unwrap(), expected, "{name}");
        }
        let header = |name: &str| std::fs::read(path(name)).unwrap()[..15].to_vec();
        assert_eq!(header("plain.db"), b"SQLite format 3");
        assert_ne!(header("sealed.db"), b"SQLite format 3");
    }
}
