//! The built-in model, for real, under the service.

use crate::support::{World, ended, started};
use evenkeel_domain::*;

#[tokio::test]
async fn the_built_in_model_answers_and_a_second_turn_reuses_its_cache() {
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let patch = ContextPatch { max_tokens: Some(48), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let events = world.say(context.id, None, "I am furious! Nobody listens to me!").await;
    let (conversation, _) = started(&events);
    let (reply, error) = ended(&events);
    assert_eq!(error, None);
    let first = reply.unwrap();
    assert!(!first.content.trim().is_empty());
    let second = ended(&world.say(context.id, Some(conversation.id), "And now?").await).0.unwrap();
    let (one, two) = (first.usage.unwrap(), second.usage.unwrap());
    assert!(two.cached_tokens.unwrap() >= one.prompt_tokens / 2, "{one:?} {two:?}");
    world.service.shutdown().await;
}

/// Small tokenizers take a script they never learnt byte by byte, several times what o200k counts.
#[tokio::test]
async fn a_message_that_only_the_models_own_count_finds_too_long_is_refused_and_kept() {
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let text = "བོད་སྐད་ཀྱི་ཡི་གེ། ".repeat(200);
    let events = world.say(context.id, None, &text).await;
    let (conversation, _) = started(&events);
    let (reply, error) = ended(&events);
    assert_eq!((reply, error.unwrap().code), (None, ErrorCode::PromptTooLarge));
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages[0].content, text);
    world.service.shutdown().await;
}
