//! What is asked of a model, independent of the wire format.

use evenkeel_domain::Role;
use serde_json::Value;

/// Tokens of a reply where the request names no limit and the wire format demands one.
pub const DEFAULT_MAX_TOKENS: u32 = 4_096;

/// One request for a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The model's name at its provider.
    pub model: String,
    /// The conversation in order. System entries at the beginning are the persona and memory;
    /// a later one (the trailing block) is folded into the user message beside it, because
    /// Anthropic knows no late system message and many chat templates refuse one.
    pub messages: Vec<ChatMessage>,
    /// Sampling temperature, 0–1; `None` = the provider's own.
    pub temperature: Option<f32>,
    /// Most tokens of the reply; `None` = the provider's own, or [`DEFAULT_MAX_TOKENS`] where
    /// the format demands a number (Anthropic).
    pub max_tokens: Option<u32>,
    /// The model's window in tokens. Sent as `num_ctx` to Ollama, whose default is small;
    /// other formats have no such field.
    pub window: Option<u32>,
    /// Tools the model may ask for; empty = none.
    pub tools: Vec<ToolSchema>,
    /// JSON Schema that the reply has to fit. OpenAI-compatible servers, Ollama and the built-in engine
    /// are told to write nothing else; Anthropic has no such field. A reply may still not fit: check it.
    pub response_schema: Option<Value>,
    /// Keeps the request away from the conversation's memory. Only the built-in engine knows the
    /// field, and others may refuse a request for it: set it for the engine alone.
    pub background: bool,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// The text. A blank one is left out of the request: providers refuse it.
    pub content: String,
}

impl ChatMessage {
    /// A message.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// A tool that the model may ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// The tool's name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// The messages as every format can carry them: system texts first, then turns of user and
/// assistant in alternation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arranged<'a> {
    /// The system texts before the first turn.
    pub system: Vec<&'a str>,
    /// User and assistant turns, no two neighbours of the same role.
    pub turns: Vec<Turn<'a>>,
}

/// What one side said before the other spoke again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Turn<'a> {
    /// True for the user's.
    pub user: bool,
    /// The texts, at least one.
    pub texts: Vec<Text<'a>>,
}

/// A text of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    /// The words.
    pub text: &'a str,
    /// True for a system text that was folded into the turn: it is not sent again with the
    /// next request, so nothing after it can be reused from a cache.
    pub folded: bool,
}

impl Turn<'_> {
    /// The turn as one text.
    pub fn joined(&self) -> String {
        self.texts.iter().map(|part| part.text).collect::<Vec<_>>().join("\n\n")
    }

    /// The role's name in JSON.
    pub fn role(&self) -> &'static str {
        if self.user { Role::User.as_str() } else { Role::Assistant.as_str() }
    }
}

/// Puts the messages in the shape every format can carry.
///
/// A late system text joins the user turn it follows; after an assistant turn it opens the
/// next user turn.
pub(crate) fn arrange(messages: &[ChatMessage]) -> Arranged<'_> {
    let mut arranged = Arranged { system: Vec::new(), turns: Vec::new() };
    for message in messages.iter().filter(|message| !message.content.trim().is_empty()) {
        let text = message.content.as_str();
        let folded = message.role == Role::System;
        if folded && arranged.turns.is_empty() {
            arranged.system.push(text);
            continue;
        }
        let user = message.role != Role::Assistant;
        match arranged.turns.last_mut() {
            Some(turn) if turn.user == user => turn.texts.push(Text { text, folded }),
            _ => arranged.turns.push(Turn { user, texts: vec![Text { text, folded }] }),
        }
    }
    arranged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(messages: &[(Role, &str)]) -> (Vec<String>, Vec<(bool, String)>) {
        let messages: Vec<_> = messages.iter().map(|(role, text)| ChatMessage::new(*role, *text)).collect();
        let arranged = arrange(&messages);
        let turns = arranged.turns.iter().map(|turn| (turn.user, turn.joined())).collect();
        (arranged.system.iter().map(ToString::to_string).collect(), turns)
    }

    #[test]
    fn a_trailing_system_text_joins_the_user_text_before_it() {
        let (system, turns) =
            shape(&[(Role::System, "persona"), (Role::System, "memory"), (Role::User, "hi"), (Role::System, "anchor")]);
        assert_eq!(system, ["persona", "memory"]);
        assert_eq!(turns, [(true, "hi\n\nanchor".to_owned())]);
    }

    #[test]
    fn a_system_text_after_an_assistant_opens_the_next_user_turn() {
        let (_, turns) = shape(&[
            (Role::User, "a"),
            (Role::Assistant, "b"),
            (Role::System, "note"),
            (Role::User, "c"),
            (Role::Assistant, "d"),
            (Role::System, "end"),
        ]);
        let expected = [(true, "a"), (false, "b"), (true, "note\n\nc"), (false, "d"), (true, "end")];
        assert_eq!(turns, expected.map(|(user, text)| (user, text.to_owned())));
    }

    #[test]
    fn blank_texts_vanish_and_turns_alternate() {
        let (_, turns) = shape(&[(Role::User, "a"), (Role::Assistant, "  \n"), (Role::User, "b")]);
        assert_eq!(turns, [(true, "a\n\nb".to_owned())]);
    }
}
