//! A model server that says exactly what a test wants, over real HTTP: as an OpenAI-compatible server, as
//! Anthropic's or as Ollama's, whichever is asked.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use axum::{Router, body::to_bytes};
use futures::stream;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// One piece of an answer.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Bytes as they are.
    Bytes(String),
    /// A piece of text as an event of the format that was asked for.
    Text(String),
    /// Waits until [`ScriptedServer::release`] is called.
    Gate,
    /// Waits.
    Wait(Duration),
    /// The end as it should be: the reason and usage of 40 tokens, 30 of them from a cache where the format
    /// knows that, and 5 of the reply.
    Done,
    /// Cuts the connection without an end.
    Cut,
}

/// One answer of the server.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Piece>,
}

impl Answer {
    /// A whole reply in the given pieces of text.
    #[must_use]
    pub fn reply(texts: &[&str]) -> Self {
        let mut pieces: Vec<_> = texts.iter().map(|text| Piece::Text((*text).to_owned())).collect();
        pieces.push(Piece::Done);
        Self::stream(pieces)
    }

    /// A stream of the given pieces.
    #[must_use]
    pub fn stream(pieces: Vec<Piece>) -> Self {
        Self { status: StatusCode::OK, headers: vec![("content-type", "text/event-stream".into())], pieces }
    }

    /// An error with a status and an OpenAI-like body.
    #[must_use]
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers: vec![("content-type", "application/json".into())],
            pieces: vec![Piece::Bytes(body)],
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

struct Script {
    models: Mutex<(u32, Duration)>,
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<serde_json::Value>>,
    bodies: Mutex<Vec<Bytes>>,
    headers: Mutex<Vec<HeaderMap>>,
    meanings: Mutex<Meanings>,
    gate: Notify,
}

/// What the embedding model of the server knows.
#[derive(Default)]
struct Meanings {
    /// Groups of words that mean the same.
    groups: Vec<Vec<String>>,
    /// Every text that it was asked about.
    texts: Vec<String>,
    after: Duration,
}

impl Meanings {
    /// A direction for each group, and one that all texts share.
    fn vector(&self, text: &str) -> Vec<f32> {
        let text = text.to_lowercase();
        let count = |group: &Vec<String>| group.iter().map(|word| text.matches(word.as_str()).count() as f32).sum::<f32>();
        self.groups.iter().map(count).chain([0.1]).collect()
    }
}

/// The running server; it ends when dropped.
pub struct ScriptedServer {
    script: Arc<Script>,
    address: std::net::SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl ScriptedServer {
    /// Starts on a free loopback port.
    ///
    /// # Errors
    /// No port could be had.
    pub async fn start() -> std::io::Result<Self> {
        let script = Arc::new(Script {
            models: Mutex::new((8_192, Duration::ZERO)),
            answers: Mutex::default(),
            requests: Mutex::default(),
            bodies: Mutex::default(),
            headers: Mutex::default(),
            meanings: Mutex::default(),
            gate: Notify::new(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let app = Router::new().fallback(answer).with_state(script.clone());
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { script, address, task })
    }

    /// The base URL, which serves every format.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sets the window, in tokens, that the list of models states from now on, and how long the list takes.
    pub fn set_models(&self, window: u32, after: Duration) {
        *lock(&self.script.models) = (window, after);
    }

    /// Makes words of one group mean the same to the server's embedding model, which takes so long for
    /// an answer.
    pub fn set_meanings(&self, groups: &[&[&str]], after: Duration) {
        let mut meanings = lock(&self.script.meanings);
        meanings.groups = groups.iter().map(|group| group.iter().map(|word| word.to_lowercase()).collect()).collect();
        meanings.after = after;
    }

    /// Every text that its embedding model was asked about.
    #[must_use]
    pub fn embedded(&self) -> Vec<String> {
        lock(&self.script.meanings).texts.clone()
    }

    /// Queues an answer to a chat request.
    pub fn push(&self, answer: Answer) {
        lock(&self.script.answers).push_back(answer);
    }

    /// Opens one gate.
    pub fn release(&self) {
        self.script.gate.notify_one();
    }

    /// The bodies of all chat requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<serde_json::Value> {
        lock(&self.script.requests).clone()
    }

    /// The bodies of all chat requests so far, byte for byte.
    #[must_use]
    pub fn bodies(&self) -> Vec<Bytes> {
        lock(&self.script.bodies).clone()
    }

    /// Gives the bodies of the chat requests since the last call, and forgets them.
    #[must_use]
    pub fn take_requests(&self) -> Vec<serde_json::Value> {
        std::mem::take(&mut *lock(&self.script.requests))
    }

    /// The headers of all chat requests so far.
    #[must_use]
    pub fn headers(&self) -> Vec<HeaderMap> {
        lock(&self.script.headers).clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(script): State<Arc<Script>>, request: Request<Body>) -> Response {
    if request.uri().path().ends_with("/models") {
        let (window, after) = *lock(&script.models);
        tokio::time::sleep(after).await;
        let body = serde_json::json!({"data": [{"id": "scripted", "context_length": window}]}).to_string();
        return Response::builder().header("content-type", "application/json").body(Body::from(body)).unwrap_or_default();
    }
    if request.uri().path().ends_with("/embeddings") {
        return embeddings(&script, request).await;
    }
    let Some(format) = Format::of(request.uri().path()) else {
        return Response::builder().status(404).body(Body::empty()).unwrap_or_default();
    };
    let headers = request.headers().clone();
    let body = to_bytes(request.into_body(), 64 << 20).await.unwrap_or_default();
    lock(&script.headers).push(headers);
    lock(&script.bodies).push(body.clone());
    lock(&script.requests).push(serde_json::from_slice(&body).unwrap_or_default());
    let answer = lock(&script.answers).pop_front().unwrap_or_else(|| Answer::error(500, "the script is at its end"));
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    response.body(Body::from_stream(pieces(script, format, answer.pieces))).unwrap_or_default()
}

/// The format that a path belongs to.
#[derive(Debug, Clone, Copy)]
enum Format {
    OpenAi,
    Anthropic,
    Ollama,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        let paths = [("/chat/completions", Self::OpenAi), ("/messages", Self::Anthropic), ("/api/chat", Self::Ollama)];
        paths.into_iter().find_map(|(end, format)| path.ends_with(end).then_some(format))
    }

    fn text(self, text: &str) -> Bytes {
        match self {
            Self::OpenAi => event(&serde_json::json!({"choices": [{"delta": {"content": text}}]})),
            Self::Anthropic => {
                let delta = serde_json::json!({"type": "text_delta", "text": text});
                event(&serde_json::json!({"type": "content_block_delta", "index": 0, "delta": delta}))
            }
            Self::Ollama => line(&serde_json::json!({"message": {"role": "assistant", "content": text}, "done": false})),
        }
    }

    fn done(self) -> Bytes {
        match self {
            Self::OpenAi => done(),
            Self::Anthropic => {
                let usage = serde_json::json!({"input_tokens": 10, "cache_read_input_tokens": 30, "output_tokens": 0});
                let start = serde_json::json!({"type": "message_start", "message": {"usage": usage}});
                let delta = serde_json::json!({"stop_reason": "end_turn"});
                let end = serde_json::json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}});
                format!("data: {start}\n\ndata: {end}\n\ndata: {{\"type\": \"message_stop\"}}\n\n").into()
            }
            Self::Ollama => {
                let end = serde_json::json!({"done": true, "done_reason": "stop", "prompt_eval_count": 40, "eval_count": 5});
                line(&end)
            }
        }
    }
}

