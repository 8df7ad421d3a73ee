//! Anthropic messages (<https://docs.anthropic.com/en/api/messages-streaming>).

use super::framing::Sse;
use super::reader::{Interpret, Reader};
use super::{ReadFault, StreamReader, json, push_text, tokens};
use crate::refusal::Complaint;
use crate::request::{ToolCall, Turn, arrange};
use crate::{ChatRequest, DEFAULT_MAX_TOKENS, EndReason, ModelEvent};
use evenkeel_domain::Usage;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Path below the base URL.
pub const PATH: &str = "/messages";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    messages: Vec<Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Result(ResultBlock<'a>),
    Text(Block<'a>),
    Use(UseBlock<'a>),
}

#[derive(Serialize)]
struct ResultBlock<'a> {
    r#type: &'static str,
    tool_use_id: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct UseBlock<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: Value,
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

impl<'a> Block<'a> {
    fn new(text: &'a str) -> Self {
        Self { r#type: "text", text, cache_control: None }
    }

    /// Everything up to here is kept for the next request.
    fn mark(&mut self) {
        self.cache_control = Some(CacheControl { r#type: "ephemeral" });
    }
}

/// The exact bytes of the request's body.
///
/// Two cache breakpoints: after the system texts, and after the last text that the next
/// request repeats, that is before a folded trailing block, which is never stored.
///
/// # Errors
/// None in practice: a tool's schema that is no JSON cannot be built.
pub fn render(request: &ChatRequest) -> Result<Vec<u8>, serde_json::Error> {
    let arranged = arrange(&request.messages);
    let mut system: Vec<_> = arranged.system.iter().map(|text| Block::new(text)).collect();
    if let Some(last) = system.last_mut() {
        last.mark();
    }
    serde_json::to_vec(&Body {
        model: &request.model,
        max_tokens: request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        system,
        tools: request
            .tools
            .iter()
            .map(|tool| Tool { name: &tool.name, description: &tool.description, input_schema: &tool.parameters })
            .collect(),
        tool_choice: (request.tools_are_over && !request.tools.is_empty()).then_some(ToolChoice { r#type: "none" }),
        messages: messages(&arranged.turns),
        stream: true,
        temperature: request.temperature,
    })
}

fn messages<'a>(turns: &'a [Turn<'a>]) -> Vec<Message<'a>> {
    let last_kept = turns.iter().enumerate().rev().find_map(|(at, turn)| {
        let before_folded = turn.texts.iter().take_while(|text| !text.folded).count();
        Some((at, turn.results.len() + before_folded.checked_sub(1)?))
    });
    let mut messages: Vec<_> = turns.iter().map(|turn| Message { role: turn.role(), content: parts(turn) }).collect();
    if let Some((message, block)) = last_kept
        && let Some(Part::Text(text)) = messages[message].content.get_mut(block)
    {
        text.mark();
    }
    messages
}

/// Results stand before the text of a turn, and calls after it: the format demands both.
fn parts<'a>(turn: &Turn<'a>) -> Vec<Part<'a>> {
    let result = |id, content| Part::Result(ResultBlock { r#type: "tool_result", tool_use_id: id, content });
    let results = turn.results.iter().map(|answer| result(answer.call.id.as_str(), answer.text));
    let texts = turn.texts.iter().map(|text| Part::Text(Block::new(text.text)));
    let wish = |call: &'a ToolCall| UseBlock { r#type: "tool_use", id: &call.id, name: &call.name, input: call.object() };
    results.chain(texts).chain(turn.calls.iter().map(|call| Part::Use(wish(call)))).collect()
}

/// A reader of the streamed reply. Its end is `message_stop`; without it the reply is broken off.
#[must_use]
pub fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::<Sse, Interpreter>::default())
}

#[derive(Default)]
struct Interpreter {
    end: Option<EndReason>,
    usage: Option<Usage>,
    /// Tool calls that grow, by the index of their block.
    calls: BTreeMap<u64, (String, String, String)>,
}

impl Interpret for Interpreter {
    fn payload(&mut self, payload: &[u8], events: &mut Vec<ModelEvent>) -> Result<(), ReadFault> {
        let value = json(payload)?;
        match value["type"].as_str() {
            Some("message_start") => self.count(&value["message"]["usage"]),
            Some("content_block_start") => self.block_start(&value, events),
            Some("content_block_delta") => self.block_delta(&value, events),
            Some("content_block_stop") => self.block_stop(&value, events),
            Some("message_delta") => {
                self.count(&value["usage"]);
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.end = Some(end_reason(reason));
                }
            }
            Some("message_stop") => {
                events.extend(self.usage.map(ModelEvent::Usage));
                events.push(ModelEvent::End(self.end.take().unwrap_or_else(|| EndReason::Other("unstated".into()))));
            }
            Some("error") => return Err(ReadFault::Reported(Complaint::from_json(&value))),
            // `ping`, and types to come, which the format's rules tell clients to skip.
            Some(_) => {}
            None => return Err(ReadFault::Malformed("an event of the reply has no type".into())),
        }
        Ok(())
    }
}

impl Interpreter {
    /// Takes over what a usage object states; counts are totals and later ones replace earlier.
    fn count(&mut self, usage: &Value) {
        let Some(fields) = usage.as_object() else { return };
        let field = |name: &str| fields.get(name).and_then(tokens);
        let counted = self.usage.get_or_insert_default();
        if let Some(fresh) = field("input_tokens") {
            let (read, written) = (field("cache_read_input_tokens"), field("cache_creation_input_tokens"));
            counted.cached_tokens = read;
            // The format counts what came from the cache apart from the rest of the prompt.
            counted.prompt_tokens = fresh.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0));
        }
        if let Some(written) = field("output_tokens") {
            counted.completion_tokens = written;
        }
    }

    fn block_start(&mut self, value: &Value, events: &mut Vec<ModelEvent>) {
        let block = &value["content_block"];
        match block["type"].as_str() {
            Some("tool_use") => {
                let text = |name: &str| block[name].as_str().unwrap_or("").to_owned();
                self.calls.insert(value["index"].as_u64().unwrap_or(0), (text("id"), text("name"), String::new()));
            }
            Some("thinking") => push_text(events, ModelEvent::Reasoning, block["thinking"].as_str()),
            _ => push_text(events, ModelEvent::Text, block["text"].as_str()),
        }
    }

    fn block_delta(&mut self, value: &Value, events: &mut Vec<ModelEvent>) {
        let delta = &value["delta"];
        match delta["type"].as_str() {
            Some("text_delta") => push_text(events, ModelEvent::Text, delta["text"].as_str()),
            Some("thinking_delta") => push_text(events, ModelEvent::Reasoning, delta["thinking"].as_str()),
            Some("input_json_delta") => {
                if let Some((_, _, arguments)) = self.calls.get_mut(&value["index"].as_u64().unwrap_or(0)) {
                    arguments.push_str(delta["partial_json"].as_str().unwrap_or(""));
                }
            }
            _ => {}
        }
    }

    fn block_stop(&mut self, value: &Value, events: &mut Vec<ModelEvent>) {
        if let Some((id, name, arguments)) = self.calls.remove(&value["index"].as_u64().unwrap_or(0)) {
            let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
            events.push(ModelEvent::ToolCall(ToolCall { id, name, arguments }));
        }
    }
}

fn end_reason(reason: &str) -> EndReason {
    match reason {
        "end_turn" | "stop_sequence" => EndReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => EndReason::Length,
        "tool_use" => EndReason::ToolCalls,
        "refusal" => EndReason::Filtered,
        other => EndReason::Other(other.to_owned()),
    }
}
