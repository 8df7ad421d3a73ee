//! The network journal of a service with a real listener.

use crate::support::{World, ended};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use std::collections::BTreeMap;
use std::time::Duration;

/// Waits until the journal says something; an answer counts once the rest of it was read.
async fn journal(world: &World, is_said: impl Fn(&NetworkPage) -> bool) -> NetworkPage {
    for _ in 0..500 {
        let page = world.service.network_list(None, 1_000).await.unwrap();
        if is_said(&page) {
            return page;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", world.service.network_list(None, 1_000).await.unwrap());
}

fn chats(page: &NetworkPage) -> Vec<NetworkRequest> {
    page.requests.iter().filter(|request| request.purpose == RequestPurpose::Chat).cloned().collect()
}

#[tokio::test]
async fn each_request_is_noted_with_its_context_and_nothing_of_what_was_said() {
    let world = World::new().await;
    world.scripted_provider().await;
    let (ada, bob) = (world.counselor().await, world.counselor().await);
    world.exchange(ada.id, None, "Zwetschgenknödel", "Marillenknödel").await;
    world.server.push(Answer::error(500, "Zwetschgenknödel failed"));
    let (_, error) = ended(&world.say(bob.id, None, "Zwetschgenknödel").await);
    assert_eq!(error.unwrap().code, ErrorCode::ProviderFailed);
    let page = journal(&world, |page| chats(page).len() == 2).await;
    let [failed, replied] = chats(&page).try_into().unwrap();
    assert_eq!(
        (replied.context_id, replied.status, replied.failure, replied.method.as_str()),
        (Some(ada.id), Some(200), None, "POST")
    );
    assert_eq!((failed.context_id, failed.status), (Some(bob.id), Some(500)));
    assert_eq!(replied.bytes_out, world.server.bodies()[0].len() as u64);
    assert!(replied.bytes_in > 0 && world.server.base_url().starts_with(&replied.origin), "{replied:?}");
    let said = serde_json::to_string(&page).unwrap();
    for secret in ["knödel", "sk-secret", "/v1", "Counselor"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    assert_eq!((page.left, page.total), (0, page.requests.len() as u64), "all of it stayed on this machine");
    let of_ada = world.service.network_list(Some(ada.id), 1_000).await.unwrap();
    assert_eq!((of_ada.total, chats(&of_ada).len()), (of_ada.requests.len() as u64, 1));
    assert!(of_ada.requests.iter().all(|request| request.context_id == Some(ada.id)));
}

#[tokio::test]
async fn what_leaves_this_machine_and_what_a_rule_refuses_can_be_told_apart() {
    let world = World::new().await;
    let draft = |base_url: &str, kind| ProviderDraft {
        id: None,
        kind,
        name: "Elsewhere".into(),
        base_url: base_url.into(),
        key: None,
        extra_headers: BTreeMap::new(),
        manual_models: vec![],
        window_override: Some(4_096),
        timeout_seconds: 20,
    };
    // The name exists nowhere, but looking it up already tells somebody.
    let elsewhere = draft("https://evenkeel.invalid/v1", ProviderKind::OpenaiCompatible);
    let elsewhere = world.service.provider_save(elsewhere).await.unwrap();
    assert!(world.service.provider_test(elsewhere.id).await.is_err());
    let page = journal(&world, |page| page.left == 1).await;
    let request = page.requests.iter().find(|request| request.origin == "https://evenkeel.invalid").unwrap();
    assert_eq!((request.locality, request.purpose, &request.rule), (ProviderLocality::Remote, RequestPurpose::Models, &None));
}

#[tokio::test]
async fn the_journal_is_shown_to_nobody_while_the_vault_is_locked() {
    let world = World::new().await;
    assert!(world.service.network_list(None, 0).await.is_err());
    world.service.vault_lock().await;
    assert_eq!(world.service.network_list(None, 10).await.unwrap_err().code(), ErrorCode::VaultLocked);
}
