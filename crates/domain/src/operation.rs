//! Operations: what tools did in a conversation, with what matters of their results taken out.

use crate::limits::{characters, number};
use crate::{ContextId, ConversationId, ErrorBody, FieldError, MessageId, OperationId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One execution of a tool. It belongs to one conversation, and no other reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The context that used the tool.
    pub context_id: ContextId,
    /// The reply that it belongs to; `None` where there is none.
    pub message_id: Option<MessageId>,
    /// When it ended.
    pub at: DateTime<Utc>,
    /// What the user had asked.
    pub query: String,
    /// Which server the tool is of.
    pub source: String,
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    #[cfg_attr(feature = "specta", specta(type = specta_typescript::Unknown))]
    pub arguments: Value,
    /// What it answered: text that is JSON is parsed.
    #[cfg_attr(feature = "specta", specta(type = specta_typescript::Unknown))]
    pub result: Value,
    /// What matters of it.
    pub metadata: OperationMetadata,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// Why it failed; `None` where it did not.
    pub error: Option<ErrorBody>,
}

/// An execution of a tool that has just been recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedOperation {
    /// Its record.
    pub operation: Operation,
    /// It did what it was called for, as far as it says so.
    pub is_success: bool,
}

/// An execution of a tool before it is recorded; the fields are those of [`Operation`].
#[derive(Debug, Clone, PartialEq)]
pub struct OperationDraft {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The context that used the tool.
    pub context_id: ContextId,
    /// The reply that it belongs to; it need not be stored yet.
    pub message_id: Option<MessageId>,
    /// What the user had asked.
    pub query: String,
    /// Which server the tool is of.
    pub source: String,
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    pub arguments: Value,
    /// What it answered: a result of MCP as it came, or any other JSON.
    pub result: Value,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// Why it failed; `None` where it did not.
    pub error: Option<ErrorBody>,
}

/// Which operations are wanted: the newest of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OperationQuery {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Most operations, 1–50.
    #[serde(default = "default_limit")]
    pub limit: u32,
    /// Only of tools whose name has this in it, in either case; with `*` or `?` the whole name has to fit.
    #[serde(default)]
    pub tool_filter: Option<String>,
}

fn default_limit() -> u32 {
    OperationQuery::DEFAULT_LIMIT
}

impl OperationQuery {
    /// Operations that are given where nobody says how many.
    pub const DEFAULT_LIMIT: u32 = 5;
    /// Most operations in one answer.
    pub const MOST: u32 = 50;

    /// The newest five of a conversation.
    #[must_use]
    pub fn new(conversation_id: ConversationId) -> Self {
        Self { conversation_id, limit: Self::DEFAULT_LIMIT, tool_filter: None }
    }

    /// Checks the limit and the filter.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("limit", self.limit, 1, Self::MOST)?;
        let filter = self.tool_filter.as_deref().unwrap_or_default();
        characters("toolFilter", filter, 0, OperationRule::PATTERN_CHARACTERS)
    }
}

/// Which part of a conversation's operations is shown, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OperationPageQuery {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Page, counted from 1.
    pub page: u32,
    /// Operations on it, 1–50.
    pub page_size: u32,
    /// Only of the tool of this name.
    pub tool_name: Option<String>,
}

impl OperationPageQuery {
    /// Checks page and number.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("page", self.page, 1, u32::MAX)?;
        number("pageSize", self.page_size, 1, OperationQuery::MOST)
    }
}

/// Whether a tool's name fits a filter: a part of it in either case, or with `*` and `?` the whole.
#[must_use]
pub fn tool_fits(filter: &str, tool_name: &str) -> bool {
    let (filter, name) = (filter.trim().to_lowercase(), tool_name.to_lowercase());
    if filter.contains(['*', '?']) { glob_fits(&filter, &name) } else { name.contains(&filter) }
}

/// Whether a whole text fits a pattern, in which `*` stands for any characters and `?` for one.
#[must_use]
pub fn glob_fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|wanted| *wanted == '?' || *wanted == text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, taken)) = star {
            (p, t) = (at + 1, taken + 1);
            star = Some((at, t));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
}

/// What matters of an operation, as far as it could be found. Each list has a bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct OperationMetadata {
    /// Ids with what names them, in the order that they were found in.
    pub ids: Vec<FoundId>,
    /// Ids of what was made.
    pub created: Vec<String>,
    /// Ids of what was changed.
    pub updated: Vec<String>,
    /// Ids of what was deleted.
    pub deleted: Vec<String>,
    /// What went from one status into another.
    pub status_changes: Vec<StatusChange>,
    /// Numbers of things.
    pub counts: Vec<FoundCount>,
    /// What went wrong, as the tool says it.
    pub errors: Vec<String>,
    /// Answers that were selected.
    pub selected: Vec<FoundAnswer>,
    /// Answers that were deselected.
    pub deselected: Vec<FoundAnswer>,
    /// Files that were read or written.
    pub files: Vec<FoundFile>,
    /// What the user's own rules found.
    pub values: Vec<FoundValue>,
    /// There was more than is kept here, or the result was too large to be kept whole.
    pub is_cut: bool,
}

/// An id, and what names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FoundId {
    /// The key that it stood under; `text` for one in a text.
    pub key: String,
    /// The id.
    pub id: String,
}

/// A change of a status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// The id of what changed, where it is known.
    pub id: Option<String>,
    /// The status before, where it is known.
    pub from: Option<String>,
    /// The status since.
    pub to: String,
}

/// A number of things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FoundCount {
    /// What is counted: the key that it stood under.
    pub name: String,
    /// How many.
    #[cfg_attr(feature = "specta", specta(type = f64))]
    pub count: u64,
}

