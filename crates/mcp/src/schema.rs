//! JSON Schemas of what tools take and give, and the check that names what does not fit.

use evenkeel_domain::{ErrorBody, ErrorCode};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;

/// Most bytes of text in a call's arguments.
pub(crate) const ARGUMENT_BYTES: usize = 10 << 20;

/// A field that was named, even as `null`, is told from one that was left out.
pub(crate) fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The schema of what a tool takes.
pub(crate) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    object::<T>(SchemaSettings::draft2020_12())
}

/// The schema of what a tool gives.
pub(crate) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    object::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Without references: not every client follows them.
fn object<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let schema = settings.with(|settings| settings.inline_subschemas = true).into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    tidy(&mut schema);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    for noise in ["title", "description", "$schema"] {
        object.remove(noise);
    }
    Arc::new(object)
}

/// Formats such as `uint32` are Rust's own; the ranges say the same to everybody.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").and_then(Value::as_str).is_some_and(|format| format != "date-time") {
                object.remove("format");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Reads a tool's arguments.
///
/// # Errors
/// They are too large, or the first of them that does not fit, by name.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(arguments: Option<JsonObject>) -> Result<T, ErrorBody> {
    let mut arguments = Value::Object(arguments.unwrap_or_default());
    let bytes = weight(&arguments);
    if bytes > ARGUMENT_BYTES {
        let message = format!("the arguments have {bytes} bytes of text, and may have {ARGUMENT_BYTES}; send less at once");
        return Err(ErrorBody::new(ErrorCode::LimitReached, message)
            .with("field", "arguments")
            .with("value", format!("{bytes} bytes"))
            .with("range", format!("at most {ARGUMENT_BYTES} bytes"))
            .with("limit", ARGUMENT_BYTES));
    }
    check(&input::<T>(), "", &mut arguments)?;
    serde_json::from_value(arguments).map_err(|error| misfit("arguments", &Value::Null, &error.to_string()))
}

/// Bytes of all texts and names.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + items.len(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
        _ => 1,
    }
}

/// Compares an object with its schema: names, types, words to choose from, and numbers. How long a text may be is left to
/// whoever takes it. A whole number that is written as a fraction is made one.
fn check(schema: &JsonObject, place: &str, value: &mut Value) -> Result<(), ErrorBody> {
    let none = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let Value::Object(fields) = value else { return Ok(()) };
    for (name, field) in fields.iter_mut() {
        let path = format!("{place}{name}");
        match properties.get(name).and_then(Value::as_object) {
            Some(schema) => check_field(schema, &path, field)?,
            None => {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                return Err(misfit(&path, field, &format!("one of the known fields: {}", known.join(", "))));
            }
        }
    }
    let missing = required.iter().filter_map(Value::as_str).find(|name| !fields.contains_key(*name));
    match missing {
        Some(name) => {
            let wanted = properties.get(name).and_then(Value::as_object).map_or_else(String::new, described);
            Err(misfit(&format!("{place}{name}"), &Value::Null, &wanted))
        }
        None => Ok(()),
    }
}

fn check_field(schema: &JsonObject, path: &str, value: &mut Value) -> Result<(), ErrorBody> {
    // An object that may be left out stands beside null.
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let object = choices.iter().filter_map(Value::as_object).find(|choice| types(choice).contains(&"object"));
        return match object {
            Some(object) if !value.is_null() => check_field(object, path, value),
            _ => Ok(()),
        };
    }
    let types = types(schema);
    if types.contains(&"integer")
        && let Some(whole) = whole(value)
    {
        *value = whole;
    }
    if !types.is_empty() && !types.iter().any(|name| is_a(name, value)) {
        return Err(misfit(path, value, &described(schema)));
    }
    let choices = schema.get("enum").and_then(Value::as_array);
    if choices.is_some_and(|choices| !choices.contains(value)) {
        return Err(misfit(path, value, &described(schema)));
    }
    let bound = |name| schema.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64()
        && (bound("minimum").is_some_and(|least| number < least) || bound("maximum").is_some_and(|most| number > most))
    {
        return Err(misfit(path, value, &described(schema)));
    }
    if let Some(schema) = schema.get("items").and_then(Value::as_object)
        && let Value::Array(items) = value
    {
        for (at, item) in items.iter_mut().enumerate() {
            check_field(schema, &format!("{path}[{at}]"), item)?;
        }
        return Ok(());
    }
    if schema.contains_key("properties") { check(schema, &format!("{path}."), value) } else { Ok(()) }
}

/// The types that a schema names.
fn types(schema: &JsonObject) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// The whole number that a fraction such as 10.0 is.
fn whole(value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() < 9e15)?;
    Some(Value::from(number as i64))
}

/// What a field has to be, in words.
fn described(schema: &JsonObject) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(shown).collect();
        return format!("one of {}", choices.join(", "));
    }
    let spoken = |name| match name {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    };
    let types: Vec<&str> = types(schema).into_iter().map(spoken).collect();
    let mut words = if types.is_empty() { "a value".to_owned() } else { types.join(" or ") };
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => words.push_str(&format!(" from {} to {}", shown(least), shown(most))),
        (Some(least), None) => words.push_str(&format!(", at least {}", shown(least))),
        _ => {}
    }
    words
}

/// A value in a sentence, at most 80 characters of it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().take(80).collect(),
        // A bound of 2000000.0 is read as what it is.
        Value::Number(number) => whole(value).map_or_else(|| number.to_string(), |whole| whole.to_string()),
        Value::Null => "missing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Bool(is) => is.to_string(),
    }
}

/// A field that is not what it has to be.
pub(crate) fn misfit(field: &str, value: &Value, range: &str) -> ErrorBody {
    let value = shown(value);
    ErrorBody::new(ErrorCode::InvalidParameter, format!("{field} is {value}; it must be {range}"))
        .with("field", field)
        .with("value", value)
        .with("range", range)
}

#[cfg(test)]
#[path = "schema/tests.rs"]
mod tests;
