//! `POST /v1/chat/completions`.

use super::http::{App, read_json};
use super::openai::{self, ApiError, ChatRequest};
use super::slot::SlotError;
use super::worker::{Generated, Generation, Outcome, Work};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Answers a chat request. Dropping the answer (the client went away) ends the computing.
pub(crate) async fn complete(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, ApiError> {
    let request: ChatRequest = read_json(&body)?;
    if app.loaded.template.is_none() {
        return Err(SlotError::NotAChatModel.into());
    }
    if !request.tools.is_empty() {
        return Err(ApiError::invalid("The built-in engine calls no tools. Leave the field tools out."));
    }
    let identity = Identity { id: app.next_id(), created: now(), model: app.loaded.file.name.clone() };
    let (stream, include_usage) = (request.stream, request.stream_options.include_usage);
    let busy = app.busy();
    let events = begin(&app, request).await?;
    let mut reply = Reply { events, identity, include_usage, _busy: busy };
    match reply.events.recv().await {
        Some(Generated::Started) => {}
        Some(Generated::Failed(error)) => return Err(error.into()),
        _ => return Err(gone()),
    }
    if stream { Ok(reply.stream()) } else { reply.whole().await }
}

async fn begin(app: &Arc<App>, mut request: ChatRequest) -> Result<UnboundedReceiver<Generated>, ApiError> {
    let sampling = request.sampling()?;
    let stops = request.stops()?;
    let slot = request.slot()?;
    let max_reply = request.max_reply()?;
    let messages = openai::messages(std::mem::take(&mut request.messages))?;
    let extra = std::mem::take(&mut request.chat_template_kwargs);
    let loaded = app.loaded.clone();
    let prompt = tokio::task::spawn_blocking(move || loaded.prompt(&messages, &extra)).await.map_err(|_| gone())??;
    let window = app.loaded.window as usize;
    if prompt.is_empty() {
        return Err(ApiError::invalid("The messages make an empty prompt. Send some text."));
    }
    if prompt.len() >= window {
        return Err(ApiError::too_long(prompt.len(), app.loaded.window));
    }
    let max_tokens = max_reply.unwrap_or(usize::MAX).min(window - prompt.len());
    let (events, receiver) = unbounded_channel();
    app.send(Work::Generate(Generation { slot, prompt, sampling, max_tokens, stops, events }))?;
    Ok(receiver)
}

struct Identity {
    id: String,
    created: u64,
    model: String,
}

struct Reply {
    events: UnboundedReceiver<Generated>,
    identity: Identity,
    include_usage: bool,
    _busy: super::http::Busy,
}

impl Reply {
    async fn whole(mut self) -> Result<Response, ApiError> {
        let mut text = String::new();
        loop {
            match self.events.recv().await {
                Some(Generated::Text(more)) => text.push_str(&more),
                Some(Generated::Finished(outcome)) => return Ok(Json(self.completion(&text, &outcome)).into_response()),
                Some(Generated::Failed(error)) => return Err(error.into()),
                Some(Generated::Started) => {}
                None => return Err(gone()),
            }
        }
    }

    fn completion(&self, text: &str, outcome: &Outcome) -> Value {
        let Identity { id, created, model } = &self.identity;
        json!({
            "id": id, "object": "chat.completion", "created": created, "model": model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": openai::finish_reason(outcome)}],
            "usage": openai::usage(outcome),
            "timings": openai::timings(outcome),
        })
    }

    fn stream(self) -> Response {
        let first = self.chunk(&json!({"role": "assistant", "content": ""}), None);
        let body = stream::unfold((self, Some(first)), |(mut reply, first)| async move {
            let text = match first {
                Some(text) => text,
                None => {
                    let event = reply.events.recv().await?;
                    reply.lines(event)
                }
            };
            Some((Ok::<_, std::convert::Infallible>(text), (reply, None)))
        });
        let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        (headers, Body::from_stream(body)).into_response()
    }

    fn lines(&self, event: Generated) -> String {
        match event {
            Generated::Started => String::new(),
            Generated::Text(text) => self.chunk(&json!({"content": text}), None),
            // No [DONE] after an error: the reader must not take the reply for a whole one.
            Generated::Failed(error) => data(&ApiError::from(error).body()),
            Generated::Finished(outcome) => {
                let mut lines = self.chunk(&json!({}), Some(openai::finish_reason(&outcome)));
                if self.include_usage {
                    let Identity { id, created, model } = &self.identity;
                    lines.push_str(&data(&json!({
                        "id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": [],
                        "usage": openai::usage(&outcome), "timings": openai::timings(&outcome),
                    })));
                }
                lines.push_str("data: [DONE]\n\n");
                lines
            }
        }
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let Identity { id, created, model } = &self.identity;
        data(&json!({
            "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn gone() -> ApiError {
    ApiError {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        code: "engine_stopped",
        message: "The engine stopped while it worked on this request. Try again.".to_owned(),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}
