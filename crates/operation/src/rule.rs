//! The user's own rules: JSONPaths, checked when they are saved and bounded in what they cost.

use crate::found::Found;
use crate::walk::{MOST_VALUES, Walk};
use evenkeel_domain::{FieldError, OperationRule, glob_fits};
use serde_json::Value;
use serde_json_path::JsonPath;

/// Most commas of a path: each may double what is looked at.
const MOST_COMMAS: usize = 4;
/// Most filters of a path.
const MOST_FILTERS: usize = 1;

/// Rules that were read.
#[derive(Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    name: String,
    tools: String,
    path: JsonPath,
}

impl Rules {
    /// Reads rules.
    ///
    /// # Errors
    /// A path is no JSONPath, or could take long: more than one `..`, one filter, four commas, or a `$` within.
    pub fn read(rules: &[OperationRule]) -> Result<Self, FieldError> {
        Ok(Self(rules.iter().map(Rule::read).collect::<Result<_, _>>()?))
    }

    /// Reads rules that were checked when they were saved; one that cannot be read any more finds nothing.
    #[must_use]
    pub fn saved(rules: &[OperationRule]) -> Self {
        Self(rules.iter().filter_map(|rule| Rule::read(rule).ok()).collect())
    }

    /// What the rules for a tool find in a result, each value as JSON.
    #[must_use]
    pub fn values(&self, tool_name: &str, result: &Value) -> Vec<String> {
        let mut found = Found::default();
        self.apply(&tool_name.to_lowercase(), result, &mut found);
        found.finish().values.into_iter().map(|found| found.value.to_string()).collect()
    }

    /// What the rules for a tool, named in lower case, find in a result. One that has too many values for that is left.
    pub(crate) fn apply(&self, tool: &str, result: &Value, found: &mut Found) {
        let mut fitting = self.0.iter().filter(|rule| glob_fits(&rule.tools, tool)).peekable();
        if fitting.peek().is_none() {
            return;
        }
        if Walk::of(result).count() >= MOST_VALUES {
            found.cut();
            return;
        }
        for rule in fitting {
            for value in rule.path.query(result) {
                found.value(&rule.name, value);
            }
        }
    }
}

impl Rule {
    fn read(rule: &OperationRule) -> Result<Self, FieldError> {
        Ok(Self { name: rule.name.clone(), tools: rule.tool_pattern.trim().to_lowercase(), path: path(rule)? })
    }
}

fn path(rule: &OperationRule) -> Result<JsonPath, FieldError> {
    let text = rule.path.trim();
    let refused = |range: String| {
        let value = text.chars().take(80).collect();
        FieldError { field: "operations.rules.path", value, range }
    };
    let bare = outside_quotes(text);
    let count = |part: &str| bare.matches(part).count();
    // Each of these multiplies what is looked at; without a bound a short path takes hours.
    if count("..") > 1 || count("?") > MOST_FILTERS || count(",") > MOST_COMMAS || count("$") > 1 {
        return Err(refused("a JSONPath with at most one .., one filter and four commas, and $ at its beginning only".into()));
    }
    JsonPath::parse(text).map_err(|error| {
        let (at, why) = (error.position(), error.message());
        refused(format!("a JSONPath such as $.items[*].id (at character {at}: {why})"))
    })
}

/// A path without what stands in quotes.
fn outside_quotes(path: &str) -> String {
    let (mut bare, mut quote, mut is_escaped) = (String::new(), None, false);
    for character in path.chars() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if character == '\\' => is_escaped = true,
            Some(end) if character == end => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None => bare.push(character),
        }
    }
    bare
}