/// An answer of a survey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FoundAnswer {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Its text, where it is told.
    pub text: Option<String>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// Its path as the tool names it.
    pub path: String,
    /// Its size in bytes, where it is told.
    #[cfg_attr(feature = "specta", specta(type = Option<f64>))]
    pub bytes: Option<u64>,
}

/// What a rule of the user found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FoundValue {
    /// The rule's name.
    pub rule: String,
    /// The value.
    #[cfg_attr(feature = "specta", specta(type = specta_typescript::Unknown))]
    pub value: Value,
}

/// A rule of the user: what to take out of the results of some tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OperationRule {
    /// What the values are called, 1–60 characters; each rule has another name.
    pub name: String,
    /// Which tools it is for, 1–120 characters, in either case: `*` stands for any characters, `?` for one.
    pub tool_pattern: String,
    /// Where the values are in the result: a JSONPath of 1–200 characters.
    pub path: String,
}

impl OperationRule {
    /// Most characters of a pattern of tools.
    pub const PATTERN_CHARACTERS: usize = 120;
    /// Most characters of a JSONPath.
    const PATH_CHARACTERS: usize = 200;

    /// Checks the lengths; whether the path can be read is for whoever evaluates it.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        characters("operations.rules.name", &self.name, 1, 60)?;
        characters("operations.rules.toolPattern", &self.tool_pattern, 1, Self::PATTERN_CHARACTERS)?;
        characters("operations.rules.path", &self.path, 1, Self::PATH_CHARACTERS)
    }
}

/// How long operations are kept, and the user's own rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct OperationSettings {
    /// Newest operations that a conversation keeps, 1–1,000.
    pub kept: u32,
    /// Transient sessions whose operations are kept, 1–10,000; of those beyond, the longest unused ones go.
    pub transient_sessions: u32,
    /// Minutes after which the operations of a transient session go that nobody uses, 1–10,080; 0 = never.
    pub transient_minutes: u32,
    /// The user's own rules, at most 50.
    pub rules: Vec<OperationRule>,
}

impl Default for OperationSettings {
    fn default() -> Self {
        Self { kept: 50, transient_sessions: 100, transient_minutes: 60, rules: Vec::new() }
    }
}

impl OperationSettings {
    /// Most rules.
    pub const MOST_RULES: usize = 50;

    /// Checks every value that has a range.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("operations.kept", self.kept, 1, 1_000)?;
        number("operations.transientSessions", self.transient_sessions, 1, 10_000)?;
        number("operations.transientMinutes", self.transient_minutes, 0, 10_080)?;
        number("operations.rules", self.rules.len(), 0, Self::MOST_RULES)?;
        self.rules.iter().try_for_each(OperationRule::check)?;
        let twice = self.rules.iter().enumerate().find(|(at, rule)| self.rules[..*at].iter().any(|one| one.name == rule.name));
        twice.map_or(Ok(()), |(_, rule)| {
            let value = rule.name.chars().take(80).collect();
            Err(FieldError { field: "operations.rules.name", value, range: "another name for each rule".into() })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_filter_is_a_part_of_a_name_or_a_pattern_for_the_whole() {
        for (filter, fits) in [
            ("", true),
            ("file", true),
            (" FILE ", true),
            ("read*", false),
            ("*file", true),
            ("write_*", true),
            ("write_????", true),
            ("write_???", false),
            ("*e*f*e*", true),
            ("*x*", false),
        ] {
            assert_eq!(tool_fits(filter, "Write_File"), fits, "{filter:?}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!glob_fits(&"*a".repeat(60), &"a".repeat(59)));
        assert!(glob_fits(&"*a".repeat(60), &"a".repeat(5_000)));
        assert!(glob_fits("***", ""));
    }

    #[test]
    fn a_query_asks_for_five_where_nobody_says_more() {
        let json = r#"{"conversationId":"01890a5d-ac96-774b-bcce-b302099a8057"}"#;
        let query: OperationQuery = serde_json::from_str(json).unwrap();
        assert_eq!((query.limit, &query.tool_filter), (5, &None));
        assert_eq!(query, OperationQuery::new(query.conversation_id));
        for (limit, is_fine) in [(0, false), (1, true), (50, true), (51, false)] {
            assert_eq!(OperationQuery { limit, ..query.clone() }.check().is_ok(), is_fine, "{limit}");
        }
        let long = OperationQuery { tool_filter: Some("x".repeat(121)), ..query };
        assert_eq!(long.check().unwrap_err().field, "toolFilter");
    }

    #[test]
    fn settings_have_ranges_and_rules_names_of_their_own() {
        let rule = |name: &str| OperationRule { name: name.into(), tool_pattern: "*".into(), path: "$.a".into() };
        let with = |rules: &[OperationRule]| OperationSettings { rules: rules.to_vec(), ..OperationSettings::default() };
        assert_eq!(OperationSettings::default().check(), Ok(()));
        assert_eq!(with(&[rule("a"), rule("b")]).check(), Ok(()));
        assert_eq!(with(&[rule("a"), rule("a")]).check().unwrap_err().field, "operations.rules.name");
        assert_eq!(with(&[rule(" ")]).check().unwrap_err().field, "operations.rules.name");
        assert_eq!(with(&vec![rule("a"); 51]).check().unwrap_err().field, "operations.rules");
        let kept = |kept| OperationSettings { kept, ..OperationSettings::default() }.check();
        assert!(kept(1).is_ok() && kept(1_000).is_ok() && kept(0).is_err() && kept(1_001).is_err());
        assert_eq!(serde_json::from_str::<OperationSettings>("{}").unwrap(), OperationSettings::default());
    }
}
