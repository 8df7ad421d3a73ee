//! Persona, time, anchor, errors and context providers.

use super::{Words, anna, branch, build, counted, id, input, noon, of_kind};
use crate::Wanted;
use crate::{Block, BlockKind, BuildInput, Builder, ContextProvider, FRAME_TOKENS, Origin, Prompt, PromptError, ToolDefinitions};
use evenkeel_domain::{ErrorBody, ErrorCode, Revision, Role, ToolSchema};

fn trailing(change: impl FnOnce(&mut BuildInput<'_>)) -> String {
    let revision = anna();
    let mut input = input(&revision, &[]);
    change(&mut input);
    build(input).unwrap().messages().pop().unwrap().1
}

#[test]
fn system_text_is_byte_stable_while_the_revision_lasts() {
    let revision = anna();
    let first = build(input(&revision, &[])).unwrap();
    let mut later = input(&revision, &[]);
    (later.now, later.turn, later.user_text) = (noon() + chrono::Duration::days(400), 900, "Something else");
    let later = build(later).unwrap();
    assert_eq!(first.messages()[0], later.messages()[0]);
    let expected = "Anna is a patient companion.\n\nAnna's personality: Dry and precise. Collects stamps.";
    assert_eq!(first.messages()[0].1, expected);
}

#[test]
fn a_name_that_the_prompt_does_not_know_is_introduced() {
    let system = |name, prompt, personality| {
        let revision = Revision::new(name, prompt, personality, None, noon());
        build(input(&revision, &[])).unwrap().messages().remove(0).1
    };
    assert_eq!(
        system("Bo", "Calm Counselor stays calm.", ""),
        "Calm Counselor stays calm.\n\nIn this conversation the assistant described above is called Bo."
    );
    assert_eq!(system("Bo", "Bo stays calm.", " "), "Bo stays calm.");
}

#[test]
fn anchor_comes_from_the_third_turn_and_only_where_it_is_wanted() {
    let time = "Current time: 2026-03-01T12:00:00Z. User's time zone: Europe/Berlin.";
    assert_eq!(trailing(|input| input.turn = 1), time);
    assert_eq!(trailing(|input| input.turn = 2), time);
    assert_eq!(trailing(|input| input.maintain_personality = false), time);
    let with = trailing(|_| {});
    assert!(with.starts_with(&format!("{time}\nAnna stays as described: Dry and precise. Anna does not take over")), "{with}");
}

#[test]
fn strict_templates_get_the_trailing_text_inside_the_user_message() {
    let revision = anna();
    let branch = branch("uas", 3);
    let history = counted(&branch, &Words);
    let prompt = build(input(&revision, &history)).unwrap();
    let folded = prompt.folded();
    let roles: Vec<Role> = folded.iter().map(|(role, _)| *role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    let last = &folded[3].1;
    assert!(last.starts_with("s2 w w\n\nAnd now?\n\n[Note from the app, not from the user. Current time: "), "{last}");
    assert!(last.ends_with("stance or mood.]"), "{last}");
    assert_eq!(prompt.messages().last().unwrap().0, Role::System);
}

#[test]
fn small_models_get_the_trailing_text_before_the_user_message() {
    let revision = anna();
    let branch = branch("ua", 3);
    let history = counted(&branch, &Words);
    let prompt = build(input(&revision, &history)).unwrap();
    let messages = prompt.user_last();
    let roles: Vec<Role> = messages.iter().map(|(role, _)| *role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::System, Role::User]);
    assert!(messages[3].1.starts_with("Current time: ") && messages[3].1.ends_with("\nThe user now says:"), "{}", messages[3].1);
    assert_eq!(messages[4].1, "And now?");
    assert_eq!(messages[..3], prompt.messages()[..3], "the history is as for every other model, or no cache would serve it");
}

#[test]
fn completion_text_ends_with_the_companions_name() {
    let revision = anna();
    let branch = branch("ua", 3);
    let history = counted(&branch, &Words);
    let text = build(input(&revision, &history)).unwrap().as_text();
    assert!(text.starts_with("Anna is a patient companion."));
    assert!(text.contains("\n\nUser: u0 w w\n\nAnna: a1 w w\n\nUser: And now?\n\n[Note"));
    assert!(text.ends_with("]\n\nAnna:"));
}

#[test]
fn too_large_names_the_numbers() {
    let revision = anna();
    let mut input = input(&revision, &[]);
    (input.window, input.max_tokens) = (100, 40);
    let error = build(input).unwrap_err();
    let PromptError::TooLarge { system, user, budget, window, max_tokens, .. } = error else { panic!("{error:?}") };
    assert_eq!((system, user, budget, window, max_tokens), (12 + FRAME_TOKENS, 2 + FRAME_TOKENS, 58, 100, 40));
    let body = ErrorBody::from(error);
    assert_eq!(body.code, ErrorCode::PromptTooLarge);
    for number in ["persona 17 + message 7", "58 tokens", "window of 100", "reply of 40"] {
        assert!(body.message.contains(number), "{number} in {}", body.message);
    }
    assert_eq!(body.details["budget"], "58");
}

#[test]
fn a_reply_as_large_as_the_window_is_refused_with_advice() {
    let revision = anna();
    for (window, max_tokens) in [(4_096, 4_096), (4_096, 5_000), (4_096, 4_050), (0, 1)] {
        let mut input = input(&revision, &[]);
        (input.window, input.max_tokens) = (window, max_tokens);
        let error = build(input).unwrap_err();
        assert!(matches!(error, PromptError::ReplyFillsWindow { .. }), "{error:?}");
        assert_eq!(error.code(), ErrorCode::PromptTooLarge);
        assert!(error.to_string().contains("set maxTokens to"));
    }
}

#[test]
fn estimates_keep_ten_per_cent_free() {
    let revision = anna();
    let branch = branch(&"ua".repeat(60), 95);
    let history = counted(&branch, &Words);
    let budget = |estimates| {
        let mut input = input(&revision, &history);
        input.counts_are_estimates = estimates;
        input.max_history_tokens = 100_000;
        let prompt = build(input).unwrap();
        assert_eq!((prompt.estimated, prompt.meter.estimated), (estimates, estimates));
        prompt.meter.budget_tokens
    };
    assert_eq!(budget(false) - budget(true), 800);
}

/// Gives blocks of the kinds and sizes it was told.
struct Given(Vec<(BlockKind, usize)>);

impl ContextProvider for Given {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        let block = |(kind, words): &(BlockKind, usize)| {
            let text = format!("{kind:?}{}", " x".repeat(words - 1));
            Block::new(*kind, Origin::Provider { name: "given".into() }, Role::System, text, wanted.counter)
        };
        self.0.iter().map(block).collect()
    }
}

