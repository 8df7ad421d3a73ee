//! A server on 127.0.0.1 that answers every request by a function of its path.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures::{Stream, StreamExt, stream};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// What follows the last chunk.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    End,
    Cut,
    Hang,
}

/// One scripted answer.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    chunks: Vec<String>,
    tail: Tail,
    silent: bool,
}

impl Reply {
    fn new(status: u16, kind: &str, chunks: Vec<String>) -> Self {
        Self { status, headers: vec![("content-type".into(), kind.into())], chunks, tail: Tail::End, silent: false }
    }

    /// Server-sent events with these data, a chunk each.
    pub fn events(data: &[&str]) -> Self {
        Self::new(200, "text/event-stream", data.iter().map(|data| format!("data: {data}\n\n")).collect())
    }

    /// Lines, a chunk each.
    pub fn lines(lines: &[&str]) -> Self {
        Self::new(200, "application/x-ndjson", lines.iter().map(|line| format!("{line}\n")).collect())
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", vec![body.to_string()])
    }

    pub fn text(status: u16, body: &str) -> Self {
        Self::new(status, "text/html", vec![body.into()])
    }

    /// Not even a status.
    pub fn silence() -> Self {
        Self { silent: true, ..Self::text(200, "") }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn tail(mut self, chunks: usize, tail: Tail) -> Self {
        self.chunks.truncate(chunks);
        self.tail = tail;
        self
    }

    /// The connection breaks after so many chunks.
    pub fn cut(self, chunks: usize) -> Self {
        self.tail(chunks, Tail::Cut)
    }

    /// The body ends in good order after so many chunks.
    pub fn short(self, chunks: usize) -> Self {
        self.tail(chunks, Tail::End)
    }

    /// Nothing comes after so many chunks.
    pub fn hang(self, chunks: usize) -> Self {
        self.tail(chunks, Tail::Hang)
    }

    /// One more chunk.
    pub fn then(mut self, chunk: &str) -> Self {
        self.chunks.push(chunk.into());
        self
    }
}

/// A request as it came.
#[derive(Clone)]
pub struct Seen {
    /// Path and query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    port: u16,
    state: Arc<State>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    arrived: Notify,
    dropped: Arc<Notify>,
}

impl Server {
    pub async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let (shared, answer) = (Arc::clone(&state), Arc::new(answer));
        let router = axum::Router::new().fallback(move |request: Request| {
            let (state, answer) = (Arc::clone(&shared), Arc::clone(&answer));
            async move { respond(&state, request, answer.as_ref()).await }
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base: format!("http://127.0.0.1:{port}"), port, state, task }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Waits for a request.
    pub async fn request_seen(&self) {
        self.state.arrived.notified().await;
    }

    /// Waits until an answer that hangs has lost its reader.
    pub async fn body_dropped(&self) {
        self.state.dropped.notified().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn respond(state: &State, request: Request, answer: &(impl Fn(&str) -> Reply + Send + Sync)) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let path = parts.uri.path_and_query().unwrap().to_string();
    let reply = answer(&path);
    state.seen.lock().unwrap().push(Seen { path, headers: parts.headers, body });
    let guard = NotifyOnDrop(Arc::clone(&state.dropped));
    state.arrived.notify_one();
    if reply.silent {
        futures::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status).unwrap());
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from_stream(chunks(reply, guard))).unwrap()
}

fn chunks(reply: Reply, guard: NotifyOnDrop) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    let tail = reply.tail;
    let last = stream::once(async move {
        let _guard = guard;
        match tail {
            Tail::End => None,
            // Lets the chunks before it leave before the connection is torn down.
            Tail::Cut => {
                tokio::task::yield_now().await;
                Some(Err(std::io::Error::other("cut")))
            }
            Tail::Hang => futures::future::pending().await,
        }
    });
    let chunks = stream::iter(reply.chunks.into_iter().filter(|chunk| !chunk.is_empty()).map(|chunk| Ok(Bytes::from(chunk))));
    // A pause between chunks makes them arrive one by one.
    let chunks = chunks.then(|chunk| async {
        tokio::task::yield_now().await;
        chunk
    });
    chunks.chain(last.filter_map(|item| async { item }))
}
