//! Two services on one profile: what one writes, the other notices by itself.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::Noun;
use std::time::{Duration, Instant};

/// Waits until `heard` has a change of a noun that may be any of them.
async fn news(heard: &mut tokio::sync::broadcast::Receiver<Change>, noun: Noun) {
    let found = async {
        while let Some(change) = next(heard).await {
            if change.noun == noun && change.id.is_empty() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), found).await.expect("the other's write was never told");
}

#[tokio::test]
async fn what_another_process_writes_is_told_and_its_settings_hold() {
    let world = World::new().await;
    let watching = ServiceOptions {
        job_interval: Some(Duration::from_millis(20)),
        ..options(world.dir.path(), world.keychain.clone(), world.clock.clone())
    };
    let other = Service::new(watching).unwrap();
    assert_eq!(other.vault_status().await.state, VaultState::Open);
    let mut heard = other.changes();
    let context = world.counselor().await;
    news(&mut heard, Noun::Context).await;
    assert_eq!(other.context_get(context.id).await.unwrap().name, context.name);

    let settings = Settings { notification_content: true, ..world.service.settings_get().await.unwrap() };
    let settings = world.service.settings_save(settings).await.unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while other.settings_get().await.unwrap() != settings {
        assert!(Instant::now() < until, "the other's settings never arrived");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    other.shutdown().await;
    // What one writes oneself is no news, and neither is silence. A job that was under way may still end its writing.
    let mut silent = 0;
    while silent < 5 {
        silent = if world.service.notice_others().await.unwrap() { 0 } else { silent + 1 };
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.counselor().await;
    assert!(!world.service.notice_others().await.unwrap());
    world.service.vault_lock().await;
    assert_eq!(world.service.notice_others().await.unwrap_err().code(), ErrorCode::VaultLocked);
}
