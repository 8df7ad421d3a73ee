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

/// What schema 1 held, as its own version wrote it.
const OF_THE_FIRST: &str = "
    INSERT INTO revisions VALUES ('r', 'Calm', 'Calm.', '', NULL, 1);
    INSERT INTO presets VALUES ('p', 'P', '', 'x', '', 0.5, 1, 500, NULL, 1, 1, 1, '{}', 0);
    INSERT INTO contexts VALUES (x'00000000000000000000000000000001', 'r', 0.5, 1, 500, NULL, NULL, NULL, 0, 1, 'p', 1, 1, 1, NULL, 1);
    INSERT INTO contexts VALUES (x'00000000000000000000000000000002', 'r', 0.5, 1, 500, NULL, NULL, NULL, 0, 1, 'p', 1, 77, 1, NULL, 0);
    INSERT INTO conversations VALUES (x'00000000000000000000000000000011', x'00000000000000000000000000000001', 'How calm', NULL, 1, 1, 1);
    INSERT INTO conversations VALUES (x'00000000000000000000000000000012', x'00000000000000000000000000000001', 'My sea', NULL, 1, 1, 1);
    INSERT INTO messages (key, id, conversation_id, context_id, depth, role, content, status, created_at) VALUES
        (1, x'00000000000000000000000000000021', x'00000000000000000000000000000011', x'00000000000000000000000000000001', 0,
         'user', '  \n How calm is the sea?', 'complete', 1),
        (2, x'00000000000000000000000000000022', x'00000000000000000000000000000012', x'00000000000000000000000000000001', 0,
         'assistant', 'Very calm.', 'complete', 1),
        (3, x'00000000000000000000000000000023', x'00000000000000000000000000000012', x'00000000000000000000000000000001', 0,
         'system', 'calm', 'complete', 1);";

#[test]
fn the_fourth_step_counts_the_messages_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = connection(folder.path());
    migrate(&mut database, &MIGRATIONS[..1], now()).unwrap();
    database.execute_batch(OF_THE_FIRST).unwrap();
    migrate(&mut database, MIGRATIONS, now()).unwrap();
    let counts = || {
        let sql = "SELECT group_concat(message_count, ' ' ORDER BY id) FROM contexts";
        database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!(counts(), "2 0");
    let set = |what: &str| format!("UPDATE conversations SET {what} WHERE id = x'00000000000000000000000000000012'");
    database.execute(&set("message_count = 5"), []).unwrap();
    assert_eq!(counts(), "6 0");
    database.execute(&set("context_id = x'00000000000000000000000000000002'"), []).unwrap();
    assert_eq!(counts(), "1 5");
    database.execute(&set("context_id = x'00000000000000000000000000000001', message_count = 7"), []).unwrap();
    assert_eq!(counts(), "8 0");
}

#[test]
fn the_second_step_keeps_what_the_first_held() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = connection(folder.path());
    migrate(&mut database, &MIGRATIONS[..1], now()).unwrap();
    database.execute_batch(OF_THE_FIRST).unwrap();
    migrate(&mut database, MIGRATIONS, now()).unwrap();
    let text = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(text("SELECT group_concat(coalesce(deleted_at, '-'), ' ' ORDER BY id) FROM contexts"), "- 77");
    assert_eq!(text("SELECT group_concat(title_source, ' ' ORDER BY id) FROM conversations"), "beginning user");
    assert_eq!(text("SELECT preset_id || ' ' || contexts_made FROM preset_use"), "p 2");
    let found = "SELECT group_concat(rowid, ' ' ORDER BY rowid) FROM message_index WHERE message_index MATCH";
    assert_eq!(text(&format!("{found} 'calm'")), "1 2", "every message of users and contexts, no other");
    assert_eq!(text(&format!("{found} 'user_text : calm'")), "1");
    database.execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)", []).unwrap();
}
