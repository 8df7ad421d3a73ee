//! Results in one form: blocks of MCP opened, text that is JSON read, and nothing deeper or larger than can be kept.

use serde_json::{Map, Value};

/// Most bytes of a result that are kept; texts beyond it are cut, and so are lists.
const MOST_BYTES: usize = 10 << 20;
/// Deepest value that is kept: readers of JSON go no deeper than 128.
const MOST_DEPTH: usize = 100;
/// Bytes that each value counts, beside its text.
const VALUE_BYTES: usize = 4;

/// A result in its one form.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The result.
    pub value: Value,
    /// What the tool said, where it says that it failed.
    pub failure: Option<String>,
    /// Not all of it was kept.
    pub is_cut: bool,
}

/// Brings a result into one form: of a result of MCP its structured content, else its blocks of text, each as the
/// JSON that it is; anything else as it came.
#[must_use]
pub fn parsed(result: Value) -> Parsed {
    let (opened, failed) = opened(result);
    let (value, is_cut) = bounded(opened);
    let failure = failed.then(|| said(&value));
    Parsed { value, failure, is_cut }
}

/// A value with its depth and size in bounds, and whether anything was cut. It is taken apart without recursion.
#[must_use]
pub fn bounded(value: Value) -> (Value, bool) {
    let mut bounds = Bounds { left: MOST_BYTES, is_cut: false };
    let value = bounds.keep(value, 0);
    (value, bounds.is_cut)
}

/// The payload of a result, and whether it says that the tool failed.
fn opened(result: Value) -> (Value, bool) {
    match result {
        Value::Object(mut fields) if is_of_mcp(&fields) => {
            let failed = fields.get("isError") == Some(&Value::Bool(true));
            let structured = fields.remove("structuredContent").filter(|value| !value.is_null());
            let content = fields.remove("content");
            dismantle(Value::Object(fields));
            let payload = match (structured, content) {
                (Some(structured), content) => {
                    content.into_iter().for_each(dismantle);
                    structured
                }
                (None, Some(Value::Array(blocks))) => of_blocks(blocks),
                (None, other) => other.unwrap_or_default(),
            };
            (payload, failed)
        }
        Value::String(text) => (read(text), false),
        other => (other, false),
    }
}

/// Whether an object is a result of MCP: structured content, or a list of blocks that name their type.
fn is_of_mcp(fields: &Map<String, Value>) -> bool {
    let blocks = fields.get("content").and_then(Value::as_array);
    let are_blocks = blocks.is_some_and(|blocks| blocks.iter().all(|block| block.get("type").is_some_and(Value::is_string)));
    are_blocks || (fields.contains_key("structuredContent") && !fields.contains_key("id"))
}

/// One block as itself, several as a list.
fn of_blocks(blocks: Vec<Value>) -> Value {
    let mut opened: Vec<Value> = blocks.into_iter().map(of_block).collect();
    match opened.len() {
        0 => Value::Null,
        1 => opened.swap_remove(0),
        _ => Value::Array(opened),
    }
}

fn of_block(block: Value) -> Value {
    let Value::Object(mut fields) = block else { return block };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let payload = match kind.as_str() {
        "text" => fields.remove("text").map(|text| match text {
            Value::String(text) => read(text),
            other => other,
        }),
        "image" | "audio" => fields.remove("data").map(|data| {
            // Of pictures and sounds only what they are is of use later.
            let bytes = data.as_str().map_or(0, |data| data.len() / 4 * 3);
            let mime = fields.get("mimeType").cloned().filter(Value::is_string).unwrap_or_default();
            dismantle(data);
            Value::Object(Map::from_iter([
                ("type".to_owned(), Value::String(kind.clone())),
                ("mimeType".to_owned(), mime),
                ("bytes".to_owned(), bytes.into()),
            ]))
        }),
        _ => None,
    };
    match payload {
        Some(payload) => {
            dismantle(Value::Object(fields));
            payload
        }
        None => Value::Object(fields),
    }
}

/// A text as the object or list that it is, else as itself. A number or word alone stays the text that it was.
fn read(text: String) -> Value {
    let is_json = text.len() <= MOST_BYTES && text.trim_start().starts_with(['{', '[']);
    let json = is_json.then(|| serde_json::from_str(&text).ok()).flatten();
    json.unwrap_or(Value::String(text))
}

/// What a failed tool says.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "the tool says that it failed, and not why".to_owned(),
        Value::Object(fields) => {
            let text = crate::walk::text_of(fields, &["message", "error", "detail", "reason"]);
            text.map_or_else(|| crate::wording::beginning(value, 500), str::to_owned)
        }
        other => crate::wording::beginning(other, 500),
    }
}

struct Bounds {
    left: usize,
    is_cut: bool,
}

impl Bounds {
    fn keep(&mut self, value: Value, depth: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.keep_text(text)),
            Value::Array(_) | Value::Object(_) if depth == MOST_DEPTH => {
                self.is_cut = true;
                dismantle(value);
                Value::String("…".to_owned())
            }
            Value::Array(items) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.takes(VALUE_BYTES) {
                        kept.push(self.keep(item, depth + 1));
                    } else {
                        dismantle(item);
                    }
                }
                Value::Array(kept)
            }
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (key, field) in fields {
                    if self.takes(VALUE_BYTES + key.len()) {
                        kept.insert(key, self.keep(field, depth + 1));
                    } else {
                        dismantle(field);
                    }
                }
                Value::Object(kept)
            }
            other => other,
        }
    }

    /// Takes room for something, where there is enough left.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left;
        if fits {
            self.left -= bytes;
        } else {
            (self.left, self.is_cut) = (0, true);
        }
        fits
    }

    fn keep_text(&mut self, mut text: String) -> String {
        if text.len() > self.left {
            text.truncate(text.floor_char_boundary(self.left));
            text.push('…');
            (self.left, self.is_cut) = (0, true);
        } else {
            self.left -= text.len();
        }
        text
    }
}

/// Drops a value of any depth: dropping it whole would use the stack once for each level.
fn dismantle(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
