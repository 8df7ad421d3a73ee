//! What happens, by WebSocket.

use super::asker::Asker;
use super::record::stamp;
use crate::http::refusal::Refusal;
use axum::extract::FromRequestParts;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use evenkeel_domain::{ConversationId, ErrorCode};
use serde_json::{Value, json};
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

/// Tells of each session that is there for the program when something was said in it.
pub(super) async fn listen(asker: Asker, Upgrade(upgrade): Upgrade) -> Response {
    upgrade.max_message_size(SAID).max_frame_size(SAID).on_upgrade(move |socket| tell(asker, socket))
}

async fn tell(asker: Asker, mut socket: WebSocket) {
    let Ok(_place) = asker.desk.listeners.clone().try_acquire_owned() else {
        // Whoever finds no place hears at once that there is none.
        let _ = say(&asker, &mut socket, &json!({ "type": "full" })).await;
        return;
    };
    let mut changes = asker.desk.app.conversations_changed();
    if say(&asker, &mut socket, &json!({ "type": "ready" })).await.is_err() {
        return;
    }
    loop {
        let changed = tokio::select! {
            () = asker.desk.closed.cancelled() => return,
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            changed = changes.recv() => changed,
        };
        let event = match changed {
            Ok(id) => news(&asker, id).await,
            Err(broadcast::error::RecvError::Lagged(_)) => Some(json!({ "type": "missed" })),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if let Some(event) = event
            && say(&asker, &mut socket, &event).await.is_err()
        {
            return;
        }
    }
}

/// What the program may know of it by now; nothing while the vault is locked.
async fn news(asker: &Asker, id: ConversationId) -> Option<Value> {
    let (context, conversation) = asker.anew().await.ok()?.seen(id).await.ok()??;
    Some(json!({
        "type": "session",
        "session_id": conversation.id,
        "agent_name": context.name,
        "message_count": conversation.message_count,
        "last_activity": stamp(conversation.last_activity_at),
    }))
}

/// Sends an event; whoever does not read is not waited for long.
async fn say(asker: &Asker, socket: &mut WebSocket, event: &Value) -> Result<(), Unheard> {
    tokio::select! {
        () = asker.desk.closed.cancelled() => Err(Unheard),
        sent = tokio::time::timeout(PATIENCE, socket.send(Message::text(event.to_string()))) => match sent {
            Ok(Ok(())) => Ok(()),
            _ => Err(Unheard),
        },
    }
}

/// Nobody listens any more.
struct Unheard;
