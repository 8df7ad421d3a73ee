//! The ways into the vault: changed one by one, each time with a backup that the new keys are proven to open.

use crate::backup::talked;
use crate::root_key::exported;
use crate::support::{MemoryKeychain, World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::backup::BackupKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub const PASSPHRASE: &str = "correct horse battery";

pub fn answers(sheet: &RecoverySheet) -> Vec<String> {
    sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect()
}

fn kinds(slots: &VaultSlots) -> Vec<SlotName> {
    let mut kinds: Vec<_> = slots.slots.iter().map(|slot| slot.kind).collect();
    kinds.sort_by_key(|kind| *kind as u8);
    kinds
}

async fn by_code(service: &Service, code: &str) -> Result<VaultStatus, ServiceError> {
    service.vault_lock().await;
    service.vault_unlock(UnlockMethod::RecoveryCode { code: code.to_owned() }).await
}

#[tokio::test]
async fn each_way_in_is_changed_and_the_last_one_stays() {
    use SlotName::{Keychain, Passphrase, RecoveryCode};
    let (mut world, context) = talked().await;
    let code = world.recovery.join("-");
    let begun = world.service.vault_slots().await.unwrap();
    assert_eq!((kinds(&begun), begun.lock), (vec![Keychain, RecoveryCode], LockKind::PrivacyScreen));
    assert!(begun.slots.iter().all(|slot| slot.made_at.is_some_and(|at| at <= world.clock.0.now())));
    let refused = |outcome: Result<KeyChange, ServiceError>| outcome.unwrap_err().to_body();
    assert_eq!(refused(world.service.vault_set_passphrase("short".into()).await).details["field"], "passphrase");
    assert_eq!(refused(world.service.vault_remove_slot(Keychain, Some(code.clone())).await).code, ErrorCode::InvalidParameter);
    assert_eq!(refused(world.service.vault_remove_slot(RecoveryCode, None).await).code, ErrorCode::InvalidParameter);

    let change = world.service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap();
    let made = change.backup.unwrap();
    assert_eq!((made.kind, made.problem, made.messages), (Some(BackupKind::AfterKeyChange), None, Some(2)));
    assert!(made.verified_at.is_some() && change.backup_error.is_none());
    assert_eq!((kinds(&change.slots).len(), change.slots.earlier_backups), (3, 0));

    // The keychain's goes only with the code, and then the lock is a real one.
    let another = World::new().await.recovery.join("-");
    for (wrong, expected) in [(None, ErrorCode::InvalidParameter), (Some(another), ErrorCode::WrongKey)] {
        assert_eq!(refused(world.service.vault_remove_slot(Keychain, wrong).await).code, expected);
    }
    let change = world.service.vault_remove_slot(Keychain, Some(code.to_lowercase())).await.unwrap();
    assert_eq!((change.slots.lock, change.keychain_keeps, change.backup.is_some()), (LockKind::Real, false, true));
    assert_eq!(change.slots.earlier_backups, 1, "the one from before opens by the keychain's key too");
    assert!(world.keychain.secrets().is_empty());
    assert_eq!(refused(world.service.vault_remove_slot(Passphrase, None).await).code, ErrorCode::InvalidParameter);

    assert_eq!(world.service.vault_lock().await.state, VaultState::LockedByUser);
    assert_ne!(world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap().state, VaultState::Open);
    let wrong = UnlockMethod::Passphrase { passphrase: "correct horse".into() };
    assert_eq!(world.service.vault_unlock(wrong).await.unwrap_err().code(), ErrorCode::WrongKey);
    let right = UnlockMethod::Passphrase { passphrase: PASSPHRASE.into() };
    assert_eq!(world.service.vault_unlock(right).await.unwrap().state, VaultState::Open);
    assert_eq!(world.contexts().await[0].id, context.id);

    let change = world.service.vault_add_keychain().await.unwrap();
    assert_eq!(change.slots.lock, LockKind::PrivacyScreen);
    let change = world.service.vault_remove_slot(Passphrase, None).await.unwrap();
    assert_eq!(kinds(&change.slots), [Keychain, RecoveryCode]);
    world.restart().await;
}

#[tokio::test]
async fn a_new_code_is_good_once_typed_back_and_opens_the_newest_backup_alone_elsewhere() {
    let (world, context) = talked().await;
    let old = world.recovery.join("-");
    let first = world.service.vault_begin_recovery().await.unwrap();
    // Whoever locks the vault has not typed it back: it is wiped, and the old one is good.
    assert_eq!(by_code(&world.service, &old).await.unwrap().state, VaultState::Open);
    let late = world.service.vault_finish_recovery(answers(&first)).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::InvalidParameter);
    assert_eq!(by_code(&world.service, &first.groups.join("-")).await.unwrap_err().code(), ErrorCode::WrongKey);
    by_code(&world.service, &old).await.unwrap();

    let sheet = world.service.vault_begin_recovery().await.unwrap();
    let mistyped = world.service.vault_finish_recovery(vec!["AAAA".into(), "BBBB".into()]).await.unwrap_err();
    assert_eq!(mistyped.to_body().details["field"], "answers");
    let change = world.service.vault_finish_recovery(answers(&sheet)).await.unwrap();
    assert!(change.backup_error.is_none(), "{:?}", change.backup_error);
    let made = change.backup.unwrap();
    assert_eq!(by_code(&world.service, &old).await.unwrap_err().code(), ErrorCode::WrongKey);
    let new = sheet.groups.join("-");
    assert_eq!(by_code(&world.service, &new).await.unwrap().state, VaultState::Open);
    let conversation = world.conversations(context.id).await.items[0].id;
    let before = exported(&world.service, conversation).await;

    // Another machine: nothing but the file and the code.
    let elsewhere = tempfile::tempdir().unwrap();
    let keychain = Arc::new(MemoryKeychain::default());
    let service = Service::new(options(elsewhere.path(), keychain, world.clock.clone())).unwrap();
    assert_eq!(service.vault_status().await.state, VaultState::New);
    service.backup_choose_closed(made.path.clone().into()).await.unwrap();
    let wrong = service.backup_restore_closed(made.path.clone().into(), old, |_| {}).await;
    assert_eq!(wrong.unwrap_err().code(), ErrorCode::WrongKey);
    let back = service.backup_restore_closed(made.path.into(), new, |_| {}).await.unwrap();
    assert_eq!(back.status.state, VaultState::Open);
    assert_eq!(exported(&service, conversation).await, before);
}

