//! Conversations and messages on a real vault: each operation, each error.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::{Answer, Piece};

async fn world() -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    (world, context)
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

async fn ids(world: &World, query: ConversationQuery) -> Vec<ConversationId> {
    world.service.conversation_list(query).await.unwrap().items.into_iter().map(|one| one.id).collect()
}

fn nobody() -> ConversationId {
    ConversationId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10])
}

#[tokio::test]
async fn conversations_are_pinned_archived_tagged_and_found_by_it() {
    let (world, context) = world().await;
    let (first, _, _) = world.exchange(context.id, None, "about the garden", "Yes.").await;
    let (second, _, _) = world.exchange(context.id, None, "about work", "Yes.").await;
    let query = ConversationQuery { context_id: Some(context.id), ..ConversationQuery::default() };
    assert_eq!(ids(&world, query.clone()).await, [second.id, first.id]);
    assert_eq!(ids(&world, ConversationQuery { oldest_first: true, ..query.clone() }).await, [first.id, second.id]);
    assert!(world.service.conversation_set_pinned(first.id, true).await.unwrap().is_pinned);
    assert_eq!(ids(&world, query.clone()).await, [first.id, second.id]);
    let tagged = world.service.conversation_set_tags(first.id, vec![" Home ".into()]).await.unwrap();
    assert_eq!(tagged.tags, ["Home"]);
    assert_eq!(ids(&world, ConversationQuery { tag: Some("home".into()), ..query.clone() }).await, [first.id]);
    assert_eq!(ids(&world, ConversationQuery { text: Some("WORK".into()), ..query.clone() }).await, [second.id]);
    assert!(world.service.conversation_set_archived(second.id, true).await.unwrap().is_archived);
    assert_eq!(ids(&world, query.clone()).await, [first.id]);
    assert_eq!(ids(&world, ConversationQuery { include_archived: true, ..query.clone() }).await, [first.id, second.id]);
    for error in [
        world.service.conversation_list(ConversationQuery { limit: 0, ..query.clone() }).await.unwrap_err(),
        world.service.conversation_list(ConversationQuery { limit: 501, ..query }).await.unwrap_err(),
        world.service.conversation_set_tags(first.id, vec!["x".repeat(41)]).await.unwrap_err(),
        world.service.conversation_rename(first.id, "  ".into()).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::InvalidParameter);
    }
}

#[tokio::test]
async fn selected_older_and_all_go_to_the_trash_and_come_back() {
    let (world, context) = world().await;
    let mut made = Vec::new();
    for text in ["one", "two", "three", "four"] {
        made.push(world.exchange(context.id, None, text, "Yes.").await.0.id);
        world.clock.0.advance(chrono::TimeDelta::days(1));
    }
    let query = ConversationQuery { context_id: Some(context.id), ..ConversationQuery::default() };
    let two = vec![made[0], made[1], made[0], nobody()];
    let mut went = world.service.conversation_delete(two).await.unwrap();
    went.sort_unstable();
    assert_eq!(went, [made[0], made[1]]);
    assert_eq!(ids(&world, query.clone()).await, [made[3], made[2]]);
    assert_eq!(ids(&world, ConversationQuery { only_deleted: true, ..query.clone() }).await.len(), 2);
    let request =
        SendRequest::New { context_id: context.id, conversation_id: Some(made[0]), text: "more".into(), agent_id: None };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::NotFound, "what lies in the trash is not talked to");
    assert_eq!(world.service.conversation_restore(went).await.unwrap().len(), 2);

    world.service.conversation_set_pinned(made[0], true).await.unwrap();
    let before = world.service.conversation_open(made[2]).await.unwrap().conversation.last_activity_at;
    let old = world.service.conversation_delete_older(Some(context.id), before).await.unwrap();
    assert_eq!(old, [made[1]], "the pinned one stays");
    assert_eq!(world.service.conversation_delete_older(None, before).await.unwrap(), []);
    assert_eq!(world.service.conversation_clear(context.id).await.unwrap().len(), 3);
    assert_eq!(ids(&world, query).await, []);
}

