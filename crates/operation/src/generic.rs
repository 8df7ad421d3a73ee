//! What results of any tool hold: ids, what was made, changed and deleted, changes of a status, counts and errors.

use crate::extractor::Execution;
use crate::found::Found;
use crate::key::{Deed, is_circumstance, is_count, is_id, words};
use crate::walk::{Node, Walk, id_of, scalar, text_of};
use crate::{status, text};
use serde_json::{Map, Value};

/// Bytes of texts that are searched for ids, over all of them.
const TEXT: usize = text::MOST_BYTES;
/// Lists so deep in a result are counted.
const COUNTED: usize = 1;

/// Finds all of it.
pub(crate) fn extract(execution: &Execution<'_>, found: &mut Found) {
    let mut left = TEXT;
    let mut walk = Walk::of(execution.result);
    for node in walk.by_ref() {
        match node.value {
            Value::Object(fields) => of_object(fields, node.key, found),
            Value::String(text) => of_text(node.key, text, &mut left, found),
            Value::Array(items) => {
                if node.depth <= COUNTED {
                    let name = if node.key.is_empty() { "items" } else { node.key };
                    found.count(name, u64::try_from(items.len()).unwrap_or(u64::MAX));
                }
            }
            Value::Number(_) => of_number(&node, found),
            Value::Bool(_) | Value::Null => {}
        }
        of_named(&node, found);
    }
    if walk.is_cut() || left == 0 {
        found.cut();
    }
    if execution.is_success() {
        of_tool(execution, found);
    }
    for error in execution.errors() {
        found.error(error);
    }
}

/// An id, or what was made, changed or deleted, as the name of the field says.
fn of_named(node: &Node<'_>, found: &mut Found) {
    let words = words(node.key);
    if words.is_empty() {
        return;
    }
    let deed = Deed::done(&words).filter(|_| !is_circumstance(&words));
    if is_id(&words) {
        if let Some(id) = scalar(node.value) {
            if let Some(deed) = deed {
                found.deed(deed, id.clone());
            }
            found.id(node.key, id);
        }
    } else if let Some(deed) = deed {
        match node.value {
            Value::Object(fields) => id_of(fields).into_iter().for_each(|id| found.deed(deed, id)),
            Value::String(text) if !is_date(text) && !is_count(&words) => {
                scalar(node.value).into_iter().for_each(|id| found.deed(deed, id));
            }
            _ => {}
        }
    }
    if words.iter().any(|word| matches!(word.as_str(), "error" | "errors" | "exception")) {
        match node.value {
            Value::String(text) => found.error(text),
            Value::Object(fields) => {
                text_of(fields, &["message", "detail", "error", "reason", "code"]).into_iter().for_each(|text| found.error(text));
            }
            _ => {}
        }
    }
}

/// What an object says with several of its fields.
fn of_object(fields: &Map<String, Value>, key: &str, found: &mut Found) {
    status::of_object(fields, found);
    let says_no = |name: &str| fields.get(name) == Some(&Value::Bool(false));
    if says_no("success") || says_no("ok") {
        text_of(fields, &["message", "reason", "detail"]).into_iter().for_each(|text| found.error(text));
    }
    let said = |name: &str| fields.get(name)?.as_str().map(str::to_lowercase);
    let ordered = ["action", "operation", "event"].iter().find_map(|name| Deed::of(&said(name)?));
    let done = || ["status", "result", "change", "type"].iter().find_map(|name| Deed::done(&[said(name)?]));
    let deed = ordered.or_else(done);
    let is_named = Deed::done(&words(key)).is_some();
    if let Some((deed, id)) = deed.filter(|_| !is_named).zip(id_of(fields)) {
        found.deed(deed, id);
    }
}

fn of_text(key: &str, text: &str, left: &mut usize, found: &mut Found) {
    if *left == 0 || is_id(&words(key)) {
        return;
    }
    *left = left.saturating_sub(text.len().max(1));
    text::ids(text).for_each(|id| found.id_in_text(id.to_owned()));
    status::of_text(text, found);
}

fn of_number(node: &Node<'_>, found: &mut Found) {
    let words = words(node.key);
    let is_deed = Deed::done(&words).is_some() && !is_id(&words) && !is_circumstance(&words);
    if let Some(count) = node.value.as_u64().filter(|_| is_count(&words) || is_deed) {
        found.count(node.key, count);
    }
}

/// What the tool's own name says that it did: `create_task` made what it answers with, `delete_task` deleted what
/// it was called with.
fn of_tool(execution: &Execution<'_>, found: &mut Found) {
    let words = words(execution.tool_name);
    let Some(deed) = words.iter().find_map(|word| Deed::of(word)) else { return };
    let answered = || {
        let Value::Object(fields) = execution.result else { return None };
        let own = ["id", "_id", "uuid"].iter().find_map(|name| scalar(fields.get(*name)?));
        own.or_else(|| named_id(fields, &words)).or_else(|| only_object(fields).and_then(id_of))
    };
    let called = || execution.arguments.as_object().map(|fields| called_ids(fields, &words)).unwrap_or_default();
    let ids = match deed {
        Deed::Created => answered().into_iter().collect(),
        _ => Some(called()).filter(|ids| !ids.is_empty()).unwrap_or_else(|| answered().into_iter().collect()),
    };
    ids.into_iter().for_each(|id| found.deed(deed, id));
}

/// The id whose name has a word of the tool's in it: `taskId` for `create_task`.
fn named_id(fields: &Map<String, Value>, tool: &[String]) -> Option<String> {
    let mut ids = fields.iter().filter(|(key, _)| fits_tool(key, tool));
    ids.find_map(|(_, value)| scalar(value))
}

/// The ids that a tool was called with: `id`, `ids`, those whose name has a word of the tool's in it, or the only one.
fn called_ids(fields: &Map<String, Value>, tool: &[String]) -> Vec<String> {
    let named: Vec<_> = fields.iter().filter(|(key, _)| is_id(&words(key))).collect();
    let fitting: Vec<_> = named.iter().filter(|(key, _)| words(key).len() == 1 || fits_tool(key, tool)).collect();
    let chosen = match (fitting.is_empty(), named.len()) {
        (true, 1) => named.iter().collect(),
        _ => fitting,
    };
    let of_one = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(scalar).collect(),
        one => scalar(one).into_iter().collect::<Vec<_>>(),
    };
    chosen.into_iter().flat_map(|(_, value)| of_one(value)).collect()
}

fn fits_tool(key: &str, tool: &[String]) -> bool {
    let words = words(key);
    is_id(&words) && words.iter().rev().skip(1).any(|word| tool.contains(word))
}

/// The object in a field, where it is the only one: `{"task": {"id": …}}`.
fn only_object(fields: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let mut objects = fields.values().filter_map(Value::as_object);
    objects.next().filter(|_| objects.next().is_none())
}

/// Whether a text begins as a date does.
fn is_date(text: &str) -> bool {
    let mut begin = text.trim().bytes();
    (0..4).all(|_| begin.next().is_some_and(|byte| byte.is_ascii_digit())) && begin.next() == Some(b'-')
}
