#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use crate::connection;
use secrecy::SecretBox;
use std::path::Path;

const FIRST: Migration =
    Migration { name: "0001_a", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT; INSERT INTO a VALUES (1);" };
const SECOND: Migration =
    Migration { name: "0002_b", sql: "CREATE TABLE b (a INTEGER REFERENCES a (id)) STRICT; INSERT INTO b VALUES (1);" };
const BROKEN: Migration = Migration { name: "0003_c", sql: "CREATE TABLE c (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);" };
const ORPHAN: Migration = Migration { name: "0003_d", sql: "DELETE FROM a;" };
const REBUILD: Migration = Migration {
    name: "0003_e",
    sql: "CREATE TABLE n (id INTEGER PRIMARY KEY, more TEXT) STRICT; INSERT INTO n (id) SELECT id FROM a; DROP TABLE a; ALTER TABLE n RENAME TO a;",
};

fn connection(folder: &Path) -> Connection {
    let path = folder.join("vault.db");
    let key = SecretBox::new(Box::new([1; 32]));
    let _ = std::fs::OpenOptions::new().append(true).create(true).open(&path).unwrap();
    connection::create(&path, &key).unwrap()
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_700_000_000_000).unwrap()
}

fn tables(connection: &Connection) -> String {
    connection
        .query_row("SELECT coalesce(group_concat(name, ' '), '') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)", [], |row| row.get(0))
        .unwrap()
}

fn version(connection: &Connection) -> i64 {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn steps_are_applied_once_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = connection(folder.path());
    migrate(&mut database, &[FIRST], now()).unwrap();
    migrate(&mut database, &[FIRST, SECOND], now()).unwrap();
    migrate(&mut database, &[FIRST, SECOND], now()).unwrap();
    assert_eq!((version(&database), tables(&database).as_str()), (2, "a b migrations"));
    let recorded: i64 =
        database.query_row("SELECT count(*) FROM migrations WHERE applied_at = 1700000000000", [], |row| row.get(0)).unwrap();
    assert_eq!(recorded, 2);
}

#[test]
fn a_step_that_fails_takes_all_of_them_back() {
    for bad in [BROKEN, ORPHAN] {
        let folder = tempfile::tempdir().unwrap();
        let mut database = connection(folder.path());
        migrate(&mut database, &[FIRST], now()).unwrap();
        migrate(&mut database, &[FIRST, SECOND, bad], now()).expect_err(bad.name);
        assert_eq!((version(&database), tables(&database).as_str()), (1, "a migrations"), "{}", bad.name);
    }
}

#[test]
fn a_table_with_children_can_be_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = connection(folder.path());
    migrate(&mut database, &[FIRST, SECOND], now()).unwrap();
    migrate(&mut database, &[FIRST, SECOND, REBUILD], now()).unwrap();
    let rows: i64 = database.query_row("SELECT count(*) FROM b JOIN a ON a.id = b.a", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn newer_edited_and_unrecorded_schemas_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = connection(folder.path());
    migrate(&mut database, &[FIRST, SECOND], now()).unwrap();
    assert!(matches!(migrate(&mut database, &[FIRST], now()), Err(StoreError::TooNew { found: 2, known: 1 })));
    assert!(matches!(migrate(&mut database, &[FIRST, REBUILD], now()), Err(StoreError::MigrationEdited { version: 2 })));
    database.execute("DELETE FROM migrations WHERE version = 2", []).unwrap();
    assert!(matches!(migrate(&mut database, &[FIRST, SECOND], now()), Err(StoreError::MigrationEdited { version: 2 })));
}

#[test]
fn line_ends_do_not_count_as_an_edit() {
    assert_eq!(checksum("a\r\nb"), checksum("a\nb"));
    assert_ne!(checksum("a\nb"), checksum("a b"));
}

#[test]
fn the_files_are_numbered_without_gaps() {
    for (number, step) in (1..).zip(MIGRATIONS) {
        assert!(step.name.starts_with(&format!("{number:04}_")), "{}", step.name);
    }
    assert_eq!(usize::try_from(SCHEMA_VERSION).unwrap(), MIGRATIONS.len());
}
