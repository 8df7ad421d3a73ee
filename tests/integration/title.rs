//! Titles from the model: in the background, after the second reply, never over the user's own.

use crate::support::World;
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use std::time::{Duration, Instant};

async fn world() -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let settings = Settings { automatic_titles: true, ..world.service.settings_get().await.unwrap() };
    world.service.settings_save(settings).await.unwrap();
    let context = world.counselor().await;
    (world, context)
}

async fn conversation(world: &World, id: ConversationId) -> Conversation {
    world.service.conversation_open(id).await.unwrap().conversation
}

/// Waits until the server was asked so often.
async fn asked(world: &World, times: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while world.server.requests().len() < times {
        assert!(Instant::now() < until, "{} requests of {times}", world.server.requests().len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn titled(world: &World, id: ConversationId) -> Conversation {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let now = conversation(world, id).await;
        if now.title_source != TitleSource::Beginning {
            return now;
        }
        assert!(Instant::now() < until, "no title came");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn the_second_reply_brings_a_title() {
    let (world, context) = world().await;
    let (begun, _, _) = world.exchange(context.id, None, "my boss shouted at me", "What happened?").await;
    assert_eq!(conversation(&world, begun.id).await.title, "my boss shouted at me");
    world.server.push(Answer::reply(&["One breath first."]));
    world.server.push(Answer::reply(&["Title: \"Trouble ", "at Work.\""]));
    world.say(context.id, Some(begun.id), "he did it again").await;
    let now = titled(&world, begun.id).await;
    assert_eq!((now.title.as_str(), now.title_source), ("Trouble at Work", TitleSource::Model));
    let request = &world.server.requests()[2];
    let text = request["messages"].to_string();
    assert!(text.contains("my boss shouted at me") && text.contains("One breath first."), "{text}");
    assert!(request.get("cache_slot").is_none(), "only the engine knows that field");
    assert_eq!(now.message_count, 4, "the title is no message");
    // It has one now and is not asked about again.
    world.exchange(context.id, Some(begun.id), "and again", "Noted.").await;
    world.exchange(context.id, Some(begun.id), "and again", "Noted.").await;
    assert_eq!(world.server.requests().len(), 5);
}

#[tokio::test]
async fn a_title_of_the_user_stays() {
    let (world, context) = world().await;
    let (begun, _, _) = world.exchange(context.id, None, "one", "first").await;
    world.service.conversation_rename(begun.id, "Mine".into()).await.unwrap();
    for text in ["two", "three", "four"] {
        world.exchange(context.id, Some(begun.id), text, "reply").await;
    }
    let now = conversation(&world, begun.id).await;
    assert_eq!((now.title.as_str(), now.title_source), ("Mine", TitleSource::User));
    assert_eq!(world.server.requests().len(), 4, "nobody was asked for another");
}

#[tokio::test]
async fn a_title_gives_way_to_the_next_message() {
    let (world, context) = world().await;
    let (begun, _, _) = world.exchange(context.id, None, "one", "first").await;
    world.server.push(Answer::reply(&["second"]));
    world.server.push(Answer::stream(vec![Piece::Gate, Piece::Text("Never heard".into()), Piece::Done]));
    world.say(context.id, Some(begun.id), "two").await;
    asked(&world, 3).await;
    // The model is held by the title, and the message is answered all the same.
    world.server.push(Answer::reply(&["third"]));
    world.server.push(Answer::reply(&["Three Questions"]));
    world.say(context.id, Some(begun.id), "three").await;
    assert_eq!(titled(&world, begun.id).await.title, "Three Questions");
}

#[tokio::test]
async fn no_title_is_asked_for_where_titles_are_off() {
    let (world, context) = world().await;
    let settings = Settings { automatic_titles: false, ..world.service.settings_get().await.unwrap() };
    world.service.settings_save(settings.clone()).await.unwrap();
    let (begun, _, _) = world.exchange(context.id, None, "one", "first").await;
    world.exchange(context.id, Some(begun.id), "two", "second").await;
    // Turned on again, the next reply brings it: so nothing was under way before.
    world.service.settings_save(Settings { automatic_titles: true, ..settings }).await.unwrap();
    world.server.push(Answer::reply(&["third"]));
    world.server.push(Answer::reply(&["Numbers"]));
    world.say(context.id, Some(begun.id), "three").await;
    assert_eq!(titled(&world, begun.id).await.title, "Numbers");
    assert_eq!(world.server.requests().len(), 4);
}

#[tokio::test]
async fn an_answer_that_is_no_title_changes_nothing_and_the_next_reply_asks_again() {
    let (world, context) = world().await;
    let (begun, _, _) = world.exchange(context.id, None, "one", "first").await;
    world.server.push(Answer::reply(&["second"]));
    world.server.push(Answer::reply(&[&"word ".repeat(60)]));
    world.say(context.id, Some(begun.id), "two").await;
    asked(&world, 3).await;
    world.server.push(Answer::reply(&["third"]));
    world.server.push(Answer::reply(&["Numbers"]));
    world.say(context.id, Some(begun.id), "three").await;
    assert_eq!(titled(&world, begun.id).await.title, "Numbers");
}
