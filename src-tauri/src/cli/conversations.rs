//! `evenkeel conversations`.

use super::Caller;
use super::failure::Failure;
use super::print::{shortened, table, when};
use crate::options::ConversationsWish;
use evenkeel_domain::{ContextId, Conversation, ConversationQuery, Message, Role, SearchHit, SearchQuery};
use evenkeel_service::{ConversationPage, ConversationView};

pub(super) async fn conversations(caller: &Caller, wish: &ConversationsWish) -> Result<(), Failure> {
    caller.open().await?;
    let service = &caller.service;
    match wish {
        ConversationsWish::List { context, archived, trash, limit, offset } => {
            let query = ConversationQuery {
                context_id: named(caller, context.as_deref()).await?,
                include_archived: *archived,
                only_deleted: *trash,
                limit: *limit,
                offset: *offset,
                ..ConversationQuery::default()
            };
            caller.print.value(&service.conversation_list(query).await?, listed)
        }
        ConversationsWish::Show { id } => caller.print.value(&service.conversation_open(*id).await?, shown),
        ConversationsWish::Search { text, context, limit } => {
            let context_id = named(caller, context.as_deref()).await?;
            let query = SearchQuery { text: text.clone(), context_id, limit: *limit, ..SearchQuery::default() };
            caller.print.value(&service.search_messages(query).await?, |hits| found(hits))
        }
        ConversationsWish::Delete { ids } => {
            for id in ids {
                service.conversation_get(*id).await?;
            }
            let gone = service.conversation_delete(ids.clone()).await?;
            caller.print.value(&gone, |gone| format!("In the trash: {}.", gone.len()))
        }
    }
}

/// The id of a context that may be named.
pub(super) async fn named(caller: &Caller, context: Option<&str>) -> Result<Option<ContextId>, Failure> {
    let Some(context) = context else { return Ok(None) };
    Ok(Some(caller.service.context_named(context).await?.id))
}

fn listed(page: &ConversationPage) -> String {
    let row = |conversation: &Conversation| {
        let title = shortened(&conversation.title, 50);
        let last = when(conversation.last_activity_at);
        [title, last, conversation.message_count.to_string(), conversation.id.to_string()]
    };
    let table = table(["TITLE", "LAST MESSAGE", "MESSAGES", "ID"], page.items.iter().map(row));
    if page.items.len() < page.total_count as usize {
        return format!("{table}{} of {} are shown; --offset shows others.\n", page.items.len(), page.total_count);
    }
    table
}

fn shown(view: &ConversationView) -> String {
    let title = &view.conversation.title;
    let earlier = if view.has_earlier { "\nEarlier messages are left out; evenkeel export writes all.\n" } else { "" };
    let messages: String = view.messages.iter().map(said).collect();
    format!("{title}\n{earlier}{messages}")
}

fn said(message: &Message) -> String {
    let who = match message.role {
        Role::User => "You",
        Role::Assistant => "Companion",
        Role::System => "System",
    };
    format!("\n{who}, {}:\n{}\n", when(message.created_at), message.content.trim_end())
}

fn found(hits: &[SearchHit]) -> String {
    if hits.is_empty() {
        return "No message has all these words.".to_owned();
    }
    let row = |hit: &SearchHit| {
        let text: String = hit.snippet.iter().map(|part| part.text.as_str()).collect();
        [when(hit.created_at), shortened(&hit.conversation_title, 30), shortened(&text, 80), hit.conversation_id.to_string()]
    };
    table(["TIME", "CONVERSATION", "TEXT", "ID"], hits.iter().map(row))
}
