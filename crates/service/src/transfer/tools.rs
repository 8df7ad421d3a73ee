//! What tools did for a reply, as it is read beside it.

use super::Record;
use super::markdown::line;
use evenkeel_domain::{Message, MessageId, Operation};
use evenkeel_operation::shortened;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write;

/// Characters of arguments and of a result; JSON has them whole.
const SHOWN: usize = 2_000;

impl Record {
    /// What tools did for a reply, in the order in which they ended.
    pub(super) fn operations_of(&self, message: &Message) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.message_id == Some(message.id))
    }

    /// What tools did without a reply that it belongs to: it has none, or none of it was stored.
    pub(super) fn operations_beside(&self) -> impl Iterator<Item = &Operation> {
        let there: HashSet<MessageId> = self.messages.iter().map(|message| message.id).collect();
        self.operations.iter().filter(move |operation| operation.message_id.is_none_or(|message| !there.contains(&message)))
    }
}

/// As Markdown: quoted, with what a server has said as code, so that it is no mark of the page.
pub(super) fn quoted(operation: &Operation) -> String {
    let mut text = String::new();
    for (what, value) in said(operation) {
        let _ = write!(text, ">\n> {what}\n>\n");
        for row in value.lines() {
            let _ = writeln!(text, ">     {row}");
        }
    }
    format!("> Tool `{}`, {} ms\n{text}", name(operation).replace('`', "'"), operation.duration_ms)
}

/// As plain text.
pub(super) fn plain(operation: &Operation) -> String {
    let mut text = format!("[Tool {}, {} ms]\n", name(operation), operation.duration_ms);
    for (what, value) in said(operation) {
        let _ = writeln!(text, "  {what}");
        for row in value.lines() {
            let _ = writeln!(text, "    {row}");
        }
    }
    text
}

fn name(operation: &Operation) -> String {
    line(&format!("{} · {}", operation.source, operation.tool_name))
}

/// What it was called with, and what it answered or why it did not.
fn said(operation: &Operation) -> Vec<(&'static str, String)> {
    let mut said = vec![("Called with:", shown(&operation.arguments))];
    if let Some(error) = &operation.error {
        said.push(("Failed:", error.message.clone()));
    }
    if !operation.result.is_null() {
        said.push(("Answered:", shown(&operation.result)));
    }
    said
}

fn shown(value: &Value) -> String {
    match shortened(value, SHOWN) {
        Value::String(text) => text,
        // A value of JSON can always be written.
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    }
}