fn provided(window: u32, providers: &[&dyn ContextProvider]) -> Prompt {
    let (revision, branch) = (anna(), branch("uaua", 95));
    let history = counted(&branch, &Words);
    let mut input = input(&revision, &history);
    input.window = window;
    Builder::new(input).providers(providers).build().unwrap()
}

#[test]
fn provided_blocks_stand_in_the_order_of_the_layout() {
    let (late, early) = (Given(vec![(BlockKind::Trailing, 5), (BlockKind::Memory, 5)]), Given(vec![(BlockKind::Tools, 5)]));
    let prompt = provided(10_000, &[&late, &early]);
    let kinds: Vec<BlockKind> = prompt.blocks.iter().map(|block| block.kind).collect();
    assert!(kinds.is_sorted());
    let messages = prompt.messages();
    assert!(messages[0].1.ends_with("stamps.\n\nTools x x x x\n\nMemory x x x x"));
    assert!(messages.last().unwrap().1.starts_with("Trailing x x x x\nCurrent time: "));
}

#[test]
fn short_space_goes_to_tools_then_trailing_then_memory_then_history() {
    let given = Given(vec![(BlockKind::Memory, 95), (BlockKind::Trailing, 95), (BlockKind::Tools, 95)]);
    let included = |room: u32| {
        // 500 for the reply; persona, text, time and anchor take what an unlimited build says.
        let fixed = provided(10_000, &[]).meter.request_tokens - 400;
        let window = (500 + fixed + room) * 100 / 98 + 1;
        let prompt = provided(window, &[&given]);
        let kinds = prompt.blocks.iter().filter(|block| block.included && block.tokens >= 100);
        let mut kinds: Vec<BlockKind> = kinds.map(|block| block.kind).collect();
        kinds.dedup();
        kinds
    };
    use BlockKind::{History, Memory, Tools, Trailing};
    assert_eq!(included(90), []);
    assert_eq!(included(110), [Tools]);
    assert_eq!(included(210), [Tools, Trailing]);
    assert_eq!(included(310), [Tools, Memory, Trailing]);
    assert_eq!(included(510), [Tools, Memory, History, Trailing]);
}

#[test]
fn what_does_not_fit_says_so_and_other_kinds_are_refused() {
    let given = Given(vec![(BlockKind::Tools, 50_000), (BlockKind::System, 3)]);
    let prompt = provided(10_000, &[&given]);
    let tools = of_kind(&prompt, BlockKind::Tools)[0];
    assert!(!tools.included && tools.reason.as_deref().unwrap().contains("do not fit"));
    assert!(!of_kind(&prompt, BlockKind::System)[1].included);
    assert_eq!(prompt.window_start, Some(id(0)), "history is served all the same");
}

#[test]
fn tool_definitions_are_complete_or_absent_and_no_message() {
    let schema = |description: &str| ToolSchema {
        name: "clock".into(),
        description: description.into(),
        parameters: serde_json::json!({"type": "object"}),
    };
    let (short, long) = ([schema("Tells the time.")], [schema(&"word ".repeat(20_000))]);
    let told = provided(10_000, &[&ToolDefinitions(&short)]);
    assert_eq!(told.tools(), short);
    let block = of_kind(&told, BlockKind::Tools)[0];
    assert!(block.tokens > 0 && told.meter.request_tokens > provided(10_000, &[]).meter.request_tokens);
    let told_text = told.messages().into_iter().map(|(_, text)| text).collect::<String>();
    assert!(!told_text.contains("clock"), "{told_text}");
    let receipt = block.for_receipt();
    assert_eq!(receipt.text.as_deref(), Some(&*block.text), "nothing else holds it");
    let untold = provided(10_000, &[&ToolDefinitions(&long)]);
    assert_eq!(untold.tools(), []);
    assert!(of_kind(&untold, BlockKind::Tools)[0].reason.is_some());
    assert!(of_kind(&provided(10_000, &[&ToolDefinitions(&[])]), BlockKind::Tools).is_empty());
}
