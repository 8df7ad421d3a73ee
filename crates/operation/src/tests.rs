#![allow(clippy::unwrap_used)]

use super::*;
use chrono::DateTime;
use evenkeel_domain::{
    ContextId, ConversationId, ErrorBody, ErrorCode, FoundAnswer, FoundFile, Operation, OperationId, OperationMetadata,
    OperationRule, StatusChange,
};
use proptest::prelude::*;
use serde_json::{Value, json};

mod bounds;
mod telling;

fn found(tool_name: &str, arguments: &Value, result: Value) -> OperationMetadata {
    let Parsed { value, failure, .. } = parsed(result);
    let execution = Execution { tool_name, arguments, result: &value, failure: failure.as_deref(), error: None };
    metadata(&execution, &Rules::default())
}

fn ids(metadata: &OperationMetadata) -> Vec<(&str, &str)> {
    metadata.ids.iter().map(|found| (found.key.as_str(), found.id.as_str())).collect()
}

fn change(id: Option<&str>, from: Option<&str>, to: &str) -> StatusChange {
    StatusChange { id: id.map(str::to_owned), from: from.map(str::to_owned), to: to.to_owned() }
}

fn answer(id: Option<&str>, text: Option<&str>) -> FoundAnswer {
    FoundAnswer { id: id.map(str::to_owned), text: text.map(str::to_owned) }
}

fn file(path: &str, bytes: Option<u64>) -> FoundFile {
    FoundFile { path: path.to_owned(), bytes }
}

#[test]
fn ids_are_found_under_their_names_and_in_texts() {
    let result = json!({
        "taskId": 7, "owner": {"user_id": "u-1"}, "memberIds": ["a", "b"], "isValid": true, "grid": "no",
        "note": "see 01890a5d-ac96-774b-bcce-b302099a8057 and u-1"
    });
    let found = found("look", &Value::Null, result);
    let expected = [
        ("memberIds", "a"),
        ("memberIds", "b"),
        ("text", "01890a5d-ac96-774b-bcce-b302099a8057"),
        ("user_id", "u-1"),
        ("taskId", "7"),
    ];
    assert_eq!(ids(&found), expected);
    assert!(!found.is_cut);
}

#[test]
fn an_id_that_stands_under_a_name_is_not_found_in_a_text_again() {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let found = found("look", &Value::Null, json!({"id": id, "text": format!("made {id}")}));
    assert_eq!(ids(&found), [("id", id)]);
}

#[test]
fn what_was_made_changed_and_deleted_is_known_by_fields_actions_and_the_tools_name() {
    let none = Value::Null;
    let by_field = found(
        "sync",
        &none,
        json!({"createdIds": ["a"], "updated": [{"id": "b"}], "deleted": "c", "createdAt": "2026-01-02", "updatedFields": ["title"]}),
    );
    assert_eq!((by_field.created, by_field.updated, by_field.deleted), (vec!["a".into()], vec!["b".into()], vec!["c".into()]));
    let by_action = found("sync", &none, json!([{"id": 1, "action": "create"}, {"id": 2, "status": "deleted"}]));
    assert_eq!((by_action.created, by_action.deleted), (vec!["1".into()], vec!["2".into()]));

    assert_eq!(found("create_task", &none, json!({"id": "t"})).created, ["t"]);
    assert_eq!(found("createTask", &none, json!({"ok": true, "task": {"id": "t", "projectId": "p"}})).created, ["t"]);
    let arguments = json!({"projectId": "p", "taskId": "t"});
    assert_eq!(found("delete_task", &arguments, json!("done")).deleted, ["t"]);
    assert_eq!(found("update_items", &json!({"ids": [1, 2]}), json!("done")).updated, ["1", "2"]);
}

#[test]
fn a_tool_that_failed_has_changed_nothing() {
    let failed = json!({"content": [{"type": "text", "text": "no such task"}], "isError": true});
    let found = found("delete_task", &json!({"taskId": "t"}), failed);
    assert_eq!((found.deleted.len(), found.errors), (0, vec!["no such task".to_owned()]));
}

#[test]
fn changes_of_a_status_are_told_by_fields_pairs_and_sentences() {
    let status = |result: Value| found("look", &Value::Null, result).status_changes;
    let expected = [change(Some("1"), Some("open"), "closed")];
    assert_eq!(status(json!({"id": 1, "oldStatus": "open", "newStatus": "closed"})), expected);
    assert_eq!(status(json!({"id": 1, "previous_status": "open", "status": "closed"})), expected);
    assert_eq!(status(json!({"id": 1, "status": {"from": "open", "to": "closed"}})), expected);
    assert_eq!(status(json!({"id": 1, "statusChange": {"before": "open", "after": "closed"}})), expected);
    let unnamed = [change(None, Some("in progress"), "done")];
    assert_eq!(status(json!("Status changed from \"in progress\" to 'done'. It came from far to here.")), unnamed);
    assert_eq!(status(json!("The STATE went from in progress to done, at last")), unnamed);
    assert_eq!(status(json!({"id": 1, "status": "open"})), []);
    assert_eq!(status(json!({"oldStatus": "open", "status": "open"})), []);
}

