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

#[tokio::test]
async fn what_the_next_message_is_sent_with_is_read_while_the_user_types() {
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let patch = ContextPatch { max_tokens: Some(120), maintain_personality: Some(false), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let (begun, _) = started(&world.say(context.id, None, "Tell me about the sea, at some length, and about ships.").await);
    world.service.has_read_ahead().await;
    let reply = ended(&world.say(context.id, Some(begun.id), "Go on.").await).0.unwrap();
    let receipt = world.service.receipt_get(reply.id).await.unwrap().unwrap();
    let is_new = |block: &&ReceiptBlock| matches!(block.kind, BlockKind::User | BlockKind::Trailing) && block.included;
    let new: u32 = receipt.blocks.iter().filter(is_new).map(|block| block.tokens).sum();
    let usage = reply.usage.unwrap();
    let read = usage.prompt_tokens - usage.cached_tokens.unwrap();
    // Counted by another tokenizer, with what frames the messages.
    assert!(read <= new * 2 + 32, "{read} tokens were read for {new} new ones: {usage:?}");
    world.service.shutdown().await;
}
