//! Grouping messages into exchanges, the units in which history leaves the window.

use crate::{FRAME_TOKENS, HistoryMessage};
use evenkeel_domain::Role;
use std::ops::Range;

/// User text and the reply to it; the smallest part of history that is kept or left out.
///
/// Rule: an exchange begins with a user message that follows something else than a user
/// message, and lasts until the next one does. So a question that was never answered belongs
/// together with the one asked after it, and so does a second reply with the first. Only the
/// newest exchange can be open (without a reply); the text being sent continues it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Positions of its messages in the history slice.
    pub messages: Range<usize>,
    /// Tokens of its messages with their framing.
    pub tokens: u32,
    /// Whether it has a reply.
    pub answered: bool,
}

/// Whether a message has nothing to send; providers refuse empty messages.
pub(crate) fn is_blank(message: &HistoryMessage<'_>) -> bool {
    message.content.trim().is_empty()
}

/// Groups the messages from position `from` on. Those before the first user message belong to
/// no exchange: a request never begins with the middle of an exchange.
#[must_use]
pub fn exchanges(history: &[HistoryMessage<'_>], from: usize) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut previous = Role::Assistant;
    for (at, message) in history.iter().enumerate().skip(from) {
        if is_blank(message) {
            continue;
        }
        if message.role == Role::User && previous != Role::User {
            found.push(Exchange { messages: at..at, tokens: 0, answered: false });
        }
        previous = message.role;
        if let Some(exchange) = found.last_mut() {
            exchange.messages.end = at + 1;
            exchange.tokens = exchange.tokens.saturating_add(message.tokens).saturating_add(FRAME_TOKENS);
            exchange.answered |= message.role == Role::Assistant;
        }
    }
    found
}

/// Where the longest tail begins that has at most `limit` tokens.
pub(crate) fn tail_within(exchanges: &[Exchange], limit: u32) -> usize {
    let mut left = limit;
    let mut first = exchanges.len();
    for (at, exchange) in exchanges.iter().enumerate().rev() {
        let Some(rest) = left.checked_sub(exchange.tokens) else { break };
        left = rest;
        first = at;
    }
    first
}
