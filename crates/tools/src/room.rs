//! The servers that run, by their ids.

use crate::exchange::{MOST_EVENT, Through};
use crate::fault::Trouble;
use crate::process::{self, LastWords, Running};
use crate::{Listing, Outcome, Server, ToolError, Way};
use evenkeel_domain::{ContextId, ToolServerId};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{ClientInitializeError, Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as Turn;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Time that a server has to start and to say what it is: the first start of one may have to be downloaded.
const START_LIMIT: Duration = Duration::from_secs(120);
/// Time for the list of its tools.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// Pages of that list.
const MOST_PAGES: usize = 50;
/// Time without a use after which a server is ended.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// What the client says of itself, and does not offer: no sampling, no roots, no questions to the user.
#[derive(Clone)]
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.capabilities = ClientCapabilities::default();
        config.client_info = Implementation::new("Evenkeel", env!("CARGO_PKG_VERSION"));
        config
    }
}

/// A server that answers, or did until a moment ago.
struct Live {
    server: Server,
    service: RunningService<RoleClient, Client>,
    used: Mutex<Instant>,
    process: Option<Mutex<Running>>,
}

type Slot = Arc<Turn<Option<Arc<Live>>>>;
type Key = (ToolServerId, Option<ContextId>);

#[derive(Default)]
struct Held {
    slots: HashMap<Key, Slot>,
    stopping: HashMap<ToolServerId, CancellationToken>,
}

/// The servers that run. Clones are the same room; dropping the last one ends them all.
#[derive(Clone, Default)]
pub struct ToolRoom {
    held: Arc<Mutex<Held>>,
}

impl ToolRoom {
    /// Asks a server what tools it has, and starts it where it does not run.
    ///
    /// # Errors
    /// It cannot be started or reached, or does not answer as it should.
    pub async fn tools(&self, server: &Server) -> Result<Listing, ToolError> {
        let listed = async {
            let live = self.live(server).await?;
            match timeout(LIST_LIMIT, listed(live.service.peer())).await {
                Err(_) => Err(ToolError::TooSlow { server: server.name.clone(), limit: LIST_LIMIT }),
                Ok(Err(error)) => Err(live.error(&error)),
                Ok(Ok(listing)) => Ok(listing),
            }
        };
        server.asked(listed).await
    }

    /// Calls a tool. Dropping the future cancels the call, and the server is told.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, is stopped, or takes longer than `limit`. That the tool itself failed is no
    /// error here: [`Outcome::is_error`].
    pub async fn call(
        &self,
        server: &Server,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<Outcome, ToolError> {
        let called = async {
            let live = self.live(server).await?;
            let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
            let called = timeout(limit, live.service.peer().call_tool(request)).await;
            live.touch();
            match called {
                Err(_) => Err(ToolError::TooSlow { server: server.name.clone(), limit }),
                Ok(Err(error)) => Err(live.error(&error)),
                Ok(Ok(result)) => Ok(Outcome::of(&result)),
            }
        };
        server.asked(called).await
    }

    /// Cancelled when a server is stopped the next time. Whoever takes it before reading how the server is reached misses
    /// no change of that.
    #[must_use]
    pub fn stopping(&self, id: ToolServerId) -> CancellationToken {
        self.lock().stopping.entry(id).or_default().clone()
    }

    /// Ends a server with all that it is doing; whoever waits for that is told.
    pub fn stop(&self, id: ToolServerId) {
        let mut held = self.lock();
        held.slots.retain(|(other, _), _| *other != id);
        if let Some(stopped) = held.stopping.remove(&id) {
            stopped.cancel();
        }
    }

    /// Ends every server.
    pub fn stop_all(&self) {
        let held = std::mem::take(&mut *self.lock());
        held.stopping.values().for_each(CancellationToken::cancel);
    }

    /// How many servers run or are being started.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().slots.len()
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server as it runs; one that has ended, or was started in another way, is started anew.
    async fn live(&self, server: &Server) -> Result<Arc<Live>, ToolError> {
        let key = (server.id, server.behalf);
        let slot = self.lock().slots.entry(key).or_default().clone();
        // Whoever comes while it is being started waits for that.
        let mut slot = slot.lock().await;
        if let Some(live) = slot.as_ref().filter(|live| !live.is_over() && live.server.is_same(server)) {
            live.touch();
            return Ok(live.clone());
        }
        *slot = None;
        let live = Arc::new(Live::start(server).await?);
        *slot = Some(live.clone());
        self.end_when_idle(key, &live);
        Ok(live)
    }

    fn end_when_idle(&self, key: Key, live: &Arc<Live>) {
        let (held, live) = (Arc::downgrade(&self.held), Arc::downgrade(live));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE / 2).await;
                let (Some(held), Some(live)) = (held.upgrade(), live.upgrade()) else { return };
                // One that is being used is held by its user beside the room and this task.
                if live.idle() >= IDLE && Arc::strong_count(&live) <= 2 {
                    drop(held.lock().unwrap_or_else(PoisonError::into_inner).slots.remove(&key));
                    return;
                }
            }
        });
    }
}

