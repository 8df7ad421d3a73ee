//! What opens, what is refused, and that what is refused stays as it was.

use crate::room::{KEY, Room, at, context, context_id, conversation, conversation_id, draft, full_reply, message, message_id};
use crate::sharing::raw;
use crate::tables::provider;
use evenkeel_domain::{
    BUILT_IN_PRESETS, DraftKey, ErrorCode, JobEnd, JobResult, ModelFileId, PresetId, SearchQuery, Settings, TitleSource, TrashId,
    Vote,
};
use evenkeel_store::{ModelFile, ReadHandle, SCHEMA_VERSION, Store, StoreError};
use std::path::{Path, PathBuf};

fn refused(path: &Path, key: &[u8; 32]) -> StoreError {
    match Store::open(path, key, at(0)) {
        Ok(_) => panic!("{} should not open", path.display()),
        Err(error) => error,
    }
}

/// Changes a vault from outside, then checks that opening fails and touches nothing.
fn refused_after(change: &str) -> StoreError {
    let room = Room::furnished();
    let path = room.path();
    let folder = room.folder;
    drop(room.store);
    raw(&path).execute_batch(change).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = refused(&path, &KEY);
    assert_eq!(std::fs::read(&path).unwrap(), before, "the file was touched");
    drop(folder);
    error
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let error = refused_after("PRAGMA user_version = 99");
    assert!(matches!(error, StoreError::TooNew { found: 99, known: SCHEMA_VERSION }), "{error}");
    assert_eq!(error.code(), ErrorCode::VaultTooNew);
}

#[test]
fn an_edited_migration_is_refused() {
    let error = refused_after("UPDATE migrations SET checksum = 'edited' WHERE version = 1");
    assert!(matches!(error, StoreError::MigrationEdited { version: 1 }), "{error}");
    let error = refused_after("DELETE FROM migrations");
    assert!(matches!(error, StoreError::MigrationEdited { version: 1 }), "{error}");
}

