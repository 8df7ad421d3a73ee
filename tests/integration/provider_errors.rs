//! Each failure of a provider is a typed error with a sentence that helps, and nothing is lost.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use std::time::Duration;

/// Sends one message to a server that fails in the given way, then one to a server that works.
async fn fails_with(answer: Answer, timeout_seconds: u32) -> (Option<Message>, ErrorBody) {
    let world = World::new().await;
    world.provider_at(&world.server.base_url(), timeout_seconds).await;
    let context = world.counselor().await;
    world.server.push(answer);
    let events = world.say(context.id, None, "Do not lose this.").await;
    let (conversation, user) = started(&events);
    let (message, error) = ended(&events);
    let error = error.expect("the failure is told");
    assert!(error.message.len() > 30 && !error.message.contains("sk-secret"), "{}", error.message);
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages[0].content, "Do not lose this.");
    world.server.push(Answer::reply(&["better"]));
    let again = ended(&world.send(SendRequest::Regenerate { message_id: user.id }).await.unwrap());
    assert_eq!(again.0.unwrap().content, "better");
    (message, error)
}

#[tokio::test]
async fn unauthorized() {
    let (message, error) = fails_with(Answer::error(401, "bad key"), 30).await;
    assert_eq!((message, error.code), (None, ErrorCode::ProviderUnauthorized));
}

#[tokio::test]
async fn unknown_model() {
    let (_, error) = fails_with(Answer::error(404, "model `scripted` not found"), 30).await;
    assert_eq!(error.code, ErrorCode::ProviderModelNotFound);
}

#[tokio::test]
async fn too_many_requests_with_a_time_to_wait() {
    let (_, error) = fails_with(Answer::error(429, "slow down").header("retry-after", "7"), 30).await;
    assert_eq!(error.code, ErrorCode::ProviderRateLimited);
    assert_eq!(error.details["retryAfterSeconds"], "7");
}

#[tokio::test]
async fn server_error() {
    let (_, error) = fails_with(Answer::error(500, "boom"), 30).await;
    assert_eq!(error.code, ErrorCode::ProviderFailed);
}

#[tokio::test]
async fn a_cut_stream_keeps_what_had_arrived() {
    let cut = Answer::stream(vec![Piece::Text("half a ".into()), Piece::Wait(Duration::from_millis(50)), Piece::Cut]);
    let (message, error) = fails_with(cut, 30).await;
    let message = message.unwrap();
    assert_eq!((message.content.as_str(), message.status), ("half a ", MessageStatus::Interrupted));
    assert_eq!(error.code, ErrorCode::ProviderBrokenOff);
}

#[tokio::test]
async fn an_end_without_done_is_no_end() {
    let (message, error) = fails_with(Answer::stream(vec![Piece::Text("almost".into())]), 30).await;
    assert_eq!(message.unwrap().status, MessageStatus::Interrupted);
    assert_eq!(error.code, ErrorCode::ProviderBrokenOff);
}

#[tokio::test]
async fn malformed_events() {
    let (_, error) = fails_with(Answer::stream(vec![Piece::Bytes("data: {not json\n\n".into()), Piece::Done]), 30).await;
    assert_eq!(error.code, ErrorCode::ProviderMalformed);
}

#[tokio::test]
async fn a_first_token_that_takes_too_long() {
    let (_, error) = fails_with(Answer::stream(vec![Piece::Wait(Duration::from_secs(20)), Piece::Done]), 5).await;
    assert_eq!(error.code, ErrorCode::ProviderTimeout);
}

#[tokio::test]
async fn no_server() {
    let world = World::new().await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.provider_at(&format!("http://{closed}/v1"), 30).await;
    let context = world.counselor().await;
    let events = world.say(context.id, None, "Anyone there?").await;
    let (conversation, _) = started(&events);
    assert_eq!(ended(&events).1.unwrap().code, ErrorCode::ProviderUnreachable);
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages.len(), 1);
}

/// A conversation of ten exchanges, about 5,000 tokens of history.
async fn long_conversation(world: &World) -> (Context, Conversation) {
    long_conversation_with(world, "scripted").await
}

async fn long_conversation_with(world: &World, model: &str) -> (Context, Conversation) {
    let provider = world.provider_at(&world.server.base_url(), 30).await;
    world.use_model(provider.id, model).await;
    let context = world.counselor().await;
    let mut conversation = None;
    for _ in 0..10 {
        world.server.push(Answer::reply(&["noted"]));
        let events =
            world.say(context.id, conversation.as_ref().map(|c: &Conversation| c.id), &"one more word ".repeat(160)).await;
        conversation = Some(started(&events).0);
    }
    (context, conversation.unwrap())
}

fn too_long() -> Answer {
    Answer::error(400, "This model's maximum context length is 4096 tokens.")
}

