//! Answers of surveys: which were selected, which were deselected, with ids and texts.

use crate::extractor::Execution;
use crate::found::Found;
use crate::key::{is_before, is_circumstance, is_count, is_id, words};
use crate::walk::{Walk, id_of, scalar, text_of};
use evenkeel_domain::FoundAnswer;
use serde_json::{Map, Value};

/// Names of an answer's text.
const TEXTS: [&str; 8] = ["text", "answerText", "answer_text", "label", "title", "name", "answer", "option"];

/// Finds them in the result, and in what the tool was called with: many answer with no more than "saved".
pub(crate) fn extract(execution: &Execution<'_>, found: &mut Found) {
    for value in [execution.result, execution.arguments] {
        let mut walk = Walk::of(value);
        for node in walk.by_ref() {
            match (selection(node.key), node.value) {
                (_, Value::Object(fields)) => of_object(fields, selection(node.key), found),
                (Some(is_selected), value) if node.depth > 0 => of_scalar(node.key, value, is_selected, found),
                _ => {}
            }
        }
        if walk.is_cut() {
            found.cut();
        }
    }
}

/// Whether a name speaks of what is selected, or of what is not any more.
fn selection(key: &str) -> Option<bool> {
    let words = words(key);
    if is_count(&words) || is_circumstance(&words) || words.iter().any(|word| word == "was" || is_before(word)) {
        return None;
    }
    words.iter().find_map(|word| match word.as_str() {
        "selected" | "chosen" | "checked" => Some(true),
        "deselected" | "unselected" | "unchecked" => Some(false),
        _ => None,
    })
}

/// An answer as an object: its own mark counts, else the name of the list that it stands in.
fn of_object(fields: &Map<String, Value>, named: Option<bool>, found: &mut Found) {
    let marked = fields.iter().find_map(|(key, value)| {
        let is_selected = selection(key)?;
        value.as_bool().map(|mark| mark == is_selected)
    });
    let Some(is_selected) = marked.or(named) else { return };
    // A question with a list of what was selected is no answer itself.
    if marked.is_none() && fields.values().any(|value| value.is_array() || value.is_object()) {
        return;
    }
    let text = text_of(fields, &TEXTS).map(str::to_owned);
    found.answer(is_selected, FoundAnswer { id: id_of(fields), text });
}

/// An answer in a list of ids or texts.
fn of_scalar(key: &str, value: &Value, is_selected: bool, found: &mut Found) {
    let Some(answer) = scalar(value) else { return };
    let names_ids = is_id(&words(key)) || value.is_number();
    let answer =
        if names_ids { FoundAnswer { id: Some(answer), text: None } } else { FoundAnswer { id: None, text: Some(answer) } };
    found.answer(is_selected, answer);
}
