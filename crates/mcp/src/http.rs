//! The protocol over HTTP (Streamable HTTP), in both eras: without sessions from 2026-07-28 on, with them before.

use crate::Companions;
use crate::server::Server;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Bytes of a request's body: more than the arguments of a call may have, so that those are refused by name.
pub const HTTP_BODY_BYTES: usize = crate::wire::LINE_BYTES;
/// Sessions of the older era at the same time.
const SESSIONS: usize = 64;
/// A session of which nothing is heard for so long is given up; its program begins another one.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The sessions of the older era.
#[derive(Clone)]
pub struct Sessions(Arc<LocalSessionManager>);

impl Sessions {
    /// Whether no further one may begin.
    pub async fn is_full(&self) -> bool {
        self.0.sessions.read().await.len() >= SESSIONS
    }
}

/// The server, to be asked by `handle` with each request, and its sessions. Host, origin and token are checked by whoever
/// listens. Everything ends with `closed`.
#[must_use]
pub fn over_http(
    companions: Arc<dyn Companions>,
    closed: CancellationToken,
) -> (StreamableHttpService<impl ServerHandler + 'static, LocalSessionManager>, Sessions) {
    let mut sessions = SessionConfig::default();
    sessions.keep_alive = Some(IDLE);
    let mut manager = LocalSessionManager::default();
    manager.session_config = sessions;
    let manager = Arc::new(manager);
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(HTTP_BODY_BYTES)
        .with_cancellation_token(closed.clone());
    let made = move || Ok(Server::new(companions.clone(), closed.clone()));
    (StreamableHttpService::new(made, manager.clone(), config), Sessions(manager))
}
