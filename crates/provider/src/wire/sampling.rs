//! A request for the model of a program that uses the companions (MCP sampling): the parameters of
//! `sampling/createMessage` (<https://modelcontextprotocol.io/specification/2025-11-25/client/sampling>).
//!
//! Such a request goes over the program's own connection, and to no address.

use crate::request::arrange;
use crate::{ChatRequest, DEFAULT_MAX_TOKENS};
use serde::Serialize;

/// How the address of such a request begins; the program's name follows.
pub const SCHEME: &str = "mcp-sampling:";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    max_tokens: u32,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: Content,
}

#[derive(Serialize)]
struct Content {
    r#type: &'static str,
    text: String,
}

/// The exact bytes of the parameters. Tools are left out: the program's model is told of none.
///
/// # Errors
/// None in practice.
pub fn render(request: &ChatRequest) -> Result<Vec<u8>, serde_json::Error> {
    let arranged = arrange(&request.messages);
    let message = |turn: &crate::request::Turn<'_>| {
        let content = Content { r#type: "text", text: turn.joined() };
        Message { role: turn.role(), content }
    };
    serde_json::to_vec(&Params {
        messages: arranged.turns.iter().map(message).collect(),
        system_prompt: (!arranged.system.is_empty()).then(|| arranged.system.join("\n\n")),
        temperature: request.temperature,
        max_tokens: request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ChatMessage;
    use evenkeel_domain::Role;

    #[test]
    fn system_texts_stand_apart_and_a_later_one_is_folded_into_the_users_words() {
        let messages = [
            (Role::System, "persona"),
            (Role::System, "memory"),
            (Role::User, "hi"),
            (Role::Assistant, "hello"),
            (Role::User, "why?"),
            (Role::System, "anchor"),
        ];
        let messages = messages.map(|(role, text)| ChatMessage::new(role, text)).to_vec();
        let request = ChatRequest { messages, temperature: Some(0.6), max_tokens: Some(500), ..ChatRequest::default() };
        let expected = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},"#.to_owned()
            + r#"{"role":"assistant","content":{"type":"text","text":"hello"}},"#
            + r#"{"role":"user","content":{"type":"text","text":"why?\n\nanchor"}}],"#
            + r#""systemPrompt":"persona\n\nmemory","temperature":0.6,"maxTokens":500}"#;
        assert_eq!(String::from_utf8(render(&request).unwrap()).unwrap(), expected);
    }
}
