//! Another context that answers in a conversation, and the card of care.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_service::PresetOverrides;
use evenkeel_testkit::scripted_server::Answer;
use serde_json::json;
use std::sync::{Arc, Mutex};

async fn both() -> (World, Context, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let home = world.counselor().await;
    let preset = PresetId::new("preset-rational-advisor");
    let agent = world.service.context_create_from_preset(preset, PresetOverrides::default()).await.unwrap();
    (world, home, agent)
}

fn asked(home: &Context, conversation: Option<ConversationId>, agent: &Context) -> SendRequest {
    let (context_id, agent_id, text) = (home.id, Some(agent.id), "What do you think?".into());
    SendRequest::New { context_id, conversation_id: conversation, text, agent_id }
}

/// The messages of a request as one text, and its system text.
fn sent(request: &serde_json::Value) -> (String, String) {
    let messages = request["messages"].as_array().unwrap();
    let text = |message: &serde_json::Value| message["content"].as_str().unwrap().to_owned();
    (messages.iter().map(text).collect::<Vec<_>>().join("\n"), text(&messages[0]))
}

#[tokio::test]
async fn another_context_answers_under_its_own_persona_and_the_conversation_stays() {
    let (world, home, agent) = both().await;
    let (conversation, _, _) = world.exchange(home.id, None, "Everything is ruined", "That sounds hard.").await;
    world.clock.0.advance(chrono::TimeDelta::days(1));
    world.server.push(Answer::reply(&["Count what is left."]));
    let events = world.send(asked(&home, Some(conversation.id), &agent)).await.unwrap();
    let reply = ended(&events).0.unwrap();
    assert_eq!((reply.context_id, reply.revision_id.as_ref()), (agent.id, Some(&agent.revision_id)));
    assert_eq!(started(&events).0.context_id, home.id);
    let (all, system) = sent(&world.server.requests()[1]);
    assert!(system.contains(&agent.system_prompt) && !all.contains(&home.system_prompt));
    assert!(all.contains("Calm Counselor: That sounds hard."), "{all}");
    let temperature = world.server.requests()[1]["temperature"].as_f64().unwrap();
    assert!((temperature - 0.5).abs() < 1e-6, "its own settings");

    // Both were talked to, and the own companion goes on, told who said what.
    for context in [&home, &agent] {
        let now = world.service.context_get(context.id).await.unwrap();
        assert!(now.expires_at > context.expires_at, "{}", now.name);
    }
    assert_eq!(world.service.settings_get().await.unwrap().last_context_id, Some(home.id));
    world.exchange(home.id, Some(conversation.id), "And you?", "I agree.").await;
    let (all, system) = sent(&world.server.requests()[2]);
    assert!(system.contains(&home.system_prompt));
    assert!(all.contains("Rational Advisor: Count what is left.") && !all.contains("Calm Counselor: "), "{all}");
    let figures = world.service.conversation_statistics(conversation.id).await.unwrap();
    let shares: Vec<_> = figures.agents.iter().map(|share| (share.name.as_str(), share.messages)).collect();
    assert_eq!(shares, [("Calm Counselor", 2), ("Rational Advisor", 1)]);

    // Another reply to the same question is the same agent's.
    world.server.push(Answer::reply(&["Once more."]));
    let again = ended(&world.send(SendRequest::Regenerate { message_id: reply.id }).await.unwrap()).0.unwrap();
    assert_eq!((again.context_id, again.sibling_ids.len()), (agent.id, 2));
}

#[tokio::test]
async fn a_new_conversation_is_with_its_context_whoever_answers_first() {
    let (world, home, agent) = both().await;
    world.server.push(Answer::reply(&["Here."]));
    let events = world.send(asked(&home, None, &agent)).await.unwrap();
    assert_eq!((started(&events).0.context_id, ended(&events).0.unwrap().context_id), (home.id, agent.id));
    assert_eq!(world.conversations(home.id).await.total_count, 1);
}

#[tokio::test]
async fn an_agent_that_is_gone_or_expired_does_not_answer() {
    let (world, home, agent) = both().await;
    world.service.context_delete(agent.id).await.unwrap();
    assert_eq!(world.send(asked(&home, None, &agent)).await.unwrap_err().code(), ErrorCode::NotFound);
    let agent = world.service.context_restore(agent.id).await.unwrap();
    world.clock.0.advance(chrono::TimeDelta::days(8));
    assert_eq!(world.send(asked(&home, None, &agent)).await.unwrap_err().code(), ErrorCode::ContextExpired);
    assert_eq!(world.conversations(home.id).await.total_count, 0);
}

