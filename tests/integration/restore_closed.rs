//! A vault that is damaged, lost, or that was on another machine comes back from a backup.

use crate::backup::{database_key, talked};
use crate::support::{MemoryKeychain, World, open_new, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use evenkeel_vault::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn profile(world: &World) -> Profile {
    Profile::new(world.dir.path().join("profile"))
}

/// Every file of a folder with its bytes, but for empty ones, which are locks.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.flat_map(|path| {
        if path.is_dir() { files(&path).into_iter().collect() } else { vec![(path.clone(), std::fs::read(path).unwrap())] }
    });
    found.filter(|(_, bytes)| !bytes.is_empty()).collect()
}

/// Closes the vault, lets something happen to its files, and starts again.
async fn after(world: &mut World, happens: impl FnOnce(&Profile, &World)) -> VaultState {
    world.service.shutdown().await;
    happens(&profile(world), world);
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    world.service.vault_status().await.state
}

fn spoil(profile: &Profile) {
    std::fs::write(profile.database(), b"what the disk made of it").unwrap();
    let _ = std::fs::remove_file(profile.dir().join("vault.db-wal"));
}

async fn restore(service: &Service, path: &str, secret: &str) -> Result<ClosedRestore, ServiceError> {
    service.backup_restore_closed(path.into(), secret.to_owned(), |_| {}).await
}

fn failed(outcome: Result<ClosedRestore, ServiceError>) -> ErrorBody {
    outcome.map(|done| panic!("it should have failed: {done:?}")).unwrap_err().to_body()
}

async fn texts(world: &World, context: ContextId) -> Vec<String> {
    let mut texts = Vec::new();
    for conversation in world.conversations(context).await.items {
        let view = world.service.conversation_open(conversation.id).await.unwrap();
        texts.extend(view.messages.into_iter().filter(|one| one.role == Role::User).map(|one| one.content));
    }
    texts
}

/// A vault with a backup, and a message that is newer.
async fn talked_on() -> (World, Context, BackupInfo) {
    let (world, context) = talked().await;
    let made = world.service.backup_make().await.unwrap();
    world.server.push(Answer::reply(&["Still listening."]));
    world.say(context.id, None, "This is newer.").await;
    (world, context, made)
}

#[tokio::test]
async fn a_damaged_vault_comes_back_by_its_recovery_code() {
    let (mut world, context, made) = talked_on().await;
    assert_eq!(after(&mut world, |profile, _| spoil(profile)).await, VaultState::Damaged);
    let listed = world.service.backup_list_closed().await.unwrap();
    assert_eq!((listed.len(), &listed[0].path, listed[0].made_at), (1, &made.path, made.made_at));
    assert_eq!((listed[0].size_bytes, listed[0].contexts, listed[0].is_newest), (made.size_bytes, None, true));

    let before = files(world.dir.path());
    let code = world.recovery.join(" ").to_lowercase();
    let mistyped = failed(restore(&world.service, &made.path, &code[1..]).await);
    assert_eq!((mistyped.code, mistyped.details["recoveryCode"].as_str()), (ErrorCode::InvalidParameter, "mistyped"));
    let another = World::new().await.recovery.join("-");
    let wrong = failed(restore(&world.service, &made.path, &another).await);
    assert_eq!((wrong.code, wrong.details["backup"].as_str()), (ErrorCode::WrongKey, "wrongKey"));
    assert!(files(world.dir.path()) == before, "a wrong code changed a file");
    let status = world.service.vault_status().await;
    assert_eq!((status.state, status.error.unwrap().code), (VaultState::Damaged, ErrorCode::VaultDamaged));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let watch = move |progress: RestoreProgress| told.lock().unwrap().push(progress);
    let done = world.service.backup_restore_closed(made.path.clone().into(), code, watch).await.unwrap();
    assert_eq!((done.status.state, done.status.error, done.kept_database), (VaultState::Open, None, false));
    let mut steps: Vec<_> = seen.lock().unwrap().iter().map(|progress| progress.step).collect();
    steps.dedup();
    assert_eq!(steps, [RestoreStep::Unpacking, RestoreStep::Checking, RestoreStep::Copying, RestoreStep::Finishing]);
    assert_eq!(std::fs::read(done.set_aside.unwrap()).unwrap(), b"what the disk made of it");
    assert_eq!(texts(&world, context.id).await, ["Keep this."]);
    world.restart().await;
    assert_eq!(texts(&world, context.id).await, ["Keep this."]);
}

