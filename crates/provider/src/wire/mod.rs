//! The wire formats: for each a pure renderer of requests and a reader of the streamed reply.
//!
//! Renderers give the same bytes for the same request on every machine: receipts keep them.
//! Readers are state machines without IO: the same bytes give the same events, however they
//! are cut into chunks.

pub mod anthropic;
mod framing;
pub mod ollama;
pub mod openai;
mod reader;
pub mod sampling;

pub use crate::refusal::Complaint;
pub use reader::{ReadFault, ReadResult, StreamReader};

use crate::ModelEvent;
use serde_json::Value;

/// Reads one payload as JSON.
fn json(payload: &[u8]) -> Result<Value, ReadFault> {
    serde_json::from_slice(payload).map_err(|error| ReadFault::Malformed(format!("a part of the reply is no JSON: {error}")))
}

/// A number of tokens; what is missing, negative or fractional counts as `None`.
fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// Appends a text event unless the text is empty.
fn push_text(events: &mut Vec<ModelEvent>, make: fn(String) -> ModelEvent, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        events.push(make(text.to_owned()));
    }
}

#[cfg(test)]
mod tests;
