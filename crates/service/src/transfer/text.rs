//! A conversation to read where nothing shows Markdown: the shown branch as plain text.

use super::Record;
use super::markdown::{line, note, speaker, time};
use super::tools::plain;
use std::fmt::Write;

/// The whole text.
pub(super) fn written(record: &Record) -> String {
    let conversation = &record.conversation;
    // Writing to a String cannot fail.
    let mut text = format!("{}\n", line(&conversation.title));
    if let Some(name) = &record.companion {
        let _ = writeln!(text, "With {}", line(name));
    }
    let (begun, last) = (time(conversation.created_at), time(conversation.last_activity_at));
    let _ = writeln!(text, "{begun} to {last}");
    for message in record.shown() {
        let speaker = speaker(record, message);
        let _ = write!(text, "\n{speaker}, {}:\n", time(message.created_at));
        for operation in record.operations_of(message) {
            text.push_str(&plain(operation));
        }
        let _ = writeln!(text, "{}", message.content.trim_end());
        if let Some(note) = note(message.status) {
            let _ = writeln!(text, "[{note}]");
        }
    }
    for operation in record.operations_beside() {
        let _ = write!(text, "\n{}", plain(operation));
    }
    text
}
