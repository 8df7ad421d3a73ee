//! Changes of a status: told by two fields, by one with both values, or by a sentence.

use crate::found::Found;
use crate::key::{is_after, is_before, is_status, words};
use crate::walk::{id_of, scalar};
use evenkeel_domain::StatusChange;
use serde_json::{Map, Value};

/// Most characters of a status in a sentence.
const MOST: usize = 40;

/// The change that an object tells with its own fields.
pub(crate) fn of_object(fields: &Map<String, Value>, found: &mut Found) {
    let (mut before, mut after, mut bare) = (None, None, None);
    for (key, value) in fields {
        let words = words(key);
        if !words.iter().any(|word| is_status(word)) {
            continue;
        }
        if let Value::Object(both) = value {
            of_pair(fields, both, found);
        } else if words.iter().any(|word| is_before(word)) {
            before = before.or_else(|| scalar(value));
        } else if words.iter().any(|word| is_after(word)) {
            after = after.or_else(|| scalar(value));
        } else if words.len() == 1 {
            bare = bare.or_else(|| scalar(value));
        }
    }
    let is_change = before.is_some() || after.is_some();
    if let Some(to) = after.or(bare).filter(|_| is_change) {
        found.status(StatusChange { id: id_of(fields), from: before, to });
    }
}

/// `{"from": …, "to": …}` under the name of a status.
fn of_pair(around: &Map<String, Value>, both: &Map<String, Value>, found: &mut Found) {
    let value = |fits: fn(&str) -> bool| {
        both.iter().find(|(key, _)| words(key).iter().any(|word| fits(word))).and_then(|(_, value)| scalar(value))
    };
    if let Some(to) = value(is_after) {
        let id = id_of(both).or_else(|| id_of(around));
        found.status(StatusChange { id, from: value(is_before), to });
    }
}

/// The changes that sentences tell: a status, then "from … to …".
pub(crate) fn of_text(text: &str, found: &mut Found) {
    for line in text.lines().take(1_000) {
        let end = line.char_indices().nth(1_000).map_or(line.len(), |(end, _)| end);
        if let Some((from, to)) = in_sentence(&line[..end]) {
            found.status(StatusChange { id: None, from: Some(from), to });
        }
    }
}

fn in_sentence(line: &str) -> Option<(String, String)> {
    // Lower case of the same length, so that places in one are places in the other.
    let lower = line.to_ascii_lowercase();
    let status = ["status", "state", "phase", "stage"].iter().filter_map(|word| lower.find(word)).min()?;
    let from = status + lower[status..].find(" from ")? + " from ".len();
    let to = from + lower[from..].find(" to ")?;
    let before = named(&line[from..to])?;
    let rest = &line[to + " to ".len()..];
    let after = match rest.chars().next()? {
        quote @ ('"' | '\'' | '`') => rest[1..].split(quote).next()?,
        _ => rest.split(['.', ',', ';', '(', ')']).next()?,
    };
    Some((before, named(after)?))
}

/// The name of a status, without quotes.
fn named(text: &str) -> Option<String> {
    let name = text.trim().trim_matches(['"', '\'', '`', '.', '*']);
    (!name.is_empty() && name.chars().count() <= MOST).then(|| name.to_owned())
}