impl Live {
    async fn start(server: &Server) -> Result<Self, ToolError> {
        let lifecycle =
            ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None };
        let (process, words, begun) = match &server.way {
            Way::Process(program) => {
                let (running, output, input) = process::start(program)?;
                let words = running.words().clone();
                let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(MOST_EVENT);
                (Some(running), words, timeout(START_LIMIT, Client.serve_with_lifecycle(transport, lifecycle)).await)
            }
            Way::Http { url, token, exchange } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).max_sse_event_size(MOST_EVENT);
                if let Some(token) = token {
                    config = config.auth_header(token.expose_secret());
                }
                let transport = StreamableHttpClientTransport::with_client(Through::new(exchange.clone()), config);
                (None, LastWords::default(), timeout(START_LIMIT, Client.serve_with_lifecycle(transport, lifecycle)).await)
            }
        };
        match begun {
            Err(_) => Err(ToolError::TooSlow { server: server.name.clone(), limit: START_LIMIT }),
            Ok(Err(error)) => Err(no_server(server, process, &words, &error).await),
            Ok(Ok(service)) => {
                let process = process.map(Mutex::new);
                Ok(Self { server: server.clone(), service, used: Mutex::new(Instant::now()), process })
            }
        }
    }

    fn is_over(&self) -> bool {
        self.service.is_transport_closed() || self.service.is_closed()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn error(&self, error: &ServiceError) -> ToolError {
        let name = self.server.name.clone();
        if let ServiceError::McpError(refused) = error {
            return ToolError::Refused { server: name, reason: refused.message.to_string() };
        }
        let trouble = Trouble::in_use(error);
        if let Some(error) = trouble.of_address(&self.server) {
            return error;
        }
        let process = self.process.as_ref().map(|process| process.lock().unwrap_or_else(PoisonError::into_inner));
        let (ending, said) = process.map(|mut process| (process.ending(), process.words().line())).unwrap_or_default();
        ToolError::Ended { server: name, reason: ending.unwrap_or_else(|| trouble.words()), said }
    }
}

async fn no_server(server: &Server, process: Option<Running>, words: &LastWords, error: &ClientInitializeError) -> ToolError {
    // The last words of a program that has just ended may still be in its pipe.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let ending = process.and_then(|mut process| process.ending());
    let trouble = Trouble::at_start(error);
    if let Some(error) = trouble.of_address(server) {
        return error;
    }
    let reason = ending.map_or_else(|| trouble.words(), |ending| format!("it has ended, {ending}"));
    ToolError::NoServer { server: server.name.clone(), place: server.way.shown(), reason, said: words.line() }
}

async fn listed(peer: &Peer<RoleClient>) -> Result<Listing, ServiceError> {
    let mut listing = Listing::default();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor.take()))).await?;
        page.tools.into_iter().for_each(|tool| listing.take(tool));
        cursor = page.next_cursor;
        if cursor.is_none() || listing.is_full() {
            break;
        }
    }
    Ok(listing)
}

#[cfg(test)]
mod tests;
