//! An execution of a tool on its way into the vault, and from there to a model.

use crate::chat::wording::worded;
use chrono::{DateTime, Utc};
use evenkeel_domain::{ConversationId, ErrorBody, Operation, OperationDraft, OperationId};
use evenkeel_operation::{Execution, Parsed, Rules, bounded, metadata, parsed};
use evenkeel_prompt::Redactor;
use serde_json::{Map, Value};

/// Most characters of what the user had asked.
const QUERY: usize = 4_000;
/// Most characters of the name of a tool or a server.
const NAME: usize = 200;

/// A draft whose result is parsed and in bounds.
pub(super) struct Opened {
    draft: OperationDraft,
    failure: Option<String>,
    is_cut: bool,
}

impl Opened {
    pub(super) fn of(draft: OperationDraft) -> Self {
        let OperationDraft { arguments, result, .. } = draft;
        let (arguments, are_cut) = bounded(arguments);
        let Parsed { value, failure, is_cut } = parsed(result);
        let draft = OperationDraft {
            arguments,
            result: value,
            query: beginning(&draft.query, QUERY),
            source: beginning(&draft.source, NAME),
            tool_name: beginning(&draft.tool_name, NAME),
            ..draft
        };
        Self { draft, failure, is_cut: is_cut || are_cut }
    }

    pub(super) fn conversation_id(&self) -> ConversationId {
        self.draft.conversation_id
    }

    /// Whether the tool did what it was called for, as far as it says so.
    pub(super) fn is_success(&self) -> bool {
        self.failure.is_none() && self.draft.error.is_none()
    }

    /// Takes out of all texts what is not to be stored.
    pub(super) fn redacted(self, redactor: Option<&Redactor>) -> Self {
        let Some(redactor) = redactor else { return self };
        let Self { draft, failure, is_cut } = self;
        let draft = OperationDraft {
            query: worded(&draft.query, Some(redactor)).text,
            arguments: clean(draft.arguments, redactor),
            result: clean(draft.result, redactor),
            error: draft.error.map(|error| clean_error(error, redactor)),
            ..draft
        };
        Self { draft, failure: failure.map(|text| worded(&text, Some(redactor)).text), is_cut }
    }

    pub(super) fn recorded(self, id: OperationId, at: DateTime<Utc>, rules: &Rules) -> Operation {
        let draft = self.draft;
        let mut metadata = metadata(
            &Execution {
                tool_name: &draft.tool_name,
                arguments: &draft.arguments,
                result: &draft.result,
                failure: self.failure.as_deref(),
                error: draft.error.as_ref(),
            },
            rules,
        );
        metadata.is_cut |= self.is_cut;
        Operation {
            id,
            conversation_id: draft.conversation_id,
            context_id: draft.context_id,
            message_id: draft.message_id,
            at,
            query: draft.query,
            source: draft.source,
            tool_name: draft.tool_name,
            arguments: draft.arguments,
            result: draft.result,
            metadata,
            duration_ms: draft.duration_ms,
            error: draft.error,
        }
    }
}

/// An operation as a model is told of it: without what is not to be sent.
pub(super) fn told(operation: Operation, redactor: Option<&Redactor>) -> Operation {
    let Some(redactor) = redactor else { return operation };
    let found = serde_json::to_value(&operation.metadata).ok().map(|found| clean(found, redactor));
    Operation {
        query: worded(&operation.query, Some(redactor)).text,
        arguments: clean(operation.arguments, redactor),
        result: clean(operation.result, redactor),
        metadata: found.and_then(|found| serde_json::from_value(found).ok()).unwrap_or_default(),
        error: operation.error.map(|error| clean_error(error, redactor)),
        ..operation
    }
}

/// A value without what the redactor finds in its texts and names; the depth is in bounds.
pub(crate) fn clean(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(worded(&text, Some(redactor)).text),
        Value::Array(items) => items.into_iter().map(|item| clean(item, redactor)).collect(),
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (key, field) in fields {
                let mut key = worded(&key, Some(redactor)).text;
                // Two names may have become one; neither value is lost.
                while kept.contains_key(&key) {
                    key.push('_');
                }
                kept.insert(key, clean(field, redactor));
            }
            Value::Object(kept)
        }
        other => other,
    }
}

fn clean_error(error: ErrorBody, redactor: &Redactor) -> ErrorBody {
    let details = error.details.into_iter().map(|(key, text)| (key, worded(&text, Some(redactor)).text)).collect();
    ErrorBody { code: error.code, message: worded(&error.message, Some(redactor)).text, details }
}

fn beginning(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_domain::RedactionSettings;
    use serde_json::json;

    #[test]
    fn texts_and_names_are_cleaned_at_every_depth_and_no_value_is_lost() {
        let redactor = Redactor::new(&RedactionSettings { emails: true, ..RedactionSettings::default() });
        let value = json!({"a@b.example": 1, "c@d.example": [{"to": "write to e@f.example"}], "n": 4});
        let expected = json!({"[email]": 1, "[email]_": [{"to": "write to [email]"}], "n": 4});
        assert_eq!(clean(value, &redactor), expected);
    }
}
