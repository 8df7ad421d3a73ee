//! Private conversations: everything works in them, and nothing of them reaches the disk.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_service::ExportFormat;
use evenkeel_testkit::scripted_server::Answer;
use std::path::{Path, PathBuf};

const MARK: &str = "Zwetschgenknoedelgeheimnis";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Bytes of the profile with its log, to see whether anything was written.
fn state(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let wanted = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vault.db"));
    files(&world.dir.path().join("profile"))
        .into_iter()
        .filter(wanted)
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

async fn said(world: &World, conversation: &Conversation, text: &str, reply: &str) -> Message {
    world.server.push(Answer::reply(&[reply]));
    ended(&world.say(conversation.context_id, Some(conversation.id), text).await).0.unwrap()
}

#[tokio::test]
async fn a_private_conversation_remembers_and_is_listed_nowhere_else() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let private = world.service.private_begin(context.id, "Between us".into()).await.unwrap();
    let first = said(&world, &private, &format!("My secret is {MARK}."), "I keep it.").await;
    said(&world, &private, "Do you remember?", "I do.").await;
    assert!(world.server.requests()[1].to_string().contains(MARK), "the second request has the first message");

    assert_eq!(world.conversations(context.id).await.total_count, 0);
    let listed = world.service.private_list(context.id).await.unwrap();
    assert_eq!((listed.len(), listed[0].id, listed[0].message_count, listed[0].title.as_str()), (1, private.id, 4, "Between us"));
    let view = world.service.conversation_open(private.id).await.unwrap();
    assert!(view.is_private && view.messages.len() == 4 && view.meter.history_tokens > 0);
    let search = SearchQuery { text: MARK.into(), ..SearchQuery::default() };
    assert_eq!(world.service.search_messages(search).await.unwrap(), []);

    let draft = DraftKey::Conversation(private.id);
    world.service.draft_put(draft, "half a".into()).await.unwrap();
    assert_eq!(world.service.draft_get(draft).await.unwrap(), "half a");
    let text = world.service.conversation_export(private.id, ExportFormat::Markdown).await.unwrap();
    assert!(text.contains(MARK));
    world.server.push(Answer::reply(&["Again."]));
    let again = world.send(SendRequest::Regenerate { message_id: first.id }).await.unwrap();
    let again = ended(&again).0.unwrap();
    assert_eq!(again.sibling_ids.len(), 2);
    let view = world.service.message_delete(again.id).await.unwrap();
    assert!(view.messages.iter().all(|message| message.id != again.id));
    let view = world.service.message_restore(again.id).await.unwrap();
    assert!(view.messages.iter().any(|message| message.id == again.id));
    assert_eq!(world.service.message_vote(again.id, Some(Vote::Up)).await.unwrap().vote, Some(Vote::Up));
}

#[tokio::test]
async fn only_who_was_talked_to_is_noted_on_disk() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let private = world.service.private_begin(context.id, MARK.into()).await.unwrap();
    let before = state(&world);
    world.service.draft_put(DraftKey::Conversation(private.id), MARK.into()).await.unwrap();
    assert!(state(&world) == before, "what is typed stays in memory");
    world.clock.0.advance(chrono::TimeDelta::hours(1));
    said(&world, &private, MARK, MARK).await;
    let touched = world.service.context_get(context.id).await.unwrap();
    assert!(touched.last_interaction_at > context.last_interaction_at, "its lifetime begins anew all the same");
    let made = world.service.backup_make().await.unwrap();
    assert_eq!((made.conversations, made.messages), (Some(0), Some(0)));

    world.service.vault_lock().await;
    world.service.vault_unlock(evenkeel_service::UnlockMethod::Keychain).await.unwrap();
    assert_eq!(world.service.private_list(context.id).await.unwrap(), []);
    assert_eq!(world.service.conversation_open(private.id).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn another_context_answers_there_and_an_edited_persona_too() {
    let world = World::new().await;
    world.scripted_provider().await;
    let (home, agent) = (world.counselor().await, world.counselor().await);
    let private = world.service.private_begin(home.id, "Three of us".into()).await.unwrap();
    said(&world, &private, "Hello", "Good day.").await;
    let patch = ContextPatch { system_prompt: Some("You speak in rhymes.".into()), ..ContextPatch::default() };
    world.service.context_update(home.id, patch).await.unwrap();
    world.server.push(Answer::reply(&["I think so."]));
    let request = SendRequest::New {
        context_id: home.id,
        conversation_id: Some(private.id),
        text: "And you?".into(),
        agent_id: Some(agent.id),
    };
    let events = world.send(request).await.unwrap();
    assert_eq!((started(&events).0.id, ended(&events).0.unwrap().context_id), (private.id, agent.id));
    said(&world, &private, "Go on", "In rhymes.").await;
    assert!(world.server.requests()[2].to_string().contains("You speak in rhymes."));
}

#[tokio::test]
async fn it_ends_when_it_is_told_to_and_needs_its_switch() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let private = world.service.private_begin(context.id, "Short".into()).await.unwrap();
    let other = world.service.private_begin(context.id, "Other".into()).await.unwrap();
    said(&world, &private, "Hello", "Good day.").await;
    world.service.private_end(private.id).await.unwrap();
    assert_eq!(world.service.private_end(private.id).await.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(world.service.private_list(context.id).await.unwrap()[0].id, other.id);
    let empty = world.service.private_begin(context.id, "  ".into()).await.unwrap_err();
    assert_eq!(empty.code(), ErrorCode::InvalidParameter);

    let mut settings = world.service.settings_get().await.unwrap();
    settings.features.set(Feature::PrivateConversations, false);
    world.service.settings_save(settings).await.unwrap();
    let off = world.service.private_begin(context.id, "Off".into()).await.unwrap_err().to_body();
    assert_eq!((off.code, off.details["field"].as_str()), (ErrorCode::InvalidParameter, "features"));
}
