//! Titles from the model: in the background, after the second reply, never over the user's own.

use crate::support::World;
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::JobStatus;
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

/// Lets a quarter of an hour pass and gives what became of the title job.
async fn title_job(world: &World) -> JobStatus {
    world.clock.0.pass(TimeDelta::minutes(15));
    let ran = world.service.run_due_jobs().await.unwrap();
    ran.into_iter().find(|job| job.name == "title").expect("the job of titles ran")
}

/// Conversations that got no title: titles were off while they were held.
async fn untitled(world: &World, context: ContextId, count: usize) -> Vec<ConversationId> {
    let on = world.service.settings_get().await.unwrap();
    world.service.settings_save(Settings { automatic_titles: false, ..on.clone() }).await.unwrap();
    let mut ids = Vec::new();
    for number in 0..count {
        let (begun, _, _) = world.exchange(context, None, &format!("Beginning {number}"), "first").await;
        world.exchange(context, Some(begun.id), "two", "second").await;
        ids.push(begun.id);
    }
    world.service.settings_save(on).await.unwrap();
    ids
}

#[tokio::test]
async fn titles_that_were_missed_are_made_up_for_the_newest_first_and_a_few_at_a_time() {
    let (mut world, context) = world().await;
    let ids = untitled(&world, context.id, 7).await;
    let (short, _, _) = world.exchange(context.id, None, "Only one reply", "first").await;
    let before = world.server.requests().len();
    world.service.run_due_jobs().await.unwrap();
    world.restart().await;
    for number in (2..7).rev() {
        world.server.push(Answer::reply(&[&format!("Title {number}")]));
    }
    let ran = title_job(&world).await;
    assert_eq!((ran.result, ran.message.as_deref()), (Some(JobResult::Ok), Some("5 titles")));
    assert_eq!(world.server.requests().len(), before + 5);
    for (number, id) in ids.iter().enumerate() {
        let now = conversation(&world, *id).await;
        let expected = if number < 2 { format!("Beginning {number}") } else { format!("Title {number}") };
        assert_eq!(now.title, expected);
    }
    world.server.push(Answer::reply(&["Title 1"]));
    world.server.push(Answer::reply(&["Title 0"]));
    assert_eq!(title_job(&world).await.message.as_deref(), Some("2 titles"));
    assert_eq!(title_job(&world).await.message, None, "nothing is left to do");
    assert_eq!(conversation(&world, short.id).await.title, "Only one reply");
    assert_eq!(world.server.requests().len(), before + 7);
}

#[tokio::test]
async fn the_job_gives_way_to_a_reply_and_says_why_it_failed() {
    let (world, context) = world().await;
    let ids = untitled(&world, context.id, 2).await;
    world.service.run_due_jobs().await.unwrap();
    let before = world.server.requests().len();
    world.server.push(Answer::stream(vec![Piece::Gate, Piece::Text("Never heard".into()), Piece::Done]));
    let running = {
        let service = world.service.clone();
        world.clock.0.pass(TimeDelta::minutes(15));
        tokio::spawn(async move { service.run_due_jobs().await.unwrap() })
    };
    asked(&world, before + 1).await;
    world.exchange(context.id, None, "Something else", "At once.").await;
    let ran = running.await.unwrap().into_iter().find(|job| job.name == "title").unwrap();
    assert_eq!((ran.result, ran.message), (Some(JobResult::Ok), None));
    assert_eq!(world.server.requests().len(), before + 2, "the other one was not asked about either");

    for _ in &ids {
        world.server.push(Answer::error(500, "The model fell over."));
    }
    let failed = title_job(&world).await;
    assert_eq!(failed.result, Some(JobResult::Failed), "{failed:?}");
    world.server.push(Answer::reply(&["The Second"]));
    world.server.push(Answer::reply(&["The First"]));
    assert_eq!(title_job(&world).await.message.as_deref(), Some("2 titles"));
    assert_eq!(conversation(&world, ids[0]).await.title, "The First");
}