#[tokio::test]
async fn a_backup_is_restored_on_a_new_machine() {
    let (mut world, context, _) = talked_on().await;
    let stick = world.dir.path().join("stick");
    std::fs::create_dir(&stick).unwrap();
    let saved = world.service.backup_save(stick).await.unwrap();
    world.service.shutdown().await;

    let there = tempfile::tempdir().unwrap();
    let keychain = Arc::new(MemoryKeychain::default());
    world.service = Service::new(options(there.path(), keychain.clone(), world.clock.clone())).unwrap();
    let early = world.service.backup_list_closed().await.unwrap_err();
    assert_eq!(early.code(), ErrorCode::Busy, "nobody has looked for a vault yet");
    assert_eq!(world.service.vault_status().await.state, VaultState::New);
    assert_eq!(world.service.backup_list_closed().await.unwrap(), []);
    let code = world.recovery.join("-");
    let unknown = failed(restore(&world.service, &saved.path, &code).await);
    assert_eq!((unknown.code, unknown.details["field"].as_str()), (ErrorCode::InvalidParameter, "path"));
    let chosen = world.service.backup_choose_closed(saved.path.clone().into()).await.unwrap();
    assert_eq!((chosen.made_at, chosen.problem, chosen.messages), (saved.made_at, None, None));
    assert!(files(there.path()).is_empty(), "looking leaves nothing behind");

    let done = restore(&world.service, &saved.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database, done.set_aside), (VaultState::Open, false, None));
    assert_eq!(texts(&world, context.id).await, ["This is newer.", "Keep this."]);
    // From now on this machine's keychain opens it.
    world.service.shutdown().await;
    world.service = Service::new(options(there.path(), keychain, world.clock.clone())).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(texts(&world, context.id).await.len(), 2);
}

#[tokio::test]
async fn a_passphrase_opens_a_backup_as_the_code_does() {
    let world = World::new().await;
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let make = |folder: &Path| Service::new(options(folder, world.keychain.clone(), world.clock.clone())).unwrap();
    let service = make(here.path());
    service.vault_status().await;
    let wish = VaultOptions { use_keychain: false, passphrase: Some("correct horse battery".into()) };
    let sheet = service.vault_create(wish).await.unwrap();
    let answers = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    service.vault_confirm_recovery(answers).await.unwrap();
    let made = service.backup_make().await.unwrap();
    service.shutdown().await;

    let service = make(there.path());
    service.vault_status().await;
    service.backup_choose_closed(made.path.clone().into()).await.unwrap();
    let wrong = failed(restore(&service, &made.path, "correct horse batteries").await);
    assert_eq!((wrong.code, wrong.details["backup"].as_str()), (ErrorCode::WrongKey, "wrongKey"));
    let done = restore(&service, &made.path, "correct horse battery").await.unwrap();
    assert_eq!((done.status.state, done.status.has_passphrase), (VaultState::Open, true));
}

#[tokio::test]
async fn what_is_no_backup_of_this_vault_is_told_apart_and_changes_nothing() {
    let (mut world, _, made) = talked_on().await;
    let code = world.recovery.join("-");
    let (other, _, theirs) = talked_on().await;
    assert_eq!(after(&mut world, |profile, _| spoil(profile)).await, VaultState::Damaged);
    let service = &world.service;
    let foreign = world.dir.path().join("letter.ekbackup");
    std::fs::write(&foreign, b"Dear all,").unwrap();
    let damaged = world.dir.path().join("struck.ekbackup");
    let mut bytes = std::fs::read(&made.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let before = files(world.dir.path());

    let letter = world.dir.path().join("letter.txt");
    let refused = service.backup_choose_closed(letter).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["backup"].as_str()), (ErrorCode::InvalidParameter, "foreign"));
    let cases = [
        (foreign.display().to_string(), code.clone(), ErrorCode::InvalidParameter, "foreign"),
        (damaged.display().to_string(), code.clone(), ErrorCode::VaultDamaged, "damaged"),
        (theirs.path.clone(), other.recovery.join("-"), ErrorCode::VaultExists, "otherVault"),
    ];
    for (path, secret, wanted, problem) in cases {
        service.backup_choose_closed(path.clone().into()).await.unwrap();
        let error = failed(restore(service, &path, &secret).await);
        assert_eq!((error.code, error.details["backup"].as_str()), (wanted, problem), "{path}: {error}");
        assert_eq!(service.vault_status().await.state, VaultState::Damaged);
        assert!(files(world.dir.path()) == before, "{problem} changed a file");
    }
}

