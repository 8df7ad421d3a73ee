//! Whatever a tool answers, nothing grows without a bound.

use super::*;

/// Any JSON, with names that extractors look for among others.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("id".to_owned()),
        Just("taskIds".to_owned()),
        Just("status".to_owned()),
        Just("oldStatus".to_owned()),
        Just("selected".to_owned()),
        Just("deleted".to_owned()),
        Just("error".to_owned()),
        Just("path".to_owned()),
        Just("content".to_owned()),
        Just("type".to_owned()),
        Just("text".to_owned()),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "status [a-z]{0,3} from \\PC{0,6} to \\PC{0,6}".prop_map(Value::from),
        "[\\[{]\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 120, 8, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..8).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn tools() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("update_survey_answer".to_owned()),
        Just("delete_project_file".to_owned()),
        Just("create_countermeasure".to_owned()),
        any::<String>(),
    ]
}

fn assert_bounded(found: &OperationMetadata) {
    assert!(found.ids.len() <= 200);
    let lengths = [
        found.created.len(),
        found.updated.len(),
        found.deleted.len(),
        found.status_changes.len(),
        found.counts.len(),
        found.errors.len(),
        found.selected.len(),
        found.deselected.len(),
        found.files.len(),
        found.values.len(),
    ];
    assert!(lengths.iter().all(|length| *length <= 100), "{lengths:?}");
}

proptest! {
    #[test]
    fn any_result_of_any_tool_is_looked_through(tool in tools(), arguments in any_json(), result in any_json()) {
        let rules = Rules::read(&[rule("all", "*", "$..*")]).unwrap();
        let Parsed { value, failure, .. } = parsed(result);
        let execution =
            Execution { tool_name: &tool, arguments: &arguments, result: &value, failure: failure.as_deref(), error: None };
        let found = metadata(&execution, &rules);
        assert_bounded(&found);
        prop_assert_eq!(metadata(&execution, &rules), found, "the same input has the same finds");
    }

    #[test]
    fn what_is_small_is_kept_whole(value in any_json()) {
        prop_assert_eq!(bounded(value.clone()), (value, false));
    }

    #[test]
    fn a_shortened_value_is_itself_or_fits(value in any_json(), most in 0_usize..200) {
        let short = shortened(&value, most);
        if short != value {
            prop_assert!(short.as_str().unwrap().chars().count() <= most + 1);
        }
    }
}

/// A list in a list, so many times. Made and dropped without recursion.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("innermost"), |value, _| Value::Array(vec![value]))
}

#[test]
fn a_result_that_is_ten_thousand_lists_deep_is_cut_and_harms_nothing() {
    let under = |key: &str| Value::Object([(key.to_owned(), nested(10_000))].into_iter().collect());
    for result in [nested(10_000), under("structuredContent"), under("status")] {
        let Parsed { value, is_cut, .. } = parsed(result);
        assert!(is_cut);
        assert_bounded(&found("create_project_file_survey", &value, value.clone()));
        let text = value.to_string();
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "what is kept can be read again");
    }
}

#[test]
fn json_in_a_text_that_is_too_deep_to_be_read_stays_a_text() {
    let text = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(parsed(json!({"content": [{"type": "text", "text": text}]})).value, json!(text));
}

#[test]
fn ten_megabytes_are_looked_through_and_more_is_cut() {
    let rows: Vec<Value> = (0..120_000).map(|number| json!({"rowId": number, "text": "status from a to b ".repeat(3)})).collect();
    let Parsed { value, is_cut, .. } = parsed(json!({"rows": rows}));
    assert!(is_cut || value.to_string().len() < 12 << 20);
    let wide = found("list_project_files", &Value::Null, value);
    assert_bounded(&wide);
    assert!(wide.is_cut);

    let text = "01890a5d-ac96-774b-bcce-b302099a8057 ".repeat(400_000);
    let Parsed { value, is_cut, .. } = parsed(json!({"content": [{"type": "text", "text": text}]}));
    assert!(is_cut && value.as_str().unwrap().len() <= (10 << 20) + 3);
    let long = found("read_file", &json!({"path": "/a/b"}), value);
    assert_bounded(&long);
    assert_eq!(long.ids.len(), 1);
}

#[test]
fn a_rule_leaves_a_result_of_too_many_values_alone() {
    let rules = Rules::read(&[rule("all", "*", "$..*")]).unwrap();
    let result = Value::Array(vec![json!([1]); 60_000]);
    let execution = Execution { tool_name: "any", arguments: &Value::Null, result: &result, failure: None, error: None };
    let found = metadata(&execution, &rules);
    assert!(found.values.is_empty() && found.is_cut);
}
