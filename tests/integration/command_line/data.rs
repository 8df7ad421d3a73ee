//! `evenkeel contexts`, `presets`, `conversations`, `export`.

use super::{Home, Model, keys};
use evenkeel_testkit::scripted_server::Answer;
use serde_json::{Value, json};

#[test]
fn contexts_are_made_listed_changed_and_deleted() {
    let home = Home::new();
    let place = home.with_vault(None);
    let prompt = "You listen, and you say what you see.";
    let made = place.run(&["contexts", "create", "--name", "Mara", "--system-prompt", prompt, "--json", "--tag", "home"]).json();
    let settings = (&made["temperature"], &made["maxTokens"], &made["maxHistoryTokens"], &made["expiryDays"], &made["tags"]);
    assert_eq!(settings, (&json!(0.7), &json!(1000), &json!(15_000), &json!(7), &json!(["home"])));
    // The same shape as over IPC.
    let expected = serde_json::to_value(serde_json::from_value::<evenkeel_domain::Context>(made.clone()).unwrap()).unwrap();
    assert_eq!(keys(&made), keys(&expected));

    let table = place.run(&["contexts", "list"]).well();
    assert!(table.starts_with("NAME") && table.contains("Mara") && table.contains("Calm Counselor"), "{table}");
    assert!(place.run(&["contexts", "show", "mara"]).well().contains(prompt));
    let changed = ["contexts", "update", "Mara", "--expiry-days", "0", "--local-only", "true", "--no-tags", "--json"];
    let changed = place.run(&changed).json();
    assert_eq!((&changed["expiryDays"], &changed["localOnly"], &changed["tags"]), (&Value::Null, &json!(true), &json!([])));
    let renamed = ["contexts", "update", "Mara", "--system-prompt-file", "-", "--name", "Otto"];
    assert!(place.run_with(&renamed, "Otto counts.\n").well().contains("Otto counts."));
    assert!(place.run(&["contexts", "extend", "Otto"]).well().contains("never expires"));

    place.run(&["contexts", "create", "--name", "Otto", "--system-prompt", "Another."]).well();
    let several = place.run(&["contexts", "show", "Otto", "--json"]).refused(1);
    assert_eq!(several["details"]["range"].as_str().unwrap().matches("Otto (").count(), 2, "{several}");
    let id = made["id"].as_str().unwrap();
    assert!(place.run(&["contexts", "delete", id]).well().contains("in the trash"));
    assert_eq!(place.run(&["contexts", "list", "--trash", "--json"]).json()["contexts"][0]["id"], made["id"]);
    assert!(place.run(&["contexts", "show", "Otto"]).well().contains("Another."));
}

#[test]
fn what_is_not_there_lists_what_is() {
    let home = Home::new();
    let place = home.with_vault(None);
    let unknown = place.run(&["chat", "Nobody", "Hello", "--json"]).refused(1);
    assert_eq!(unknown["code"], json!("not_found"));
    assert!(unknown["details"]["existing"].as_str().unwrap().contains("Calm Counselor ("), "{unknown}");
    let unknown = place.run(&["presets", "show", "Nobody"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (1, ""));
    assert!(unknown.err.contains("Rational Advisor (preset-rational-advisor)"), "{}", unknown.err);
    let wrong = ["contexts", "update", "Calm Counselor", "--temperature", "7", "--json"];
    assert_eq!(place.run(&wrong).refused(1)["details"]["field"], json!("temperature"));
    let unknown = place.run(&["conversations", "show", "01890a5d-ac96-774b-bcce-b302099a8057", "--json"]).refused(1);
    assert_eq!(unknown["code"], json!("not_found"));
    let listed = place.run(&["presets", "list", "--json"]).json();
    assert_eq!(listed["totalCount"], json!(6));
    let one = place.run(&["presets", "show", "calm counselor", "--json"]).json();
    assert_eq!(one["id"], json!("preset-calm-counselor"));
}

#[test]
fn conversations_are_found_written_out_and_deleted() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    for (text, reply) in [("I lost my umbrella", "It rains."), ("I found it", "Good.")] {
        model.server.push(Answer::reply(&[reply]));
        place.run(&["chat", "Calm Counselor", text, "--new"]).well();
    }
    let hits = place.run(&["conversations", "search", "umbrella", "--json"]).json();
    let id = hits[0]["conversationId"].as_str().unwrap();
    assert_eq!(place.run(&["conversations", "search", "parasol"]).well(), "No message has all these words.\n");
    assert_eq!(place.run(&["conversations", "search", "parasol", "--json"]).json(), json!([]));
    assert!(place.run(&["conversations", "show", id]).well().contains("It rains."));
    let listed = place.run(&["conversations", "list", "--context", "Calm Counselor", "--json"]).json();
    assert_eq!((keys(&listed), &listed["totalCount"]), (vec!["items", "totalCount"], &json!(2)));

    let markdown = place.run(&["export", id]).well();
    assert!(markdown.starts_with("# I lost my umbrella") && markdown.contains("## Calm Counselor"), "{markdown}");
    let text = place.run(&["export", id, "--format", "text"]).well();
    assert!(text.starts_with("I lost my umbrella\nWith Calm Counselor\n") && !text.contains('#'), "{text}");
    let all = place.run(&["export", "--context", "Calm Counselor", "--json"]).json();
    assert_eq!(all.as_array().unwrap().len(), 2);
    let one = place.run(&["export", id, "--format", "json"]).json();
    assert_eq!((&all[1]["messages"], keys(&all[1])), (&one["messages"], keys(&one)));

    let file = place.dir.join("umbrella.md").to_str().unwrap().to_owned();
    let written = place.run(&["export", id, "-o", &file, "--format", "markdown", "--json"]).json();
    assert_eq!(written, json!({ "path": file, "bytes": markdown.len() }));
    assert_eq!(place.run(&["export", id, "-o", &file, "--json"]).refused(1)["code"], json!("file_exists"));
    assert!(place.run(&["export", id, "-o", &file]).err.contains("Add --force"));
    let nowhere = place.run(&["export", id, "-o", "/nowhere/x.md", "--json"]).refused(1);
    assert_eq!((&nowhere["code"], &nowhere["details"]["folder"]), (&json!("not_found"), &json!("/nowhere")));
    assert!(nowhere["details"]["advice"].as_str().unwrap().contains("make the folder"), "{nowhere}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# I lost"), "what was there stays");
    place.run(&["export", id, "-o", &file, "--force", "--format", "text"]).well();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let inside = place.profile().join("out.md").to_str().unwrap().to_owned();
    assert_eq!(place.run(&["export", id, "-o", &inside, "--json"]).refused(1)["code"], json!("place_refused"));

    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    assert_eq!(place.run(&["conversations", "delete", id, unknown, "--json"]).refused(1)["code"], json!("not_found"));
    assert_eq!(place.run(&["conversations", "delete", id, "--json"]).json(), json!([id]));
    assert_eq!(place.run(&["conversations", "list", "--trash", "--json"]).json()["items"][0]["id"], json!(id));
}
