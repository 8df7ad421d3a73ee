#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use std::collections::BTreeMap;

fn key(byte: u8) -> Key {
    SecretBox::new(Box::new([byte; 32]))
}

fn made(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("vault.db");
    let connection = create_empty(&path);
    connection.execute_batch("CREATE TABLE t (x INTEGER) STRICT; INSERT INTO t VALUES (1);").unwrap();
    path
}

fn create_empty(path: &Path) -> Connection {
    fs::File::create_new(path).unwrap();
    let connection = create(path, &key(1)).unwrap();
    settle(&connection, Purpose::Write, false).unwrap();
    connection
}

fn pragmas(connection: &Connection) -> BTreeMap<&'static str, i64> {
    [
        "synchronous",
        "foreign_keys",
        "trusted_schema",
        "mmap_size",
        "cell_size_check",
        "secure_delete",
        "temp_store",
        "cache_size",
        "query_only",
        "busy_timeout",
        "cipher_memory_security",
    ]
    .into_iter()
    .map(|name| {
        let read = |row: &rusqlite::Row<'_>| match row.get_ref(0)? {
            rusqlite::types::ValueRef::Integer(value) => Ok(value),
            other => Ok(other.as_str()?.parse().unwrap()),
        };
        (name, connection.query_row(&format!("PRAGMA {name}"), [], read).unwrap_or_else(|error| panic!("{name}: {error}")))
    })
    .collect()
}

#[test]
fn every_setting_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    let writer = open(&path, &key(1)).unwrap();
    settle(&writer, Purpose::Write, false).unwrap();
    let mut expected = BTreeMap::from([
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("trusted_schema", 0),
        ("mmap_size", 0),
        ("cell_size_check", 1),
        ("secure_delete", 1),
        ("temp_store", 2),
        ("cache_size", -65_536),
        ("query_only", 0),
        ("busy_timeout", 5_000),
        ("cipher_memory_security", 0),
    ]);
    assert_eq!(pragmas(&writer), expected);
    assert!(writer.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).unwrap());
    let mode: String = writer.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");

    let reader = open(&path, &key(1)).unwrap();
    settle(&reader, Purpose::Read, false).unwrap();
    expected.extend([("cache_size", -8_192), ("query_only", 1)]);
    assert_eq!(pragmas(&reader), expected);
    reader.execute("INSERT INTO t VALUES (2)", []).expect_err("a reader does not write");
}

#[test]
fn a_wrong_key_and_a_broken_file_do_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    assert!(matches!(open(&path, &key(2)), Err(StoreError::Damaged { .. })));
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(open(&path, &key(1)), Err(StoreError::Damaged { .. })));
}

#[test]
fn no_schema_may_be_rewritten_and_no_string_passes_for_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let connection = create_empty(&folder.path().join("vault.db"));
    connection.execute_batch("CREATE TABLE t (x TEXT) STRICT").unwrap();
    connection.execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema").expect_err("defensive");
    connection.execute("INSERT INTO t VALUES (\"text\")", []).expect_err("double quotes name columns");
}