fn messages(request: &serde_json::Value) -> usize {
    request["messages"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_prompt_refused_as_too_long_is_sent_again_with_less_history() {
    let world = World::new().await;
    let (context, conversation) = long_conversation(&world).await;
    world.server.push(too_long());
    world.server.push(Answer::reply(&["still here"]));
    let before = world.server.requests().len();
    let (reply, error) = ended(&world.say(context.id, Some(conversation.id), "Are you still there?").await);
    assert_eq!((reply.unwrap().content.as_str(), error), ("still here", None));
    let requests = world.server.requests();
    assert_eq!(requests.len(), before + 2);
    assert!(messages(&requests[before + 1]) < messages(&requests[before]), "the second request has less history");
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages.len(), 22, "nothing is lost from the conversation");
}

#[tokio::test]
async fn each_prompt_after_a_refusal_is_smaller_whatever_the_model_is_called() {
    for model in ["scripted", "gpt-4o", "gpt-4"] {
        let world = World::new().await;
        let (context, conversation) = long_conversation_with(&world, model).await;
        (0..8).for_each(|_| world.server.push(too_long()));
        let before = world.server.requests().len();
        let (_, error) = ended(&world.say(context.id, Some(conversation.id), "Are you still there?").await);
        assert_eq!(error.unwrap().code, ErrorCode::PromptTooLarge, "{model}");
        let asked: Vec<usize> = world.server.requests()[before..].iter().map(messages).collect();
        assert!(asked.len() > 1 && asked.windows(2).all(|pair| pair[1] < pair[0]), "{model}: {asked:?} messages");
    }
}

#[tokio::test]
async fn a_prompt_without_history_is_not_sent_again() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    (0..3).for_each(|_| world.server.push(too_long()));
    let (reply, error) = ended(&world.say(context.id, None, "Hello?").await);
    assert_eq!((reply, error.unwrap().code), (None, ErrorCode::PromptTooLarge));
    assert_eq!(world.server.requests().len(), 1);
}

#[tokio::test]
async fn a_prompt_that_stays_too_long_ends_with_an_error() {
    let world = World::new().await;
    let (context, conversation) = long_conversation(&world).await;
    (0..8).for_each(|_| world.server.push(too_long()));
    let before = world.server.requests().len();
    let (reply, error) = ended(&world.say(context.id, Some(conversation.id), "Are you still there?").await);
    assert_eq!((reply, error.unwrap().code), (None, ErrorCode::PromptTooLarge));
    assert!(world.server.requests().len() - before <= 5, "it does not ask for ever");
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages.last().unwrap().content, "Are you still there?");
}

#[tokio::test]
async fn an_unknown_provider_lists_those_that_exist() {
    let world = World::new().await;
    let known = world.scripted_provider().await;
    let unknown = ProviderId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10]);
    let error = world.service.provider_models(unknown).await.unwrap_err().to_body();
    assert_eq!((error.code, error.details["id"].as_str()), (ErrorCode::NotFound, unknown.to_string().as_str()));
    assert!(error.details["existing"].contains(&format!("Scripted ({})", known.id)), "{error}");
}

#[tokio::test]
async fn what_a_refusal_has_taught_of_the_models_tokens_outlives_the_app() {
    let mut world = World::new().await;
    let (context, conversation) = long_conversation(&world).await;
    let kept = |world: &World| world.store().read(|r| r.app_state("token_factors")).unwrap();
    world.service.run_due_jobs().await.unwrap();
    world.server.push(too_long());
    world.server.push(Answer::reply(&["still here"]));
    let before = world.server.requests().len();
    world.say(context.id, Some(conversation.id), "Are you still there?").await;
    let refused = messages(&world.server.requests()[before]);
    assert_eq!(kept(&world), None, "not with every reply");
    world.run_after(chrono::TimeDelta::seconds(61)).await;
    let known = kept(&world).expect("once a minute");
    assert!(known.contains("\"model\":\"scripted\"") && known.contains("\"factor\":2.0"), "{known}");

    // A kill in between costs nothing; a lock keeps what was learnt since.
    world.server.push(too_long());
    world.server.push(Answer::reply(&["still here"]));
    world.say(context.id, Some(conversation.id), "And now?").await;
    world.restart().await;
    assert!(kept(&world).unwrap().contains("\"factor\":4.0"));
    world.server.push(Answer::reply(&["at once"]));
    let before = world.server.requests().len();
    let (reply, error) = ended(&world.say(context.id, Some(conversation.id), "Once more?").await);
    assert_eq!((reply.unwrap().content.as_str(), error), ("at once", None));
    let asked = &world.server.requests()[before..];
    assert!(asked.len() == 1 && messages(&asked[0]) < refused, "{} messages of {refused}", messages(&asked[0]));
}