#[tokio::test]
async fn a_found_message_is_opened_in_its_place() {
    let (world, context) = world().await;
    let (conversation, _, _) = world.exchange(context.id, None, "the very first heron", "Yes.").await;
    for number in 1..40 {
        world.exchange(context.id, Some(conversation.id), &format!("question {number}"), &format!("answer {number}")).await;
    }
    let open = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!((open.messages.len(), open.has_earlier, open.has_later), (50, true, false));
    let query = SearchQuery { text: "heron".into(), ..SearchQuery::default() };
    let hit = world.service.search_messages(query).await.unwrap().remove(0);
    let view = world.service.conversation_open_at(hit.message_id).await.unwrap();
    assert_eq!((view.messages[0].id, view.has_earlier, view.has_later), (hit.message_id, false, true));
    let later = world.service.message_after(view.messages.last().unwrap().id, 500).await.unwrap();
    assert_eq!((view.messages.len() + later.messages.len(), later.has_later), (80, false));

    let middle = open.messages[0].id;
    let view = world.service.conversation_open_at(middle).await.unwrap();
    assert!(view.has_earlier && view.has_later && view.messages.len() == 50);
    assert!(view.messages.iter().any(|message| message.id == middle));
    let unknown = MessageId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10]);
    for error in [
        world.service.conversation_open_at(unknown).await.unwrap_err(),
        world.service.message_after(unknown, 5).await.unwrap_err(),
        world.service.message_delete(unknown).await.unwrap_err(),
        world.service.message_restore(unknown).await.unwrap_err(),
        world.service.message_vote(unknown, None).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn opening_a_message_on_another_branch_shows_that_branch() {
    let (world, context) = world().await;
    let (conversation, _, first) = world.exchange(context.id, None, "question", "the walrus").await;
    world.server.push(Answer::reply(&["the heron"]));
    world.send(SendRequest::Regenerate { message_id: first.id }).await.unwrap();
    let shown = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(texts(&shown.messages), ["question", "the heron"]);
    let view = world.service.conversation_open_at(first.id).await.unwrap();
    assert_eq!(texts(&view.messages), ["question", "the walrus"]);
    assert_eq!(view.conversation.active_leaf_id, Some(first.id));
}

#[tokio::test]
async fn a_message_is_deleted_and_brought_back() {
    let (world, context) = world().await;
    let (conversation, _, _) = world.exchange(context.id, None, "one", "first").await;
    let (_, question, _) = world.exchange(context.id, Some(conversation.id), "two", "second").await;
    let view = world.service.message_delete(question.id).await.unwrap();
    assert_eq!(texts(&view.messages), ["one", "first", "second"]);
    assert_eq!(view.conversation.message_count, 3);
    let view = world.service.message_restore(question.id).await.unwrap();
    assert_eq!(texts(&view.messages), ["one", "first", "two", "second"]);
    assert_eq!(world.service.message_restore(question.id).await.unwrap_err().code(), ErrorCode::NotFound);
    // A conversation whose window began at a deleted message goes on.
    world.service.message_delete(view.messages[0].id).await.unwrap();
    world.exchange(context.id, Some(conversation.id), "three", "third").await;
}

#[tokio::test]
async fn what_is_typed_is_kept_until_it_is_sent() {
    let (mut world, context) = world().await;
    let key = DraftKey::Context(context.id);
    assert_eq!(world.service.draft_get(key).await.unwrap(), "");
    world.service.draft_put(key, "  half a thou".into()).await.unwrap();
    world.restart().await;
    assert_eq!(world.service.draft_get(key).await.unwrap(), "  half a thou");
    world.exchange(context.id, None, "something else, from quick chat", "Yes.").await;
    assert_eq!(world.service.draft_get(key).await.unwrap(), "  half a thou", "what was not sent stays");
    let (conversation, _, _) = world.exchange(context.id, None, "half a thou", "Yes?").await;
    assert_eq!(world.service.draft_get(key).await.unwrap(), "");
    let key = DraftKey::Conversation(conversation.id);
    world.service.draft_put(key, "more".into()).await.unwrap();
    world.service.draft_put(key, String::new()).await.unwrap();
    assert_eq!(world.service.draft_get(key).await.unwrap(), "");
    for (key, text, code) in [
        (key, "a\0b".to_owned(), ErrorCode::InvalidParameter),
        (key, "x".repeat((1 << 20) + 1), ErrorCode::LimitReached),
        (DraftKey::Conversation(nobody()), "typed".to_owned(), ErrorCode::NotFound),
    ] {
        assert_eq!(world.service.draft_put(key, text).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn search_finds_by_words_context_and_date() {
    let (world, context) = world().await;
    let other = world.counselor().await;
    let (_, early, _) = world.exchange(context.id, None, "a heron by the lake", "Yes.").await;
    world.clock.0.advance(chrono::TimeDelta::days(2));
    let (_, late, _) = world.exchange(other.id, None, "another heron", "No heron here.").await;
    let query = SearchQuery { text: "heron".into(), ..SearchQuery::default() };
    let found = |query: SearchQuery| async {
        let hits = world.service.search_messages(query).await.unwrap();
        hits.into_iter().map(|hit| hit.message_id).collect::<Vec<_>>()
    };
    let all = found(query.clone()).await;
    assert_eq!((all.len(), all[1], all[2]), (3, late.id, early.id));
    assert_eq!(found(SearchQuery { context_id: Some(context.id), ..query.clone() }).await, [early.id]);
    assert_eq!(found(SearchQuery { until: Some(late.created_at), ..query.clone() }).await, [early.id]);
    let page = world.service.search_messages(SearchQuery { limit: 1, ..query.clone() }).await.unwrap();
    assert_eq!(found(SearchQuery { before: Some(page[0].cursor.clone()), ..query.clone() }).await, [late.id, early.id]);
    assert!(page[0].snippet.iter().any(|part| part.is_match && part.text == "heron"));
    for query in [
        SearchQuery { text: String::new(), ..query.clone() },
        SearchQuery { limit: 101, ..query.clone() },
        SearchQuery { before: Some("x".into()), ..query },
    ] {
        assert_eq!(world.service.search_messages(query).await.unwrap_err().code(), ErrorCode::InvalidParameter);
    }
}

#[tokio::test]
async fn a_conversation_has_figures_and_goes_out_as_text() {
    let (world, context) = world().await;
    let (conversation, _, reply) = world.exchange(context.id, None, "one / two", "first").await;
    let figures = world.service.conversation_statistics(conversation.id).await.unwrap();
    assert_eq!((figures.messages, figures.user_messages, figures.assistant_messages), (2, 1, 1));
    assert_eq!((figures.prompt_tokens, figures.agents[0].name.as_str()), (40, context.name.as_str()));

    let markdown = world.service.conversation_export(conversation.id, ExportFormat::Markdown).await.unwrap();
    assert!(markdown.starts_with("# one / two\n") && markdown.contains("## Calm Counselor · "), "{markdown}");
    let json = world.service.conversation_export(conversation.id, ExportFormat::Json).await.unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["format"].as_str(), json["version"].as_u64()), (Some("evenkeel-conversation"), Some(1)));
    assert_eq!(json["messages"][1]["id"], reply.id.to_string());
    assert_eq!(json["personas"][0]["systemPrompt"], context.system_prompt);

    let name = world.service.conversation_file_name(conversation.id, ExportFormat::Markdown).await.unwrap();
    assert_eq!(name, "one two.md");
    let path = world.dir.path().join(name);
    world.service.conversation_save(conversation.id, ExportFormat::Markdown, path.clone()).await.unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), markdown);
    for (path, code) in [
        (world.dir.path().join("profile").join("vault.db"), ErrorCode::PlaceRefused),
        (world.dir.path().join("nowhere").join("a.md"), ErrorCode::NotFound),
    ] {
        let refused = world.service.conversation_save(conversation.id, ExportFormat::Json, path).await.unwrap_err();
        assert_eq!(refused.code(), code, "{refused}");
    }
}

