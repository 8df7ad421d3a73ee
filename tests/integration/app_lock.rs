//! The vault locks itself when nobody is there, as far as that is wished.

use crate::backup::talked;
use crate::support::{World, ended};
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};

async fn with_settings(world: &World, change: impl FnOnce(&mut Settings)) {
    let mut settings = world.service.settings_get().await.unwrap();
    change(&mut settings);
    world.service.settings_save(settings).await.unwrap();
}

async fn state(world: &World) -> VaultState {
    world.service.vault_status().await.state
}

#[tokio::test]
async fn it_locks_after_as_many_minutes_as_wished_without_anybody() {
    let world = World::new().await;
    world.clock.0.pass(TimeDelta::hours(9));
    assert!(!world.service.lock_if_idle().await, "nobody wished that");
    with_settings(&world, |settings| settings.lock_after_minutes = 5).await;
    world.service.vault_touched();
    world.clock.0.pass(TimeDelta::minutes(4));
    assert!(!world.service.lock_if_idle().await);
    world.service.vault_touched();
    world.clock.0.pass(TimeDelta::minutes(4));
    assert!(!world.service.lock_if_idle().await, "somebody was there four minutes ago");
    let mut states = world.service.vault_states();
    world.clock.0.pass(TimeDelta::minutes(1));
    assert!(world.service.lock_if_idle().await);
    assert_eq!((states.try_recv().unwrap(), state(&world).await), (VaultState::LockedByUser, VaultState::LockedByUser));
    assert_eq!(world.service.settings_get().await.unwrap_err().code(), ErrorCode::VaultLocked);
    assert!(!world.service.lock_if_idle().await, "it is locked");
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    assert!(!world.service.lock_if_idle().await, "whoever opens it is there");
}

#[tokio::test]
async fn a_machine_that_slept_was_not_used_and_a_reply_is_use() {
    let (world, context) = talked().await;
    with_settings(&world, |settings| settings.lock_after_minutes = 60).await;
    world.service.vault_touched();
    world.server.push(Answer::stream(vec![Piece::Text("Slowly".into()), Piece::Gate, Piece::Done]));
    let sending = {
        let service = world.service.clone();
        tokio::spawn(async move {
            let request =
                SendRequest::New { context_id: context.id, conversation_id: None, text: "Think.".into(), agent_id: None };
            let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let events = heard.clone();
            service.chat_send(request, move |event| events.lock().unwrap().push(event)).await.unwrap();
            let events = heard.lock().unwrap().clone();
            ended(&events).0.unwrap()
        })
    };
    while world.server.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    world.clock.0.pass(TimeDelta::minutes(90));
    assert!(!world.service.lock_if_idle().await, "a reply is being written");
    world.server.release();
    assert_eq!(sending.await.unwrap().status, MessageStatus::Complete);
    // While a machine sleeps only the wall clock goes on.
    world.clock.0.advance(TimeDelta::minutes(61));
    assert!(world.service.lock_if_idle().await);
}

#[tokio::test]
async fn it_locks_when_hidden_or_before_sleep_only_where_that_is_wished() {
    let world = World::new().await;
    world.service.lock_if_hidden().await;
    world.service.lock_if_sleeping().await;
    assert_eq!(state(&world).await, VaultState::Open);
    with_settings(&world, |settings| settings.lock_when_hidden = true).await;
    world.service.lock_if_sleeping().await;
    assert_eq!(state(&world).await, VaultState::Open);
    world.service.lock_if_hidden().await;
    assert_eq!(state(&world).await, VaultState::LockedByUser);
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    with_settings(&world, |settings| (settings.lock_when_hidden, settings.lock_on_sleep) = (false, true)).await;
    world.service.lock_if_hidden().await;
    assert_eq!(state(&world).await, VaultState::Open);
    world.service.lock_if_sleeping().await;
    assert_eq!(state(&world).await, VaultState::LockedByUser);
}
