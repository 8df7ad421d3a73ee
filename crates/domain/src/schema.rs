//! The part of JSON Schema that a state is described in: `type`, `properties`, `required`, `enum` and
//! `items`. What only describes (`title`, `description`, `format`, …) is passed on to the model and
//! checked by nobody; what would have to be checked and is not known here is refused.

use crate::FieldError;
use crate::memory::NAME_CHARACTERS;
use serde_json::{Map, Value};

/// Most properties of one object.
const PROPERTIES: usize = 64;
/// Levels of objects and lists in each other.
const DEPTH: usize = 5;
/// The types that a value can have.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "null", "object", "array"];
/// What would change which values are allowed, and is not known here.
const UNKNOWN: [&str; 15] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "const",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "prefixItems",
    "contains",
];

/// Why a schema is none, or a value does not fit one, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misfit(String);

/// A misfit in words.
macro_rules! misfit {
    ($($words:tt)*) => {
        Misfit(format!($($words)*))
    };
}

/// A schema that was checked: of type object, with properties.
#[derive(Debug, Clone, PartialEq)]
pub struct StateSchema(Value);

impl StateSchema {
    /// Checks a schema.
    ///
    /// # Errors
    /// It is no JSON Schema of type object with properties, or uses what is not known here; the range
    /// says where and why.
    pub fn parse(schema: &Value) -> Result<Self, FieldError> {
        let fail = |why: String| FieldError {
            field: "strategy.config.schema",
            value: schema.to_string().chars().take(80).collect(),
            range: format!("a JSON Schema of type object with properties: {why}"),
        };
        let object = schema.as_object().ok_or_else(|| fail("it is no object".into()))?;
        if object.get("type").is_some_and(|kind| kind != "object") {
            return Err(fail("its type is not \"object\"".into()));
        }
        if !object.get("properties").is_some_and(Value::is_object) {
            return Err(fail("it has no \"properties\"".into()));
        }
        check(schema, "the schema", DEPTH).map_err(|misfit| fail(misfit.to_string()))?;
        Ok(Self(schema.clone()))
    }

    /// The names of the values, each with its own schema.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0["properties"].as_object().into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }

    /// The schema of one value.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.0["properties"].get(name)
    }

    /// Whether a value may stand under a name.
    ///
    /// # Errors
    /// Why it may not.
    pub fn allows(&self, name: &str, value: &Value) -> Result<(), Misfit> {
        let Some(schema) = self.property(name) else {
            let names: Vec<&str> = self.properties().map(|(name, _)| name).collect();
            return Err(misfit!("the schema has no {name:?}; it has: {}", names.join(", ")));
        };
        fits(schema, value, name)
    }

    /// What a model is to answer with: an object of some of the properties, and nothing else. What the
    /// schema requires may still be missing, since it was not said yet.
    #[must_use]
    pub fn of_an_answer(&self) -> Value {
        serde_json::json!({ "type": "object", "properties": self.0["properties"], "additionalProperties": false })
    }
}

/// Checks a schema and those in it; the error says where.
fn check(schema: &Value, at: &str, depth: usize) -> Result<(), Misfit> {
    let Some(object) = schema.as_object() else { return Err(misfit!("{at} is no object")) };
    if depth == 0 {
        return Err(misfit!("{at} is more than {DEPTH} levels deep"));
    }
    if let Some(unknown) = UNKNOWN.into_iter().find(|key| object.contains_key(*key)) {
        return Err(misfit!("{at} uses \"{unknown}\", which is not supported"));
    }
    check_types(object, at)?;
    match object.get("enum") {
        None => {}
        Some(Value::Array(values)) if !values.is_empty() => {}
        Some(_) => return Err(misfit!("\"enum\" of {at} is no list of values")),
    }
    if let Some(items) = object.get("items") {
        check(items, &format!("\"items\" of {at}"), depth - 1)?;
    }
    check_properties(object, at, depth)
}

fn check_types(object: &Map<String, Value>, at: &str) -> Result<(), Misfit> {
    let is_type = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let is_known = match object.get("type") {
        None => true,
        Some(Value::Array(kinds)) => !kinds.is_empty() && kinds.iter().all(is_type),
        Some(kind) => is_type(kind),
    };
    if is_known { Ok(()) } else { Err(misfit!("\"type\" of {at} is none of {}", TYPES.join(", "))) }
}

fn check_properties(object: &Map<String, Value>, at: &str, depth: usize) -> Result<(), Misfit> {
    let Some(properties) = object.get("properties") else {
        return if object.contains_key("required") {
            Err(misfit!("{at} requires what it has no \"properties\" for"))
        } else {
            Ok(())
        };
    };
    let Some(properties) = properties.as_object() else { return Err(misfit!("\"properties\" of {at} is no object")) };
    if properties.len() > PROPERTIES {
        return Err(misfit!("{at} has {} properties, and may have {PROPERTIES}", properties.len()));
    }
    for (name, schema) in properties {
        if name.trim().is_empty() || name.chars().count() > NAME_CHARACTERS || name.chars().any(char::is_control) {
            return Err(misfit!("a name in {at} has not 1 to {NAME_CHARACTERS} visible characters"));
        }
        check(schema, &format!("{name:?}"), depth - 1)?;
    }
    match object.get("required") {
        None => Ok(()),
        Some(Value::Array(names)) if names.iter().all(|name| name.as_str().is_some_and(|name| properties.contains_key(name))) => {
            Ok(())
        }
        Some(_) => Err(misfit!("\"required\" of {at} is no list of names of its properties")),
    }
}