#[tokio::test]
async fn lost_keys_come_back_and_a_whole_database_stays() {
    let (mut world, context, made) = talked_on().await;
    let code = world.recovery.join("-");
    let newest = ["This is newer.", "Keep this."];
    let lose_slots = |profile: &Profile, _: &World| {
        std::fs::remove_file(profile.key_slots()).unwrap();
        std::fs::write(profile.key_slots_copy(), b"struck").unwrap();
    };
    assert_eq!(after(&mut world, lose_slots).await, VaultState::Damaged);
    assert!(!world.service.vault_status().await.has_key_slots, "no key helps, and the page offers none");
    let done = restore(&world.service, &made.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database, done.set_aside), (VaultState::Open, true, None));
    assert_eq!(texts(&world, context.id).await, newest);
    let aside = profile(&world).dir().join("vault.keys.2.damaged-1");
    assert_eq!(std::fs::read(aside).unwrap(), b"struck");

    // The same for a keychain that has forgotten; it opens the vault again from then on.
    assert_eq!(after(&mut world, |_, world| world.keychain.forget_all()).await, VaultState::Missing);
    let done = restore(&world.service, &made.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database), (VaultState::Open, true));
    world.restart().await;
    assert_eq!(texts(&world, context.id).await, newest);
}

#[tokio::test]
async fn a_database_that_is_gone_damaged_without_its_keys_or_too_new_is_replaced() {
    let (mut world, context, made) = talked_on().await;
    let code = world.recovery.join("-");
    let gone = |profile: &Profile, _: &World| {
        for end in ["", "-wal"] {
            let _ = std::fs::remove_file(profile.dir().join(format!("vault.db{end}")));
        }
    };
    assert_eq!(after(&mut world, gone).await, VaultState::Damaged);
    let done = restore(&world.service, &made.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database, done.set_aside), (VaultState::Open, false, None));
    assert_eq!(texts(&world, context.id).await, ["Keep this."]);

    let all_is_struck = |profile: &Profile, _: &World| {
        spoil(profile);
        std::fs::remove_file(profile.key_slots()).unwrap();
        std::fs::remove_file(profile.key_slots_copy()).unwrap();
    };
    assert_eq!(after(&mut world, all_is_struck).await, VaultState::Damaged);
    let done = restore(&world.service, &made.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database), (VaultState::Open, false));
    assert_eq!(std::fs::read(done.set_aside.unwrap()).unwrap(), b"what the disk made of it");

    let of_tomorrow = |profile: &Profile, world: &World| {
        let hex = database_key(world, profile).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let database = rusqlite::Connection::open(profile.database()).unwrap();
        database.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"; PRAGMA user_version = 9999;")).unwrap();
    };
    assert_eq!(after(&mut world, of_tomorrow).await, VaultState::TooNew);
    let done = restore(&world.service, &made.path, &code).await.unwrap();
    assert_eq!((done.status.state, done.kept_database, done.set_aside.is_some()), (VaultState::Open, false, true));
    assert_eq!(texts(&world, context.id).await, ["Keep this."]);
}