#[tokio::test]
async fn a_conversation_that_does_not_exist_is_refused_with_those_that_do() {
    let (world, context) = world().await;
    let (conversation, _, _) = world.exchange(context.id, None, "a title", "first").await;
    let (service, id) = (&world.service, nobody());
    for error in [
        service.conversation_open(id).await.unwrap_err(),
        service.conversation_rename(id, "x".into()).await.unwrap_err(),
        service.conversation_set_pinned(id, true).await.unwrap_err(),
        service.conversation_set_archived(id, true).await.unwrap_err(),
        service.conversation_set_tags(id, vec![]).await.unwrap_err(),
        service.conversation_statistics(id).await.unwrap_err(),
        service.conversation_export(id, ExportFormat::Json).await.unwrap_err(),
        service.conversation_save(id, ExportFormat::Json, world.dir.path().join("x.json")).await.unwrap_err(),
    ] {
        let body = error.to_body();
        assert_eq!(body.code, ErrorCode::NotFound);
        assert_eq!(body.details["existing"], format!("a title ({})", conversation.id));
    }
    assert_eq!(service.conversation_delete(vec![id]).await.unwrap(), []);
    assert_eq!(service.conversation_restore(vec![id]).await.unwrap(), []);
}

#[tokio::test]
async fn the_number_of_messages_of_a_context_has_its_limit() {
    let (mut world, context) = world().await;
    world.service.shutdown().await;
    let limits = Limits { messages_per_context: 3, message_bytes: 100, ..Limits::default() };
    let few = ServiceOptions { limits, ..options(world.dir.path(), world.keychain.clone(), world.clock.clone()) };
    world.service = Service::new(few).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    let (conversation, _, reply) = world.exchange(context.id, None, "one", "first").await;
    let more =
        SendRequest::New { context_id: context.id, conversation_id: Some(conversation.id), text: "x".into(), agent_id: None };
    let refused = world.send(more).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["limit"].as_str()), (ErrorCode::LimitReached, "3"));
    world.server.push(Answer::reply(&["another"]));
    world.send(SendRequest::Regenerate { message_id: reply.id }).await.unwrap();
    let refused = world.send(SendRequest::Regenerate { message_id: reply.id }).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::LimitReached);
    let edit = SendRequest::Edit { message_id: reply.id, text: "x".repeat(101) };
    assert_eq!(world.send(edit).await.unwrap_err().to_body().details["limit"], "100");
    assert_eq!(world.service.conversation_open(conversation.id).await.unwrap().conversation.message_count, 3);
}

