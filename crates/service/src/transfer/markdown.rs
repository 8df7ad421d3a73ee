//! A conversation to read: the shown branch as Markdown.

use super::Record;
use super::tools::quoted;
use chrono::{DateTime, Utc};
use evenkeel_domain::{Message, MessageStatus, Role};
use std::fmt::Write;

/// The whole text.
pub(super) fn written(record: &Record) -> String {
    let shown = record.shown();
    let conversation = &record.conversation;
    let mut text = format!("# {}\n\n", line(&conversation.title));
    // Writing to a String cannot fail.
    if let Some(name) = &record.companion {
        let _ = writeln!(text, "- Companion: {}", line(name));
    }
    let _ = writeln!(text, "- Begun: {}", time(conversation.created_at));
    let _ = writeln!(text, "- Last message: {}", time(conversation.last_activity_at));
    if !conversation.tags.is_empty() {
        let tags: Vec<String> = conversation.tags.iter().map(|tag| line(tag)).collect();
        let _ = writeln!(text, "- Tags: {}", tags.join(", "));
    }
    let others = record.messages.len() - shown.len();
    let _ = match others {
        0 => writeln!(text, "- Messages: {}", shown.len()),
        others => writeln!(text, "- Messages: {} (another {others} are on other branches)", shown.len()),
    };
    for message in shown {
        let speaker = speaker(record, message);
        let _ = write!(text, "\n## {speaker} · {}\n\n", time(message.created_at));
        for operation in record.operations_of(message) {
            let _ = writeln!(text, "{}", quoted(operation));
        }
        let _ = writeln!(text, "{}", message.content.trim_end());
        if let Some(note) = note(message.status) {
            let _ = write!(text, "\n*{note}*\n");
        }
    }
    for operation in record.operations_beside() {
        let _ = write!(text, "\n{}", quoted(operation));
    }
    text
}

pub(super) fn speaker(record: &Record, message: &Message) -> String {
    match message.role {
        Role::User => "You".to_owned(),
        Role::Assistant => record.agent(message).map_or_else(|| "Companion".to_owned(), line),
        Role::System => "System".to_owned(),
    }
}

pub(super) fn note(status: MessageStatus) -> Option<&'static str> {
    match status {
        MessageStatus::Complete => None,
        MessageStatus::Stopped => Some("Stopped here."),
        MessageStatus::Interrupted => Some("Broken off here."),
        MessageStatus::Truncated => Some("Cut here by the limit of its length."),
    }
}

/// A text that stays on its line.
pub(super) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn time(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}
