//! Sessions: listed, read and put into the trash.

use super::asker::Asker;
use super::input::{Asked, Id, misfit};
use super::record::{CitationRecord, Deleted, ListedSession, MessageRecord, OperationList, SessionList, SessionRecord, stamp};
use crate::http::refusal::Refusal;
use axum::Json;
use evenkeel_domain::{
    AccessKind, Citation, Context, Conversation, ConversationId, ConversationsShown, ErrorBody, ErrorCode, Message, MessageQuery,
    NamedSession, OperationQuery, Role, SessionsShown,
};
use evenkeel_mcp::OperationRecord;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;

/// Messages that are read at once.
const PAGE: u32 = 500;
/// Most sessions in one answer.
const MOST: u32 = 500;

/// Which page of the list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Page {
    /// Sessions a page.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 500))]
    limit: u32,
    /// So many are left out at the beginning.
    #[serde(default)]
    #[schemars(range(max = 2_147_483_647))]
    offset: u32,
}

fn fifty() -> u32 {
    50
}

/// A page of the sessions that are there for the program.
pub(super) async fn list(asker: Asker, Asked(page): Asked<Page>) -> Result<Json<SessionList>, Refusal> {
    if !(1..=MOST).contains(&page.limit) {
        return Err(misfit("limit", page.limit, "1 to 500").into());
    }
    if i32::try_from(page.offset).is_err() {
        return Err(misfit("offset", page.offset, "0 to 2147483647").into());
    }
    let names = asker.names().await?;
    let contexts = names.keys().copied().collect();
    let query = SessionsShown { contexts, among: asker.caller.among(), limit: page.limit, offset: page.offset };
    let found = asker.desk.app.sessions(query).await?;
    asker.caller.note(AccessKind::ReadMessages, None, found.page.len()).await;
    let listed = found.page.into_iter().map(|summary| ListedSession {
        session_id: summary.conversation.id.to_string(),
        query: summary.query,
        created_at: stamp(summary.conversation.created_at),
        last_activity: stamp(summary.conversation.last_activity_at),
        message_count: summary.conversation.message_count,
        agents_used: summary.agents.iter().filter_map(|agent| names.get(agent).cloned()).collect(),
    });
    let conversations = listed.collect();
    Ok(Json(SessionList { conversations, total_sessions: found.total, limit: page.limit, offset: page.offset }))
}

/// A session with all its messages.
pub(super) async fn read(asker: Asker, Id(id): Id) -> Result<Json<SessionRecord>, Refusal> {
    let (context, conversation) = known(&asker, &id).await?;
    let messages = messages(&asker, &context, conversation.id).await?;
    asker.caller.note(AccessKind::ReadMessages, Some(context.id), messages.len()).await;
    let names = asker.names().await?;
    let mut agents_used: Vec<String> = Vec::new();
    let mut records = Vec::with_capacity(messages.len());
    for message in &messages {
        let agent = (message.role == Role::Assistant).then(|| names.get(&message.context_id).cloned()).flatten();
        agents_used.extend(agent.iter().filter(|agent| !agents_used.contains(agent)).cloned().collect::<Vec<_>>());
        records.push(MessageRecord {
            message_id: message.id.to_string(),
            role: Role::as_str(message.role).to_owned(),
            content: message.content.clone(),
            timestamp: stamp(message.created_at),
            agent,
            citations: citations(&asker, &message.citations).await?,
        });
    }
    Ok(Json(SessionRecord {
        session_id: conversation.id.to_string(),
        context_id: context.id.to_string(),
        title: conversation.title,
        message_count: conversation.message_count,
        messages: records,
        agents_used,
        created_at: stamp(conversation.created_at),
        last_activity: stamp(conversation.last_activity_at),
    }))
}

/// Which operations of a session.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Recent {
    /// Operations at most.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// Only of tools whose name has this in it; with * or ? the whole name has to fit.
    tool_filter: Option<String>,
}

