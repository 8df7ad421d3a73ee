//! Sessions: listed, read and put into the trash.

use super::asker::{Asker, SessionNames};
use super::input::{Asked, Id, misfit};
use super::record::{CitationRecord, Deleted, ListedSession, MessageRecord, OperationList, SessionList, SessionRecord, stamp};
use crate::http::refusal::Refusal;
use axum::Json;
use evenkeel_domain::{
    AccessKind, Citation, Context, Conversation, ConversationId, ConversationsShown, ErrorBody, ErrorCode, Message, NamedSession,
    OperationQuery, Role, SessionPart, SessionQuery, SessionsShown,
};
use evenkeel_mcp::OperationRecord;
use schemars::JsonSchema;
use serde::Deserialize;

/// Most sessions or messages in one answer.
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
    check(page.limit, page.offset)?;
    let names = asker.names().await?;
    let contexts = names.keys().copied().collect();
    let query = SessionsShown { limit: page.limit, offset: page.offset, ..asker.sessions(contexts) };
    let found = asker.desk.app.sessions(query).await?;
    asker.caller.note(AccessKind::ReadMessages, None, found.page.len()).await;
    let called = asker.session_names().await?;
    let listed = found.page.into_iter().map(|summary| ListedSession {
        session_id: called.of(summary.conversation.id),
        query: summary.query,
        created_at: stamp(summary.conversation.created_at),
        last_activity: stamp(summary.conversation.last_activity_at),
        message_count: summary.conversation.message_count,
        agents_used: summary.agents.iter().filter_map(|agent| names.get(agent).cloned()).collect(),
    });
    let conversations = listed.collect();
    Ok(Json(SessionList { conversations, total_sessions: found.total, limit: page.limit, offset: page.offset }))
}

/// Which part of a session.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Part {
    /// Messages a page.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 500))]
    limit: u32,
    /// So many are left out at the beginning.
    #[serde(default)]
    #[schemars(range(max = 2_147_483_647))]
    offset: u32,
    /// The newest first.
    #[serde(default)]
    newest_first: bool,
}

fn hundred() -> u32 {
    100
}

/// A session with a page of its messages.
pub(super) async fn read(asker: Asker, Id(name): Id, Asked(part): Asked<Part>) -> Result<Json<SessionRecord>, Refusal> {
    check(part.limit, part.offset)?;
    let id = id_of(&asker, &name).await?.ok_or_else(|| missing(&name))?;
    let names = asker.names().await?;
    let query = SessionQuery {
        id,
        contexts: names.keys().copied().collect(),
        among: asker.caller.among(),
        newest_first: part.newest_first,
        limit: part.limit,
        offset: part.offset,
    };
    let found = asker.desk.app.session_part(query).await?.ok_or_else(|| missing(&name))?;
    let SessionPart { conversation, messages, total, agents, cited } = found;
    asker.caller.note(AccessKind::ReadMessages, Some(conversation.context_id), messages.len()).await;
    let called = asker.session_names().await?;
    let named = |message: &Message| names.get(&message.context_id).filter(|_| message.role == Role::Assistant).cloned();
    let records = messages.iter().map(|message| MessageRecord {
        message_id: message.id.to_string(),
        role: message.role.as_str().to_owned(),
        content: message.content.clone(),
        timestamp: stamp(message.created_at),
        agent: named(message),
        citations: cited_there(&message.citations, &cited, &called),
    });
    let read = u64::from(part.offset) + messages.len() as u64;
    Ok(Json(SessionRecord {
        session_id: called.of(conversation.id),
        context_id: conversation.context_id.to_string(),
        title: conversation.title,
        messages: records.collect(),
        total,
        limit: part.limit,
        offset: part.offset,
        has_more: !messages.is_empty() && read < u64::from(total),
        agents_used: agents.iter().filter_map(|agent| names.get(agent).cloned()).collect(),
        created_at: stamp(conversation.created_at),
        last_activity: stamp(conversation.last_activity_at),
        message_count: conversation.message_count,
    }))
}

/// Refuses a page that is outside.
fn check(limit: u32, offset: u32) -> Result<(), ErrorBody> {
    if !(1..=MOST).contains(&limit) {
        return Err(misfit("limit", limit, "1 to 500"));
    }
    if i32::try_from(offset).is_err() {
        return Err(misfit("offset", offset, "0 to 2147483647"));
    }
    Ok(())
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
    let session_id = asker.session_names().await?.of(conversation.id);
    let operations = operations.iter().map(|operation| OperationRecord::of(operation).within(session_id.clone())).collect();
    Ok(Json(OperationList { session_id, operations }))
}

/// Puts a session into the trash of Evenkeel.
pub(super) async fn delete(asker: Asker, Id(id): Id) -> Result<Json<Deleted>, Refusal> {
    let (context, conversation) = known(&asker, &id).await?;
    asker.caller.check_change(AccessKind::DeleteMessages, Some(context.id)).await?;
    let session_id = asker.session_names().await?.of(conversation.id);
    let one = ConversationsShown { only: Some(conversation.id), ..asker.caller.sight(context.id, 1) };
    let deleted_count = asker.desk.companions.clear(one).await?;
    asker.caller.note(AccessKind::DeleteMessages, Some(context.id), deleted_count as usize).await;
    Ok(Json(Deleted { success: true, session_id, deleted_count }))
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

/// Of what a message cites, what is there for the program; a text may stand in a session that is not.
pub(super) async fn citations(asker: &Asker, cited: &[Citation]) -> Result<Vec<CitationRecord>, ErrorBody> {
    if cited.is_empty() {
        return Ok(Vec::new());
    }
    let contexts = asker.names().await?.into_keys().collect();
    let ids = cited.iter().map(|citation| citation.conversation_id).collect();
    let there = asker.desk.app.sessions_there(asker.sessions(contexts), ids).await?;
    Ok(cited_there(cited, &there, &asker.session_names().await?))
}

fn cited_there(cited: &[Citation], there: &[ConversationId], called: &SessionNames) -> Vec<CitationRecord> {
    let seen = cited.iter().filter(|citation| there.contains(&citation.conversation_id));
    seen.map(|citation| CitationRecord::of(citation, called.of(citation.conversation_id))).collect()
}
