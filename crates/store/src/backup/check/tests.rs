//! That each of the checks of a database finds what the hash of a file cannot: a copy that was
//! already wrong when it was hashed.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::Store;
use secrecy::SecretBox;

const CONTEXT: &str = "INSERT INTO revisions (id, name, system_prompt, personality, created_at) VALUES ('r', 'Calm', '', '', 0);
    INSERT INTO contexts (id, revision_id, temperature, max_tokens, max_history_tokens, local_only, maintain_personality,
        created_at, updated_at, last_interaction_at, is_active)
    VALUES (x'00000000000000000000000000000001', 'r', 0.5, 1, 500, 0, 0, 0, 0, 0, 1);
    INSERT INTO conversations (id, context_id, title, message_count, created_at, last_activity_at)
    VALUES (x'00000000000000000000000000000002', x'00000000000000000000000000000001', 't', 0, 0, 0);";
const MESSAGE: &str = "INSERT INTO messages (id, conversation_id, context_id, depth, role, content, status, created_at)
    SELECT randomblob(16), id, context_id, 0, 'user', hex(randomblob(3000)), 'complete', 0 FROM conversations;";

fn key() -> Key {
    SecretBox::new(Box::new([7; 32]))
}

struct Room {
    folder: tempfile::TempDir,
    census: Census,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault.db");
        drop(Store::create(&path, &[7; 32], DateTime::UNIX_EPOCH).unwrap());
        let connection = connection::open(&path, &key()).unwrap();
        connection.execute_batch("PRAGMA journal_mode = DELETE").unwrap();
        connection.execute_batch(CONTEXT).unwrap();
        for _ in 0..9 {
            connection.execute_batch(MESSAGE).unwrap();
        }
        let census = census(&connection).unwrap();
        Self { folder, census }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("vault.db")
    }

    fn changed(&self, sql: &str) -> Result<(), StoreError> {
        let connection = connection::open(&self.path(), &key())?;
        connection.execute_batch("PRAGMA foreign_keys = OFF")?;
        connection.execute_batch(sql)?;
        drop(connection);
        check_database(&self.path(), &key(), &self.census)
    }
}

#[test]
fn an_unchanged_database_passes() {
    let room = Room::new();
    assert_eq!(room.census.counts().messages, 9);
    room.changed("SELECT 1").unwrap();
}

#[test]
fn a_lost_row_a_changed_message_and_an_orphan_are_found() {
    for (sql, what) in [
        ("DELETE FROM messages WHERE key = 3", "table messages"),
        ("DROP TRIGGER messages_are_never_reworded; UPDATE messages SET content = 'other' WHERE key = 9", "newest message"),
        ("DROP TRIGGER messages_are_never_reworded; UPDATE messages SET content = 'other' WHERE key = 4", "middle"),
        (
            "DROP TRIGGER messages_are_never_reworded; UPDATE messages SET conversation_id = x'00000000000000000000000000000009' WHERE key = 5",
            "messages",
        ),
        ("CREATE TABLE more (x INTEGER) STRICT", "table more"),
    ] {
        let error = Room::new().changed(sql).unwrap_err().to_string();
        assert!(error.contains(what), "{sql}: {error}");
    }
}

#[test]
fn a_flipped_bit_in_any_page_is_found() {
    let room = Room::new();
    let whole = std::fs::read(room.path()).unwrap();
    for page in 0..whole.len() / 4_096 {
        let mut flipped = whole.clone();
        flipped[page * 4_096 + (page * 997) % 4_096] ^= 1 << (page % 8);
        std::fs::write(room.path(), flipped).unwrap();
        let error = check_database(&room.path(), &key(), &room.census).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. } | StoreError::DamagedValue { .. }), "page {page}: {error}");
    }
}