#[test]
fn the_log_of_a_newer_version_is_not_merged() {
    let room = Room::furnished();
    let outside = raw(&room.path());
    outside.execute_batch("PRAGMA user_version = 99").unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in ["vault.db", "vault.db-wal"] {
        std::fs::copy(room.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let path = copy.path().join("vault.db");
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(refused(&path, &KEY), StoreError::TooNew { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(copy.path().join("vault.db-wal").exists());
}

#[test]
fn an_unencrypted_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = refused(&path, &KEY);
    assert!(matches!(error, StoreError::Plaintext { .. }), "{error}");
    assert_eq!(error.code(), ErrorCode::VaultDamaged);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn nothing_garbage_a_folder_and_a_wrong_key_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.db");
    assert!(matches!(refused(&path, &KEY), StoreError::Missing { .. }));
    assert!(!path.exists(), "opening makes nothing");
    std::fs::write(&path, "").unwrap();
    assert!(matches!(refused(&path, &KEY), StoreError::Missing { .. }));
    std::fs::write(&path, vec![0x5a; 20_000]).unwrap();
    assert_eq!(refused(&path, &KEY).code(), ErrorCode::VaultDamaged);
    assert_eq!(refused(folder.path(), &KEY).code(), ErrorCode::Storage);
    let room = Room::new();
    let mut wrong = KEY;
    wrong[31] ^= 1;
    assert_eq!(refused(&room.path(), &wrong).code(), ErrorCode::VaultDamaged);
}

#[test]
fn creating_never_overwrites_and_clears_its_own_leftovers() {
    let room = Room::furnished();
    let again = Store::create(&room.path(), &KEY, at(0)).err().map(|error| error.code());
    assert_eq!(again, Some(ErrorCode::VaultExists));
    let room = room.reopened();
    assert_eq!(room.conversation(1).title, "Thread 1");

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("vault.db.creating"), "of a crash").unwrap();
    Store::create(&folder.path().join("vault.db"), &KEY, at(0)).unwrap();
    assert!(!folder.path().join("vault.db.creating").exists());
    let nowhere = Store::create(&folder.path().join("no/such/vault.db"), &KEY, at(0)).err().map(|error| error.code());
    assert_eq!(nowhere, Some(ErrorCode::Storage));
}

#[test]
fn a_database_in_memory_keeps_nothing_of_a_conversation_that_is_deleted() {
    let store = Store::in_memory("opening-in-memory", at(0)).unwrap();
    crate::room::furnish(&store);
    store.write(|write| write.insert_message(message(1, None))).unwrap();
    store.write(|write| write.delete_conversation(conversation(1, 1).id)).unwrap();
    assert_eq!(store.read(|read| read.message(message_id(1))).unwrap(), None);
    assert_eq!(store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn persona_revisions_cannot_be_changed_even_from_outside() {
    let room = Room::furnished();
    let outside = raw(&room.path());
    outside.execute("UPDATE revisions SET system_prompt = 'x'", []).expect_err("update");
    outside.execute("DELETE FROM revisions", []).expect_err("delete");
    outside
        .execute(
            "INSERT OR REPLACE INTO revisions SELECT id, 'x', system_prompt, personality, anchor, created_at FROM revisions",
            [],
        )
        .expect_err("replace");
    assert_eq!(room.store.read(|read| read.context(context_id(1))).unwrap().unwrap().name, "Calm Counselor");
}

fn fixture(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/vault-v{version}.db"))
}

/// The versions of released schemas, and the present one.
const RELEASED: [i64; 9] = [1, 2, 3, 4, 9, 11, 12, 13, SCHEMA_VERSION];

/// A vault with something in every table.
fn fill(store: &Store) {
    crate::room::furnish(store);
    let (_, revision) = context(1, "Calm Counselor");
    let file = ModelFile {
        id: ModelFileId::new("aa"),
        path: "/models/a.gguf".into(),
        name: "A".into(),
        window: Some(8_192),
        size_bytes: 93_000_000,
        added_at: at(3),
    };
    store
        .write(|write| {
            write.seed_presets(at(3))?;
            write.insert_message(message(1, None))?;
            write.insert_message(full_reply(2, 1, &revision))?;
            write.insert_message(message(3, Some(2)))?;
            write.put_draft(&draft(4, 3, "half", 1))?;
            write.put_settings(&Settings { engine_idle_minutes: 33, ..Settings::default() })?;
            write.upsert_provider(&provider(1))?;
            write.set_provider_key(provider(1).id, Some((b"sealed", "wxyz")))?;
            write.upsert_model_file(&file)
        })
        .unwrap();
    fill_life(store);
    // What came with schema 6.
    let receipt = crate::receipts::receipt(2, &revision, crate::receipts::blocks(&[1]));
    store.write(|write| write.put_receipt(context_id(1), &receipt)).unwrap();
    // What came with schema 12.
    store.write(|write| write.insert_operation(&crate::operations::operation(1, 1, "look"), 50)).unwrap();
}

/// What came with schema 2.
fn fill_life(store: &Store) {
    let (mut trashed, revision) = context(2, "Gone");
    (trashed.tags, trashed.preset_id) = (vec!["Old".into()], Some(PresetId::new(BUILT_IN_PRESETS[0].id)));
    let mut pinned = conversation(2, 1);
    (pinned.is_pinned, pinned.tags) = (true, vec!["Work".into()]);
    let end = JobEnd { ended_at: at(7), result: JobResult::Ok, message: None, duration_ms: 2, next_run_at: Some(at(86_400_000)) };
    store
        .write(|write| {
            write.insert_context(&trashed, &revision)?;
            write.trash_context(trashed.id, at(4))?;
            write.mark_trash_shown(at(5))?;
            write.insert_conversation(&pinned)?;
            write.set_feedback(message_id(2), Some(Vote::Up))?;
            let mut undone = message(7, None);
            undone.conversation_id = pinned.id;
            write.insert_message(undone)?;
            write.delete_message(message_id(7), at(6))?;
            write.put_composer_draft(DraftKey::Conversation(pinned.id), "typed", at(6))?;
            write.begin_job("backup", at(6))?;
            write.end_job("backup", &end)?;
            write.add_running_ms(1_234).map(drop)
        })
        .unwrap();
}

#[test]
#[ignore = "writes the fixture of the present schema; run it once, when a version is released"]
fn write_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.db");
    let store = Store::create(&path, &KEY, at(0)).unwrap();
    fill(&store);
    drop(store);
    std::fs::copy(path, fixture(SCHEMA_VERSION)).unwrap();
}

#[test]
fn a_vault_of_every_released_version_opens_with_all_it_held() {
    for version in RELEASED {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault.db");
        std::fs::copy(fixture(version), &path).unwrap_or_else(|error| panic!("no fixture of version {version}: {error}"));
        let store = Store::open(&path, &KEY, at(0)).unwrap();
        assert_eq!(store.full_check().unwrap(), Vec::<String>::new());
        store.read(|read| check_fixture(read, version)).unwrap();
        if version >= 2 {
            store.read(check_life).unwrap();
        }
        let recovered = store.write(|write| write.recover_drafts(at(900), |_| true)).unwrap();
        assert_eq!(recovered[0].content, "half");
    }
}

fn check_life(read: &ReadHandle<'_>) -> Result<(), StoreError> {
    let trash = read.trash()?;
    assert_eq!((trash[0].id, trash[0].shown_at), (TrashId::Context(context_id(2)), Some(at(5))));
    assert_eq!(read.context(context_id(2))?.unwrap().tags, ["Old"]);
    let pinned = read.conversation(conversation_id(2))?.unwrap();
    assert_eq!((pinned.is_pinned, pinned.tags.len(), pinned.title_source), (true, 1, TitleSource::Beginning));
    assert_eq!(read.deleted_messages(pinned.id)?[0].id, message_id(7));
    assert_eq!(read.composer_draft(DraftKey::Conversation(pinned.id))?.unwrap().text, "typed");
    assert_eq!(read.preset(&PresetId::new(BUILT_IN_PRESETS[0].id))?.unwrap().use_count, 1);
    assert_eq!((read.job("backup")?.unwrap().result, read.running_ms()?), (Some(JobResult::Ok), 1_234));
    Ok(())
}

fn check_fixture(read: &ReadHandle<'_>, version: i64) -> Result<(), StoreError> {
    let (one, revision) = context(1, "Calm Counselor");
    assert_eq!(read.context(one.id)?, Some(one));
    let used = read.revisions(context_id(1))?;
    assert_eq!((used.len(), &used[0].revision, used[0].message_count), (1, &revision, 1));
    let mut reply = full_reply(2, 1, &revision);
    reply.vote = (version >= 2).then_some(Vote::Up);
    assert_eq!(read.path(message_id(3), 9)?, [message(1, None), reply, message(3, Some(2))]);
    assert_eq!(read.receipt(message_id(2))?.is_some(), version >= 6, "replies from before have no receipt");
    assert_eq!(read.operation_tools(conversation_id(1))?.len(), usize::from(version >= 12));
    let found = read.search_messages(&SearchQuery { text: "grüße".into(), ..SearchQuery::default() })?;
    assert_eq!(found.iter().map(|hit| hit.message_id).collect::<Vec<_>>(), [message_id(2)]);
    assert_eq!(read.conversation(conversation_id(1))?.unwrap().message_count, 3);
    for preset in BUILT_IN_PRESETS {
        assert!(read.preset(&PresetId::new(preset.id))?.is_some(), "{}", preset.id);
    }
    assert_eq!(read.settings()?.engine_idle_minutes, 33);
    assert_eq!(read.provider(provider(1).id)?.unwrap().key_hint.as_deref(), Some("wxyz"));
    assert_eq!(read.sealed_provider_key(provider(1).id)?.unwrap(), b"sealed");
    assert_eq!(read.model_files()?[0].size_bytes, 93_000_000);
    Ok(())
}
