//! Four forms of one prompt: chat messages, the same for small models and for strict templates, plain text.

use crate::{BlockKind, Origin, Prompt};
use evenkeel_domain::Role;
use std::fmt::Write;

/// Opens the trailing text where it stands inside a user message; closed by `]`.
const NOTE: &str = "[Note from the app, not from the user. ";

/// Closes the trailing text where the user's message follows it.
const BEFORE_USER: &str = "The user now says:";

/// Tokens that the note's brackets, or the line before the user's message, may take beside the framing of a message.
pub(crate) const NOTE_TOKENS: u32 = 12;

impl Prompt {
    /// The request as chat messages: system, history from a user message on, user, and the
    /// trailing text as a last system message. Consecutive texts of one role are one message,
    /// joined by an empty line.
    #[must_use]
    pub fn messages(&self) -> Vec<(Role, String)> {
        self.joined(|_, role, text| (role, text.to_owned()))
    }

    /// The same for small models, which answer whatever comes last: the trailing text is a system
    /// message of its own before the user's. The price is that the next request computes that
    /// message of the user again.
    #[must_use]
    pub fn user_last(&self) -> Vec<(Role, String)> {
        let mut trailing = Vec::new();
        let mut messages = self.joined(|kind, role, text| {
            if kind == BlockKind::Trailing {
                trailing.push(text.to_owned());
                return (Role::User, String::new());
            }
            (role, text.to_owned())
        });
        if !trailing.is_empty() {
            trailing.push(BEFORE_USER.to_owned());
            messages.insert(messages.len().saturating_sub(1), (Role::System, trailing.join("\n")));
        }
        messages
    }

    /// The same for templates that take system text only at the beginning: later system text stands
    /// in the user message beside it, the trailing text in brackets at the end.
    #[must_use]
    pub fn folded(&self) -> Vec<(Role, String)> {
        let mut trailing = String::new();
        let mut messages = self.joined(|kind, role, text| match (kind, role) {
            (BlockKind::History, Role::System) => (Role::User, text.to_owned()),
            (BlockKind::Trailing, _) => {
                let gap = if trailing.is_empty() { "" } else { "\n" };
                trailing.push_str(gap);
                trailing.push_str(text);
                (Role::User, String::new())
            }
            _ => (role, text.to_owned()),
        });
        if let Some((_, last)) = messages.last_mut().filter(|_| !trailing.is_empty()) {
            last.push_str("\n\n");
            last.push_str(NOTE);
            last.push_str(&trailing);
            last.push(']');
        }
        messages
    }

    /// What the next request will begin with too, whatever is said in it and whatever form it has: system text, memory
    /// and history.
    #[must_use]
    pub fn beginning(&self) -> Vec<(Role, String)> {
        let stays = |kind| !matches!(kind, BlockKind::User | BlockKind::Trailing);
        self.joined(|kind, role, text| (role, if stays(kind) { text.to_owned() } else { String::new() }))
    }

    /// The request as one text for models that only complete: it ends with the companion's name
    /// and a colon.
    #[must_use]
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        for (role, content) in self.folded() {
            let speaker = match role {
                Role::System => "",
                Role::User => "User: ",
                Role::Assistant => &format!("{}: ", self.speaker),
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "{speaker}{content}\n\n");
        }
        text.push_str(&self.speaker);
        text.push(':');
        text
    }

    /// The included blocks with consecutive ones of the same role joined; tools are no message.
    fn joined(&self, mut place: impl FnMut(BlockKind, Role, &str) -> (Role, String)) -> Vec<(Role, String)> {
        let mut messages: Vec<(Role, String)> = Vec::new();
        for block in self.blocks.iter().filter(|block| block.included && block.origin != Origin::Tools) {
            let (role, text) = place(block.kind, block.role, &block.text);
            if text.is_empty() {
                continue;
            }
            match messages.last_mut() {
                Some((last, joined)) if *last == role => {
                    joined.push_str(if block.kind == BlockKind::Trailing { "\n" } else { "\n\n" });
                    joined.push_str(&text);
                }
                _ => messages.push((role, text)),
            }
        }
        messages
    }
}
