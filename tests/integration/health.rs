//! The vault is checked by itself, its newest backup is opened again by itself, and what that finds is told.

use crate::support::{World, options};
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::{Noun, state_key};
use evenkeel_vault::Profile;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PAGE: usize = 4_096;

fn profile(world: &World) -> Profile {
    Profile::new(world.dir.path().join("profile"))
}

async fn talked(messages: usize) -> (World, ContextId) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    for number in 0..messages {
        world.exchange(context, None, &format!("Something {number}. ").repeat(40), "It is kept.").await;
    }
    (world, context)
}

/// Closes the vault, changes its files, and looks at it again.
async fn after(world: &mut World, happens: impl FnOnce(&Profile)) -> VaultState {
    world.service.shutdown().await;
    happens(&profile(world));
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    world.service.vault_status().await.state
}

fn strike(profile: &Profile, page: usize) {
    let mut bytes = std::fs::read(profile.database()).unwrap();
    bytes[page * PAGE + 7] ^= 1;
    std::fs::write(profile.database(), bytes).unwrap();
}

async fn health(world: &World) -> VaultHealth {
    world.service.vault_health().await.unwrap()
}

/// Runs a job because somebody asks for it, and gives it once it has ended.
async fn asked(world: &World, name: &str) -> JobStatus {
    let runs = world.service.job_run(name.into()).await.unwrap().runs;
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let job = world.service.job_list().await.unwrap().into_iter().find(|job| job.name == name).unwrap();
        if job.runs == runs && !job.is_running && matches!(job.result, Some(JobResult::Ok | JobResult::Failed)) {
            return job;
        }
        assert!(Instant::now() < until, "{job:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn has_run(ran: &[JobStatus], name: &str) -> bool {
    ran.iter().any(|job| job.name == name)
}

#[tokio::test]
async fn the_vault_is_checked_once_a_week_whatever_the_clock_does() {
    let (mut world, _) = talked(1).await;
    let new = health(&world).await;
    assert_eq!((new.checked_at, new.damage, new.is_checking), (None, 0, false));
    world.run_after(TimeDelta::zero()).await;
    assert!(!has_run(&world.run_after(TimeDelta::hours(23)).await, "check"), "the first day is the user's");
    let before = world.clock.0.now();
    assert!(has_run(&world.run_after(TimeDelta::hours(2)).await, "check"));
    let checked = health(&world).await;
    assert!(checked.checked_at.is_some_and(|at| before < at && at <= world.clock.0.now()), "{checked:?}");
    assert_eq!((checked.damage, checked.findings.len()), (0, 0));
    world.restart().await;
    assert_eq!(health(&world).await.checked_at, checked.checked_at, "it is kept in the vault");
    assert!(!has_run(&world.run_after(TimeDelta::days(6)).await, "check"));
    assert!(has_run(&world.run_after(TimeDelta::days(2)).await, "check"));
    // A clock that was three years ahead when the next one was planned.
    world.clock.0.advance(TimeDelta::days(-3 * 365));
    world.restart().await;
    assert!(has_run(&world.run_after(TimeDelta::zero()).await, "check"));
    world.service.vault_lock().await;
    assert_eq!(world.service.vault_health().await.unwrap_err().code(), ErrorCode::VaultLocked);
}

#[tokio::test]
async fn damage_is_found_told_kept_and_gone_with_the_rescue() {
    let (mut world, context) = talked(20).await;
    world.service.backup_make().await.unwrap();
    world.exchange(context, None, "Newer than the backup.", "Noted.").await;
    let state = after(&mut world, |profile| {
        let pages = usize::try_from(std::fs::metadata(profile.database()).unwrap().len()).unwrap() / PAGE;
        strike(profile, pages - 1);
    })
    .await;
    assert_eq!(state, VaultState::Open, "one page does not close it");
    let mut heard = world.service.changes();
    let check = asked(&world, "check").await;
    assert!(check.result == Some(JobResult::Ok) && check.message.as_ref().unwrap().ends_with("places damaged"), "{check:?}");
    let found = health(&world).await;
    assert!(found.damage > 0 && !found.findings.is_empty() && found.checked_at.is_some(), "{found:?}");
    let mut news = Vec::new();
    while let Ok(change) = heard.try_recv() {
        news.push(change);
    }
    assert!(news.iter().any(|change| change.noun == Noun::AppState && change.id == state_key::CHECKED), "{news:?}");
    world.restart().await;
    assert_eq!(health(&world).await.damage, found.damage);

    let steps = Arc::new(Mutex::new(Vec::new()));
    let told = steps.clone();
    let offer = world.service.vault_rescue_preview(None, move |one| told.lock().unwrap().push(one.step)).await.unwrap();
    assert!(offer.opens && offer.set_aside.is_none() && offer.backup_at.is_some(), "{offer:?}");
    assert_eq!(offer.messages, 40 + offer.messages_lost_by_backup, "{offer:?}");
    assert!(offer.messages_lost_by_backup <= 2, "that is what was said after the backup");
    assert!(steps.lock().unwrap().contains(&RestoreStep::Reading), "{steps:?}");
    assert_eq!(world.service.vault_status().await.state, VaultState::Open, "looking closes it for a moment alone");
    assert_eq!(health(&world).await.damage, found.damage, "and changes nothing");

    let done = world.service.vault_rescue(None, |_| {}).await.unwrap();
    assert!(PathBuf::from(done.set_aside.unwrap()).exists(), "the damaged database lies beside it");
    let healthy = health(&world).await;
    assert_eq!((healthy.damage, healthy.checked_at), (0, None), "what was found was found in another database");
    asked(&world, "check").await;
    let checked = health(&world).await;
    assert!(checked.damage == 0 && checked.checked_at.is_some(), "{checked:?}");
}

#[tokio::test]
async fn an_unclean_end_has_the_vault_checked_at_the_first_look() {
    let (mut world, _) = talked(1).await;
    world.run_after(TimeDelta::zero()).await;
    assert_eq!(after(&mut world, |_| {}).await, VaultState::Open);
    assert!(!has_run(&world.run_after(TimeDelta::zero()).await, "check"), "it was closed well");
    // As a process leaves it that is killed: the log stands beside the database.
    world.exchange(world.contexts().await[0].id, None, "One more.", "Yes.").await;
    let left = ["vault.db", "vault.db-wal", "vault.db.mark"]
        .map(|name| profile(&world).dir().join(name))
        .map(|path| (path.clone(), std::fs::read(path).unwrap()));
    let state = after(&mut world, |_| {
        for (path, bytes) in &left {
            std::fs::write(path, bytes).unwrap();
        }
    })
    .await;
    assert_eq!(state, VaultState::Open);
    assert!(has_run(&world.run_after(TimeDelta::zero()).await, "check"));
    assert_eq!(health(&world).await.damage, 0, "nothing was lost");
    assert!(!has_run(&world.run_after(TimeDelta::zero()).await, "check"), "once");
}

#[tokio::test]
async fn an_error_of_damage_has_the_vault_checked_and_not_again_and_again() {
    let (mut world, context) = talked(12).await;
    let conversations = world.conversations(context).await.items;
    world.run_after(TimeDelta::zero()).await;
    world.service.shutdown().await;
    let whole = std::fs::read(profile(&world).database()).unwrap();
    // Which page holds what is SQLite's own affair: the first that opening does without and reading does not.
    for page in (1..whole.len() / PAGE).rev() {
        let state = after(&mut world, |profile| {
            std::fs::write(profile.database(), &whole).unwrap();
            strike(profile, page);
        })
        .await;
        if state != VaultState::Open {
            continue;
        }
        if let Err(error) = world.service.run_due_jobs().await {
            assert_eq!(error.code(), ErrorCode::VaultDamaged, "page {page}");
            assert!(health(&world).await.damage > 0, "page {page}: a vault whose jobs cannot be read is checked without them");
            continue;
        }
        let mut failed = false;
        for conversation in &conversations {
            let read = world.service.conversation_open(conversation.id).await;
            failed |= read.is_err_and(|error| error.code() == ErrorCode::VaultDamaged);
        }
        let Ok(ran) = world.service.run_due_jobs().await else { continue };
        assert_eq!(has_run(&ran, "check"), failed, "page {page}: {ran:?}");
        if !failed {
            continue;
        }
        assert!(health(&world).await.damage > 0);
        let _ = world.service.conversation_open(conversations[0].id).await;
        assert!(!has_run(&world.service.run_due_jobs().await.unwrap(), "check"), "that tells nothing new");
        return;
    }
    panic!("no page that is struck makes reading fail");
}

#[tokio::test]
async fn the_newest_backup_is_opened_again_by_itself_and_replaced_where_it_is_not_whole() {
    let (world, _) = talked(2).await;
    world.run_after(TimeDelta::zero()).await;
    world.run_after(TimeDelta::hours(25)).await;
    assert_eq!(health(&world).await.drill, None, "there was none");
    world.clock.0.pass(TimeDelta::hours(1));
    let made = world.service.backup_make().await.unwrap();
    let ran = world.run_after(TimeDelta::days(7)).await;
    assert!(has_run(&ran, "drill"), "{ran:?}");
    let drill = health(&world).await.drill.unwrap();
    assert_eq!((drill.made_at, drill.messages, drill.unusable), (made.made_at, Some(4), 0));

    let newest = world.service.backup_list().await.unwrap().remove(0);
    let mut bytes = std::fs::read(&newest.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&newest.path, bytes).unwrap();
    asked(&world, "drill").await;
    let drill = health(&world).await.drill.unwrap();
    assert_eq!((drill.unusable, drill.made_at), (1, made.made_at), "the one before it opens");
    let listed = world.service.backup_list().await.unwrap();
    assert_eq!(listed[0].problem.as_deref(), Some("damaged"));
    assert!(has_run(&world.run_after(TimeDelta::minutes(1)).await, "backup"), "a new one is made at once");
    assert!(world.service.backup_list().await.unwrap()[0].is_newest);
}

#[tokio::test]
async fn a_clock_that_jumps_is_told_as_long_as_deletions_rest() {
    let (world, _) = talked(1).await;
    world.run_after(TimeDelta::zero()).await;
    assert!(!health(&world).await.deletions_rest);
    world.clock.0.advance(TimeDelta::days(400));
    world.run_after(TimeDelta::minutes(1)).await;
    assert!(health(&world).await.deletions_rest);
    world.run_after(TimeDelta::hours(25)).await;
    assert!(!health(&world).await.deletions_rest);
}