#[tokio::test]
async fn a_message_that_does_not_exist_is_refused_with_the_conversations_that_do() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let id = MessageId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10]);
    let service = &world.service;
    let alone = service.conversation_open_at(id).await.unwrap_err().to_body();
    assert_eq!((alone.code, alone.details["existing"].as_str()), (ErrorCode::NotFound, "none"));
    for number in 0..22 {
        world.exchange(context.id, None, &format!("Question {number}"), "Answer.").await;
    }
    for error in [
        service.conversation_open_at(id).await.err(),
        service.conversation_earlier(id, 5).await.err(),
        service.message_after(id, 5).await.err(),
        service.conversation_select_branch(id).await.err(),
        world.send(SendRequest::Regenerate { message_id: id }).await.err(),
    ] {
        let body = error.unwrap().to_body();
        assert_eq!(body.code, ErrorCode::NotFound, "{body}");
        let listed = &body.details["existing"];
        assert_eq!(listed.matches("Question ").count(), 20, "{listed}");
        assert!(listed.contains("Question 21") && body.message.contains(&id.to_string()));
    }
}

#[tokio::test]
async fn a_conversation_that_is_being_answered_goes_into_the_trash_by_no_way() {
    let (world, context) = world().await;
    world.exchange(context.id, None, "Rest.", "Yes.").await;
    world.server.push(Answer::stream(vec![Piece::Text("One".into()), Piece::Gate, Piece::Done]));
    let (service, id) = (world.service.clone(), context.id);
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let reply = tokio::spawn(async move {
        let request = SendRequest::New { context_id: id, conversation_id: None, text: "Count.".into(), agent_id: None };
        service.chat_send(request, move |event| drop(send.send(event))).await
    });
    let later = chrono::Utc::now() + chrono::TimeDelta::days(1);
    while let Some(event) = heard.recv().await {
        if matches!(event, ChatEvent::Text { .. }) {
            for refused in [
                world.service.conversation_clear(id).await,
                world.service.conversation_delete_older(Some(id), later).await,
                world.service.conversation_delete_older(None, later).await,
            ] {
                assert_eq!(refused.unwrap_err().code(), ErrorCode::Busy);
            }
            assert_eq!(world.conversations(id).await.total_count, 2, "all stay, or none");
            world.server.release();
        }
    }
    reply.await.unwrap().unwrap();
    assert_eq!(world.service.conversation_delete_older(None, later).await.unwrap().len(), 2);
    assert_eq!(world.service.conversation_clear(id).await.unwrap(), []);
}
