//! The vault locks itself when nobody is there, and nothing of its key stays in memory.

use crate::backup::{database_key, talked};
use crate::support::{World, ended};
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use evenkeel_vault::Profile;

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

/// A key that a search of the memory does not find in this very value.
struct Masked([u8; 32]);

const MASK: u8 = 0xa7;

/// How often the bytes are in the writable memory of this process.
#[cfg(target_os = "linux")]
fn in_memory(masked: &Masked) -> usize {
    use std::io::{Read, Seek, SeekFrom};
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut memory = std::fs::File::open("/proc/self/mem").unwrap();
    let mut found = 0;
    for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let (from, to) = (u64::from_str_radix(from, 16).unwrap(), u64::from_str_radix(to, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
        if memory.seek(SeekFrom::Start(from)).is_err() || memory.read_exact(&mut bytes).is_err() {
            continue;
        }
        let first = masked.0[0] ^ MASK;
        let is_key = |window: &[u8]| window.iter().zip(&masked.0).all(|(byte, key)| byte ^ MASK == *key);
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(|byte| *byte == first) {
            at += next;
            found += usize::from(bytes.len() - at >= 32 && is_key(&bytes[at..at + 32]));
            at += 1;
        }
        // What was read is no find of the next round.
        bytes.fill(0);
    }
    found
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_locked_vault_has_no_key_in_memory() {
    let (world, _) = talked().await;
    let profile = Profile::new(world.dir.path().join("profile"));
    let masked = {
        let mut key = database_key(&world, &profile);
        let masked = Masked(key.map(|byte| byte ^ MASK));
        key.fill(0);
        std::hint::black_box(&key);
        masked
    };
    assert!(in_memory(&masked) > 0, "an open vault has its key, and the search finds it");
    world.service.vault_lock().await;
    // What was under way ends a moment after the vault is closed.
    let mut left = in_memory(&masked);
    for _ in 0..20 {
        if left == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        left = in_memory(&masked);
    }
    assert_eq!(left, 0);
}
