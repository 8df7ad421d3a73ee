//! What the user wants to have taken out of messages is in no request, or not even stored.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use serde_json::{Map, json};
use std::time::{Duration, Instant};

const ADDRESS: &str = "anna.keel@example.org";

async fn world(change: impl FnOnce(&mut RedactionSettings)) -> (World, Context) {
    let world = World::new().await;
    let provider = world.scripted_provider().await;
    world.use_model(provider.id, "scripted").await;
    let mut settings = world.service.settings_get().await.unwrap();
    settings.redaction.emails = true;
    change(&mut settings.redaction);
    world.service.settings_save(settings).await.unwrap();
    let context = world.counselor().await;
    (world, context)
}

async fn say(
    world: &World,
    context: &Context,
    conversation: Option<ConversationId>,
    text: &str,
) -> (ConversationId, Message, String) {
    world.server.push(Answer::reply(&["I hear you."]));
    let request = SendRequest::New { context_id: context.id, conversation_id: conversation, text: text.into(), agent_id: None };
    let events = world.send(request).await.unwrap();
    let body = String::from_utf8(world.server.bodies().last().unwrap().to_vec()).unwrap();
    (started(&events).0.id, ended(&events).0.unwrap(), body)
}

#[tokio::test]
async fn what_is_sent_has_placeholders_and_what_is_stored_is_whole() {
    let (world, context) = world(|redaction| redaction.before_sending = true).await;
    let (conversation, _, body) = say(&world, &context, None, &format!("Write to {ADDRESS} today.")).await;
    assert!(body.contains("Write to [email] today.") && !body.contains(ADDRESS), "{body}");
    let (_, reply, body) = say(&world, &context, Some(conversation), "And then?").await;
    assert!(body.contains("Write to [email] today.") && !body.contains(ADDRESS), "the history too: {body}");

    let view = world.service.conversation_open(conversation).await.unwrap();
    assert!(view.messages[0].content.contains(ADDRESS));
    let receipt = world.service.receipt_get(reply.id).await.unwrap().unwrap();
    let edited: Vec<&TextEdit> =
        receipt.blocks.iter().flat_map(|block| &block.edits).filter(|edit| edit.with == "[email]").collect();
    assert_eq!(edited.len(), 1, "the receipt shows what was replaced");
    assert!(world.service.receipt_request(reply.id).await.unwrap().matches, "and the request can be put together again");
    assert!(receipt.follow_up.unwrap().is_follow_up);
}

#[tokio::test]
async fn what_is_taken_out_before_storing_is_nowhere() {
    let (world, context) = world(|redaction| redaction.before_storing = true).await;
    let (conversation, _, body) = say(&world, &context, None, &format!("Write to {ADDRESS} today.")).await;
    assert!(!body.contains(ADDRESS));
    let view = world.service.conversation_open(conversation).await.unwrap();
    assert_eq!(view.messages[0].content, "Write to [email] today.");
    assert!(!view.conversation.title.contains(ADDRESS), "{}", view.conversation.title);
}

#[tokio::test]
async fn nothing_is_taken_out_unless_it_is_wanted() {
    let (world, context) = world(|_| ()).await;
    let (_, _, body) = say(&world, &context, None, &format!("Write to {ADDRESS} today.")).await;
    assert!(body.contains(ADDRESS));
}

#[tokio::test]
async fn what_is_taken_out_is_in_no_request_beside_the_replies_either() {
    let (world, context) = world(|redaction| redaction.before_sending = true).await;
    let config = Map::from_iter([("threshold".to_owned(), json!(2)), ("turns".to_owned(), json!(1))]);
    let strategy = StrategyChoice { config, ..StrategyChoice::standard(SUMMARIZATION) };
    let patch = ContextPatch { strategy: Some(strategy), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let (conversation, _, _) = say(&world, &context, None, &format!("Write to {ADDRESS} today.")).await;
    for text in ["And then?", "What else?"] {
        say(&world, &context, Some(conversation), text).await;
    }
    let end = Instant::now() + Duration::from_secs(60);
    while world.server.bodies().len() < 4 {
        assert!(Instant::now() < end, "no summary was asked for");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let bodies: Vec<String> = world.server.bodies().iter().map(|body| String::from_utf8(body.to_vec()).unwrap()).collect();
    assert!(bodies.iter().all(|body| body.contains("Write to [email] today.") && !body.contains(ADDRESS)), "{bodies:#?}");
}
