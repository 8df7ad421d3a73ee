//! What is asked of a model, independent of the wire format.

use evenkeel_domain::{Role, ToolSchema};
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
    /// Tools the model may ask for; empty = none. Not every model knows what to do with them, and the built-in engine
    /// refuses a request that has some.
    pub tools: Vec<ToolSchema>,
    /// The tools are named, since the messages tell of their calls, but may not be called again.
    pub tools_are_over: bool,
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
    /// The text. A blank one is left out of the request, as providers refuse it, unless calls or an answer go with it.
    pub content: String,
    /// The tools that the assistant asked for with it, in order; each is answered by one of the next messages.
    pub calls: Vec<ToolCall>,
    /// The call whose result `content` is; such a message is the user's side of the conversation.
    pub answers: Option<ToolCall>,
}

impl ChatMessage {
    /// A message.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), answers: None }
    }

    /// What the assistant said while it asked for tools.
    pub fn calling(content: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self { calls, ..Self::new(Role::Assistant, content) }
    }

    /// What a call gave.
    pub fn result(call: ToolCall, content: impl Into<String>) -> Self {
        Self { answers: Some(call), ..Self::new(Role::User, content) }
    }

    fn is_blank(&self) -> bool {
        self.content.trim().is_empty() && self.calls.is_empty() && self.answers.is_none()
    }
}

/// A model's wish to run a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id of the call; made up where it gives none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them: not checked.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments as a JSON object; an empty one where they are none, which formats without text for them demand.
    pub(crate) fn object(&self) -> Value {
        let read = serde_json::from_str(&self.arguments).ok();
        read.filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }
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
    /// What the calls of the turn before it gave, before any text.
    pub results: Vec<Answer<'a>>,
    /// The texts; none only beside results or calls.
    pub texts: Vec<Text<'a>>,
    /// The tools that the assistant asks for, after any text.
    pub calls: &'a [ToolCall],
}

/// What one call gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// Its result.
    pub text: &'a str,
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
/// next user turn. Nothing follows an assistant turn with calls but their results.
pub(crate) fn arrange(messages: &[ChatMessage]) -> Arranged<'_> {
    let mut arranged = Arranged { system: Vec::new(), turns: Vec::new() };
    for message in messages.iter().filter(|message| !message.is_blank()) {
        let text = message.content.as_str();
        let folded = message.role == Role::System;
        if folded && arranged.turns.is_empty() {
            arranged.system.push(text);
            continue;
        }
        let user = message.role != Role::Assistant;
        let turn = arranged.turn(user);
        turn.calls = &message.calls;
        match &message.answers {
            Some(call) => turn.results.push(Answer { call, text }),
            None if text.trim().is_empty() => {}
            None => turn.texts.push(Text { text, folded }),
        }
    }
    arranged
}

impl<'a> Arranged<'a> {
    /// The turn of a side: the last one, or a new one where the other side spoke last.
    fn turn(&mut self, user: bool) -> &mut Turn<'a> {
        let last = self.turns.len().checked_sub(1).filter(|last| {
            let turn = &self.turns[*last];
            turn.user == user && turn.calls.is_empty()
        });
        let at = last.unwrap_or(self.turns.len());
        if last.is_none() {
            self.turns.push(Turn { user, results: Vec::new(), texts: Vec::new(), calls: &[] });
        }
        &mut self.turns[at]
    }
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
    fn results_follow_their_calls_and_stand_before_the_text_of_their_side() {
        let call = |id: &str| ToolCall { id: id.into(), name: "clock".into(), arguments: "{}".into() };
        let messages = [
            ChatMessage::new(Role::User, "What time is it?"),
            ChatMessage::calling("", vec![call("a"), call("b")]),
            ChatMessage::result(call("a"), "noon"),
            ChatMessage::result(call("b"), ""),
            ChatMessage::new(Role::System, "No more calls."),
            ChatMessage::new(Role::Assistant, "Noon."),
        ];
        let arranged = arrange(&messages);
        let shape: Vec<_> = arranged.turns.iter().map(|t| (t.user, t.results.len(), t.texts.len(), t.calls.len())).collect();
        assert_eq!(shape, [(true, 0, 1, 0), (false, 0, 0, 2), (true, 2, 1, 0), (false, 0, 1, 0)]);
        assert_eq!(arranged.turns[2].results[1], Answer { call: &call("b"), text: "" });
    }

    #[test]
    fn blank_texts_vanish_and_turns_alternate() {
        let (_, turns) = shape(&[(Role::User, "a"), (Role::Assistant, "  \n"), (Role::User, "b")]);
        assert_eq!(turns, [(true, "a\n\nb".to_owned())]);
    }
}
