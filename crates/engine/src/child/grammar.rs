//! JSON Schemas as grammars in llama.cpp's notation, so that a reply cannot be anything else.
//!
//! Known are `type`, `properties`, `required`, `enum` and `items`; of other keywords nothing is held. An
//! object has its properties in the order of the schema and no others.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Levels of objects and lists in each other.
const DEPTH: usize = 8;
/// Most rules; a schema of a state has a few dozen.
const RULES: usize = 2_000;
/// Levels of what has no schema of its own.
const FREE_DEPTH: usize = 3;

/// The rules that every grammar has. Space is one blank at most: a model that may write more can go on
/// with it for ever.
const COMMON: &str = r#"space ::= " "?
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" hex hex hex hex)
hex ::= [0-9a-fA-F]
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})?
boolean ::= "true" | "false"
null ::= "null"
"#;

/// Why a schema has no grammar.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum GrammarError {
    #[error("a part of it is no object")]
    NoObject,
    #[error("it has the unknown type {0:?}")]
    UnknownType(String),
    #[error("it is more than {DEPTH} levels deep, or too large")]
    TooLarge,
}

/// The grammar of a schema; its first rule is `root`.
pub(crate) fn of_schema(schema: &Value) -> Result<String, GrammarError> {
    let mut rules = Rules::default();
    let root = rules.schema(schema, DEPTH)?;
    let mut text = format!("root ::= {root}\n{COMMON}");
    for (name, body) in &rules.0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name} ::= {body}");
    }
    Ok(text)
}

/// Rules by name, beside the common ones.
#[derive(Default)]
struct Rules(BTreeMap<String, String>);

impl Rules {
    /// Adds a rule and gives its name.
    fn add(&mut self, body: String) -> Result<String, GrammarError> {
        if self.0.len() >= RULES {
            return Err(GrammarError::TooLarge);
        }
        let name = format!("r{}", self.0.len());
        self.0.insert(name.clone(), body);
        Ok(name)
    }

    /// What stands for a value of a schema in another rule.
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<String, GrammarError> {
        let depth = depth.checked_sub(1).ok_or(GrammarError::TooLarge)?;
        let object = schema.as_object().ok_or(GrammarError::NoObject)?;
        if let Some(values) = object.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            let values: Vec<String> = values.iter().map(|value| literal(&value.to_string())).collect();
            return self.add(values.join(" | "));
        }
        match object.get("type") {
            Some(Value::String(kind)) => self.of_type(kind, schema, depth),
            Some(Value::Array(kinds)) if !kinds.is_empty() => {
                let kinds: Result<Vec<String>, GrammarError> =
                    kinds.iter().map(|kind| self.of_type(kind.as_str().unwrap_or_default(), schema, depth)).collect();
                self.add(kinds?.join(" | "))
            }
            _ if object.contains_key("properties") => self.of_type("object", schema, depth),
            _ => self.any(FREE_DEPTH),
        }
    }

    fn of_type(&mut self, kind: &str, schema: &Value, depth: usize) -> Result<String, GrammarError> {
        match kind {
            "string" | "integer" | "number" | "boolean" | "null" => Ok(kind.to_owned()),
            "array" => {
                let item = match schema.get("items") {
                    Some(items) => self.schema(items, depth)?,
                    None => self.any(FREE_DEPTH)?,
                };
                self.list(&item)
            }
            "object" if schema.get("properties").is_some_and(Value::is_object) => self.object(schema, depth),
            "object" => self.free_object(FREE_DEPTH),
            other => Err(GrammarError::UnknownType(other.to_owned())),
        }
    }

    fn list(&mut self, item: &str) -> Result<String, GrammarError> {
        self.add(format!(r#""[" ({item} ("," space {item})*)? "]""#))
    }

    /// Any JSON value, so many levels deep.
    fn any(&mut self, depth: usize) -> Result<String, GrammarError> {
        let mut body = "string | number | boolean | null".to_owned();
        if depth > 0 {
            let inner = self.any(depth - 1)?;
            let (list, object) = (self.list(&inner)?, self.members(&inner)?);
            body = format!("{body} | {list} | {object}");
        }
        self.add(body)
    }

    fn free_object(&mut self, depth: usize) -> Result<String, GrammarError> {
        let inner = self.any(depth - 1)?;
        self.members(&inner)
    }

    fn members(&mut self, value: &str) -> Result<String, GrammarError> {
        self.add(format!(r#""{{" (string ":" space {value} ("," space string ":" space {value})*)? "}}""#))
    }

    /// From the last property to the first, two rules each: what may follow when a property stands before
    /// it already, and when none does.
    fn object(&mut self, schema: &Value, depth: usize) -> Result<String, GrammarError> {
        let Some(properties) = schema["properties"].as_object() else { return Err(GrammarError::NoObject) };
        let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (mut after, mut first) = (r#""""#.to_owned(), r#""""#.to_owned());
        for (name, property) in properties.iter().rev() {
            let value = self.schema(property, depth)?;
            let pair = format!(r#"{} ":" space {value}"#, literal(&Value::String(name.clone()).to_string()));
            let (with_comma, alone) = (format!(r#""," space {pair} {after}"#), format!("{pair} {after}"));
            let is_required = required.contains(&name.as_str());
            let (next_after, next_first) =
                if is_required { (with_comma, alone) } else { (format!("{with_comma} | {after}"), format!("{alone} | {first}")) };
            (after, first) = (self.add(next_after)?, self.add(next_first)?);
        }
        self.add(format!(r#""{{" {first} "}}""#))
    }
}

/// A text as a literal of the notation.
fn literal(text: &str) -> String {
    let mut literal = String::from('"');
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn rules(schema: &Value) -> String {
        let grammar = of_schema(schema).unwrap();
        assert!(grammar.contains(COMMON));
        grammar.replace(COMMON, "")
    }

    #[test]
    fn an_object_has_its_properties_in_order_each_once() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x\"y", 2]}}, "required": ["b"]});
        let expected = r#"root ::= r5
r0 ::= "\"x\\\"y\"" | "2"
r1 ::= "," space "\"b\"" ":" space r0 ""
r2 ::= "\"b\"" ":" space r0 ""
r3 ::= "," space "\"a\"" ":" space string r1 | r1
r4 ::= "\"a\"" ":" space string r1 | r2
r5 ::= "{" r4 "}"
"#;
        assert_eq!(rules(&schema), expected);
    }

    #[test]
    fn lists_several_types_and_what_has_no_schema() {
        assert_eq!(
            rules(&json!({"type": "array", "items": {"type": ["integer", "null"]}})),
            "root ::= r1\nr0 ::= integer | null\nr1 ::= \"[\" (r0 (\",\" space r0)*)? \"]\"\n"
        );
        let free = rules(&json!({"type": "object"}));
        assert!(free.starts_with("root ::= r") && free.contains("string | number | boolean | null\n"), "{free}");
        assert!(rules(&json!({})).contains("string | number | boolean | null | "));
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert_eq!(of_schema(&json!([])), Err(GrammarError::NoObject));
        assert_eq!(of_schema(&json!({"type": "date"})), Err(GrammarError::UnknownType("date".into())));
        let mut deep = json!({"type": "string"});
        for _ in 0..DEPTH {
            deep = json!({"type": "array", "items": deep});
        }
        assert_eq!(of_schema(&deep), Err(GrammarError::TooLarge));
        let many: serde_json::Map<String, Value> = (0..RULES).map(|number| (number.to_string(), json!({}))).collect();
        assert_eq!(of_schema(&json!({"properties": many})), Err(GrammarError::TooLarge));
    }
}
