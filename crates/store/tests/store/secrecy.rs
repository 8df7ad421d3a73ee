//! Nothing of the user and nothing of the key is readable in any file.

use crate::room::{KEY, Room, at, context, context_id, conversation, conversation_id, draft, message, message_id};
use crate::sharing::raw;
use crate::tables::provider;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use evenkeel_domain::{DraftKey, ErrorCode, JobEnd, JobResult, ModelFileId, Revision, SearchQuery, Settings};
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

fn job_end(message: String) -> JobEnd {
    JobEnd { ended_at: at(6), result: JobResult::Failed, message: Some(message), duration_ms: 1, next_run_at: None }
}

/// Puts a marker into every text of every table.
fn fill(room: &Room) {
    let text = |what: &str| format!("{MARKER} {what}");
    let (mut one, _) = context(1, &text("name"));
    (one.system_prompt, one.personality) = (text("prompt"), text("personality"));
    let revision = Revision::new(&one.name, &one.system_prompt, &one.personality, Some(&text("anchor")), one.created_at);
    one.revision_id = revision.id.clone();
    (one.anchor, one.tags) = (revision.anchor.clone(), vec![text("tag")]);
    let mut thread = conversation(1, 1);
    (thread.title, thread.tags) = (text("title"), vec![text("tag")]);
    let mut reply = message(1, None);
    (reply.content, reply.reasoning) = (text("content").repeat(2_000), Some(text("reasoning")));
    let mut receipt = crate::receipts::receipt(1, &revision, crate::receipts::blocks(&[]));
    receipt.provider_name = text("receipt");
    receipt.blocks[0].text = Some(text("block"));
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
            write.put_receipt(one.id, &receipt)?;
            write.put_composer_draft(DraftKey::Conversation(thread.id), &text("typed"), at(5))?;
            write.put_composer_draft(DraftKey::Context(one.id), &text("typed"), at(5))?;
            write.begin_job("backup", at(5))?;
            write.end_job("backup", &job_end(text("message")))?;
            write.put_app_state("key", &text("state"))?;
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
    assert_eq!(
        open.keys().map(String::as_str).collect::<Vec<_>>(),
        ["vault.db", "vault.db-shm", "vault.db-wal", "vault.db.mark"]
    );
    assert!(open["vault.db-wal"].len() > 100_000, "the log holds what was written");
    assert_eq!(found(room.folder.path()), Vec::<String>::new());

    // Aborted writes, deletions and sorting must leave nothing either.
    room.store.write(|write| write.delete_message(message_id(1), at(700))).unwrap();
    let _ = room.store.write(|write| {
        write.insert_message(message(3, None))?;
        write.delete_message(message_id(99), at(700))
    });
    assert_eq!(found(room.folder.path()), Vec::<String>::new());
    let Room { folder, store } = room;
    drop(store);
    let closed = files(folder.path());
    assert_eq!(
        closed.keys().map(String::as_str).collect::<Vec<_>>(),
        ["vault.db", "vault.db.mark"],
        "the log is merged on close"
    );
    assert_eq!(found(folder.path()), Vec::<String>::new());
}

/// All pages of a database as they are once decrypted, those that nothing uses any more included.
fn decrypted(path: &Path) -> Vec<u8> {
    let mut connection = raw(path);
    connection.query_row("PRAGMA wal_checkpoint (TRUNCATE)", [], |_| Ok(())).unwrap();
    connection.serialize("main").unwrap().to_vec()
}

const GEMS: [&str; 2] = ["zirconium", "tourmaline"];

fn held(room: &Room) -> [bool; 2] {
    GEMS.map(|word| contains(&decrypted(&room.path()), word.as_bytes()))
}

/// Context 1 with a chain of messages, each with the first gem and the 150th with the second, in
/// enough other words for several segments of the index; context 2 with as many others.
fn mined(messages: u64, others: u64) -> Room {
    let room = Room::furnished();
    let (other, revision) = context(2, "Other");
    let text = |n: u64| (0..60).map(|word| format!("word{} ", (n * 31 + word * 7) % 900)).collect::<String>();
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_conversation(&conversation(2, 2))?;
        for n in 1..=messages {
            let mut one = message(n, (n > 1).then(|| n - 1));
            one.content = text(n) + GEMS[usize::from(n == 150)];
            one.reasoning = Some(GEMS[0].to_owned());
            write.insert_message(one)?;
        }
        for n in 1..=others {
            let mut one = message(100_000 + n, None);
            (one.conversation_id, one.context_id, one.content) = (conversation_id(2), context_id(2), text(n) + "kept");
            write.insert_message(one)?;
        }
        Ok(())
    });
    room
}

#[test]
fn what_is_purged_is_in_no_page_not_even_in_the_index() {
    let room = mined(200, 1);
    assert_eq!(held(&room), [true, true], "the look at the pages finds what is there");
    // One message alone, then all the rest.
    room.write(|write| write.delete_message(message_id(150), at(700)));
    room.write(|write| write.forget_deleted_messages(at(701)));
    assert_eq!(held(&room), [true, false], "forgotten together with its only message");
    room.write(|write| write.purge_context(context_id(1), at(800)));
    assert_eq!(held(&room), [false, false]);
    assert!(!contains(&decrypted(&room.path()), b"Calm Counselor"), "nor its persona");
    assert!(contains(&decrypted(&room.path()), b"Other"), "what stays is there");
}

#[test]
fn many_at_once_are_forgotten_just_as_well() {
    let room = mined(700, 300);
    room.write(|write| write.delete_conversation(conversation_id(1)));
    assert_eq!(held(&room), [false, false]);
    let found = |text: &str| {
        let query = SearchQuery { text: text.into(), limit: 100, ..SearchQuery::default() };
        room.read(|read| read.search_messages(&query)).len()
    };
    assert_eq!((found(GEMS[0]), found("kept")), (0, 100));
    // From here on each message is forgotten in its place again.
    let secure: i64 = raw(&room.path())
        .query_row("SELECT v FROM message_index_config WHERE k = 'secure-delete'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(secure, 1);
    raw(&room.path()).execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)", []).unwrap();
}

#[test]
fn a_purge_that_is_undone_leaves_the_index_secure() {
    let room = mined(700, 1);
    let undone = room.store.write(|write| {
        write.delete_conversation(conversation_id(1))?;
        write.delete_conversation(conversation_id(99))
    });
    assert_eq!(undone.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(held(&room), [true, true]);
    room.write(|write| write.delete_message(message_id(150), at(700)));
    room.write(|write| write.forget_deleted_messages(at(701)));
    assert_eq!(held(&room), [true, false]);
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
