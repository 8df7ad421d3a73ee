//! OpenAI-compatible chat completions (<https://platform.openai.com/docs/api-reference/chat>),
//! which most providers, local servers and the built-in engine speak.

use super::framing::Sse;
use super::reader::{Interpret, Reader};
use super::{ReadFault, StreamReader, json, push_text, tokens};
use crate::refusal::Complaint;
use crate::request::{ToolCall, Turn, arrange};
use crate::{ChatRequest, EndReason, ModelEvent};
use evenkeel_domain::{ToolSchema, Usage};
use serde::Serialize;
use serde_json::Value;

/// Path below the base URL.
pub const PATH: &str = "/chat/completions";

/// The name under which the limit of a reply goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`, which all compatible servers know.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's own newer models demand.
    MaxCompletionTokens,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_slot: Option<&'static str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    schema: &'a Value,
    /// Strict schemas have to require every field; a state is told bit by bit.
    strict: bool,
}

impl<'a> ResponseFormat<'a> {
    fn of(schema: &'a Value) -> Self {
        Self { r#type: "json_schema", json_schema: NamedSchema { name: "answer", schema, strict: false } }
    }
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    /// `null` beside calls without a text.
    content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl Message<'_> {
    fn new(role: &'static str, content: String) -> Self {
        Self { role, content: Some(content), tool_calls: Vec::new(), tool_call_id: None }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> Call<'a> {
    fn of(call: &'a ToolCall) -> Self {
        Self { id: &call.id, r#type: "function", function: Called { name: &call.name, arguments: &call.arguments } }
    }
}

/// A tool; Ollama's have the same shape.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// One system message, then turns in alternation: many chat templates refuse anything else.
fn messages(request: &ChatRequest) -> Vec<Message<'_>> {
    let arranged = arrange(&request.messages);
    let system = (!arranged.system.is_empty()).then(|| Message::new("system", arranged.system.join("\n\n")));
    system.into_iter().chain(arranged.turns.iter().flat_map(turn)).collect()
}

/// The results of a turn, each a message of its own, then its text with its calls.
fn turn<'a>(turn: &Turn<'a>) -> Vec<Message<'a>> {
    let result = |id, text: &str| Message { tool_call_id: Some(id), ..Message::new("tool", text.to_owned()) };
    let mut messages: Vec<_> = turn.results.iter().map(|answer| result(answer.call.id.as_str(), answer.text)).collect();
    if !(turn.texts.is_empty() && turn.calls.is_empty()) {
        let text = (!turn.texts.is_empty()).then(|| turn.joined());
        let calls = turn.calls.iter().map(Call::of).collect();
        messages.push(Message { content: text, tool_calls: calls, ..Message::new(turn.role(), String::new()) });
    }
    messages
}

pub(super) fn tools(schemas: &[ToolSchema]) -> Vec<Tool<'_>> {
    schemas
        .iter()
        .map(|ToolSchema { name, description, parameters }| Tool {
            r#type: "function",
            function: Function { name, description, parameters },
        })
        .collect()
}

/// The exact bytes of the request's body.
///
/// # Errors
/// None in practice: a tool's schema that is no JSON cannot be built.
pub fn render(request: &ChatRequest, limit: LimitField) -> Result<Vec<u8>, serde_json::Error> {
    let limited = |field| request.max_tokens.filter(|_| limit == field);
    serde_json::to_vec(&Body {
        model: &request.model,
        messages: messages(request),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        temperature: request.temperature,
        max_tokens: limited(LimitField::MaxTokens),
        max_completion_tokens: limited(LimitField::MaxCompletionTokens),
        tools: tools(&request.tools),
        tool_choice: (request.tools_are_over && !request.tools.is_empty()).then_some("none"),
        response_format: request.response_schema.as_ref().map(ResponseFormat::of),
        cache_slot: request.background.then_some("background"),
    })
}

/// A reader of the streamed reply. Its end is `[DONE]`; without it the reply is broken off.
#[must_use]
pub fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::<Sse, Interpreter>::default())
}

#[derive(Default)]
struct Interpreter {
    /// Something of a reply has come.
    replied: bool,
    end: Option<EndReason>,
    usage: Option<Usage>,
    calls: Vec<PartialCall>,
}

