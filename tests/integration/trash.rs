//! The trash: nothing is lost by accident, and what is purged is gone.

use crate::support::World;
use evenkeel_domain::*;
use evenkeel_store::Noun;
use evenkeel_testkit::scripted_server::{Answer, Piece};

async fn with_one_conversation() -> (World, Context, Conversation) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, _, _) = world.exchange(context.id, None, "A marked word: quokka", "Noted.").await;
    (world, context, conversation)
}

fn search(text: &str) -> SearchQuery {
    SearchQuery { text: text.into(), ..SearchQuery::default() }
}

#[tokio::test]
async fn a_context_goes_to_the_trash_and_comes_back_with_its_conversations() {
    let (world, context, conversation) = with_one_conversation().await;
    world.clock.0.advance(chrono::TimeDelta::days(13));
    world.service.context_delete(context.id).await.unwrap();
    assert_eq!(world.contexts().await, []);
    assert_eq!(world.service.search_messages(search("quokka")).await.unwrap(), []);
    let request = SendRequest::New { context_id: context.id, conversation_id: None, text: "Hello".into(), agent_id: None };
    let refused = world.send(request).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["inTrash"].as_str()), (ErrorCode::NotFound, "true"));
    let refused = world.service.context_extend(context.id).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["inTrash"].as_str()), (ErrorCode::NotFound, "true"));

    let listed = world.service.trash_list().await.unwrap();
    assert_eq!(listed.iter().map(|item| item.id).collect::<Vec<_>>(), [TrashId::Context(context.id)]);
    assert!(listed[0].shown_at.is_some());
    assert_eq!(world.service.trash_list().await.unwrap(), listed, "only the first look counts");

    let restored = world.service.context_restore(context.id).await.unwrap();
    assert!(restored.is_active && restored.deleted_at.is_none() && restored.expires_at > context.expires_at);
    assert_eq!(world.conversations(context.id).await.items[0].id, conversation.id);
    assert_eq!(world.service.search_messages(search("quokka")).await.unwrap().len(), 1);
    assert_eq!(world.service.context_restore(context.id).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn only_what_lies_in_the_trash_is_purged() {
    let (world, context, conversation) = with_one_conversation().await;
    assert_eq!(world.service.context_purge(context.id).await.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(world.service.conversation_purge(vec![conversation.id]).await.unwrap(), []);
    assert_eq!(world.conversations(context.id).await.total_count, 1);

    world.service.conversation_delete(vec![conversation.id]).await.unwrap();
    assert_eq!(world.service.conversation_purge(vec![conversation.id]).await.unwrap(), [conversation.id]);
    assert_eq!(world.service.conversation_open(conversation.id).await.unwrap_err().code(), ErrorCode::NotFound);
    world.service.context_delete(context.id).await.unwrap();
    world.service.context_purge(context.id).await.unwrap();
    assert_eq!(world.service.context_get(context.id).await.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(world.service.trash_list().await.unwrap(), []);
}

#[tokio::test]
async fn emptying_deletes_what_lies_there_and_nothing_else() {
    let (world, context, conversation) = with_one_conversation().await;
    let (other, _, _) = world.exchange(context.id, None, "Stays", "Yes.").await;
    let gone = world.counselor().await;
    world.service.context_delete(gone.id).await.unwrap();
    world.service.conversation_delete(vec![conversation.id]).await.unwrap();
    assert_eq!(world.service.trash_list().await.unwrap().len(), 2);
    world.service.trash_empty().await.unwrap();
    assert_eq!(world.service.trash_list().await.unwrap(), []);
    let left: Vec<_> = world.conversations(context.id).await.items.into_iter().map(|one| one.id).collect();
    assert_eq!((left, world.contexts().await.len()), (vec![other.id], 1));
    world.service.trash_empty().await.unwrap();
}

#[tokio::test]
async fn nothing_is_purged_under_a_reply() {
    let (world, context, conversation) = with_one_conversation().await;
    world.server.push(Answer::stream(vec![Piece::Text("slow".into()), Piece::Gate, Piece::Done]));
    let service = world.service.clone();
    let text = "Go on".to_owned();
    let request = SendRequest::New { context_id: context.id, conversation_id: Some(conversation.id), text, agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let reply = tokio::spawn(async move { service.chat_send(request, move |event| drop(send.send(event))).await });
    while !matches!(heard.recv().await, Some(ChatEvent::Text { .. })) {}
    assert_eq!(world.service.conversation_delete(vec![conversation.id]).await.unwrap_err().code(), ErrorCode::Busy);
    world.service.context_delete(context.id).await.unwrap();
    assert_eq!(world.service.context_purge(context.id).await.unwrap_err().code(), ErrorCode::Busy);
    assert_eq!(world.service.trash_empty().await.unwrap_err().code(), ErrorCode::Busy);
    world.server.release();
    reply.await.unwrap().unwrap();
    world.service.context_restore(context.id).await.unwrap();
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    assert_eq!(view.messages.last().unwrap().content, "slow", "the reply was kept in the trash");
    world.service.context_delete(context.id).await.unwrap();
    world.service.trash_empty().await.unwrap();
    assert_eq!(world.service.context_get(context.id).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn much_that_goes_to_the_trash_and_is_shown_there_is_told_as_one_change() {
    let (world, context, _) = with_one_conversation().await;
    for number in 0..9 {
        world.exchange(context.id, None, &format!("Question {number}"), "Noted.").await;
    }
    let mut heard = world.service.changes();
    assert_eq!(world.service.conversation_clear(context.id).await.unwrap().len(), 10);
    let summary = world.service.trash_summary().await.unwrap();
    assert_eq!((summary.count, summary.oldest.is_some()), (10, true));
    let told = std::iter::from_fn(|| heard.try_recv().ok()).filter(|change| change.noun == Noun::Conversation);
    assert_eq!(told.map(|change| change.id).collect::<Vec<_>>(), ["", ""], "once for the clearing, once for the showing");
}

#[tokio::test]
async fn forgetting_everywhere_leaves_one_verified_backup_and_nothing_of_what_was_deleted() {
    let (world, context, conversation) = with_one_conversation().await;
    let service = &world.service;
    let folder = service.profile_dir().join("backups");
    // Copies of the conversation: a backup, the database that a restore sets aside, and the backup before the purge.
    let first = service.backup_make().await.unwrap();
    assert!(service.backup_restore(first.path.into()).await.unwrap().set_aside.is_some());
    service.conversation_delete(vec![conversation.id]).await.unwrap();
    assert_eq!(service.conversation_purge(vec![conversation.id]).await.unwrap(), [conversation.id]);
    let (kept, deleted, _) = world.exchange(context.id, None, "Second words", "Noted.").await;
    service.message_delete(deleted.id).await.unwrap();
    // No backup of this vault, whatever its name says.
    std::fs::write(folder.join("holiday.ekbackup"), b"no backup").unwrap();
    let before = service.backup_list().await.unwrap();
    assert!(before.iter().filter(|info| info.problem.is_none()).count() >= 3, "{before:?}");

    let report = service.backup_forget().await.unwrap();
    assert_eq!((report.left.len(), report.removed as usize), (0, before.len()), "the set-aside one in place of the foreign file");
    assert!(report.backup.verified_at.is_some() && report.backup.messages == Some(1), "{report:?}");
    let after = service.backup_list().await.unwrap();
    let names: Vec<_> = after.iter().map(|info| (info.id.clone(), info.problem.as_deref())).collect();
    assert_eq!(names.len(), 2, "{after:?}");
    assert!(names.contains(&(report.backup.id.clone(), None)) && names.contains(&(None, Some("foreign"))), "{names:?}");
    let aside = std::fs::read_dir(service.profile_dir()).unwrap().flatten();
    assert!(!aside.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("pre-restore")));
    assert_eq!(service.message_restore(deleted.id).await.unwrap_err().code(), ErrorCode::NotFound);
    // What stays can be restored, and only that is in it.
    service.backup_restore(report.backup.path.into()).await.unwrap();
    assert_eq!(world.conversations(context.id).await.items.iter().map(|item| item.id).collect::<Vec<_>>(), [kept.id]);
    assert_eq!(service.search_messages(search("quokka")).await.unwrap(), []);
}