#[tokio::test]
async fn a_vault_that_can_be_opened_is_not_replaced_this_way() {
    let (world, _, made) = talked_on().await;
    let code = world.recovery.join("-");
    let refused = |service: Service| {
        let (path, code) = (made.path.clone(), code.clone());
        async move {
            let errors = [
                failed(restore(&service, &path, &code).await).code,
                service.backup_list_closed().await.unwrap_err().code(),
                service.backup_choose_closed(path.into()).await.unwrap_err().code(),
            ];
            assert_eq!(errors, [ErrorCode::VaultExists; 3]);
        }
    };
    refused(world.service.clone()).await;
    world.service.vault_lock().await;
    refused(world.service.clone()).await;
    assert_eq!(world.service.vault_status().await.state, VaultState::LockedByUser);

    let folder = tempfile::tempdir().unwrap();
    let fresh = Service::new(options(folder.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    fresh.vault_status().await;
    fresh.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await.unwrap();
    fresh.backup_choose_closed(made.path.clone().into()).await.unwrap_err();
    let error = fresh.backup_list_closed().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultExists, "it waits for its recovery code to be typed back");
}

#[tokio::test]
async fn a_vault_in_use_elsewhere_is_left_alone() {
    let (world, context, made) = talked_on().await;
    let other = Service::new(options(world.dir.path(), Arc::new(MemoryKeychain::default()), world.clock.clone())).unwrap();
    assert_eq!(other.vault_status().await.state, VaultState::Missing);
    let error = failed(restore(&other, &made.path, &world.recovery.join("-")).await);
    assert_eq!(error.code, ErrorCode::VaultInUse);
    assert_eq!(other.vault_status().await.state, VaultState::Missing);
    assert_eq!(texts(&world, context.id).await.len(), 2);
}

/// Strikes the pages behind the first two, while the vault is open or not.
fn strike(database: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(database).unwrap();
    bytes[8_192..].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(database, &bytes).unwrap();
    bytes
}

#[tokio::test]
async fn an_open_vault_that_is_damaged_is_restored_without_the_backup_before() {
    let (mut world, context, made) = talked_on().await;
    // A start empties the log into the database.
    world.restart().await;
    let database = profile(&world).database();
    strike(&database);
    assert_eq!(world.service.backup_make().await.unwrap_err().code(), ErrorCode::VaultDamaged);
    let preview = world.service.backup_preview(made.path.clone().into()).await.unwrap();
    assert!(preview.is_vault_damaged);
    assert_eq!((preview.then.messages, preview.now.messages, preview.newer_messages), (2, 0, 0));
    let report = world.service.backup_restore(made.path.clone().into()).await.unwrap();
    assert!(report.without_backup);
    assert!(Path::new(&report.set_aside.unwrap()).exists());
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(texts(&world, context.id).await, ["Keep this."]);
    let left: Vec<_> = world.service.backup_list().await.unwrap().into_iter().map(|one| one.path).collect();
    assert_eq!(left, std::slice::from_ref(&made.path), "nothing was made of the damaged vault");
    // Of the vault that is whole again one is made.
    let report = world.service.backup_restore(made.path.into()).await.unwrap();
    assert!(!report.without_backup);
    assert_eq!(world.service.backup_list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_backup_before_that_fails_for_another_reason_stops_the_restore() {
    let (world, context, _) = talked_on().await;
    let stick = world.dir.path().join("stick");
    std::fs::create_dir(&stick).unwrap();
    let saved = world.service.backup_save(stick).await.unwrap();
    world.server.push(Answer::reply(&["Yes."]));
    world.say(context.id, None, "The newest.").await;
    let backups = profile(&world).backups();
    std::fs::remove_dir_all(&backups).unwrap();
    std::fs::write(&backups, b"in the way").unwrap();
    let error = world.service.backup_restore(saved.path.clone().into()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Storage, "{error}");
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(texts(&world, context.id).await.len(), 3);
    std::fs::remove_file(&backups).unwrap();
    assert!(!world.service.backup_restore(saved.path.into()).await.unwrap().without_backup);
    assert_eq!(texts(&world, context.id).await.len(), 2);
}

#[tokio::test]
async fn a_restore_that_failed_leaves_the_way_to_a_new_vault_open() {
    let (world, _, made) = talked_on().await;
    let folder = tempfile::tempdir().unwrap();
    let fresh = Service::new(options(folder.path(), Arc::new(MemoryKeychain::default()), world.clock.clone())).unwrap();
    fresh.vault_status().await;
    fresh.backup_choose_closed(made.path.clone().into()).await.unwrap();
    let error = failed(restore(&fresh, &made.path, &World::new().await.recovery.join("-")).await);
    assert_eq!(error.code, ErrorCode::WrongKey);
    open_new(&fresh).await;
}
