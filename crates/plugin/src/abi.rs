//! What is said to a plug-in and what it answers; `docs/plugins.md` describes it to their authors.

use crate::Fault;
use evenkeel_domain::{MessageId, Role};
use serde::Serialize;
use serde_json::{Map, Value};

/// The version of the interface.
pub const ABI: u32 = 1;
/// Most bytes that are handed to a plug-in: about twice a history of 2,000,000 tokens, a quarter of its memory.
pub const MAX_INPUT: usize = 16 << 20;
/// Most bytes of an answer.
pub const MAX_OUTPUT: usize = 1 << 20;
/// Most bytes of a state, as JSON.
pub const MAX_STATE: usize = 64 << 10;
/// Most texts of memory in an answer.
pub const MAX_MEMORY_TEXTS: usize = 64;
/// Most characters of a reason.
pub const MAX_REASON: usize = 1_000;

/// What a plug-in chooses from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComposeInput<'a> {
    /// The context's configuration of the plug-in.
    pub config: &'a Value,
    /// What the plug-in last gave back from a completed turn of this conversation; null before.
    pub state: Option<&'a Value>,
    /// Most tokens of history, as set in the context.
    pub max_history_tokens: u32,
    /// Tokens that the request has left for memory and history together.
    pub room: u32,
    /// Messages of the branch that come before the exchanges.
    pub earlier: u32,
    /// The text being sent.
    pub user_text: &'a str,
    /// The loaded exchanges of the branch, oldest first.
    pub exchanges: Vec<ExchangeInput<'a>>,
}

/// One exchange: what the user said, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExchangeInput<'a> {
    /// Tokens of its messages with their framing.
    pub tokens: u32,
    /// Whether it has a reply.
    pub answered: bool,
    /// Its messages, oldest first.
    pub messages: Vec<MessageInput<'a>>,
}

/// One message of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageInput<'a> {
    /// Its id.
    pub id: MessageId,
    /// Who wrote it.
    pub role: Role,
    /// Its tokens, without framing.
    pub tokens: u32,
    /// Its text.
    pub content: &'a str,
}

/// What a plug-in chose. It was checked against the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComposeOutput {
    /// Position of the first exchange that is sent; their number if none is.
    pub first: usize,
    /// Texts for the memory block, in their order; none is blank.
    pub memory: Vec<MemoryText>,
    /// Why, for the receipt.
    pub reason: Option<String>,
}

/// A text that the model is to know besides the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryText {
    /// The text.
    pub text: String,
}

/// A turn that ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnInput<'a> {
    /// The context's configuration of the plug-in.
    pub config: &'a Value,
    /// What the plug-in gave back from the turn before; null at first.
    pub state: Option<&'a Value>,
    /// What the user said.
    pub user_text: &'a str,
    /// What was answered.
    pub reply: &'a str,
}

/// What a plug-in wants to know at the next call.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutput {
    /// Any JSON, at most [`MAX_STATE`] bytes of it. It is stored by the caller in the vault.
    pub state: Value,
}

impl ComposeOutput {
    /// Reads and checks an answer to a question with so many exchanges.
    pub(crate) fn read(json: &[u8], exchanges: usize, export: &'static str) -> Result<Self, Fault> {
        let answer = object(json, export)?;
        let said = answer.get("first").and_then(Value::as_u64);
        let said = said.ok_or_else(|| bad(export, "first is no whole number from 0 on"))?;
        let first =
            usize::try_from(said).ok().filter(|first| *first <= exchanges).ok_or(Fault::First { first: said, exchanges })?;
        let memory = memory(answer.get("memory"), export)?;
        let reason = match answer.get("reason") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) => Some(reason.clone()),
            Some(_) => return Err(bad(export, "reason is no text")),
        };
        let characters = reason.as_ref().map_or(0, |reason| reason.chars().count());
        if characters > MAX_REASON {
            return Err(bad(export, format!("reason has {characters} characters, at most {MAX_REASON} are taken")));
        }
        Ok(Self { first, memory, reason })
    }
}

impl TurnOutput {
    /// Reads and checks an answer.
    pub(crate) fn read(json: &[u8], export: &'static str) -> Result<Self, Fault> {
        let state = object(json, export)?.remove("state").ok_or_else(|| bad(export, "state is missing"))?;
        let bytes = state.to_string().len();
        if bytes > MAX_STATE {
            return Err(bad(export, format!("state has {bytes} bytes, at most {MAX_STATE} are kept")));
        }
        Ok(Self { state })
    }
}