#[test]
fn counts_and_errors_are_found() {
    let result = json!({
        "totalCount": 12, "rows_affected": 3, "deleted": 2, "items": [1, 2, 3, 4], "phoneNumber": 5,
        "errors": ["first", {"message": "second"}], "success": false, "message": "third"
    });
    let found = found("query", &Value::Null, result);
    let counts: Vec<_> = found.counts.iter().map(|count| (count.name.as_str(), count.count)).collect();
    assert_eq!(counts, [("deleted", 2), ("errors", 2), ("items", 4), ("rows_affected", 3), ("totalCount", 12)]);
    assert_eq!(found.errors, ["third", "first", "second"]);
}

#[test]
fn why_a_tool_could_not_be_run_is_an_error_of_the_operation() {
    let error = ErrorBody::new(ErrorCode::ProviderTimeout, "the server said nothing for 30 seconds");
    let execution =
        Execution { tool_name: "create_x", arguments: &json!({}), result: &json!({"id": 1}), failure: None, error: Some(&error) };
    let found = metadata(&execution, &Rules::default());
    assert_eq!((found.errors, found.created.len()), (vec![error.message], 0));
}

#[test]
fn answers_of_a_survey_are_told_by_marks_and_by_the_lists_that_they_stand_in() {
    let result = json!({"answers": [
        {"answerId": "a1", "text": "Sea", "selected": true},
        {"answerId": "a2", "text": "Hills", "selected": false, "wasSelected": true},
        {"answerId": "a3", "text": "City"}
    ]});
    let marked = found("submit_survey", &Value::Null, result);
    assert_eq!(marked.selected, [answer(Some("a1"), Some("Sea"))]);
    assert_eq!(marked.deselected, [answer(Some("a2"), Some("Hills"))]);

    let arguments = json!({"selectedAnswerIds": ["x"], "deselected": [{"id": 9, "label": "Rain"}], "selectedCount": 4});
    let listed = found("update_answers", &arguments, json!("saved"));
    assert_eq!(listed.selected, [answer(Some("x"), None)]);
    assert_eq!(listed.deselected, [answer(Some("9"), Some("Rain"))]);

    assert_eq!(found("weather", &arguments, json!({"selected": ["x"]})).selected, [], "no survey");
}

#[test]
fn ids_of_projects_and_applications_are_told_apart() {
    let result = json!({"project": {"id": "p", "name": "Keel"}, "applications": [{"id": "a"}], "projectMembers": [{"id": "m"}]});
    let found = found("get_project", &json!({"application_id": "b"}), result);
    for pair in [("projectId", "p"), ("applicationId", "a"), ("applicationId", "b"), ("id", "m")] {
        assert!(ids(&found).contains(&pair), "{pair:?} in {found:?}");
    }
    assert!(!ids(&found).contains(&("projectId", "m")));
}

#[test]
fn a_countermeasure_changes_its_status_also_where_the_tool_only_agrees() {
    let arguments = json!({"countermeasureId": "c1", "status": "implemented"});
    let agreed = found("update_countermeasure", &arguments, json!({"ok": true, "previousStatus": "planned"}));
    assert_eq!(agreed.status_changes, [change(Some("c1"), Some("planned"), "implemented")]);
    assert_eq!(agreed.updated, ["c1"]);
    let listed = json!({"changes": [{"field": "status", "old": "planned", "new": "rejected"}]});
    assert_eq!(found("countermeasure_log", &Value::Null, listed).status_changes, [change(None, Some("planned"), "rejected")]);
    let refused = json!({"content": [{"type": "text", "text": "locked"}], "isError": true});
    assert_eq!(found("update_countermeasure", &arguments, refused).status_changes, []);
}