#[tokio::test]
async fn a_keychain_that_keeps_the_key_is_told_of_and_asked_again() {
    let (world, _) = talked().await;
    let code = world.recovery.join("-");
    world.service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap();
    world.keychain.keeps.store(true, Ordering::SeqCst);
    let change = world.service.vault_remove_slot(SlotName::Keychain, Some(code)).await.unwrap();
    assert!(change.keychain_keeps && change.slots.lock == LockKind::Real);
    assert_eq!(world.keychain.secrets().len(), 1);
    world.keychain.keeps.store(false, Ordering::SeqCst);
    let change = world.service.vault_remove_slot(SlotName::Keychain, None).await.unwrap();
    assert!(!change.keychain_keeps && world.keychain.secrets().is_empty());
}

#[tokio::test]
async fn a_locked_vault_gives_and_changes_none() {
    let world = World::new().await;
    let before = std::fs::read(world.dir.path().join("profile/vault.keys")).unwrap();
    world.service.vault_lock().await;
    let service = &world.service;
    let code = |error: ServiceError| error.code();
    assert_eq!(code(service.vault_slots().await.unwrap_err()), ErrorCode::VaultLocked);
    assert_eq!(code(service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap_err()), ErrorCode::VaultLocked);
    assert_eq!(code(service.vault_add_keychain().await.unwrap_err()), ErrorCode::VaultLocked);
    assert_eq!(code(service.vault_begin_recovery().await.map(drop).unwrap_err()), ErrorCode::VaultLocked);
    assert_eq!(std::fs::read(world.dir.path().join("profile/vault.keys")).unwrap(), before);
}