fn five() -> u32 {
    OperationQuery::DEFAULT_LIMIT
}

/// What tools did last in a session.
pub(super) async fn context(asker: Asker, Id(id): Id, Asked(wish): Asked<Recent>) -> Result<Json<OperationList>, Refusal> {
    let (context, conversation) = known(&asker, &id).await?;
    let query = OperationQuery { conversation_id: conversation.id, limit: wish.limit, tool_filter: wish.tool_filter };
    let operations = asker.desk.companions.operations(query).await?;
    asker.caller.note(AccessKind::ReadOperations, Some(context.id), operations.len()).await;
    let operations = operations.iter().map(OperationRecord::of).collect();
    Ok(Json(OperationList { session_id: conversation.id.to_string(), operations }))
}

/// Puts a session into the trash of Evenkeel.
pub(super) async fn delete(asker: Asker, Id(id): Id) -> Result<Json<Deleted>, Refusal> {
    let (context, conversation) = known(&asker, &id).await?;
    asker.caller.check_change(AccessKind::DeleteMessages, Some(context.id)).await?;
    let one = ConversationsShown { only: Some(conversation.id), ..asker.caller.sight(context.id, 1) };
    let deleted_count = asker.desk.companions.clear(one).await?;
    asker.caller.note(AccessKind::DeleteMessages, Some(context.id), deleted_count as usize).await;
    Ok(Json(Deleted { success: true, session_id: conversation.id.to_string(), deleted_count }))
}

/// A session that there is for the program, by its id or by the name that the program gave it.
async fn known(asker: &Asker, id: &str) -> Result<(Context, Conversation), ErrorBody> {
    let found = match id_of(asker, id).await? {
        Some(id) => asker.seen(id).await?,
        None => None,
    };
    found.ok_or_else(|| missing(id))
}

/// There is no such session for the program.
pub(super) fn missing(id: &str) -> ErrorBody {
    let id: String = id.chars().take(64).collect();
    let message = format!("there is no session {id}; GET /api/conversations lists those that there are");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id)
}

/// The conversation that an id or a name stands for; `None` for a name that is new.
pub(super) async fn id_of(asker: &Asker, id: &str) -> Result<Option<ConversationId>, ErrorBody> {
    if let Ok(id) = id.parse() {
        return Ok(Some(id));
    }
    if !NamedSession::is_name(id) {
        return Err(misfit("session_id", id, "a UUID, or 1 to 128 letters, digits and _-.:"));
    }
    asker.desk.app.named_session(asker.caller.name(), id).await
}

async fn messages(asker: &Asker, context: &Context, conversation: ConversationId) -> Result<Vec<Message>, ErrorBody> {
    let mut messages = Vec::new();
    for page in 1.. {
        let query = MessageQuery {
            context_id: context.id,
            conversation_id: Some(conversation),
            among: asker.caller.among(),
            newest_first: false,
            page,
            page_size: PAGE,
        };
        let (found, total) = asker.desk.companions.messages(query).await?;
        let is_last = found.is_empty() || messages.len() + found.len() >= total as usize;
        messages.extend(found);
        if is_last {
            break;
        }
    }
    Ok(messages)
}

/// Those that are there for the program; a text may stand in a session that is not.
pub(super) async fn citations(asker: &Asker, cited: &[Citation]) -> Result<Vec<CitationRecord>, ErrorBody> {
    let mut is_seen: HashMap<ConversationId, bool> = HashMap::new();
    let mut records = Vec::new();
    for citation in cited {
        let seen = match is_seen.get(&citation.conversation_id) {
            Some(seen) => *seen,
            None => {
                let seen = asker.seen(citation.conversation_id).await?.is_some();
                is_seen.insert(citation.conversation_id, seen);
                seen
            }
        };
        if seen {
            records.push(CitationRecord {
                message_id: citation.message_id.to_string(),
                session_id: citation.conversation_id.to_string(),
                created_at: stamp(citation.created_at),
            });
        }
    }
    Ok(records)
}
