//! The example as it is committed, with its built module.

use evenkeel_domain::{MessageId, Role};
use evenkeel_plugin::{ComposeInput, ComposeOutput, ExchangeInput, Host, MessageInput, Plugin, TurnInput};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::LazyLock;

static EXAMPLE: LazyLock<Plugin> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins/newest-and-first");
    Host::new().unwrap().load(&folder).unwrap()
});

/// An exchange of 20 tokens.
fn exchange<'a>(user: &'a str, reply: &'a str) -> ExchangeInput<'a> {
    let id: MessageId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    let message = |role, content| MessageInput { id, role, tokens: 6, content };
    ExchangeInput { tokens: 20, answered: true, messages: vec![message(Role::User, user), message(Role::Assistant, reply)] }
}

fn input<'a>(exchanges: Vec<ExchangeInput<'a>>, budget: u32) -> ComposeInput<'a> {
    let (config, user_text) = (&Value::Null, "And now?");
    ComposeInput { config, state: None, max_history_tokens: budget, room: 4_000, earlier: 0, user_text, exchanges }
}

fn told(output: &ComposeOutput) -> Vec<&str> {
    output.memory.iter().map(|memory| memory.text.as_str()).collect()
}

#[test]
fn all_is_sent_while_it_fits() {
    assert_eq!(EXAMPLE.manifest().id.as_str(), "newest-and-first");
    let output = EXAMPLE.compose(&input(vec![exchange("Hello", "Good day"); 50], 1_000)).unwrap();
    assert_eq!(output, ComposeOutput { first: 0, memory: vec![], reason: None });
    let nothing = EXAMPLE.compose(&input(vec![], 1_000)).unwrap();
    assert_eq!(nothing.first, 0);
}

#[test]
fn the_beginning_is_told_once_it_has_left() {
    let mut exchanges = vec![exchange("more", "and more"); 60];
    exchanges[0] = exchange("I am \"Ada\",\nand {this} [is] \\ mine: ä😀", "Noted\t.");
    let output = EXAMPLE.compose(&input(exchanges, 1_000)).unwrap();
    let text = "How this conversation began. The user: I am \"Ada\",\nand {this} [is] \\ mine: ä😀\nThe reply: Noted\t.";
    assert_eq!(told(&output), [text]);
    // 60 % of the 1,000 tokens less the price of the quotation, in exchanges of 20.
    assert_eq!(output.first, 33);
    assert_eq!(output.reason.as_deref(), Some("33 of 60 exchanges left; how it began is told as memory"));
}

#[test]
fn the_documented_answer_is_given() {
    let exchanges = ["Hi", "Well?"].map(|text| ExchangeInput { tokens: 60, ..exchange(text, "Well.") });
    let output = EXAMPLE.compose(&input(exchanges.into(), 100)).unwrap();
    let documented = include_str!("../../../../docs/plugins.md").lines().find(|line| line.starts_with(r#"{"first":1,"#)).unwrap();
    let documented: Value = serde_json::from_str(documented).unwrap();
    let given = json!({ "first": output.first, "memory": told(&output), "reason": output.reason });
    assert_eq!(given, documented);
}

#[test]
fn a_small_room_counts_as_the_budget() {
    let mut asked = input(vec![exchange("Hello", "Good day"); 20], 1_000);
    asked.room = 200;
    let output = EXAMPLE.compose(&asked).unwrap();
    assert!((20 - output.first) * 20 <= 200, "{}", output.first);
    assert!(output.first < 20);
}

#[test]
fn what_was_noted_is_told_when_the_beginning_is_not_loaded() {
    let turn = |state| EXAMPLE.turn_complete(&TurnInput { config: &Value::Null, state, user_text: "Ça va?", reply: "\"Oui\"" });
    let state = turn(None).unwrap().unwrap().state;
    assert_eq!(state, json!({ "user": "Ça va?", "reply": "\"Oui\"" }));
    assert_eq!(turn(Some(&json!({ "user": "a", "reply": "b" }))).unwrap().unwrap().state, json!({ "user": "a", "reply": "b" }));
    let mut asked = input(vec![exchange("later", "on")], 1_000);
    asked.earlier = 12;
    assert!(EXAMPLE.compose(&asked).unwrap().memory.is_empty());
    asked.state = Some(&state);
    let output = EXAMPLE.compose(&asked).unwrap();
    assert_eq!((output.first, told(&output)), (0, vec!["How this conversation began. The user: Ça va?\nThe reply: \"Oui\""]));
}

#[test]
fn quotations_are_as_long_as_configured() {
    let long = "ä".repeat(500);
    let mut exchanges = vec![exchange("more", "and more"); 200];
    exchanges[0] = exchange(&long, "Yes");
    let config = json!({ "quoteBytes": 101, "other": [{ "quoteBytes": 7 }] });
    let output = EXAMPLE.compose(&ComposeInput { config: &config, ..input(exchanges, 2_000) }).unwrap();
    assert_eq!(told(&output), [format!("How this conversation began. The user: {}\nThe reply: Yes", "ä".repeat(50))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_conversation_gets_an_answer_within_its_budget(
        texts in prop::collection::vec((any::<String>(), any::<String>(), 1u32..400), 0..40),
        budget in 500u32..3_000,
        room in 0u32..3_000,
        earlier in 0u32..3,
        noted in any::<String>(),
    ) {
        let exchanges: Vec<_> =
            texts.iter().map(|(user, reply, tokens)| ExchangeInput { tokens: *tokens, ..exchange(user, reply) }).collect();
        let state = json!({ "user": noted, "reply": noted, "more": [1, null] });
        let asked = ComposeInput { room, earlier, state: Some(&state), ..input(exchanges, budget) };
        let output = EXAMPLE.compose(&asked).unwrap();
        let sent: u32 = texts[output.first..].iter().map(|(_, _, tokens)| tokens).sum();
        prop_assert!(sent <= budget.min(room), "{} of {}", sent, budget.min(room));
        prop_assert!(output.memory.len() <= 1);
        prop_assert_eq!(EXAMPLE.compose(&asked).unwrap(), output);
    }

    #[test]
    fn any_turn_can_be_noted(user_text in any::<String>(), reply in any::<String>()) {
        let turn = TurnInput { config: &Value::Null, state: None, user_text: &user_text, reply: &reply };
        let state = EXAMPLE.turn_complete(&turn).unwrap().unwrap().state;
        prop_assert_eq!(state, json!({ "user": user_text, "reply": reply }));
    }
}