#[tokio::test]
async fn what_was_said_to_a_local_only_context_goes_to_no_remote_model_by_an_agent() {
    let (world, home, agent) = both().await;
    let (conversation, _, _) = world.exchange(home.id, None, "A secret", "Kept.").await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(home.id, patch).await.unwrap();
    let remote = world.provider_at("https://models.example", 30).await;
    let model = ModelChoice { provider_id: remote.id, model: "scripted".into() };
    let patch = ContextPatch { model: Some(Some(model)), ..ContextPatch::default() };
    world.service.context_update(agent.id, patch).await.unwrap();
    let refused = world.send(asked(&home, Some(conversation.id), &agent)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::LocalOnly);
    assert_eq!(world.service.conversation_open(conversation.id).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn what_an_agent_keeps_on_this_machine_is_not_sent_away_by_the_next_answer() {
    let (world, home, agent) = both().await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(agent.id, patch).await.unwrap();
    world.server.push(Answer::reply(&["It stays here."]));
    let conversation = started(&world.send(asked(&home, None, &agent)).await.unwrap()).0;
    let remote = world.provider_at("https://models.example", 30).await;
    let model = ModelChoice { provider_id: remote.id, model: "scripted".into() };
    let patch = ContextPatch { model: Some(Some(model)), ..ContextPatch::default() };
    world.service.context_update(home.id, patch).await.unwrap();
    let next =
        SendRequest::New { context_id: home.id, conversation_id: Some(conversation.id), text: "And you?".into(), agent_id: None };
    let refused = world.send(next).await.unwrap_err().to_body();
    assert_eq!(refused.code, ErrorCode::LocalOnly);
    assert!(refused.message.starts_with(&agent.name), "{}", refused.message);
}

#[tokio::test]
async fn what_a_guest_keeps_on_this_machine_is_in_no_summary_that_is_made_elsewhere() {
    const CLOUD: &str = "gpt-oss:120b-cloud";
    let (world, home, agent) = both().await;
    let local_only = |on| ContextPatch { local_only: Some(on), ..ContextPatch::default() };
    world.service.context_update(agent.id, local_only(true)).await.unwrap();
    let patch = ContextPatch { max_history_tokens: Some(500), ..ContextPatch::default() };
    world.service.context_update(home.id, patch).await.unwrap();
    world.server.push(Answer::reply(&["It stays here."]));
    let conversation = started(&world.send(asked(&home, None, &agent)).await.unwrap()).0;
    // The guest's words leave the window, and no request holds them any more.
    let long = "calm ".repeat(150);
    for _ in 0..4 {
        world.exchange(home.id, Some(conversation.id), &long, &long).await;
    }
    let provider_id = world.service.settings_get().await.unwrap().default_model.unwrap().provider_id;
    let config = json!({ "threshold": 2, "turns": 1, "compressionModel": { "providerId": provider_id, "model": CLOUD } });
    let serde_json::Value::Object(config) = config else { panic!("{config}") };
    let strategy = StrategyChoice { config, ..StrategyChoice::standard(SUMMARIZATION) };
    let patch = ContextPatch { strategy: Some(strategy), ..ContextPatch::default() };
    world.service.context_update(home.id, patch).await.unwrap();
    let asked_cloud = || world.server.requests().iter().any(|request| request["model"] == CLOUD);
    world.service.has_read_ahead().await;
    world.exchange(home.id, Some(conversation.id), "And now?", "Now.").await;
    world.service.has_read_ahead().await;
    assert!(!asked_cloud(), "what the guest was told and said stays here");

    world.service.context_update(agent.id, local_only(false)).await.unwrap();
    world.server.push(Answer::reply(&["Now."]));
    world.server.push(Answer::reply(&["These are no notes."]));
    world.say(home.id, Some(conversation.id), "And now?").await;
    world.service.has_read_ahead().await;
    assert!(asked_cloud(), "a model that the user has named is used");
}

fn card(events: &[ChatEvent]) -> Option<CareCard> {
    events.iter().find_map(|event| match event {
        ChatEvent::Care { card } => Some(card.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn a_sign_of_danger_brings_the_card_also_where_nothing_can_be_sent() {
    let (world, home, _) = both().await;
    world.service.context_delete(home.id).await.unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = heard.clone();
    let request =
        SendRequest::New { context_id: home.id, conversation_id: None, text: "I want to kill myself.".into(), agent_id: None };
    let refused = world.service.chat_send(request, move |event| sink.lock().unwrap().push(event)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound);
    assert_eq!(card(&heard.lock().unwrap()).unwrap().sign, CareSign::SelfHarm);
}

#[tokio::test]
async fn a_sign_of_danger_brings_the_card_and_changes_nothing() {
    let (world, home, _) = both().await;
    let text = "I want to kill myself.";
    world.server.push(Answer::reply(&["I am here."]));
    let events = world.say(home.id, None, text).await;
    let found = card(&events).unwrap();
    assert_eq!((found.sign, found.helplines[0].kind), (CareSign::SelfHarm, HelplineKind::Emergency));
    assert_eq!(started(&events).1.content, text);
    assert!(sent(&world.server.requests()[0]).0.contains(text));
    world.server.push(Answer::reply(&["Again."]));
    let reply = ended(&events).0.unwrap();
    let again = world.send(SendRequest::Regenerate { message_id: reply.id }).await.unwrap();
    assert_eq!(card(&again), None, "nothing new was written");
    world.server.push(Answer::reply(&["Sure."]));
    assert_eq!(card(&world.say(home.id, None, "This traffic kills me, what a deadline.").await), None);
}

#[tokio::test]
async fn helplines_are_those_of_the_region_or_of_the_world() {
    let world = World::new().await;
    let of = |region: &str| world.service.care_helplines(Some(region.to_owned()));
    assert_eq!(of("de").await.unwrap().region, "DE");
    assert!(of("de").await.unwrap().helplines.iter().any(|line| line.name.contains("TelefonSeelsorge")));
    assert_eq!(of("").await.unwrap(), of("QQ").await.unwrap());
    assert!(!world.service.care_helplines(None).await.unwrap().helplines.is_empty());
    assert_eq!(of("Germany").await.unwrap_err().code(), ErrorCode::InvalidParameter);
}
