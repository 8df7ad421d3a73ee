//! Another root key for the vault: nothing is lost, nothing of the old key opens it, and it can be stopped.

use crate::backup::{database_key, talked};
use crate::key_slots::PASSPHRASE;
use crate::support::{MemoryKeychain, World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::Store;
use evenkeel_testkit::scripted_server::Answer;
use evenkeel_vault::Profile;
use std::sync::Arc;

fn profile(world: &World) -> Profile {
    Profile::new(world.dir.path().join("profile"))
}

fn secrets(world: &World, passphrase: Option<&str>) -> RootSecrets {
    RootSecrets { recovery_code: world.recovery.join("-"), passphrase: passphrase.map(str::to_owned) }
}

/// A conversation as it is exported, but for the time of that.
pub async fn exported(service: &Service, id: ConversationId) -> serde_json::Value {
    let text = service.conversation_export(id, ExportFormat::Json).await.unwrap();
    let mut export: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(export.as_object_mut().unwrap().remove("exportedAt").is_some());
    export
}

#[tokio::test]
async fn everything_stays_every_way_in_opens_it_and_the_old_key_does_not() {
    let (mut world, context) = talked().await;
    world.service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap();
    let old_backup = world.service.backup_make().await.unwrap();
    let conversation = world.conversations(context.id).await.items[0].id;
    let (before, old_key) = (exported(&world.service, conversation).await, database_key(&world, &profile(&world)));
    let change = world.service.vault_renew_root(secrets(&world, Some(PASSPHRASE)), |_| {}).await.unwrap().unwrap();
    assert!(change.backup.is_some(), "{:?}", change.backup_error);
    assert!(change.slots.earlier_backups >= 1);
    assert_eq!(exported(&world.service, conversation).await, before);

    let new_key = database_key(&world, &profile(&world));
    assert_ne!(new_key, old_key);
    assert!(Store::open(&profile(&world).database(), &old_key, world.clock.0.now()).is_err());
    let left: Vec<_> = std::fs::read_dir(profile(&world).dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("pre-restore")), "{left:?}");

    // API keys are wrapped under the new root: the provider still gets its own.
    world.server.push(Answer::reply(&["Still here."]));
    world.say(context.id, Some(conversation), "And now?").await;
    let sent = world.server.headers().last().unwrap().get("authorization").unwrap().to_str().unwrap().to_owned();
    assert_eq!(sent, "Bearer sk-secret-0123456789");

    for method in [
        UnlockMethod::Passphrase { passphrase: PASSPHRASE.into() },
        UnlockMethod::RecoveryCode { code: world.recovery.join("-") },
        UnlockMethod::Keychain,
    ] {
        world.service.vault_lock().await;
        assert_eq!(world.service.vault_unlock(method).await.unwrap().state, VaultState::Open);
    }
    world.restart().await;

    // A backup from before is listed as what it is, and opens elsewhere with its code.
    let listed = world.service.backup_list().await.unwrap();
    let old = listed.iter().find(|info| info.path == old_backup.path).unwrap();
    assert_eq!(old.problem.as_deref(), Some("wrongKey"));
    let elsewhere = tempfile::tempdir().unwrap();
    let service = Service::new(options(elsewhere.path(), Arc::new(MemoryKeychain::default()), world.clock.clone())).unwrap();
    service.vault_status().await;
    service.backup_choose_closed(old_backup.path.clone().into()).await.unwrap();
    let code = world.recovery.join("-");
    assert_eq!(service.backup_restore_closed(old_backup.path.into(), code, |_| {}).await.unwrap().status.state, VaultState::Open);
    assert_eq!(exported(&service, conversation).await, before);
}

