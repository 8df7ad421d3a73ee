//! Backups through the service: made, listed, checked, restored; and the one before a migration.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::backup::BackupKind;
use evenkeel_store::{SCHEMA_VERSION, Store};
use evenkeel_testkit::scripted_server::Answer;
use evenkeel_vault::{KeyFile, Profile, Use, unlock_keychain};
use std::path::{Path, PathBuf};

pub async fn talked() -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::reply(&["I am listening."]));
    world.say(context.id, None, "Keep this.").await;
    (world, context)
}

#[tokio::test]
async fn a_backup_is_made_listed_compared_and_restored() {
    let (world, context) = talked().await;
    let made = world.service.backup_make().await.unwrap();
    assert_eq!(
        (made.kind, made.contexts, made.conversations, made.messages),
        (Some(BackupKind::Manual), Some(1), Some(1), Some(2))
    );
    assert!(made.is_newest && made.verified_at.is_some() && made.problem.is_none() && made.size_bytes > 0);
    assert_eq!(world.service.backup_list().await.unwrap(), std::slice::from_ref(&made));

    let second = world.counselor().await;
    world.server.push(Answer::reply(&["And I."]));
    world.say(second.id, None, "This is newer.").await;
    let preview = world.service.backup_preview(made.path.clone().into()).await.unwrap();
    assert_eq!((preview.now.contexts, preview.then.contexts, preview.newer_messages), (2, 1, 2));
    assert_eq!((preview.come_back.len(), preview.disappear[0].id), (0, second.id));
    assert!(preview.newest_message_at.is_some());

    let mut states = world.service.vault_states();
    world.service.backup_restore(made.path.clone().into()).await.unwrap();
    let mut seen = Vec::new();
    while let Ok(state) = states.try_recv() {
        seen.push(state);
    }
    assert_eq!(seen, [VaultState::Opening, VaultState::Open]);
    let ids: Vec<_> = world
        .service
        .context_list(ContextQuery::default())
        .await
        .unwrap()
        .contexts
        .into_iter()
        .map(|context| context.id)
        .collect();
    assert_eq!(ids, [context.id]);
    let kinds: Vec<_> = world.service.backup_list().await.unwrap().into_iter().filter_map(|one| one.kind).collect();
    assert_eq!(kinds, [BackupKind::BeforeRestore, BackupKind::Manual]);

    // And back again, by the backup from before the restore.
    let before = world.service.backup_list().await.unwrap().remove(0);
    world.service.backup_restore(before.path.into()).await.unwrap();
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap().contexts.len(), 2);
    world.server.push(Answer::reply(&["Still here."]));
    world.say(second.id, None, "And it goes on.").await;
}

#[tokio::test]
async fn a_damaged_backup_is_found_and_not_restored() {
    let (world, context) = talked().await;
    let made = world.service.backup_make().await.unwrap();
    let mut bytes = std::fs::read(&made.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&made.path, bytes).unwrap();
    let checked = world.service.backup_verify(made.path.clone().into()).await.unwrap();
    assert_eq!(checked.problem.as_deref(), Some("damaged"));
    let error = world.service.backup_restore(made.path.into()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultDamaged);
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap().contexts[0].id, context.id);
}

#[tokio::test]
async fn a_page_names_no_file_that_was_not_listed_or_chosen() {
    let (world, _) = talked().await;
    let folder = world.dir.path().join("stick");
    std::fs::create_dir(&folder).unwrap();
    let saved = PathBuf::from(world.service.backup_save(folder.clone()).await.unwrap().path);
    assert_eq!(saved.parent(), Some(&*folder));
    assert_eq!(world.service.backup_list().await.unwrap(), [], "it is not among the profile's own");
    assert_eq!(world.service.backup_verify(saved.clone()).await.unwrap().problem, None);

    let copied = folder.join("copied.ekbackup");
    std::fs::copy(&saved, &copied).unwrap();
    let profile = world.dir.path().join("profile");
    for path in [copied.clone(), profile.join("vault.db"), profile.join("backups/../vault.ekbackup"), "/etc/hostname".into()] {
        let refused = [
            world.service.backup_verify(path.clone()).await.err(),
            world.service.backup_preview(path.clone()).await.err(),
            world.service.backup_restore(path.clone()).await.err(),
        ];
        for error in refused {
            let error = error.unwrap().to_body();
            assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "path"), "{path:?}");
        }
    }
    assert_eq!(world.service.backup_choose(copied.clone()).await.unwrap().messages, Some(2));
    assert_eq!(world.service.backup_preview(copied).await.unwrap().newer_messages, 0);
    let missing = world.service.backup_choose(folder.join("gone.ekbackup")).await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::NotFound);
    for inside in [profile.clone(), profile.join("models")] {
        let error = world.service.backup_save(inside).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "folder"));
    }
    let gone = world.service.backup_save(world.dir.path().join("removed")).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
    world.service.vault_lock().await;
    assert_eq!(world.service.backup_list().await.unwrap_err().code(), ErrorCode::VaultLocked);
    assert_eq!(world.service.backup_make().await.unwrap_err().code(), ErrorCode::VaultLocked);
}

