//! The exact bytes of built prompts.

use super::{Words, anna, branch, build, counted, input, noon};
use crate::{BuildInput, O200k, Origin, Prompt};
use evenkeel_domain::{BUILT_IN_PRESETS, MessageId, Revision, Role};
use std::fmt::Write;

/// Every block in one line, then the four renderings.
fn shown(prompt: &Prompt) -> String {
    let mut text = String::new();
    for block in &prompt.blocks {
        let origin = match &block.origin {
            Origin::Revision { id } => format!("Revision({})", &id.as_str()[..8]),
            Origin::Anchor { id } => format!("Anchor({})", &id.as_str()[..8]),
            Origin::Message { id } => format!("Message({})", &id.to_string()[24..]),
            other => format!("{other:?}"),
        };
        let state = if block.included { "sent" } else { "left out" };
        let reason = block.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        writeln!(text, "{:?} {origin} {} {} tokens, {state}{reason}", block.kind, block.role.as_str(), block.tokens).unwrap();
    }
    writeln!(text, "{:?}", prompt.meter).unwrap();
    for (title, messages) in [("messages", prompt.messages()), ("user last", prompt.user_last()), ("folded", prompt.folded())] {
        writeln!(text, "\n===== {title}").unwrap();
        for (role, content) in messages {
            writeln!(text, "--- {}\n{content}", role.as_str()).unwrap();
        }
    }
    writeln!(text, "\n===== text\n{}", prompt.as_text()).unwrap();
    text
}

fn conversation() -> Vec<(MessageId, Role, String)> {
    let mut messages = branch("uauau", 1);
    let texts = [
        "They cancelled my shift AGAIN!!!",
        "Your shift was cancelled at short notice. That leaves the evening open and the pay missing. Which of the two matters more today?",
        "the pay. obviously. are you even listening",
        "The pay, then. A first step is to read what the contract says about cancelled shifts.",
        "I HATE contracts",
    ];
    for (message, text) in messages.iter_mut().zip(texts) {
        message.2 = text.to_owned();
    }
    messages
}

fn counselor() -> Revision {
    let preset = &BUILT_IN_PRESETS[0];
    Revision::new(preset.name, preset.system_prompt, preset.default_personality, None, noon())
}

#[test]
fn first_message() {
    let revision = counselor();
    let prompt = build(BuildInput { turn: 1, user_text: "I am so angry!", counter: &O200k, ..input(&revision, &[]) });
    insta::assert_snapshot!(shown(&prompt.unwrap()));
}

#[test]
fn anchored_with_an_unanswered_message() {
    let (revision, texts) = (counselor(), conversation());
    let history = counted(&texts, &O200k);
    let text = "just tell me what to do 🫠";
    let prompt = build(BuildInput { turn: 4, user_text: text, counter: &O200k, ..input(&revision, &history) });
    insta::assert_snapshot!(shown(&prompt.unwrap()));
}

#[test]
fn evicted() {
    let (revision, texts) = (anna(), branch(&"ua".repeat(30), 12));
    let history = counted(&texts, &Words);
    let prompt = build(BuildInput { turn: 31, earlier: 40, max_history_tokens: 500, ..input(&revision, &history) });
    insta::assert_snapshot!(shown(&prompt.unwrap()));
}

#[test]
fn persona_and_anchor_of_every_preset() {
    let mut text = String::new();
    for preset in &BUILT_IN_PRESETS {
        let revision = Revision::new(preset.name, preset.system_prompt, preset.default_personality, None, noon());
        let prompt = build(BuildInput { counter: &O200k, ..input(&revision, &[]) }).unwrap();
        let (system, anchor) = (&prompt.blocks[0], prompt.blocks.last().unwrap());
        // The design gives the system text 200–400 tokens.
        assert!((200..=400).contains(&system.tokens), "{} has {} tokens", preset.id, system.tokens);
        writeln!(
            text,
            "===== {} ({} + {} tokens)\n{}\n--- anchor\n{}\n",
            preset.id, system.tokens, anchor.tokens, system.text, anchor.text
        )
        .unwrap();
    }
    insta::assert_snapshot!(text);
}
