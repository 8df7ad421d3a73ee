//! Requests and errors in the form of the OpenAI HTTP interface.

use super::grammar;
use super::slot::SlotError;
use super::template::{ChatMessage, TemplateError};
use super::worker::{Outcome, Sampling, SlotName};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Most stop strings of one request; OpenAI's own limit is 4.
const MAX_STOPS: usize = 16;

/// `POST /v1/chat/completions`.
#[derive(Deserialize)]
pub(crate) struct ChatRequest {
    pub messages: Vec<WireMessage>,
    #[serde(default)]
    pub stream: bool,
    #[serde(default)]
    pub stream_options: StreamOptions,
    pub temperature: Option<f32>,
    pub top_p: Option<f32>,
    pub max_tokens: Option<u64>,
    pub max_completion_tokens: Option<u64>,
    pub seed: Option<i64>,
    pub stop: Option<Stops>,
    pub frequency_penalty: Option<f32>,
    pub presence_penalty: Option<f32>,
    #[serde(default)]
    pub tools: Vec<Value>,
    /// What the reply has to fit.
    pub response_format: Option<ResponseFormat>,
    /// Extension: `"background"` keeps this request away from the conversation's memory.
    pub cache_slot: Option<String>,
    /// Extension, as in llama.cpp's server: further values for the chat template.
    #[serde(default)]
    pub chat_template_kwargs: Map<String, Value>,
}

/// `{"type": "json_schema", "json_schema": {"schema": …}}`, `{"type": "json_object"}` or `{"type": "text"}`.
#[derive(Deserialize)]
pub(crate) struct ResponseFormat {
    #[serde(rename = "type")]
    pub kind: String,
    pub json_schema: Option<NamedSchema>,
}

#[derive(Deserialize)]
pub(crate) struct NamedSchema {
    pub schema: Value,
}

#[derive(Default, Deserialize)]
pub(crate) struct StreamOptions {
    #[serde(default)]
    pub include_usage: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Stops {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
pub(crate) struct WireMessage {
    pub role: String,
    pub content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(rename = "type")]
    pub kind: String,
    pub text: Option<String>,
}

/// An error as OpenAI's interface writes it.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
}

impl ApiError {
    /// The request itself is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "invalid_request", message: message.into() }
    }

    /// The prompt leaves no room for a reply.
    pub fn too_long(prompt: usize, window: u32) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "context_length_exceeded",
            message: format!(
                "The prompt has {prompt} tokens, and the model's window of {window} tokens must also hold the reply. Shorten the conversation or raise the context size."
            ),
        }
    }

    /// The body of the error.
    pub fn body(&self) -> Value {
        let kind = if self.status.is_server_error() { "server_error" } else { "invalid_request_error" };
        json!({"error": {"message": self.message, "type": kind, "param": null, "code": self.code}})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

impl From<TemplateError> for ApiError {
    fn from(error: TemplateError) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "chat_template_refused",
            message: format!("No prompt could be made: {error}. Change the messages, or choose another model."),
        }
    }
}

impl From<SlotError> for ApiError {
    fn from(error: SlotError) -> Self {
        let (status, code) = match error {
            SlotError::NoMemory { .. } => (StatusCode::SERVICE_UNAVAILABLE, "out_of_memory"),
            SlotError::Compute(_) => (StatusCode::INTERNAL_SERVER_ERROR, "compute_failed"),
            SlotError::Unwanted => (StatusCode::INTERNAL_SERVER_ERROR, "cancelled"),
            SlotError::NotAnEmbeddingModel | SlotError::NotAChatModel => (StatusCode::BAD_REQUEST, "wrong_kind_of_model"),
        };
        Self { status, code, message: error.to_string() }
    }
}

/// The messages as the template wants them.
pub(crate) fn messages(wire: Vec<WireMessage>) -> Result<Vec<ChatMessage>, ApiError> {
    if wire.is_empty() {
        return Err(ApiError::invalid("The field messages is empty. Send at least one message."));
    }
    wire.into_iter()
        .map(|message| {
            // OpenAI's newer name for the same thing, which no template knows.
            let role = if message.role == "developer" { "system".to_owned() } else { message.role };
            Ok(ChatMessage { role, content: message.content.map_or(Ok(String::new()), text_of)? })
        })
        .collect()
}

fn text_of(content: Content) -> Result<String, ApiError> {
    match content {
        Content::Text(text) => Ok(text),
        Content::Parts(parts) => parts
            .into_iter()
            .map(|part| match (part.kind.as_str(), part.text) {
                ("text", Some(text)) => Ok(text),
                (kind, _) => Err(ApiError::invalid(format!(
                    "A message has a part of type '{kind}', and this model reads text only. Remove that part."
                ))),
            })
            .collect(),
    }
}

