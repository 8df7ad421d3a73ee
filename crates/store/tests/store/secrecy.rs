//! Nothing of the user and nothing of the key is readable in any file.

use crate::room::{KEY, Room, context, conversation, draft, message, message_id};
use crate::tables::provider;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use evenkeel_domain::{ModelFileId, Revision, Settings};
use evenkeel_store::ModelFile;
use std::collections::BTreeMap;
use std::path::Path;

const MARKER: &str = "MARKERtopaz";

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

fn needles() -> Vec<(&'static str, Vec<u8>)> {
    let hex = KEY.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    vec![
        ("a marker", MARKER.into()),
        ("the schema", "CREATE TABLE".into()),
        ("the raw key", KEY.to_vec()),
        ("half of the raw key", KEY[8..24].to_vec()),
        ("the key in hex", hex.clone().into()),
        ("the key in upper hex", hex.to_uppercase().into()),
        ("the key in base64", STANDARD_NO_PAD.encode(KEY).into()),
        ("the key in padded base64", STANDARD.encode(KEY).into()),
        ("the key in URL base64", URL_SAFE_NO_PAD.encode(KEY).into()),
    ]
}

fn found(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (name, bytes) in files(folder) {
        for (what, needle) in needles() {
            if contains(&bytes, &needle) {
                found.push(format!("{what} in {name}"));
            }
        }
    }
    found
}

/// Puts a marker into every text of every table.
fn fill(room: &Room) {
    let text = |what: &str| format!("{MARKER} {what}");
    let (mut one, _) = context(1, &text("name"));
    (one.system_prompt, one.personality) = (text("prompt"), text("personality"));
    let revision = Revision::new(&one.name, &one.system_prompt, &one.personality, Some(&text("anchor")), one.created_at);
    one.revision_id = revision.id.clone();
    let mut thread = conversation(1, 1);
    thread.title = text("title");
    let mut reply = message(1, None);
    (reply.content, reply.reasoning) = (text("content").repeat(2_000), Some(text("reasoning")));
    let mut cloud = provider(1);
    (cloud.name, cloud.base_url) = (text("provider"), text("address"));
    cloud.extra_headers = [(text("header"), text("value"))].into();
    let file = ModelFile {
        id: ModelFileId::new("aa"),
        path: text("path"),
        name: text("file"),
        window: None,
        size_bytes: 1,
        added_at: one.created_at,
    };
    room.store
        .write(|write| {
            write.seed_presets(one.created_at)?;
            write.insert_context(&one, &revision)?;
            write.insert_conversation(&thread)?;
            write.insert_message(reply)?;
            write.set_message_metadata(message_id(1), Some(&format!("{{\"{MARKER}\":1}}")))?;
            write.put_draft(&draft(2, 1, &text("draft"), 1))?;
            write.put_settings(&Settings { quick_chat_shortcut: text("shortcut"), ..Settings::default() })?;
            write.upsert_provider(&cloud)?;
            write.set_provider_key(cloud.id, Some((MARKER.as_bytes(), MARKER)))?;
            write.upsert_model_file(&file)
        })
        .unwrap();
}

#[test]
fn no_file_holds_a_word_or_the_key() {
    let room = Room::new();
    fill(&room);
    let open = files(room.folder.path());
    assert_eq!(open.keys().map(String::as_str).collect::<Vec<_>>(), ["vault.db", "vault.db-shm", "vault.db-wal"]);
    assert!(open["vault.db-wal"].len() > 100_000, "the log holds what was written");
    assert_eq!(found(room.folder.path()), Vec::<String>::new());

    // Aborted writes, deletions and sorting must leave nothing either.
    room.store.write(|write| write.delete_message(message_id(1))).unwrap();
    let _ = room.store.write(|write| {
        write.insert_message(message(3, None))?;
        write.delete_message(message_id(99))
    });
    assert_eq!(found(room.folder.path()), Vec::<String>::new());
    let Room { folder, store } = room;
    drop(store);
    assert_eq!(files(folder.path()).keys().map(String::as_str).collect::<Vec<_>>(), ["vault.db"], "the log is merged on close");
    assert_eq!(found(folder.path()), Vec::<String>::new());
}

#[test]
fn the_scan_would_find_them() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (_, needle)) in needles().into_iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), [b"before ", needle.as_slice(), b" after"].concat()).unwrap();
    }
    // The padded form contains the unpadded one, and the whole key its half.
    assert!(found(folder.path()).len() >= needles().len());
}

#[cfg(unix)]
#[test]
fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::furnished();
    let mode = |name: &str| std::fs::metadata(room.folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    for name in ["vault.db", "vault.db-wal", "vault.db-shm"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let room = room.reopened();
    assert_eq!(std::fs::metadata(room.path()).unwrap().permissions().mode() & 0o777, 0o600);
}