/// A tool call that grows; `index` is the provider's.
struct PartialCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Interpret for Interpreter {
    fn payload(&mut self, payload: &[u8], events: &mut Vec<ModelEvent>) -> Result<(), ReadFault> {
        if payload.trim_ascii() == b"[DONE]" {
            return self.done(events);
        }
        let value = json(payload)?;
        if value.get("error").is_some_and(|error| !error.is_null()) || value["object"] == "error" {
            return Err(ReadFault::Reported(Complaint::from_json(&value)));
        }
        if let Some(usage) = usage(&value["usage"]) {
            // Some servers send running totals: the last one counts.
            self.usage = Some(usage);
        }
        let choice = &value["choices"][0];
        self.delta(&choice["delta"], events);
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.end = Some(end_reason(reason));
            self.replied = true;
        }
        Ok(())
    }
}

impl Interpreter {
    fn delta(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        let before = events.len();
        let reasoning = delta["reasoning_content"].as_str().or_else(|| delta["reasoning"].as_str());
        push_text(events, ModelEvent::Reasoning, reasoning);
        match &delta["content"] {
            Value::String(text) => push_text(events, ModelEvent::Text, Some(text)),
            Value::Array(parts) => parts.iter().for_each(|part| content_part(part, events)),
            _ => {}
        }
        push_text(events, ModelEvent::Text, delta["refusal"].as_str());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call);
        }
        self.replied |= events.len() > before || !self.calls.is_empty();
    }

    fn call(&mut self, delta: &Value) {
        let id = delta["id"].as_str().filter(|id| !id.is_empty());
        let known = match (delta["index"].as_u64(), id) {
            (Some(index), _) => self.calls.iter().position(|call| call.index == index),
            // Without an index, an id begins a new call and its absence goes on with the last.
            (None, Some(id)) => self.calls.iter().position(|call| call.id == id),
            (None, None) => self.calls.len().checked_sub(1),
        };
        let at = known.unwrap_or_else(|| {
            let index = delta["index"].as_u64().unwrap_or(self.calls.len() as u64);
            let id = id.map_or_else(|| format!("call-{index}"), str::to_owned);
            self.calls.push(PartialCall { index, id, name: String::new(), arguments: String::new() });
            self.calls.len() - 1
        });
        let function = &delta["function"];
        let call = &mut self.calls[at];
        call.name.push_str(function["name"].as_str().unwrap_or(""));
        match &function["arguments"] {
            Value::String(part) => call.arguments.push_str(part),
            Value::Object(_) => call.arguments = function["arguments"].to_string(),
            _ => {}
        }
    }

    fn done(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ReadFault> {
        // `[DONE]` after nothing: a gateway whose model went away.
        if !self.replied {
            return Err(ReadFault::BrokenOff(None));
        }
        let calls = std::mem::take(&mut self.calls);
        events.extend(calls.into_iter().map(|PartialCall { id, name, arguments, .. }| {
            let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
            ModelEvent::ToolCall(ToolCall { id, name, arguments })
        }));
        events.extend(self.usage.map(ModelEvent::Usage));
        events.push(ModelEvent::End(self.end.take().unwrap_or_else(|| EndReason::Other("unstated".into()))));
        Ok(())
    }
}

/// Mistral sends its reasoning as a list of parts.
fn content_part(part: &Value, events: &mut Vec<ModelEvent>) {
    match part["type"].as_str() {
        Some("thinking") => {
            for thought in part["thinking"].as_array().into_iter().flatten() {
                push_text(events, ModelEvent::Reasoning, thought["text"].as_str());
            }
        }
        _ => push_text(events, ModelEvent::Text, part["text"].as_str()),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let cached = [&value["prompt_tokens_details"]["cached_tokens"], &value["prompt_cache_hit_tokens"]];
    Some(Usage {
        prompt_tokens: tokens(&value["prompt_tokens"])?,
        completion_tokens: tokens(&value["completion_tokens"]).unwrap_or(0),
        cached_tokens: cached.into_iter().find_map(tokens),
    })
}

fn end_reason(reason: &str) -> EndReason {
    match reason {
        "stop" | "eos" => EndReason::Stop,
        "length" => EndReason::Length,
        "tool_calls" | "function_call" => EndReason::ToolCalls,
        "content_filter" => EndReason::Filtered,
        other => EndReason::Other(other.to_owned()),
    }
}
