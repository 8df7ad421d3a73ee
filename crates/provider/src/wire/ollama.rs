//! Ollama's own chat API (<https://github.com/ollama/ollama/blob/main/docs/api.md>): only it
//! takes the size of the window.

use super::framing::JsonLines;
use super::openai::{Tool, tools};
use super::reader::{Interpret, Reader};
use super::{ReadFault, StreamReader, json, push_text, tokens};
use crate::refusal::Complaint;
use crate::request::{Answer, ToolCall, Turn, arrange};
use crate::{ChatRequest, EndReason, ModelEvent};
use evenkeel_domain::Usage;
use serde::Serialize;
use serde_json::Value;

/// Path below the base URL.
pub const PATH: &str = "/api/chat";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    options: Options,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: Value,
}

impl<'a> Call<'a> {
    fn of(call: &'a ToolCall) -> Self {
        Self { function: Called { name: &call.name, arguments: call.object() } }
    }
}

#[derive(Serialize)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
}

/// The exact bytes of the request's body.
///
/// # Errors
/// None in practice: a tool's schema that is no JSON cannot be built.
pub fn render(request: &ChatRequest) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Body {
        model: &request.model,
        messages: messages(request),
        stream: true,
        options: Options { num_ctx: request.window, temperature: request.temperature, num_predict: request.max_tokens },
        format: request.response_schema.as_ref(),
        // The format cannot say that tools may not be called any more.
        tools: if request.tools_are_over { Vec::new() } else { tools(&request.tools) },
    })
}

fn messages(request: &ChatRequest) -> Vec<Message<'_>> {
    let arranged = arrange(&request.messages);
    let text = |role, content| Message { role, content, tool_calls: Vec::new(), tool_name: None };
    let system = (!arranged.system.is_empty()).then(|| text("system", arranged.system.join("\n\n")));
    system.into_iter().chain(arranged.turns.iter().flat_map(turn)).collect()
}

/// The results of a turn, each a message of its own, then its text with its calls.
fn turn<'a>(turn: &Turn<'a>) -> Vec<Message<'a>> {
    let result = |answer: &Answer<'a>| Message {
        role: "tool",
        content: answer.text.to_owned(),
        tool_calls: Vec::new(),
        tool_name: Some(answer.call.name.as_str()),
    };
    let mut messages: Vec<_> = turn.results.iter().map(result).collect();
    if !(turn.texts.is_empty() && turn.calls.is_empty()) {
        let calls = turn.calls.iter().map(Call::of).collect();
        messages.push(Message { role: turn.role(), content: turn.joined(), tool_calls: calls, tool_name: None });
    }
    messages
}

/// A reader of the streamed reply. Its end is `"done": true`; without it the reply is broken off.
#[must_use]
pub fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::<JsonLines, Interpreter>::default())
}

#[derive(Default)]
struct Interpreter {
    calls: usize,
}

impl Interpret for Interpreter {
    fn payload(&mut self, payload: &[u8], events: &mut Vec<ModelEvent>) -> Result<(), ReadFault> {
        let value = json(payload)?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ReadFault::Reported(Complaint::from_json(&value)));
        }
        let message = &value["message"];
        push_text(events, ModelEvent::Reasoning, message["thinking"].as_str());
        push_text(events, ModelEvent::Text, message["content"].as_str());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            events.push(self.call(call));
        }
        if value["done"] == true {
            events.extend(usage(&value).map(ModelEvent::Usage));
            events.push(ModelEvent::End(self.end_reason(value["done_reason"].as_str())));
        }
        Ok(())
    }
}

impl Interpreter {
    fn call(&mut self, call: &Value) -> ModelEvent {
        let function = &call["function"];
        let id = call["id"].as_str().map_or_else(|| format!("call-{}", self.calls), str::to_owned);
        self.calls += 1;
        ModelEvent::ToolCall(ToolCall {
            id,
            name: function["name"].as_str().unwrap_or("").to_owned(),
            arguments: if function["arguments"].is_null() { "{}".to_owned() } else { function["arguments"].to_string() },
        })
    }

    fn end_reason(&self, reason: Option<&str>) -> EndReason {
        match reason {
            // Ollama has no word of its own for "waits for its tools".
            Some("stop") | None if self.calls > 0 => EndReason::ToolCalls,
            Some("stop") | None => EndReason::Stop,
            Some("length") => EndReason::Length,
            Some(other) => EndReason::Other(other.to_owned()),
        }
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let (prompt, completion) = (tokens(&value["prompt_eval_count"]), tokens(&value["eval_count"]));
    // Older servers leave the prompt's count out when all of it came from their cache.
    (prompt.is_some() || completion.is_some()).then(|| Usage {
        prompt_tokens: prompt.unwrap_or(0),
        completion_tokens: completion.unwrap_or(0),
        cached_tokens: None,
    })
}
