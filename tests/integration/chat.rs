//! Chat: what is stored, when, and what comes back after a restart.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use std::time::Duration;

#[tokio::test]
async fn a_reply_streams_and_is_there_after_a_restart() {
    let mut world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::reply(&["That sounds ", "hard. ", "What happened?"]));
    let events = world.say(context.id, None, "EVERYTHING is ruined!!!").await;
    let (conversation, user) = started(&events);
    assert_eq!(user.content, "EVERYTHING is ruined!!!");
    let streamed: String = events
        .iter()
        .filter_map(|e| match e {
            ChatEvent::Text { delta } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    let (reply, error) = ended(&events);
    let reply = reply.unwrap();
    assert_eq!((streamed.as_str(), error), ("That sounds hard. What happened?", None));
    assert_eq!((reply.content.as_str(), reply.status), (streamed.as_str(), MessageStatus::Complete));
    assert_eq!(reply.revision_id.as_ref(), Some(&context.revision_id));
    assert_eq!(reply.usage.unwrap().prompt_tokens, 40);

    world.restart().await;
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(
        view.messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(),
        [user.content.as_str(), "That sounds hard. What happened?"]
    );
    assert_eq!(view.conversation.title, "EVERYTHING is ruined!!!");
}

#[tokio::test]
async fn the_request_has_persona_history_text_time_and_the_key() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    for _ in 0..3 {
        world.server.push(Answer::reply(&["Noted."]));
    }
    let (conversation, _) = started(&world.say(context.id, None, "first").await);
    world.say(context.id, Some(conversation.id), "second").await;
    world.say(context.id, Some(conversation.id), "third").await;
    let requests = world.server.requests();
    let messages = requests[2]["messages"].as_array().unwrap().clone();
    let text = |at: usize| messages[at]["content"].as_str().unwrap().to_owned();
    assert!(messages[0]["role"] == "system" && text(0).contains(&context.system_prompt));
    let all = messages.iter().map(|m| m["content"].as_str().unwrap()).collect::<Vec<_>>().join("\n");
    for part in ["first", "Noted.", "second", "third", "Current time: 20"] {
        assert!(all.contains(part), "{part} is missing in {all}");
    }
    let temperature = requests[2]["temperature"].as_f64().unwrap();
    assert!((temperature - 0.6).abs() < 1e-6 && requests[2]["max_tokens"] == 1200, "{}", requests[2]);
    assert_eq!(world.server.headers()[0]["authorization"], "Bearer sk-secret-0123456789");
}

#[tokio::test]
async fn stopping_keeps_what_had_arrived() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::stream(vec![Piece::Text("One, two".into()), Piece::Gate, Piece::Done]));
    let service = world.service.clone();
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "Count.".into(), agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let reply = tokio::spawn(async move { service.chat_send(request, move |e| drop(send.send(e))).await });
    let mut conversation = None;
    let mut stopped = None;
    while let Some(event) = heard.recv().await {
        match event {
            ChatEvent::Started { conversation: begun, .. } => conversation = Some(begun.id),
            ChatEvent::Text { .. } => world.service.chat_stop(conversation.unwrap()).await.unwrap(),
            ChatEvent::Ended { message, error } => stopped = Some((message.unwrap(), error)),
            _ => {}
        }
    }
    reply.await.unwrap().unwrap();
    let (message, error) = stopped.unwrap();
    assert_eq!((message.content.as_str(), message.status, error), ("One, two", MessageStatus::Stopped, None));
}

#[tokio::test]
async fn a_lifetime_that_is_set_while_a_reply_is_written_stays() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::stream(vec![Piece::Text("One".into()), Piece::Gate, Piece::Done]));
    let service = world.service.clone();
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "Count.".into(), agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let reply = tokio::spawn(async move { service.chat_send(request, move |e| drop(send.send(e))).await });
    let mut conversation = None;
    while let Some(event) = heard.recv().await {
        match event {
            ChatEvent::Started { conversation: begun, .. } => conversation = Some(begun.id),
            ChatEvent::Text { .. } => {
                assert!(world.service.conversation_open(conversation.unwrap()).await.unwrap().is_replying);
                let never = ContextPatch { expiry_days: Some(0), ..ContextPatch::default() };
                world.service.context_update(context.id, never).await.unwrap();
                world.server.release();
            }
            _ => {}
        }
    }
    reply.await.unwrap().unwrap();
    let now = world.service.context_get(context.id).await.unwrap();
    assert_eq!((now.expiry_days, now.expires_at), (None, None));
    assert!(!world.service.conversation_open(conversation.unwrap()).await.unwrap().is_replying);
}

