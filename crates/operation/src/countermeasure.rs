//! Countermeasures: their changes of status, also where a tool was told the new one and answers with the old.

use crate::extractor::Execution;
use crate::found::Found;
use crate::key::{is_after, is_before, is_status, words};
use crate::walk::{Walk, id_of, scalar};
use evenkeel_domain::StatusChange;
use serde_json::{Map, Value};

/// Finds them.
pub(crate) fn extract(execution: &Execution<'_>, found: &mut Found) {
    let mut walk = Walk::of(execution.result);
    for node in walk.by_ref() {
        if let Value::Object(fields) = node.value {
            of_change(fields, found);
        }
    }
    if walk.is_cut() {
        found.cut();
    }
    // Told and not refused: it holds, whatever the tool answers with.
    if let Some(told) = execution.arguments.as_object().filter(|_| execution.is_success()) {
        of_call(told, execution.result, found);
    }
}

/// One entry of a list of changes: `{"field": "status", "old": …, "new": …}`.
fn of_change(fields: &Map<String, Value>, found: &mut Found) {
    let is_of_status = ["field", "property", "attribute", "key"].iter().any(|name| {
        let named = fields.get(*name).and_then(Value::as_str).unwrap_or_default();
        words(named).iter().any(|word| is_status(word))
    });
    let value = |fits: fn(&str) -> bool| {
        fields.iter().find(|(key, _)| words(key).iter().any(|word| fits(word))).and_then(|(_, value)| scalar(value))
    };
    if let Some(to) = value(is_after).filter(|_| is_of_status) {
        found.status(StatusChange { id: id_of(fields), from: value(is_before), to });
    }
}

fn of_call(told: &Map<String, Value>, result: &Value, found: &mut Found) {
    let Some(to) = field(told, |words| !words.iter().any(|word| is_before(word))) else { return };
    let answered = result.as_object();
    let from = field(told, |words| words.iter().any(|word| is_before(word))).or_else(|| {
        field(answered?, |words| words.iter().any(|word| is_before(word)) && !words.iter().any(|word| is_after(word)))
    });
    found.status(StatusChange { id: id_of(told).or_else(|| id_of(answered?)), from, to });
}

/// The status in the first field whose name fits.
fn field(fields: &Map<String, Value>, fits: impl Fn(&[String]) -> bool) -> Option<String> {
    fields.iter().find_map(|(key, value)| {
        let words = words(key);
        (words.iter().any(|word| is_status(word)) && fits(&words)).then(|| scalar(value)).flatten()
    })
}
