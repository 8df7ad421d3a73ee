//! What a call gave.

use rmcp::model::CallToolResult;
use serde_json::Value;

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The whole result, as the protocol has it.
    pub result: Value,
    /// The text of it: the texts of its parts, with what has none named in brackets.
    pub text: String,
    /// The tool says that it failed.
    pub is_error: bool,
}

impl Outcome {
    pub(crate) fn of(result: &CallToolResult) -> Self {
        let is_error = result.is_error.unwrap_or(false);
        let whole = serde_json::to_value(result).unwrap_or_default();
        let parts = whole["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut text = parts.iter().map(part).collect::<Vec<_>>().join("\n");
        if text.is_empty()
            && let Some(structured) = whole.get("structuredContent")
        {
            text = structured.to_string();
        }
        Self { result: whole, text, is_error }
    }
}

/// A part as text. Images and the like say nothing to a model of text.
fn part(part: &Value) -> String {
    let text = part["text"].as_str().or_else(|| part["resource"]["text"].as_str());
    text.map_or_else(|| format!("[{}]", part["type"].as_str().unwrap_or("something else")), str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn outcome(value: Value) -> Outcome {
        Outcome::of(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn the_text_of_a_result_names_what_has_none() {
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        let given = outcome(json!({"content": [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]}));
        assert_eq!((given.text.as_str(), given.is_error), ("a\n[image]\nb", false));
        let failed = outcome(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert!(failed.is_error);
        let structured = outcome(json!({"content": [], "structuredContent": {"id": 7}}));
        assert_eq!(structured.text, r#"{"id":7}"#);
    }
}