fn line(value: &serde_json::Value) -> Bytes {
    format!("{value}\n").into()
}

async fn embeddings(script: &Script, request: Request<Body>) -> Response {
    let body = to_bytes(request.into_body(), 64 << 20).await.unwrap_or_default();
    let asked: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let texts: Vec<String> = serde_json::from_value(asked["input"].clone()).unwrap_or_default();
    let (vectors, after) = {
        let mut meanings = lock(&script.meanings);
        meanings.texts.extend(texts.iter().cloned());
        (texts.iter().map(|text| meanings.vector(text)).collect::<Vec<_>>(), meanings.after)
    };
    tokio::time::sleep(after).await;
    let entry = |(index, vector): (usize, &Vec<f32>)| serde_json::json!({"index": index, "embedding": vector});
    let data: Vec<_> = vectors.iter().enumerate().map(entry).collect();
    let body = serde_json::json!({ "data": data }).to_string();
    Response::builder().header("content-type", "application/json").body(Body::from(body)).unwrap_or_default()
}

/// Each piece as bytes, in its time.
fn pieces(script: Arc<Script>, format: Format, pieces: Vec<Piece>) -> impl futures::Stream<Item = Result<Bytes, std::io::Error>> {
    stream::unfold((script, VecDeque::from(pieces)), move |(script, mut left)| async move {
        loop {
            let bytes: Result<Bytes, std::io::Error> = match left.pop_front()? {
                Piece::Bytes(text) => Ok(text.into()),
                Piece::Text(text) => Ok(format.text(&text)),
                Piece::Done => Ok(format.done()),
                Piece::Cut => Err(std::io::Error::other("cut")),
                Piece::Gate => {
                    script.gate.notified().await;
                    continue;
                }
                Piece::Wait(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
            };
            return Some((bytes, (script, left)));
        }
    })
}

fn event(value: &serde_json::Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

fn done() -> Bytes {
    let end = serde_json::json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let cached = serde_json::json!({"cached_tokens": 30});
    let usage = serde_json::json!({"prompt_tokens": 40, "completion_tokens": 5, "prompt_tokens_details": cached});
    let usage = serde_json::json!({"choices": [], "usage": usage});
    format!("data: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n").into()
}
