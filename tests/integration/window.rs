//! The size of a model's window: asked for in the background, never before the message is stored.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use std::time::{Duration, Instant};

/// A world whose server tells the window of its model after a while.
async fn world(window: u32, after: Duration) -> (World, ContextId) {
    let world = World::new().await;
    world.server.set_models(window, after);
    world.provider_with(&world.server.base_url(), 30, None).await;
    let context = world.counselor().await.id;
    (world, context)
}

async fn window_in_meter(world: &World, context: ContextId) -> u32 {
    world.service.chat_meter(context, None, String::new()).await.unwrap().window_tokens
}

#[tokio::test]
async fn a_server_that_hangs_does_not_hold_the_message_back() {
    let (world, context) = world(8_192, Duration::from_secs(3_600)).await;
    world.server.push(Answer::reply(&["Here."]));
    let request =
        SendRequest::New { context_id: context, conversation_id: None, text: "Keep this at once.".into(), agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let service = world.service.clone();
    let began = Instant::now();
    let reply = tokio::spawn(async move { service.chat_send(request, move |event| drop(send.send(event))).await });
    let first = heard.recv().await;
    let waited = began.elapsed();
    assert!(matches!(first, Some(ChatEvent::Started { .. })), "{first:?}");
    assert!(waited < Duration::from_millis(1_500), "the message was stored after {waited:?}");
    let stored = world.conversations(context).await;
    assert_eq!((stored.total_count, stored.items[0].title.as_str()), (1, "Keep this at once."));
    reply.await.unwrap().unwrap();
    let stored = world.service.conversation_open(stored.items[0].id).await.unwrap();
    assert_eq!(stored.messages[1].content, "Here.");
}

#[tokio::test]
async fn the_first_request_fits_the_window_that_was_told_meanwhile() {
    let (world, context) = world(2_048, Duration::from_millis(150)).await;
    world.server.push(Answer::reply(&["Fits."]));
    let events = world.say(context, None, "How large are you?").await;
    assert_eq!(ended(&events).0.unwrap().content, "Fits.");
    // Half of the window is the reply's, which is less than the 1200 that the context allows.
    assert_eq!(world.server.requests()[0]["max_tokens"], 1_024);
}

#[tokio::test]
async fn the_window_is_learned_without_anyone_waiting() {
    let (world, context) = world(65_536, Duration::from_millis(100)).await;
    assert_eq!(window_in_meter(&world, context).await, 8_192);
    let until = Instant::now() + Duration::from_secs(20);
    while window_in_meter(&world, context).await != 65_536 {
        assert!(Instant::now() < until, "the window was never learned");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_message_is_not_refused_for_a_guess() {
    let (world, context) = world(65_536, Duration::from_millis(100)).await;
    world.server.push(Answer::reply(&["Read."]));
    let long = "word ".repeat(12_000);
    let events = world.say(context, None, &long).await;
    assert_eq!(started(&events).1.content, long);
    assert_eq!(ended(&events).0.unwrap().content, "Read.");
}

#[tokio::test]
async fn a_window_smaller_than_the_guess_refuses_and_keeps_the_message() {
    let (world, context) = world(4_096, Duration::from_millis(100)).await;
    let long = "word ".repeat(4_000);
    let events = world.say(context, None, &long).await;
    let (message, error) = ended(&events);
    assert_eq!((message, error.unwrap().code), (None, ErrorCode::PromptTooLarge));
    let view = world.service.conversation_open(started(&events).0.id).await.unwrap();
    assert_eq!(view.messages[0].content, long);
}