/// Whether a value fits a schema; the error says where it does not.
fn fits(schema: &Value, value: &Value, at: &str) -> Result<(), Misfit> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
        return Err(misfit!("{at} is {value}, and has to be of type {}", kinds.join(" or ")));
    }
    if let Some(allowed) = schema["enum"].as_array().filter(|allowed| !allowed.contains(value)) {
        return Err(misfit!("{at} is {value}, and has to be one of {}", Value::Array(allowed.clone())));
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (number, item) in values.iter().enumerate() {
            fits(items, item, &format!("{at}[{number}]"))?;
        }
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return Err(misfit!("{at} has no {missing:?}"));
    }
    for (name, field) in fields {
        match schema["properties"].get(name) {
            Some(schema) => fits(schema, field, &format!("{at}.{name}"))?,
            None if schema["additionalProperties"] == false => return Err(misfit!("{at} may not have {name:?}")),
            None => {}
        }
    }
    Ok(())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        _ => value.is_array(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn trip() -> StateSchema {
        let stop = json!({ "type": "object", "required": ["city"], "additionalProperties": false,
                           "properties": { "city": { "type": "string" }, "nights": { "type": "integer" } } });
        StateSchema::parse(&json!({
            "type": "object", "title": "Trip", "required": ["destination"],
            "properties": {
                "destination": { "type": "string", "format": "city", "description": "Where to" },
                "class": { "enum": ["first", "second"] },
                "travellers": { "type": ["integer", "null"] },
                "stops": { "type": "array", "items": stop },
            }
        }))
        .unwrap()
    }

    #[test]
    fn values_are_held_to_their_schema() {
        let schema = trip();
        for (name, value, fits) in [
            ("destination", json!("Lisbon"), true),
            ("destination", json!(3), false),
            ("class", json!("first"), true),
            ("class", json!("third"), false),
            ("travellers", json!(2), true),
            ("travellers", json!(2.0), true),
            ("travellers", json!(null), true),
            ("travellers", json!(2.5), false),
            ("stops", json!([{ "city": "Faro", "nights": 2 }]), true),
            ("stops", json!([{ "nights": 2 }]), false),
            ("stops", json!([{ "city": "Faro", "hotel": "x" }]), false),
            ("stops", json!(["Faro"]), false),
            ("weather", json!("fine"), false),
        ] {
            assert_eq!(schema.allows(name, &value).is_ok(), fits, "{name} {value}: {:?}", schema.allows(name, &value));
        }
        assert!(schema.allows("stops", &json!([{ "city": 1 }])).unwrap_err().to_string().contains("stops[0].city"));
    }

    #[test]
    fn what_is_no_schema_is_refused_with_the_place() {
        let of = |property: Value| json!({ "type": "object", "properties": { "date": property } });
        let mut deep = json!({ "type": "string" });
        for _ in 0..DEPTH {
            deep = json!({ "type": "array", "items": deep });
        }
        let many: Map<String, Value> = (0..=PROPERTIES).map(|number| (format!("p{number}"), json!({}))).collect();
        for (schema, says) in [
            (json!([1]), "no object"),
            (json!({ "type": "array", "properties": {} }), "not \"object\""),
            (json!({ "type": "object" }), "no \"properties\""),
            (json!({ "properties": [] }), "no \"properties\""),
            (of(json!("string")), "\"date\" is no object"),
            (of(json!({ "type": "datetime" })), "\"type\" of \"date\""),
            (of(json!({ "type": [] })), "\"type\" of \"date\""),
            (of(json!({ "enum": [] })), "\"enum\" of \"date\""),
            (of(json!({ "items": 3 })), "\"items\" of \"date\""),
            (of(json!({ "$ref": "#/x" })), "\"$ref\""),
            (of(json!({ "properties": { "a": {} }, "required": ["b"] })), "\"required\" of \"date\""),
            (of(json!({ "required": ["b"] })), "requires"),
            (of(deep), "levels deep"),
            (json!({ "properties": many }), "may have 64"),
            (json!({ "properties": { " ": {} } }), "visible characters"),
        ] {
            let refused = StateSchema::parse(&schema).unwrap_err();
            assert_eq!(refused.field, "strategy.config.schema");
            assert!(refused.range.contains(says), "{schema}: {}", refused.range);
        }
    }

    #[test]
    fn an_answer_may_have_some_of_the_values_and_no_others() {
        let answer = trip().of_an_answer();
        assert_eq!(answer["additionalProperties"], false);
        assert!(answer.get("required").is_none());
        assert_eq!(trip().properties().count(), 4);
    }
}
