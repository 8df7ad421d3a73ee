//! Files: their paths and sizes.

use crate::extractor::Execution;
use crate::found::Found;
use crate::key::words;
use crate::walk::{Walk, text_of};
use serde_json::{Map, Value};

/// Names of a path, as words.
const PATHS: [&str; 13] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "filenames",
    "filepaths",
    "directory",
    "folder",
    "source",
    "destination",
    "uri",
];
/// Names of an object's path.
const OWN: [&str; 8] = ["path", "filePath", "file_path", "filename", "fileName", "file", "uri", "name"];
/// Lines of a text that are read.
const LINES: usize = 2_000;

/// Finds them in what the tool was called with, in the result, and in the lines of a text.
pub(crate) fn extract(execution: &Execution<'_>, found: &mut Found) {
    for value in [execution.arguments, execution.result] {
        let mut walk = Walk::of(value);
        for node in walk.by_ref() {
            match node.value {
                Value::Object(fields) => of_object(fields, node.key, found),
                Value::String(text) if is_path(node.key) && leads_somewhere(text) => found.file(bare(text), None),
                _ => {}
            }
        }
        if walk.is_cut() {
            found.cut();
        }
    }
    let called = execution.arguments.as_object().and_then(|fields| text_of(fields, &OWN));
    if let Value::String(text) = execution.result {
        of_lines(text, called, found);
    }
}

/// A path beside a size, or beside the text that is written.
fn of_object(fields: &Map<String, Value>, key: &str, found: &mut Found) {
    let names_files = is_path(key) || OWN[..7].iter().any(|name| fields.contains_key(*name));
    let Some(path) = text_of(fields, &OWN).filter(|path| names_files && looks_like_path(path)) else { return };
    let told = fields.iter().find(|(key, _)| is_size(key)).and_then(|(_, value)| value.as_u64());
    let written = || {
        let text = ["content", "contents", "data"].iter().find_map(|name| fields.get(*name)?.as_str())?;
        u64::try_from(text.len()).ok()
    };
    found.file(bare(path), told.or_else(written));
}

/// Lines of a listing (`[FILE] notes.txt`) and of what is told about the file that was asked for (`size: 12`).
fn of_lines(text: &str, called: Option<&str>, found: &mut Found) {
    for line in text.lines().take(LINES) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("[FILE]") {
            let (name, bytes) = listed(name.trim());
            found.file(name, bytes);
        } else if let Some((path, (key, value))) = called.zip(line.split_once(':'))
            && is_size(key)
            && let Ok(bytes) = value.trim().trim_end_matches("bytes").trim().parse()
        {
            found.file(bare(path), Some(bytes));
        }
    }
}

/// A listed name, and its size where that stands behind it: `notes.txt   12 B`.
fn listed(line: &str) -> (&str, Option<u64>) {
    let size = || {
        let (name, size) = line.rsplit_once("  ")?;
        let bytes = size.trim().strip_suffix('B')?.trim().parse().ok()?;
        Some((name.trim(), bytes))
    };
    size().map_or((line, None), |(name, bytes)| (name, Some(bytes)))
}

fn is_path(key: &str) -> bool {
    words(key).last().is_some_and(|last| PATHS.contains(&last.as_str()))
}

fn is_size(key: &str) -> bool {
    let words = words(key);
    words.iter().any(|word| matches!(word.as_str(), "size" | "bytes" | "length" | "filesize"))
}

/// A text that is a path for itself: what stands under "source" may be anything else.
fn leads_somewhere(text: &str) -> bool {
    looks_like_path(text) && bare(text).contains(['/', '\\', '.']) && !bare(text).contains("://")
}

/// A path is one line of a bearable length; a whole text under the name "file" is none.
fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.len() <= 1_024 && !text.contains(['\n', '\0'])
}

/// A path without the scheme of a file's address.
fn bare(path: &str) -> &str {
    path.trim().strip_prefix("file://").unwrap_or(path.trim())
}
