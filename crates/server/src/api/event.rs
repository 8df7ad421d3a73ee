//! What happens, by WebSocket.

use super::asker::Asker;
use super::record::{EventRecord, MessageEvent, OperationEvent, SessionEvent, stamp};
use crate::Happened;
use crate::http::refusal::Refusal;
use axum::extract::FromRequestParts;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    AccessKind, Context, ContextId, ConversationId, ErrorBody, ErrorCode, FinishedOperation, MessageId, Role, SessionsShown,
};
use std::time::Duration;
use tokio::sync::broadcast;

/// What a program may take to read an event.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of what a program may say here; nothing of it is heeded.
const SAID: usize = 4 << 10;

/// A connection that becomes a WebSocket.
pub(super) struct Upgrade(WebSocketUpgrade);

impl<S: Send + Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let refused = |_: WebSocketUpgradeRejection| {
            let message = "this address speaks WebSocket; ask for an upgrade";
            Refusal::new(StatusCode::UPGRADE_REQUIRED, ErrorCode::InvalidParameter, message)
        };
        Ok(Self(WebSocketUpgrade::from_request_parts(parts, state).await.map_err(refused)?))
    }
}

/// Tells of sessions, messages and operations that are there for the program, when something happens to them.
pub(super) async fn listen(asker: Asker, Upgrade(upgrade): Upgrade) -> Response {
    upgrade.max_message_size(SAID).max_frame_size(SAID).on_upgrade(move |socket| tell(asker, socket))
}

