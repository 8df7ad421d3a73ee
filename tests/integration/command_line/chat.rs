//! `evenkeel chat`.

use super::{Home, Model, Place, keys, said};
use evenkeel_engine::default_model;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Command};

const NAME: &str = "Calm Counselor";

/// Reads until so much has come.
fn read(child: &mut Child, expected: &str) {
    let mut bytes = vec![0; expected.len()];
    child.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// The conversations of the vault, by what `show` says of the first.
fn newest(place: &Place<'_>) -> Value {
    let listed = place.run(&["conversations", "list", "--json"]).json();
    place.run(&["conversations", "show", "--json", listed["items"][0]["id"].as_str().unwrap()]).json()
}

#[test]
fn a_message_is_answered_and_the_conversation_goes_on() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    model.server.push(Answer::reply(&["Good ", "morning."]));
    assert_eq!(place.run(&["chat", NAME, "Hello"]).well(), "Good morning.\n");

    // By a pipe, to a name in another case; one object at the end.
    model.server.push(Answer::reply(&["Yes, twice."]));
    let exchange = place.run_with(&["chat", "calm counselor", "--json"], "Did I greet you?\n").json();
    assert_eq!(keys(&exchange), ["care", "conversation", "error", "reply", "tools", "userMessage"]);
    assert_eq!((&exchange["reply"]["content"], &exchange["error"]), (&json!("Yes, twice."), &Value::Null));
    assert_eq!(exchange["userMessage"]["content"], json!("Did I greet you?"));
    assert_eq!(exchange["conversation"]["messageCount"], json!(4), "as it is at the end");
    let sent = model.server.take_requests().pop().unwrap().to_string();
    assert!(sent.contains("Good morning.") && sent.contains("Did I greet you?"), "{sent}");

    // Anew, as lines of events.
    model.server.push(Answer::reply(&["Once ", "more."]));
    let lines = place.run(&["chat", NAME, "Hello", "--new", "--stream"]).well();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["kind"], &events.last().unwrap()["kind"]), (&json!("started"), &json!("ended")));
    let text: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!((text.as_str(), &events.last().unwrap()["message"]["content"]), ("Once more.", &json!("Once more.")));
    assert_ne!(events[0]["conversation"]["id"], exchange["conversation"]["id"]);

    // Back in the first one.
    model.server.push(Answer::reply(&["Here."]));
    let id = exchange["conversation"]["id"].as_str().unwrap();
    assert_eq!(place.run(&["chat", NAME, "Where?", "--conversation", id]).well(), "Here.\n");
    assert_eq!(newest(&place)["messages"].as_array().unwrap().len(), 6);
}

#[test]
fn a_sign_of_danger_is_answered_with_whom_to_call() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    model.server.push(Answer::reply(&["I am here."]));
    let told = place.run(&["chat", NAME, "I want to kill myself"]);
    assert_eq!((told.code, told.out.as_str()), (0, "I am here.\n"));
    assert!(told.err.contains("people are there for you now"), "{}", told.err);
    model.server.push(Answer::reply(&["I am here."]));
    let exchange = place.run(&["chat", NAME, "I want to kill myself", "--json"]).json();
    assert_eq!(exchange["care"]["sign"], json!("selfHarm"));
    assert!(!exchange["care"]["helplines"].as_array().unwrap().is_empty());
}

#[test]
fn what_the_model_cannot_do_is_said_and_the_message_stays() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    model.server.push(Answer::error(401, "no such key"));
    let told = place.run(&["chat", NAME, "Hello", "--json"]);
    assert_eq!(told.code, 1, "{told:?}");
    let (out, err): (Value, Value) = (serde_json::from_str(&told.out).unwrap(), serde_json::from_str(&told.err).unwrap());
    assert_eq!((&out["error"]["code"], &err["code"]), (&json!("provider_unauthorized"), &json!("provider_unauthorized")));
    assert_eq!(keys(&err), ["code", "details", "message"]);
    assert_eq!(newest(&place)["messages"][0]["content"], json!("Hello"));
    let empty = place.run_with(&["chat", NAME, "--json"], "\n").refused(1);
    assert_eq!((&empty["code"], &empty["details"]["field"]), (&json!("invalid_parameter"), &json!("message")));
}

#[test]
fn ctrl_c_stops_a_reply_and_keeps_what_had_come() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    model.server.push(Answer::stream(vec![Piece::Text("Half of".into()), Piece::Gate, Piece::Done]));
    let mut child = place.start(&["chat", NAME, "Tell me"]);
    read(&mut child, "Half of");
    interrupt(&child);
    let told = said(child);
    assert_eq!((told.code, told.out.as_str(), told.err.as_str()), (130, "\n", ""));
    let reply = &newest(&place)["messages"][1];
    assert_eq!((&reply["content"], &reply["status"]), (&json!("Half of"), &json!("stopped")));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    let mut child = place.start(&["contexts", "list"]);
    drop(child.stdout.take());
    let told = said(child);
    assert_eq!((told.code, told.err.as_str()), (0, ""));

    let text = |text: &str| Piece::Text(text.into());
    model.server.push(Answer::stream(vec![text("Half of"), Piece::Gate, text(" it is lost."), Piece::Gate, Piece::Done]));
    let mut child = place.start(&["chat", NAME, "Tell me"]);
    read(&mut child, "Half of");
    drop(child.stdout.take());
    model.server.release();
    let told = said(child);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    let reply = newest(&place)["messages"][1]["content"].clone();
    assert!(reply.as_str().unwrap().starts_with("Half of"), "{reply}");
}

#[test]
fn commands_run_beside_a_process_that_has_the_vault_open() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    model.server.push(Answer::stream(vec![Piece::Text("Wait".into()), Piece::Gate, Piece::Text(".".into()), Piece::Done]));
    let mut open = place.start(&["chat", NAME, "Hello"]);
    read(&mut open, "Wait");

    place.run(&["contexts", "create", "--preset", "Rational Advisor"]).well();
    assert_eq!(place.run(&["contexts", "list", "--json"]).json()["totalCount"], json!(2));
    let made = place.run(&["backup", "now", "--json"]).json();
    let restored = place.run(&["restore", "--yes", "--json", made["path"].as_str().unwrap()]).refused(3);
    assert_eq!(restored["code"], json!("vault_in_use"));
    let report = place.run(&["doctor", "--json"]).json();
    let processes = report["findings"].as_array().unwrap().iter().find(|one| one["check"] == "processes").unwrap();
    assert!(processes["message"].as_str().unwrap().starts_with("another process"), "{processes}");

    model.server.release();
    let told = said(open);
    assert_eq!((told.code, told.out.as_str(), told.err.as_str()), (0, ".\n", ""));
    assert_eq!(newest(&place)["messages"][1]["content"], json!("Wait."));
}

#[test]
fn the_built_in_model_answers() {
    assert!(default_model::locate(None).is_ok(), "the model is missing: run ./scripts/setup");
    let home = Home::new();
    let place = home.with_vault(None);
    let exchange = place.run(&["chat", NAME, "What is a good way to begin the day?", "--json"]).json();
    assert!(!exchange["reply"]["content"].as_str().unwrap().trim().is_empty(), "{exchange}");
    assert!(exchange["reply"]["usage"]["completionTokens"].as_u64().unwrap() > 0, "{exchange}");
}