#[tokio::test]
async fn wrong_secrets_close_nothing_and_change_nothing() {
    let (world, _) = talked().await;
    world.service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap();
    let slots = std::fs::read(profile(&world).key_slots()).unwrap();
    let another = World::new().await.recovery.join("-");
    for (given, expected) in [
        (RootSecrets { recovery_code: "ABCD".into(), passphrase: Some(PASSPHRASE.into()) }, ErrorCode::InvalidParameter),
        (RootSecrets { recovery_code: another, passphrase: Some(PASSPHRASE.into()) }, ErrorCode::WrongKey),
        (secrets(&world, Some("another passphrase")), ErrorCode::WrongKey),
        (secrets(&world, None), ErrorCode::NotFound),
    ] {
        let mut states = world.service.vault_states();
        let error = world.service.vault_renew_root(given, |_| {}).await.unwrap_err();
        assert_eq!(error.code(), expected, "{error}");
        assert!(states.try_recv().is_err(), "the vault was never closed");
    }
    assert_eq!(std::fs::read(profile(&world).key_slots()).unwrap(), slots);
}

#[tokio::test]
async fn it_can_be_stopped_and_the_vault_is_open_as_before() {
    let (world, context) = talked().await;
    let conversation = world.conversations(context.id).await.items[0].id;
    let (before, key) = (exported(&world.service, conversation).await, database_key(&world, &profile(&world)));
    let service = world.service.clone();
    let stopped = world.service.vault_renew_root(secrets(&world, None), move |_| service.vault_cancel_root()).await;
    assert!(stopped.unwrap().is_none());
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(exported(&world.service, conversation).await, before);
    assert_eq!(database_key(&world, &profile(&world)), key);
    // And it can be begun anew.
    assert!(world.service.vault_renew_root(secrets(&world, None), |_| {}).await.unwrap().is_some());
    assert_eq!(exported(&world.service, conversation).await, before);
}

#[tokio::test]
async fn a_lock_that_is_asked_for_meanwhile_holds_afterwards() {
    let (world, context) = talked().await;
    let settings = Settings { lock_on_sleep: true, ..world.service.settings_get().await.unwrap() };
    world.service.settings_save(settings).await.unwrap();
    let (service, runtime) = (world.service.clone(), tokio::runtime::Handle::current());
    let hidden = service.clone();
    // Hiding the window locks only where that is wished, and it is not.
    let told = move |_| runtime.block_on(hidden.lock_if_hidden());
    assert!(world.service.vault_renew_root(secrets(&world, None), told).await.unwrap().is_some());
    let runtime = tokio::runtime::Handle::current();
    let outcome =
        world.service.vault_renew_root(secrets(&world, None), move |_| runtime.block_on(service.lock_if_sleeping())).await;
    // The key is another one, which is said; what is missing is the backup, and that is made once the vault is open again.
    let change = outcome.unwrap().unwrap();
    assert!(change.backup.is_none());
    assert_eq!(change.backup_error.unwrap().code, ErrorCode::VaultLocked);
    assert_eq!(world.service.vault_status().await.state, VaultState::LockedByUser);
    let opens = |listed: Vec<BackupInfo>| listed.into_iter().filter(|info| info.problem.is_none()).count();
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    assert_eq!(opens(world.service.backup_list().await.unwrap()), 0);
    let ran = world.service.run_due_jobs().await.unwrap();
    assert!(ran.iter().any(|job| job.name == "backup" && job.result == Some(JobResult::Ok)), "{ran:?}");
    assert_eq!(opens(world.service.backup_list().await.unwrap()), 1);
    assert_eq!(world.conversations(context.id).await.items.len(), 1);
}

#[tokio::test]
async fn a_backup_from_before_comes_back_here_with_the_keys_of_its_time() {
    let (mut world, context) = talked().await;
    let made = world.service.backup_make().await.unwrap();
    let old_key = database_key(&world, &profile(&world));
    world.server.push(Answer::reply(&["Later."]));
    world.say(context.id, None, "This is newer.").await;
    world.service.vault_renew_root(secrets(&world, None), |_| {}).await.unwrap().unwrap();
    world.service.shutdown().await;
    std::fs::write(profile(&world).database(), b"what the disk made of it").unwrap();
    let _ = std::fs::remove_file(profile(&world).dir().join("vault.db-wal"));
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Damaged);
    let code = world.recovery.join("-");
    let back = world.service.backup_restore_closed(made.path.into(), code, |_| {}).await.unwrap();
    assert_eq!(back.status.state, VaultState::Open);
    assert_eq!(world.conversations(context.id).await.items.len(), 1);
    assert_eq!(database_key(&world, &profile(&world)), old_key);
    world.restart().await;
}
