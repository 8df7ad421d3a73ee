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
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

/// While a prompt is read, a sign of life is sent this often: less than the shortest time that may be
/// set for a provider's silence, 5 s.
const SIGN_OF_LIFE: Duration = Duration::from_secs(4);
/// A comment of the event stream, which readers skip.
const COMMENT: &str = ": reading the prompt\n\n";

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
    let mut reply = Reply { events, identity, include_usage, reading: true, _busy: Some(busy) };
    reply.begun(stream.then_some(SIGN_OF_LIFE)).await?;
    if stream { Ok(reply.stream(SIGN_OF_LIFE)) } else { reply.whole().await }
}

async fn begin(app: &Arc<App>, mut request: ChatRequest) -> Result<UnboundedReceiver<Generated>, ApiError> {
    let sampling = request.sampling()?;
    let stops = request.stops()?;
    let slot = request.slot()?;
    let max_reply = request.max_reply()?;
    let grammar = request.grammar()?;
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
    app.send(Work::Generate(Generation { slot, prompt, sampling, max_tokens, stops, grammar, events }))?;
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
    /// The prompt is still being read.
    reading: bool,
    /// Counts it as running until it is dropped.
    _busy: Option<super::http::Busy>,
}

impl Reply {
    /// Waits until the prompt has been read, so that what goes wrong before has its own status; with a
    /// limit not longer than that, since a reader that hears nothing at all gives up.
    async fn begun(&mut self, limit: Option<Duration>) -> Result<(), ApiError> {
        let first = match limit {
            None => self.events.recv().await,
            Some(limit) => match timeout(limit, self.events.recv()).await {
                Ok(first) => first,
                Err(_) => return Ok(()),
            },
        };
        match first {
            Some(Generated::Started) => self.reading = false,
            Some(Generated::Failed(error)) => return Err(error.into()),
            _ => return Err(gone()),
        }
        Ok(())
    }

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

    fn stream(self, every: Duration) -> Response {
        let first = if self.reading { COMMENT.to_owned() } else { self.opening() };
        let body = stream::unfold((self, Some(first)), move |(mut reply, first)| async move {
            let text = match first {
                Some(text) => text,
                None => reply.more(every).await?,
            };
            Some((Ok::<_, std::convert::Infallible>(text), (reply, None)))
        });
        let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        (headers, Body::from_stream(body)).into_response()
    }

    /// What is sent next; None at the end.
    async fn more(&mut self, every: Duration) -> Option<String> {
        let event = if self.reading {
            match timeout(every, self.events.recv()).await {
                Ok(event) => event?,
                Err(_) => return Some(COMMENT.to_owned()),
            }
        } else {
            self.events.recv().await?
        };
        self.reading = false;
        Some(self.lines(event))
    }

    fn opening(&self) -> String {
        self.chunk(&json!({"role": "assistant", "content": ""}), None)
    }

    fn lines(&self, event: Generated) -> String {
        match event {
            Generated::Started => self.opening(),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tokio::sync::mpsc::UnboundedSender;

    const EVERY: Duration = Duration::from_millis(20);

    fn reply() -> (UnboundedSender<Generated>, Reply) {
        let (sender, events) = unbounded_channel();
        let identity = Identity { id: "r".into(), created: 0, model: "m".into() };
        (sender, Reply { events, identity, include_usage: false, reading: true, _busy: None })
    }

    fn outcome() -> Outcome {
        let (prompt_tokens, cached_tokens, completion_tokens) = (1, 0, 1);
        let (prompt_time, completion_time) = (Duration::ZERO, Duration::ZERO);
        Outcome { cut_short: false, prompt_tokens, cached_tokens, completion_tokens, prompt_time, completion_time }
    }

    async fn body(response: Response) -> String {
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_prompt_that_takes_long_is_read_under_signs_of_life() {
        let (sender, mut reply) = reply();
        reply.begun(Some(EVERY)).await.unwrap();
        assert!(reply.reading, "nothing has begun");
        tokio::spawn(async move {
            tokio::time::sleep(EVERY * 5).await;
            for event in [Generated::Started, Generated::Text("Hi".into()), Generated::Finished(outcome())] {
                sender.send(event).unwrap();
            }
        });
        let text = body(reply.stream(EVERY)).await;
        let (signs, answer) = text.split_at(text.find("data: ").unwrap());
        assert!(signs.matches(COMMENT).count() >= 3 && signs.replace(COMMENT, "").is_empty(), "{text}");
        assert!(!answer.contains(COMMENT) && answer.contains("\"role\":\"assistant\"") && answer.contains("Hi"), "{text}");
        assert!(answer.ends_with("data: [DONE]\n\n"), "{text}");
    }

    #[tokio::test]
    async fn a_failure_under_signs_of_life_is_told_with_its_reason_and_is_no_end() {
        let (sender, mut reply) = reply();
        reply.begun(Some(EVERY)).await.unwrap();
        sender.send(Generated::Failed(SlotError::NoMemory { window: 99 })).unwrap();
        drop(sender);
        let text = body(reply.stream(EVERY)).await;
        assert!(text.contains("\"error\"") && text.contains("not enough memory") && !text.contains("[DONE]"), "{text}");
    }

    #[tokio::test]
    async fn a_failure_before_the_first_sign_has_its_own_status() {
        let (sender, mut reply) = reply();
        sender.send(Generated::Failed(SlotError::NoMemory { window: 99 })).unwrap();
        assert!(reply.begun(Some(EVERY)).await.is_err());
    }

    #[tokio::test]
    async fn a_worker_that_ends_without_a_word_is_told() {
        let (sender, mut reply) = reply();
        drop(sender);
        assert!(reply.begun(None).await.is_err());
    }
}
