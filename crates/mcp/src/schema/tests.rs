#![allow(clippy::unwrap_used)]

use super::*;
use crate::tool;
use proptest::prelude::*;
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Begin,
    End,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Inner {
    #[schemars(range(min = 0.0, max = 1.0))]
    warmth: Option<f32>,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wish {
    action: Action,
    name: Option<String>,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 500))]
    page_size: u32,
    #[serde(default, deserialize_with = "named")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 3_650))]
    days: Option<Option<u32>>,
    inner: Option<Inner>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    reverse: bool,
}

fn wish(value: Value) -> Result<Wish, ErrorBody> {
    read(value.as_object().cloned())
}

/// The field, value and range of a refusal.
fn refusal(value: Value) -> [String; 3] {
    let error = wish(value).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameter, "{error}");
    ["field", "value", "range"].map(|fact| error.details[fact].clone())
}

#[test]
fn what_fits_is_read_with_its_defaults() {
    let read = wish(json!({ "action": "begin" })).unwrap();
    assert_eq!((read.page_size, read.days, read.reverse), (1, None, false));
    assert!(matches!(read.action, Action::Begin));
    let read = wish(json!({ "action": "end", "pageSize": 10.0, "days": null, "inner": { "warmth": 1 }, "ids": ["a"] })).unwrap();
    assert_eq!((read.page_size, read.days, read.inner.unwrap().warmth), (10, Some(None), Some(1.0)));
    let read = wish(json!({ "action": "end", "days": 3, "inner": null, "name": null })).unwrap();
    assert_eq!((read.days, read.inner.is_none(), read.name, read.ids), (Some(Some(3)), true, None, None));
}

#[test]
fn what_does_not_fit_is_named_with_its_value_and_its_range() {
    assert_eq!(refusal(json!({})), ["action", "missing", "one of begin, end"]);
    assert_eq!(refusal(json!({ "action": "dance" })), ["action", "dance", "one of begin, end"]);
    assert_eq!(refusal(json!({ "action": "end", "pageSize": "ten" })), ["pageSize", "ten", "a whole number from 1 to 500"]);
    assert_eq!(refusal(json!({ "action": "end", "pageSize": 0 })), ["pageSize", "0", "a whole number from 1 to 500"]);
    assert_eq!(refusal(json!({ "action": "end", "pageSize": 1.5 }))[..2], ["pageSize", "1.5"]);
    assert_eq!(refusal(json!({ "action": "end", "days": 1e12 }))[0], "days");
    assert_eq!(refusal(json!({ "action": "end", "inner": { "warmth": 7 } }))[..2], ["inner.warmth", "7"]);
    assert_eq!(refusal(json!({ "action": "end", "inner": "x" }))[0], "inner");
    assert_eq!(refusal(json!({ "action": "end", "ids": ["a", 2] }))[..2], ["ids[1]", "2"]);
    assert_eq!(refusal(json!({ "action": "end", "reverse": "yes" }))[2], "true or false");
    let unknown = refusal(json!({ "action": "end", "nme": "x" }));
    assert!(unknown[0] == "nme" && unknown[2].contains("name"), "{unknown:?}");
}

#[test]
fn ten_megabytes_are_too_much() {
    let error = wish(json!({ "action": "end", "name": "x".repeat(ARGUMENT_BYTES) })).unwrap_err();
    assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::LimitReached, "arguments"));
    assert!(wish(json!({ "action": "end", "name": "x".repeat(ARGUMENT_BYTES - 100) })).is_ok());
}

/// Any JSON, a few levels deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,6}", inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    })
}

proptest! {
    /// What the schema lets pass, the type takes: a refusal always names one of the fields.
    #[test]
    fn a_refusal_names_a_field_that_was_given_or_is_missing(
        name in "action|name|pageSize|days|inner|ids|reverse|other",
        value in anything(),
        has_action in any::<bool>(),
    ) {
        let mut arguments = json!({});
        if has_action {
            arguments["action"] = json!("begin");
        }
        arguments[&name] = value;
        if let Err(error) = wish(arguments) {
            let field = &error.details["field"];
            prop_assert!(field.starts_with(&name) || (field == "action" && !has_action), "{} {:?}", error, error.details);
        }
    }
}

#[test]
fn the_tools_have_schemas_that_every_client_can_follow() {
    let tools = tool::listed();
    assert_eq!(tools.len(), 5);
    for tool in tools {
        for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten() {
            let text = Value::Object(schema.as_ref().clone()).to_string();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert!(!text.contains("$ref") && !text.contains("uint"), "{}: {text}", tool.name);
        }
        for (name, field) in tool.input_schema["properties"].as_object().unwrap() {
            assert!(field["description"].as_str().is_some_and(|text| text.ends_with('.')), "{} {name} {field}", tool.name);
        }
        let output = tool.output_schema.unwrap();
        let required: Vec<_> = output["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(required, ["success", "message"], "a refusal has these alone: {}", tool.name);
        assert!(tool.annotations.is_some() && tool.title.is_some(), "{}", tool.name);
    }
}