impl ChatRequest {
    /// How to choose tokens; a seed is drawn where none was given.
    pub fn sampling(&self) -> Result<Sampling, ApiError> {
        Ok(Sampling {
            temperature: in_range("temperature", self.temperature, 0.8, 0.0, 2.0)?,
            top_p: in_range("top_p", self.top_p, 0.95, 0.0, 1.0)?,
            frequency_penalty: in_range("frequency_penalty", self.frequency_penalty, 0.0, -2.0, 2.0)?,
            presence_penalty: in_range("presence_penalty", self.presence_penalty, 0.0, -2.0, 2.0)?,
            seed: match self.seed {
                // Any number is a seed; only its lower half matters to the generator.
                Some(seed) => (seed & 0xffff_ffff) as u32,
                None => getrandom::u32().map_err(|error| ApiError {
                    status: StatusCode::INTERNAL_SERVER_ERROR,
                    code: "no_randomness",
                    message: format!("The system gave no random number: {error}. Send a seed."),
                })?,
            },
        })
    }

    /// Most tokens of the reply; None = as many as fit.
    pub fn max_reply(&self) -> Result<Option<usize>, ApiError> {
        match self.max_completion_tokens.or(self.max_tokens) {
            Some(0) => Err(ApiError::invalid("The field max_tokens is 0. Use at least 1, or leave it out.")),
            other => Ok(other.map(|count| usize::try_from(count).unwrap_or(usize::MAX))),
        }
    }

    /// The strings that end the reply.
    pub fn stops(&mut self) -> Result<Vec<String>, ApiError> {
        let stops = match self.stop.take() {
            None => vec![],
            Some(Stops::One(stop)) => vec![stop],
            Some(Stops::Many(stops)) => stops,
        };
        if stops.len() > MAX_STOPS {
            return Err(ApiError::invalid(format!("The field stop has {} strings. Use at most {MAX_STOPS}.", stops.len())));
        }
        Ok(stops)
    }

    /// The grammar that the reply has to follow, where one is wished.
    pub fn grammar(&self) -> Result<Option<String>, ApiError> {
        let Some(format) = &self.response_format else { return Ok(None) };
        let schema = match (format.kind.as_str(), &format.json_schema) {
            ("text", _) => return Ok(None),
            ("json_object", _) => json!({"type": "object"}),
            ("json_schema", Some(named)) => named.schema.clone(),
            (kind, _) => {
                let known = "Use 'text', 'json_object', or 'json_schema' with a schema.";
                return Err(ApiError::invalid(format!("The field response_format is of type '{kind}'. {known}")));
            }
        };
        let unusable = |error| ApiError::invalid(format!("The schema of response_format cannot be used: {error}."));
        grammar::of_schema(&schema).map(Some).map_err(unusable)
    }

    /// Which memory to use.
    pub fn slot(&self) -> Result<SlotName, ApiError> {
        match self.cache_slot.as_deref() {
            None | Some("chat") => Ok(SlotName::Chat),
            Some("background") => Ok(SlotName::Background),
            Some(other) => Err(ApiError::invalid(format!("The field cache_slot is '{other}'. Use 'chat' or 'background'."))),
        }
    }
}

fn in_range(name: &str, value: Option<f32>, default: f32, low: f32, high: f32) -> Result<f32, ApiError> {
    let value = value.unwrap_or(default);
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(ApiError::invalid(format!("The field {name} is {value}. Use a number from {low} to {high}.")))
    }
}

/// Why a reply ended, in OpenAI's words.
pub(crate) fn finish_reason(outcome: &Outcome) -> &'static str {
    if outcome.cut_short { "length" } else { "stop" }
}

/// The `usage` object.
pub(crate) fn usage(outcome: &Outcome) -> Value {
    json!({
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
        "total_tokens": outcome.prompt_tokens + outcome.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": outcome.cached_tokens},
    })
}

/// The `timings` object of llama.cpp's server: tokens that were computed, and milliseconds.
pub(crate) fn timings(outcome: &Outcome) -> Value {
    json!({
        "cache_n": outcome.cached_tokens,
        "prompt_n": outcome.prompt_tokens - outcome.cached_tokens,
        "prompt_ms": outcome.prompt_time.as_secs_f64() * 1e3,
        "predicted_n": outcome.completion_tokens,
        "predicted_ms": outcome.completion_time.as_secs_f64() * 1e3,
    })
}