#[tokio::test]
async fn a_restore_waits_for_nobody_else_and_leaves_the_vault_open() {
    let (world, context) = talked().await;
    let made = world.service.backup_make().await.unwrap();
    let other = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(other.vault_status().await.state, VaultState::Open);
    let error = world.service.backup_restore(made.path.into()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultInUse);
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap().contexts[0].id, context.id);
}

/// The key of the store's fixtures.
const FIXTURE_KEY: [u8; 32] = *b"\x93\x0f an unguessable key, 32 \xf1\x00\x7f\xe2!\x01";

/// Puts a vault of schema 1, which stands in the store's fixtures, in the place of a world's vault.
fn make_old(world: &World) {
    let profile = Profile::new(world.dir.path().join("profile"));
    let key = database_key(world, &profile);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(profile.dir().join(format!("vault.db{end}")));
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/store/tests/fixtures/vault-v1.db");
    let copy = world.dir.path().join("v1.db");
    std::fs::copy(fixture, &copy).unwrap();
    let old = rusqlite::Connection::open(copy).unwrap();
    old.execute_batch(&format!("PRAGMA key = \"x'{}'\"; PRAGMA cipher_compatibility = 4;", hex(&FIXTURE_KEY))).unwrap();
    let database = profile.database();
    old.execute_batch(&format!("ATTACH '{}' AS made KEY \"x'{}'\";", database.display(), hex(&key))).unwrap();
    old.query_row("SELECT sqlcipher_export('made')", [], |_| Ok(())).unwrap();
    old.execute_batch("PRAGMA made.user_version = 1; DETACH made;").unwrap();
}

pub fn database_key(world: &World, profile: &Profile) -> [u8; 32] {
    let key_file = KeyFile::read(profile).unwrap();
    let root = unlock_keychain(&key_file, &*world.keychain).unwrap();
    *root.subkey(key_file.vault_id(), Use::Database)
}

#[tokio::test]
async fn a_vault_of_an_older_version_is_backed_up_before_it_is_changed() {
    let mut world = World::new().await;
    world.service.shutdown().await;
    make_old(&world);
    let profile = Profile::new(world.dir.path().join("profile"));
    let key = database_key(&world, &profile);
    assert_eq!(Store::schema(&profile.database(), &key).unwrap(), 1);

    // No backup, no change.
    std::fs::remove_dir_all(profile.backups()).unwrap();
    std::fs::write(profile.backups(), b"in the way").unwrap();
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Unavailable);
    assert_eq!(Store::schema(&profile.database(), &key).unwrap(), 1);

    std::fs::remove_file(profile.backups()).unwrap();
    world.restart().await;
    assert_eq!(Store::schema(&profile.database(), &key).unwrap(), SCHEMA_VERSION);
    let backups = world.service.backup_list().await.unwrap();
    assert_eq!(backups.iter().map(|one| one.kind).collect::<Vec<_>>(), [Some(BackupKind::BeforeMigration)]);
    let every = ContextQuery { include_expired: true, ..ContextQuery::default() };
    let context = world.service.context_list(every.clone()).await.unwrap().contexts.remove(0);
    assert_eq!(world.service.backup_verify(backups[0].path.clone().into()).await.unwrap().problem, None);
    let preview = world.service.backup_preview(backups[0].path.clone().into()).await.unwrap();
    // The draft of a process that is gone became a message at this start.
    assert_eq!((preview.come_back.len(), preview.disappear.len(), preview.newer_messages), (0, 0, 1));
    world.service.backup_restore(backups[0].path.clone().into()).await.unwrap();
    assert_eq!(world.service.context_list(every).await.unwrap().contexts[0].id, context.id);
}
