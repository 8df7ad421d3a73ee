//! A vault that is damaged keeps what can be read of it: rescued, merged with a backup, and the original beside it.

use crate::support::{World, options};
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_vault::Profile;
use std::path::PathBuf;

fn profile(world: &World) -> Profile {
    Profile::new(world.dir.path().join("profile"))
}

async fn talked() -> (World, ContextId) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    world.exchange(context, None, "Keep this.", "It is kept.").await;
    (world, context)
}

async fn said(world: &World, context: ContextId) -> Vec<String> {
    let mut texts = Vec::new();
    for conversation in world.conversations(context).await.items {
        let view = world.service.conversation_open(conversation.id).await.unwrap();
        texts.extend(view.messages.into_iter().map(|one| one.content));
    }
    texts.sort();
    texts
}

/// Closes the vault, changes its files, and looks at it again.
async fn after(world: &mut World, happens: impl FnOnce(&Profile)) -> VaultState {
    world.service.shutdown().await;
    happens(&profile(world));
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    world.service.vault_status().await.state
}

fn spoil_first_page(profile: &Profile) {
    let mut bytes = std::fs::read(profile.database()).unwrap();
    bytes[100] ^= 1;
    std::fs::write(profile.database(), bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_vault_is_rescued_after_showing_what_that_brings() {
    let (mut world, context) = talked().await;
    world.service.backup_make().await.unwrap();
    let open = world.service.vault_rescue_preview(Some(UnlockMethod::Keychain), |_| {}).await.unwrap_err();
    assert_eq!(open.code(), ErrorCode::VaultExists, "an open vault is not rescued by the way");
    assert_eq!(after(&mut world, spoil_first_page).await, VaultState::Damaged);
    let damaged = std::fs::read(profile(&world).database()).unwrap();

    let offer = world.service.vault_rescue_preview(Some(UnlockMethod::Keychain), |_| {}).await.unwrap();
    assert_eq!((offer.opens, offer.messages, offer.has_gaps, &offer.set_aside), (false, 2, true, &None));
    assert_eq!(offer.minutes_lost_by_backup, Some(0));
    assert!(std::fs::read(profile(&world).database()).unwrap() == damaged);
    assert_eq!(world.service.vault_status().await.state, VaultState::Damaged);

    let wrong = UnlockMethod::RecoveryCode { code: World::new().await.recovery.join("-") };
    assert_eq!(world.service.vault_rescue(Some(wrong), |_| {}).await.unwrap_err().code(), ErrorCode::WrongKey);
    let code = UnlockMethod::RecoveryCode { code: world.recovery.join("-") };
    let done = world.service.vault_rescue(Some(code), |_| {}).await.unwrap();
    assert!(std::fs::read(PathBuf::from(done.set_aside.unwrap())).unwrap() == damaged, "the original is beside it");
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(said(&world, context).await, ["It is kept.", "Keep this."]);
    world.restart().await;
    assert_eq!(said(&world, context).await.len(), 2);
}

#[tokio::test]
async fn an_open_vault_with_a_damaged_page_is_rescued_with_what_is_newer_than_its_backup() {
    let (mut world, context) = talked().await;
    world.service.backup_make().await.unwrap();
    for number in 0..20 {
        world.exchange(context, None, &format!("Newer {number}. ").repeat(60), "Still listening.").await;
    }
    let before = said(&world, context).await;
    let state = after(&mut world, |profile| {
        let mut bytes = std::fs::read(profile.database()).unwrap();
        let last = bytes.len() / 4_096 - 1;
        bytes[last * 4_096 + 7] ^= 1;
        std::fs::write(profile.database(), bytes).unwrap();
    })
    .await;
    assert_eq!(state, VaultState::Open, "one page does not close it");
    let done = world.service.vault_rescue(None, |_| {}).await.unwrap();
    assert!(done.opens && done.set_aside.is_some(), "{done:?}");
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    let rescued = said(&world, context).await;
    assert!(rescued.len() + 4 >= before.len(), "{} of {}", rescued.len(), before.len());
    assert!(rescued.iter().all(|text| before.contains(text)));
    assert_eq!(world.store().full_check().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_log_that_lost_its_end_is_kept_before_the_vault_opens_without_it() {
    let (mut world, context) = talked().await;
    // As a process leaves it that is killed: the log is there, and then its end is not.
    let kept: Vec<(PathBuf, Vec<u8>)> = ["vault.db", "vault.db-wal", "vault.db.mark"]
        .map(|name| profile(&world).dir().join(name))
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .into();
    let state = after(&mut world, |_| {
        for (path, bytes) in &kept {
            let left = if path.extension().is_some_and(|end| end == "db-wal") { bytes.len() / 2 } else { bytes.len() };
            std::fs::write(path, &bytes[..left]).unwrap();
        }
    })
    .await;
    assert_eq!(state, VaultState::Open, "no dead end");
    let names = std::fs::read_dir(profile(&world).dir()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = names.filter(|path| path.display().to_string().contains(".pre-restore-")).collect();
    let log = aside.iter().find(|path| path.display().to_string().ends_with("-wal")).unwrap();
    assert!(std::fs::read(log).unwrap() == kept[1].1[..kept[1].1.len() / 2], "what was left of the log is beside it");
    assert!(said(&world, context).await.len() < 2);
    world.restart().await;

    // The user is told, and until that was seen the copy is not removed with time.
    let lost = world.service.vault_health().await.unwrap().lost.unwrap();
    let copy = PathBuf::from(&lost.kept);
    assert!(lost.messages >= 1 && aside.contains(&copy), "{lost:?}");
    let weeks = async |world: &World| {
        for _ in 0..4 {
            world.clock.0.pass(TimeDelta::days(4));
            world.service.backup_make().await.unwrap();
            world.service.run_due_jobs().await.unwrap();
        }
    };
    weeks(&world).await;
    assert!(copy.exists());
    world.service.vault_loss_seen().await.unwrap();
    assert_eq!(world.service.vault_health().await.unwrap().lost, None);
    weeks(&world).await;
    assert!(!copy.exists(), "then it goes as every other");
}

#[tokio::test]
async fn a_reserve_is_kept_for_a_full_disk() {
    let (mut world, _) = talked().await;
    assert!(profile(&world).reserve().exists());
    std::fs::remove_file(profile(&world).reserve()).unwrap();
    world.restart().await;
    assert!(profile(&world).reserve().exists(), "the next start keeps it again");
}