#[test]
fn files_are_found_in_calls_results_and_listings() {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let written = found("write_file", &json!({"path": "/a/b.txt", "content": "grün"}), text("Successfully wrote to /a/b.txt"));
    assert_eq!(written.files, [file("/a/b.txt", Some(5))]);
    let moved = found("move_file", &json!({"source": "/a/b", "destination": "/c/d"}), text("moved"));
    assert_eq!(moved.files, [file("/c/d", None), file("/a/b", None)]);
    let listed = found("list_directory_with_sizes", &json!({"path": "/a"}), text("[FILE] b.txt   12 B\n[DIR] c\n[FILE] d"));
    assert_eq!(listed.files, [file("/a", None), file("b.txt", Some(12)), file("d", None)]);
    let told = found("get_file_info", &json!({"path": "/a/b.txt"}), text("size: 44\ncreated: yesterday"));
    assert_eq!(told.files, [file("/a/b.txt", Some(44))]);
    let objects =
        found("search_files", &json!({}), json!({"files": [{"name": "Makefile", "sizeBytes": 3}], "uri": "file:///x/y"}));
    assert_eq!(objects.files, [file("/x/y", None), file("Makefile", Some(3))]);
}

#[test]
fn several_extractors_look_at_one_tool() {
    let names = |tool: &str| {
        let fits = |extractor: &&Extractor| extractor.tools.iter().any(|pattern| evenkeel_domain::glob_fits(pattern, tool));
        extractors().iter().filter(fits).map(|extractor| extractor.name).collect::<Vec<_>>()
    };
    assert_eq!(names("get_project_files"), ["generic", "project", "files"]);
    assert_eq!(names("weather"), ["generic"]);
}

#[test]
fn a_result_of_mcp_is_opened_and_json_in_a_text_is_read() {
    let value = |result: Value| parsed(result).value;
    let block = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(value(json!({"content": [block("{\"a\": [1]}")]})), json!({"a": [1]}));
    assert_eq!(value(json!({"content": [block("one"), block("[2]")]})), json!(["one", [2]]));
    assert_eq!(value(json!({"content": [block("12")]})), json!("12"));
    assert_eq!(value(json!({"content": [block("{broken")]})), json!("{broken"));
    assert_eq!(value(json!({"content": []})), Value::Null);
    assert_eq!(value(json!({"content": [block("{\"a\":1}")], "structuredContent": {"a": 2}})), json!({"a": 2}));
    assert_eq!(value(json!("  [1, 2]")), json!([1, 2]));
    assert_eq!(value(json!({"content": "an article", "id": 4})), json!({"content": "an article", "id": 4}));
    let picture = json!({"content": [{"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"}]});
    assert_eq!(value(picture), json!({"type": "image", "mimeType": "image/png", "bytes": 6}));
    let link = json!({"type": "resource_link", "uri": "file:///a"});
    assert_eq!(value(json!({"content": [link]})), link);
    assert_eq!(parsed(json!({"content": [], "isError": true})).failure.unwrap(), "the tool says that it failed, and not why");
}

fn rule(name: &str, tools: &str, path: &str) -> OperationRule {
    OperationRule { name: name.into(), tool_pattern: tools.into(), path: path.into() }
}

#[test]
fn own_rules_take_values_out_of_the_results_of_their_tools() {
    let rules = Rules::read(&[
        rule("prices", "Shop_*", "$.items[?@.price > 10].price"),
        rule("deep", "*", "$..sku"),
        rule("other", "bank_*", "$"),
    ]);
    let result = json!({"items": [{"price": 5, "sku": "x"}, {"price": 20, "sku": "y"}]});
    let execution = Execution { tool_name: "shop_list", arguments: &Value::Null, result: &result, failure: None, error: None };
    let found = metadata(&execution, &rules.unwrap()).values;
    let values: Vec<_> = found.iter().map(|found| (found.rule.as_str(), found.value.clone())).collect();
    assert_eq!(values, [("prices", json!(20)), ("deep", json!("x")), ("deep", json!("y"))]);
}

#[test]
fn a_rule_that_cannot_be_read_or_could_take_long_is_refused_when_it_is_saved() {
    let paths =
        ["", "items", "$.[", "$..*..*", "$..a..b", "$[?@.a][?@.b]", "$[?$.a == @.a]", "$[*,*,*,*,*,*]", "$[?match(@.a, 'x')]"];
    for path in paths {
        let refused = Rules::read(&[rule("r", "*", path)]).map(drop);
        assert_eq!(refused.map_err(|error| error.field), Err("operations.rules.path"), "{path}");
    }
    for path in
        ["$", "$.a", "$['a..b, $ ?'].c", "$..id", "$.a[0,1,-1]", "$[1:5].x", "$[?@.a == 'it\\'s $']", "$[?length(@.a) > 1]"]
    {
        assert!(Rules::read(&[rule("r", "*", path)]).is_ok(), "{path}");
    }
    let saved = Rules::saved(&[rule("bad", "*", "$..*..*"), rule("good", "*", "$.a")]);
    assert_eq!(saved.values("any", &json!({"a": [1]})), ["[1]"], "one that cannot be read does not cost the others");
}