async fn tell(asker: Asker, mut socket: WebSocket) {
    let Ok(_place) = asker.desk.listeners.clone().try_acquire_owned() else {
        // Whoever finds no place hears at once that there is none.
        let _ = say(&asker, &mut socket, &EventRecord::Full).await;
        return;
    };
    let mut happenings = asker.desk.app.happenings();
    let mut shown = shown(&asker).await.ok();
    // What could not be read, as while the vault is locked.
    let mut lost = 0;
    if say(&asker, &mut socket, &EventRecord::Ready).await.is_err() {
        return;
    }
    loop {
        let happened = tokio::select! {
            () = asker.desk.closed.cancelled() => return,
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            happened = happenings.recv() => happened,
        };
        let happened = match happened {
            Ok(happened) => happened,
            Err(broadcast::error::RecvError::Lagged(count)) => Happened::Missed(count),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        let event = match told_of(&asker, happened, &mut shown).await {
            Ok(Some(event)) => event,
            Ok(None) => continue,
            Err(error) if error.code == ErrorCode::NotPermitted => return,
            Err(_) => {
                lost += 1;
                continue;
            }
        };
        let missed = (lost > 0).then_some(EventRecord::Missed { count: std::mem::take(&mut lost) });
        for event in missed.into_iter().chain([event]) {
            if say(&asker, &mut socket, &event).await.is_err() {
                return;
            }
        }
    }
}

/// What the program is told of it.
async fn told_of(asker: &Asker, happened: Happened, shown: &mut Option<Shown>) -> Result<Option<EventRecord>, ErrorBody> {
    match news(asker, happened, shown).await? {
        Some(event) => called(asker, event).await.map(Some),
        None => Ok(None),
    }
}

/// What the program may know of it by now.
async fn news(asker: &Asker, happened: Happened, before: &mut Option<Shown>) -> Result<Option<EventRecord>, ErrorBody> {
    let asker = asker.anew().await?;
    Ok(match happened {
        Happened::Missed(count) => Some(EventRecord::Missed { count }),
        // That something happened which is hidden from the program is not told either.
        Happened::Much => {
            let now = Some(shown(&asker).await?);
            (std::mem::replace(before, now) != now).then_some(EventRecord::Changed)
        }
        Happened::Session(id) => session(&asker, id).await?,
        Happened::MessageMade(id) => message(&asker, id).await?.map(EventRecord::MessageCreated),
        Happened::MessageChanged(id) => message(&asker, id).await?.map(EventRecord::MessageChanged),
        Happened::MessageGone(id) => {
            let Some((session, of)) = asker.desk.app.deleted_message_place(id).await? else { return Ok(None) };
            place(&asker, session, of).await?.map(|(context, _)| EventRecord::MessageDeleted {
                session_id: session.to_string(),
                context_id: context.id.to_string(),
                message_id: id.to_string(),
            })
        }
        Happened::Operation(done) => {
            let found = place(&asker, done.operation.conversation_id, done.operation.context_id).await?;
            found.map(|(context, _)| EventRecord::OperationCreated(told(&done, &context)))
        }
    })
}

async fn session(asker: &Asker, id: ConversationId) -> Result<Option<EventRecord>, ErrorBody> {
    if let Some((context, conversation)) = asker.seen(id).await? {
        return Ok(Some(EventRecord::SessionChanged(SessionEvent {
            session_id: conversation.id.to_string(),
            context_id: context.id.to_string(),
            agent_name: context.name,
            message_count: conversation.message_count,
            last_activity: stamp(conversation.last_activity_at),
        })));
    }
    let contexts = asker.names().await?.into_keys().collect();
    let gone = asker.desk.app.trashed_session(asker.sessions(contexts), id).await?;
    Ok(gone.map(|context| EventRecord::SessionDeleted { session_id: id.to_string(), context_id: context.to_string() }))
}

/// The same, with the session as the program calls it.
async fn called(asker: &Asker, mut event: EventRecord) -> Result<EventRecord, ErrorBody> {
    if let Some(session) = event.session_id()
        && let Ok(id) = session.parse()
    {
        if !asker.session_names().await?.has(id) {
            // One that takes longer to begin is told of by its id, rather than that others wait for it.
            let _ = tokio::time::timeout(PATIENCE, asker.desk.naming.write()).await;
        }
        *session = asker.session_names().await?.of(id);
    }
    Ok(event)
}

/// The session with its context, where both are there for the program, and so is the context that somebody spoke as.
async fn place(asker: &Asker, session: ConversationId, of: ContextId) -> Result<Option<(Context, String)>, ErrorBody> {
    let Some((context, _)) = asker.seen(session).await? else { return Ok(None) };
    let Some(name) = asker.names().await?.remove(&of) else { return Ok(None) };
    Ok(Some((context, name)))
}

async fn message(asker: &Asker, id: MessageId) -> Result<Option<MessageEvent>, ErrorBody> {
    let Some(message) = asker.desk.app.message(id).await? else { return Ok(None) };
    let Some((context, agent)) = place(asker, message.conversation_id, message.context_id).await? else { return Ok(None) };
    asker.caller.note(AccessKind::ReadMessages, Some(context.id), 1).await;
    Ok(Some(MessageEvent {
        session_id: message.conversation_id.to_string(),
        context_id: context.id.to_string(),
        message_id: message.id.to_string(),
        role: message.role.as_str().to_owned(),
        status: message.status.as_str().to_owned(),
        agent: (message.role == Role::Assistant).then_some(agent),
        timestamp: stamp(message.created_at),
        content: message.content,
    }))
}

fn told(FinishedOperation { operation, is_success }: &FinishedOperation, context: &Context) -> OperationEvent {
    OperationEvent {
        session_id: operation.conversation_id.to_string(),
        context_id: context.id.to_string(),
        operation_id: operation.id.to_string(),
        tool_name: operation.tool_name.clone(),
        success: *is_success,
        duration_ms: operation.duration_ms,
        timestamp: stamp(operation.at),
    }
}

/// What the program sees at a time: sessions, their messages, and the last that happened there.
type Shown = (u32, u64, Option<(ConversationId, DateTime<Utc>)>);

async fn shown(asker: &Asker) -> Result<Shown, ErrorBody> {
    let contexts = asker.names().await?.into_keys().collect();
    let found = asker.desk.app.sessions(SessionsShown { limit: 1, ..asker.sessions(contexts) }).await?;
    let newest = found.page.first().map(|first| (first.conversation.id, first.conversation.last_activity_at));
    Ok((found.total, found.messages, newest))
}

/// Sends an event; whoever does not read is not waited for long.
async fn say(asker: &Asker, socket: &mut WebSocket, event: &EventRecord) -> Result<(), Unheard> {
    let text = serde_json::to_string(event).map_err(|_| Unheard)?;
    tokio::select! {
        () = asker.desk.closed.cancelled() => Err(Unheard),
        sent = tokio::time::timeout(PATIENCE, socket.send(Message::text(text))) => match sent {
            Ok(Ok(())) => Ok(()),
            _ => Err(Unheard),
        },
    }
}

/// Nobody listens any more.
struct Unheard;
