//! The loopback endpoint: who may ask, and what there is to ask.

use super::loaded::Loaded;
use super::openai::{self, ApiError, WireMessage};
use super::worker::{self, Embedding, Work};
use super::{chat, slot::SlotError};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// Largest request body, in bytes.
const MAX_BODY: usize = 32 * 1024 * 1024;
/// Most texts of one embedding or tokenize request.
const MAX_INPUTS: usize = 2048;

/// What every handler needs.
pub(crate) struct App {
    pub loaded: Arc<Loaded>,
    work: mpsc::Sender<Work>,
    token: Zeroizing<String>,
    port: u16,
    ids: AtomicU64,
    running: AtomicUsize,
    last_request: Mutex<Instant>,
}

/// Counts a request as running until it is dropped.
pub(crate) struct Busy(Arc<App>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl App {
    pub fn new(loaded: Arc<Loaded>, work: mpsc::Sender<Work>, token: Zeroizing<String>, port: u16) -> Self {
        Self {
            loaded,
            work,
            token,
            port,
            ids: AtomicU64::new(1),
            running: AtomicUsize::new(0),
            last_request: Mutex::new(Instant::now()),
        }
    }

    /// A name for the next reply.
    pub fn next_id(&self) -> String {
        format!("chatcmpl-{}", self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// Marks a request as running.
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.running.fetch_add(1, Ordering::AcqRel);
        Busy(self.clone())
    }

    /// Hands work to the model thread.
    pub fn send(&self, work: Work) -> Result<(), ApiError> {
        self.work.send(work).map_err(|_| ApiError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "engine_stopped",
            message: "The engine has stopped computing. Try again.".to_owned(),
        })
    }

    /// How long nothing has been asked; zero while a request runs.
    pub fn idle(&self) -> Duration {
        if self.running.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        self.last_request.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn touch(&self) {
        *self.last_request.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether the request names this endpoint as its host. A page of a browser that was led here
    /// by a name of its own (DNS rebinding) does not.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        host == format!("127.0.0.1:{}", self.port)
    }

    fn knows_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        given.is_some_and(|given| given.ct_eq(self.token.as_bytes()).into())
    }
}

/// All routes, behind the checks of host and token.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/embeddings", post(embeddings))
        .route("/tokenize", post(tokenize))
        .fallback(async || ApiError {
            status: StatusCode::NOT_FOUND,
            code: "not_found",
            message: "There is no such path on the engine.".to_owned(),
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(app.clone(), admit))
        .with_state(app)
}

async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if !app.is_own_host(request.headers()) {
        return ApiError {
            status: StatusCode::FORBIDDEN,
            code: "foreign_host",
            message: "The Host header does not name the engine's address.".to_owned(),
        }
        .into_response();
    }
    if !app.knows_token(request.headers()) {
        return ApiError {
            status: StatusCode::UNAUTHORIZED,
            code: "invalid_api_key",
            message: "The bearer token is missing or wrong.".to_owned(),
        }
        .into_response();
    }
    app.touch();
    next.run(request).await
}

/// The body as JSON, whatever its content type says.
pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| ApiError::invalid(format!("The request is not valid: {error}.")))
}

async fn health() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

async fn models(State(app): State<Arc<App>>) -> Json<Value> {
    let Loaded { file, window, trained_window, .. } = &*app.loaded;
    Json(json!({"object": "list", "data": [{
        "id": file.name, "object": "model", "created": 0, "owned_by": "evenkeel",
        "meta": {"n_ctx": window, "n_ctx_train": trained_window, "embedding": file.embedding},
    }]}))
}

#[derive(Deserialize)]
struct TokenizeRequest {
    content: Option<String>,
    messages: Option<Vec<WireMessage>>,
    contents: Option<Vec<String>>,
    #[serde(default)]
    chat_template_kwargs: Map<String, Value>,
}

/// Counts tokens: of a text (`content`), of the whole prompt that messages make (`messages`), or
/// of several texts at once (`contents`, answered by `counts`). Works beside a running reply.
async fn tokenize(State(app): State<Arc<App>>, body: Bytes) -> Result<Json<Value>, ApiError> {
    let request: TokenizeRequest = read_json(&body)?;
    let _busy = app.busy();
    let loaded = app.loaded.clone();
    blocking(move || match (request.content, request.messages, request.contents) {
        (Some(text), None, None) => Ok(count(loaded.tokenize(&text).len())),
        (None, Some(messages), None) => {
            let messages = openai::messages(messages)?;
            Ok(count(loaded.prompt(&messages, &request.chat_template_kwargs)?.len()))
        }
        (None, None, Some(texts)) => {
            let counts: Vec<usize> = texts.iter().map(|text| loaded.tokenize(text).len()).collect();
            Ok(Json(json!({"counts": counts, "count": counts.iter().sum::<usize>()})))
        }
        _ => Err(ApiError::invalid("Send exactly one of the fields content, messages and contents.")),
    })
    .await
}

fn count(tokens: usize) -> Json<Value> {
    Json(json!({"tokens": tokens, "count": tokens}))
}

#[derive(Deserialize)]
struct EmbeddingRequest {
    input: Inputs,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Inputs {
    One(String),
    Many(Vec<String>),
}

async fn embeddings(State(app): State<Arc<App>>, body: Bytes) -> Result<Json<Value>, ApiError> {
    let request: EmbeddingRequest = read_json(&body)?;
    if !app.loaded.file.embedding {
        return Err(SlotError::NotAnEmbeddingModel.into());
    }
    let texts = match request.input {
        Inputs::One(text) => vec![text],
        Inputs::Many(texts) => texts,
    };
    if texts.is_empty() || texts.len() > MAX_INPUTS {
        return Err(ApiError::invalid(format!("The field input has {} texts. Send 1 to {MAX_INPUTS}.", texts.len())));
    }
    let _busy = app.busy();
    let loaded = app.loaded.clone();
    let inputs = blocking(move || Ok(texts.iter().map(|text| loaded.tokenize_input(text)).collect::<Vec<_>>())).await?;
    let limit = worker::embedding_limit(&app.loaded);
    if let Some(long) = inputs.iter().find(|input| input.len() > limit as usize) {
        return Err(ApiError::too_long(long.len(), limit));
    }
    if inputs.iter().any(Vec::is_empty) {
        return Err(ApiError::invalid("A text of the field input is empty. Leave it out."));
    }
    let tokens: usize = inputs.iter().map(Vec::len).sum();
    let (reply, answer) = oneshot::channel();
    app.send(Work::Embed(Embedding { inputs, reply }))?;
    let vectors = answer.await.map_err(|_| SlotError::Compute("the engine stopped".to_owned()))??;
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    Ok(Json(
        json!({"object": "list", "model": app.loaded.file.name, "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}),
    ))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, ApiError> + Send + 'static) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ApiError {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        code: "engine_stopped",
        message: "The engine failed inside this request. Try again.".to_owned(),
    })?
}
