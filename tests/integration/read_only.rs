//! What an expired context allows: everything but to be changed.

use crate::support::World;
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;

/// A world with an expired context that was talked to, and its conversation.
async fn expired() -> (World, Context, Conversation, Message, Message) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, message, reply) = world.exchange(context.id, None, "I am furious!", "Let us look at it.").await;
    world.clock.0.advance(TimeDelta::days(15));
    let conversation = world.service.conversation_open(conversation.id).await.unwrap().conversation;
    (world, context, conversation, message, reply)
}

#[tokio::test]
async fn nothing_of_an_expired_context_is_changed() {
    let (world, context, conversation, message, reply) = expired().await;
    let (service, id) = (&world.service, conversation.id);
    let new = SendRequest::New { context_id: context.id, conversation_id: Some(id), text: "And?".into(), agent_id: None };
    let edit = SendRequest::Edit { message_id: message.id, text: "I was furious.".into() };
    let named = ContextPatch { name: Some("Other".into()), ..ContextPatch::default() };
    let same_days = ContextPatch { expiry_days: Some(14), tags: Some(vec!["work".into()]), ..ContextPatch::default() };
    let refusals = [
        ("send", world.send(new).await.err()),
        ("edit", world.send(edit).await.err()),
        ("regenerate", world.send(SendRequest::Regenerate { message_id: reply.id }).await.err()),
        ("delete a message", service.message_delete(message.id).await.err()),
        ("judge", service.message_vote(reply.id, Some(Vote::Up)).await.err()),
        ("rename", service.conversation_rename(id, "Another title".into()).await.err()),
        ("pin", service.conversation_set_pinned(id, true).await.err()),
        ("archive", service.conversation_set_archived(id, true).await.err()),
        ("tag", service.conversation_set_tags(id, vec!["work".into()]).await.err()),
        ("begin in private", service.private_begin(context.id, "Just us".into()).await.err()),
        ("update", service.context_update(context.id, named).await.err()),
        ("update with the lifetime it has", service.context_update(context.id, same_days).await.err()),
        ("restore a wording", service.context_restore_revision(context.id, context.revision_id.clone()).await.err()),
    ];
    for (what, refusal) in refusals {
        let refusal = refusal.unwrap_or_else(|| panic!("{what}: was not refused")).to_body();
        assert_eq!(
            (refusal.code, refusal.details.get("id")),
            (ErrorCode::ContextExpired, Some(&context.id.to_string())),
            "{what}"
        );
        assert!(refusal.message.contains("extend its lifetime"), "{what}: {}", refusal.message);
    }
    let view = service.conversation_open(id).await.unwrap();
    assert_eq!((view.conversation, view.messages), (conversation, vec![message, reply]));
}

#[tokio::test]
async fn an_expired_context_is_read_written_out_deleted_and_brought_back() {
    let (world, context, conversation, message, reply) = expired().await;
    let (service, id) = (&world.service, conversation.id);
    assert_eq!(service.context_get(context.id).await.unwrap().id, context.id);
    assert_eq!(world.conversations(context.id).await.items, std::slice::from_ref(&conversation));
    assert_eq!(service.conversation_open_at(message.id).await.unwrap().messages.len(), 2);
    assert_eq!(service.conversation_earlier(reply.id, 5).await.unwrap().messages.len(), 1);
    assert_eq!(service.conversation_statistics(id).await.unwrap().messages, 2);
    let query = SearchQuery { text: "furious".into(), ..SearchQuery::default() };
    assert_eq!(service.search_messages(query).await.unwrap()[0].message_id, message.id);
    assert!(service.conversation_export(id, ExportFormat::Markdown).await.unwrap().contains("furious"));
    assert_eq!(service.context_duplicate(context.id).await.unwrap().system_prompt, context.system_prompt);
    let key = DraftKey::Conversation(id);
    service.draft_put(key, "half a thought".into()).await.unwrap();
    assert_eq!(service.draft_get(key).await.unwrap(), "half a thought");

    assert_eq!(service.conversation_delete(vec![id]).await.unwrap(), [id]);
    assert_eq!(service.conversation_restore(vec![id]).await.unwrap(), [id]);
    service.context_extend(context.id).await.unwrap();
    assert_eq!(service.conversation_rename(id, "Calmer".into()).await.unwrap().title, "Calmer");
    assert_eq!(service.message_delete(reply.id).await.unwrap().messages.len(), 1);
    world.clock.0.advance(TimeDelta::days(15));
    assert_eq!(service.message_restore(reply.id).await.unwrap().messages.len(), 2, "what was lost comes back");
    service.context_delete(context.id).await.unwrap();
    let in_trash = service.conversation_rename(id, "Gone".into()).await.unwrap_err().to_body();
    assert_eq!((in_trash.code, in_trash.details["inTrash"].as_str()), (ErrorCode::NotFound, "true"));
    assert!(service.context_restore(context.id).await.unwrap().is_active);
}