#[tokio::test]
async fn regenerate_and_edit_make_branches_and_keep_the_old_ones() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    for text in ["first answer", "second answer", "answer to the edit"] {
        world.server.push(Answer::reply(&[text]));
    }
    let events = world.say(context.id, None, "question").await;
    let (conversation, user) = started(&events);
    let first = ended(&events).0.unwrap();
    let again = ended(&world.send(SendRequest::Regenerate { message_id: first.id }).await.unwrap()).0.unwrap();
    assert_eq!(again.sibling_ids, [first.id, again.id]);
    let edited = SendRequest::Edit { message_id: user.id, text: "better question".into() };
    let events = world.send(edited).await.unwrap();
    assert_eq!(started(&events).1.sibling_ids.len(), 2);

    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(), ["better question", "answer to the edit"]);
    let view = world.service.conversation_select_branch(first.id).await.unwrap();
    assert_eq!(view.messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(), ["question", "first answer"]);
    assert_eq!(view.conversation.message_count, 5);
}

#[tokio::test]
async fn one_reply_at_a_time_in_a_conversation() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::reply(&["ready"]));
    let (conversation, _) = started(&world.say(context.id, None, "hello").await);
    world.server.push(Answer::stream(vec![Piece::Text("slow".into()), Piece::Gate, Piece::Done]));
    let service = world.service.clone();
    let again =
        SendRequest::New { context_id: context.id, conversation_id: Some(conversation.id), text: "go on".into(), agent_id: None };
    let request = again.clone();
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let reply = tokio::spawn(async move { service.chat_send(request, move |e| drop(send.send(e))).await });
    while !matches!(heard.recv().await, Some(ChatEvent::Text { .. })) {}
    assert_eq!(world.send(again).await.unwrap_err().code(), ErrorCode::Busy);
    world.server.release();
    reply.await.unwrap().unwrap();
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.conversation.message_count, 4);
}

#[tokio::test]
async fn a_local_only_context_refuses_a_remote_model_and_nothing_is_stored() {
    let world = World::new().await;
    let remote = world.provider_at("https://models.example", 30).await;
    assert_eq!(remote.locality, ProviderLocality::Remote);
    let context = world.counselor().await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "hello".into(), agent_id: None };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::LocalOnly);
    let page = world.conversations(context.id).await;
    assert_eq!(page.total_count, 0);
}

#[tokio::test]
async fn a_local_only_context_refuses_a_model_that_a_local_server_hands_on() {
    let world = World::new().await;
    let local = world.scripted_provider().await;
    assert_eq!(local.locality, ProviderLocality::Local);
    world.use_model(local.id, "gpt-oss:120b-cloud").await;
    let context = world.counselor().await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "hello".into(), agent_id: None };
    let error = world.send(request.clone()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LocalOnly);
    assert_eq!(world.conversations(context.id).await.total_count, 0);
    world.use_model(local.id, "gpt-oss:20b").await;
    world.server.push(Answer::reply(&["stays here"]));
    assert_eq!(ended(&world.send(request).await.unwrap()).0.unwrap().content, "stays here");
}

#[tokio::test]
async fn an_expired_context_refuses_to_chat() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.clock.0.advance(chrono::TimeDelta::days(14));
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "hello".into(), agent_id: None };
    assert_eq!(world.send(request.clone()).await.unwrap_err().code(), ErrorCode::ContextExpired);
    world.service.context_extend(context.id).await.unwrap();
    world.server.push(Answer::reply(&["welcome back"]));
    assert_eq!(ended(&world.send(request).await.unwrap()).0.unwrap().content, "welcome back");
}

#[tokio::test]
async fn a_reply_survives_a_window_that_goes_away() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::stream(vec![
        Piece::Text("still ".into()),
        Piece::Wait(Duration::from_millis(50)),
        Piece::Text("here".into()),
        Piece::Done,
    ]));
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "hello".into(), agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let sending = Box::pin(world.service.chat_send(request, move |e| drop(send.send(e))));
    let first = tokio::select! {
        first = heard.recv() => first,
        _ = sending => None,
    };
    assert!(matches!(first, Some(ChatEvent::Started { .. })), "{first:?}");
    let reply = loop {
        if let ChatEvent::Ended { message, .. } = heard.recv().await.unwrap() {
            break message.unwrap();
        }
    };
    assert_eq!(reply.content, "still here");
}

#[tokio::test]
async fn a_failed_regeneration_leaves_the_branch_as_it_was() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    for text in ["one", "two"] {
        world.server.push(Answer::reply(&[text]));
    }
    let events = world.say(context.id, None, "first").await;
    let (conversation, _) = started(&events);
    let first = ended(&events).0.unwrap();
    world.say(context.id, Some(conversation.id), "second").await;
    world.server.push(Answer::error(500, "boom"));
    let (message, error) = ended(&world.send(SendRequest::Regenerate { message_id: first.id }).await.unwrap());
    assert_eq!((message, error.unwrap().code), (None, ErrorCode::ProviderFailed));
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    let shown: Vec<_> = view.messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(shown, ["first", "one", "second", "two"]);
}
