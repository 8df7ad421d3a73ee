//! HTTP on the loopback address, for programs that show the token.

mod guard;
mod mcp;
pub(crate) mod refusal;
mod token;

pub use token::TokenDigest;

use crate::accept::listen;
use crate::{App, ServerError, api};
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use evenkeel_domain::ErrorCode;
use guard::Guard;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use refusal::Refusal;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Connections at the same time; further ones wait.
const CONNECTIONS: usize = 256;
/// What the head of a request may take, and how long a connection may stand idle.
const HEAD: Duration = Duration::from_secs(30);

/// What is served, and to whom.
#[derive(Clone)]
pub struct HttpOptions {
    /// The port; 0 = one that is free.
    pub port: u16,
    /// The token that has to be shown.
    pub token: TokenDigest,
}

/// Listens on 127.0.0.1 until it is closed.
pub struct HttpDoor {
    port: u16,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl HttpDoor {
    /// Opens it.
    ///
    /// # Errors
    /// [`ServerError::PortTaken`] where another program has the port, else what the system says.
    pub async fn open(app: Arc<dyn App>, options: HttpOptions) -> Result<Self, ServerError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => ServerError::PortTaken(options.port),
            _ => error.into(),
        })?;
        let port = listener.local_addr()?.port();
        let stop = CancellationToken::new();
        let router = router(&app, Guard { port, token: options.token }, &stop);
        let converse = move |stream| converse(stream, router.clone());
        let task = tokio::spawn(listen(listener, CONNECTIONS, stop.clone(), converse));
        Ok(Self { port, stop, task })
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends every connection; the port is free again afterwards.
    pub async fn close(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

fn router(app: &Arc<dyn App>, guard: Guard, stop: &CancellationToken) -> Router {
    api::routes(app, stop.child_token())
        .merge(mcp::route(app, stop.child_token()))
        .fallback(|| async { Refusal::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "there is nothing at this address") })
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
}

async fn converse(stream: TcpStream, router: Router) {
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    if let Err(error) = conversation.await {
        tracing::debug!(%error, "a connection by HTTP ended");
    }
}