fn bad(export: &'static str, reason: impl Into<String>) -> Fault {
    Fault::Answer { export, reason: reason.into() }
}

/// Read by hand from here on: derived readers take a list for an object, and their errors name no field.
fn object(json: &[u8], export: &'static str) -> Result<Map<String, Value>, Fault> {
    serde_json::from_slice(json).map_err(|e| bad(export, format!("no JSON object ({e})")))
}

fn memory(value: Option<&Value>, export: &'static str) -> Result<Vec<MemoryText>, Fault> {
    let texts = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts,
        Some(_) => return Err(bad(export, "memory is no list")),
    };
    let text = |item: &Value| item.get("text").and_then(Value::as_str).map(|text| MemoryText { text: text.to_owned() });
    let read: Option<Vec<MemoryText>> = texts.iter().map(text).collect();
    let mut memory = read.ok_or_else(|| bad(export, "memory holds something else than objects with a text"))?;
    memory.retain(|memory| !memory.text.trim().is_empty());
    if memory.len() > MAX_MEMORY_TEXTS {
        return Err(bad(export, format!("memory has {} texts, at most {MAX_MEMORY_TEXTS} are taken", memory.len())));
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(answer: &Value) -> Result<ComposeOutput, Fault> {
        ComposeOutput::read(answer.to_string().as_bytes(), 3, "ek_compose")
    }

    #[test]
    fn an_answer_needs_only_its_first_exchange() {
        let output = read(&json!({ "first": 3, "new": [] })).unwrap();
        assert_eq!(output, ComposeOutput { first: 3, memory: vec![], reason: None });
        let output = read(&json!({ "first": 0, "memory": [{ "text": " " }, { "text": "x" }], "reason": null })).unwrap();
        assert_eq!(output.memory, [MemoryText { text: "x".into() }]);
    }

    #[test]
    fn types_and_ranges_are_strict() {
        assert!(matches!(read(&json!({ "first": 4 })), Err(Fault::First { first: 4, exchanges: 3 })));
        for bad in [json!({}), json!({ "first": "0" }), json!({ "first": -1 }), json!({ "first": 1.5 }), json!([0])] {
            assert!(matches!(read(&bad), Err(Fault::Answer { .. })), "{bad}");
        }
        for bad in [json!(["x"]), json!([["x"]]), json!([{ "text": 1 }]), json!({ "text": "x" }), Value::Null] {
            assert!(matches!(read(&json!({ "first": 0, "memory": bad })), Err(Fault::Answer { .. })), "{bad}");
        }
        assert!(read(&json!({ "first": 0, "memory": vec![json!({ "text": "x" }); 65] })).is_err());
        assert!(read(&json!({ "first": 0, "reason": "x".repeat(1_001) })).is_err());
        assert!(ComposeOutput::read(b"{\"first\":0} x", 3, "ek_compose").is_err());
        assert!(ComposeOutput::read(&[b"{\"first\":0,\"reason\":\"", &[0xff][..], b"\"}"].concat(), 3, "ek_compose").is_err());
    }

    #[test]
    fn a_state_is_any_json_up_to_its_size() {
        let turn = |json: &Value| TurnOutput::read(json.to_string().as_bytes(), "ek_turn_complete");
        assert_eq!(turn(&json!({ "state": null })).unwrap().state, Value::Null);
        assert!(turn(&json!({ "state": "x".repeat(MAX_STATE - 2) })).is_ok());
        assert!(turn(&json!({ "state": "x".repeat(MAX_STATE - 1) })).is_err());
        assert!(turn(&json!({})).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_answered_the_window_is_within_the_history(json in any::<Vec<u8>>(), exchanges in 0usize..50) {
            if let Ok(output) = ComposeOutput::read(&json, exchanges, "ek_compose") {
                prop_assert!(output.first <= exchanges);
            }
            let _ = TurnOutput::read(&json, "ek_turn_complete");
        }

        #[test]
        fn numbers_and_texts_of_any_size_are_read_or_refused(first in any::<i64>(), texts in prop::collection::vec(any::<String>(), 0..80)) {
            let memory: Vec<_> = texts.iter().map(|text| json!({ "text": text })).collect();
            let read = ComposeOutput::read(json!({ "first": first, "memory": memory }).to_string().as_bytes(), 50, "ek_compose");
            let kept = texts.iter().filter(|text| !text.trim().is_empty()).count();
            prop_assert_eq!(read.is_ok(), (0..=50).contains(&first) && kept <= MAX_MEMORY_TEXTS);
        }
    }
}
