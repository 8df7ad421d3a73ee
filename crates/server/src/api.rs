//! The HTTP API: sessions, questions and their replies, and what happens, for programs that speak no MCP.
//!
//! A program is known by the name it gives itself, and may do what its grant allows, as over MCP; see [`asker`].

mod asker;
mod document;
mod event;
mod exchange;
mod input;
mod query;
mod record;
mod session;
mod status;

pub use document::openapi;

use crate::App;
use crate::http::refusal::Refusal;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use evenkeel_domain::ErrorCode;
use evenkeel_mcp::Companions;
use std::sync::Arc;
use tokio::sync::{RwLock, Semaphore};
use tokio_util::sync::CancellationToken;

/// Programs that listen to what happens at the same time.
const LISTENERS: usize = 32;

/// What every answer is made with.
#[derive(Clone)]
struct Desk {
    app: Arc<dyn App>,
    companions: Arc<dyn Companions>,
    /// Cancelled when the server ends.
    closed: CancellationToken,
    /// Places for those who listen to what happens: their connections are counted nowhere else.
    listeners: Arc<Semaphore>,
    /// Held by whoever begins a session with a name of its own, until that is kept: what happens there is told after that.
    naming: Arc<RwLock<()>>,
}

/// The routes; what stays open on them ends with `closed`.
pub(crate) fn routes(app: &Arc<dyn App>, closed: CancellationToken) -> Router {
    let listeners = Arc::new(Semaphore::new(LISTENERS));
    let desk = Desk { app: app.clone(), companions: app.companions(), closed, listeners, naming: Arc::default() };
    let wrong_method = || async {
        let message = "this address has other methods; see /api/openapi.json";
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidParameter, message)
    };
    Router::new()
        .route("/api/openapi.json", get(document::served))
        .route("/api/v1/health", get(status::health))
        .route("/api/v1/statistics", get(status::statistics))
        .route("/api/v1/events", get(event::listen))
        .route("/api/v1/query", post(query::query))
        .route("/api/multi-agent/query", post(query::query_agents))
        .route("/api/v1/sessions/{session_id}/context", get(session::context))
        .route("/api/conversations", get(session::list))
        .route("/api/conversation/{session_id}", get(session::read).delete(session::delete))
        .method_not_allowed_fallback(wrong_method)
        .with_state(desk)
}
