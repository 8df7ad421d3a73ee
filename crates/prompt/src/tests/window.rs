//! What stays of the history.

use super::{Words, anna, branch, build, counted, id, ids, input, left_out, of_kind, sent};
use crate::{
    Block, BlockKind, BuildInput, Builder, ComposeRequest, Composition, ContextProvider, Exchange, FRAME_TOKENS, Full, Goals,
    Origin, Prompt, Strategy, Wanted, Window,
};
use evenkeel_domain::Role;

/// Builds with exchanges of 200 tokens: two messages of 95 words and their frames.
fn built(roles: &str, change: impl FnOnce(&mut BuildInput<'_>)) -> Prompt {
    let revision = anna();
    let branch = branch(roles, 95);
    let history = counted(&branch, &Words);
    let mut input = input(&revision, &history);
    change(&mut input);
    build(input).unwrap()
}

#[test]
fn everything_is_sent_while_it_fits() {
    let prompt = built(&"ua".repeat(25), |input| input.max_history_tokens = 5_000);
    assert_eq!(sent(&prompt), ids(0..50));
    assert_eq!((prompt.meter.history_tokens, prompt.meter.left_out), (5_000, 0));
    assert_eq!(prompt.window_start, Some(id(0)));
}

#[test]
fn one_token_over_cuts_to_sixty_per_cent_in_whole_exchanges() {
    let prompt = built(&"ua".repeat(25), |input| input.max_history_tokens = 4_999);
    // 60 % of 4,999 are 2,999: fourteen exchanges of 200.
    assert_eq!(sent(&prompt), ids(22..50));
    assert_eq!((prompt.meter.history_tokens, prompt.meter.left_out), (2_800, 22));
    assert_eq!(left_out(&prompt).tokens, 2_200);
    assert!(left_out(&prompt).reason.as_deref().unwrap().contains("cut to 60 %"));
}

#[test]
fn the_start_stays_while_its_tail_fits() {
    let cut = built(&"ua".repeat(26), |input| input.max_history_tokens = 5_000);
    let start = cut.window_start;
    assert_eq!(start, Some(id(22)));
    for exchanges in 27..=36 {
        let prompt = built(&"ua".repeat(exchanges), |input| input.evicted_before = start);
        assert_eq!(prompt.window_start, start, "{exchanges} exchanges");
        assert_eq!(prompt.meter.left_out, 22);
    }
    let prompt = built(&"ua".repeat(37), |input| input.evicted_before = start);
    assert_eq!(prompt.window_start, Some(id(44)), "5,200 tokens are over the budget, fifteen exchanges stay");
}

#[test]
fn an_unknown_start_counts_for_nothing() {
    let prompt = built("uaua", |input| input.evicted_before = Some(id(99)));
    assert_eq!(sent(&prompt), ids(0..4));
}

#[test]
fn messages_that_were_not_loaded_are_counted() {
    let prompt = built("uaua", |input| input.earlier = 1_000_000);
    assert_eq!((sent(&prompt), prompt.meter.left_out), (ids(0..4), 1_000_000));
    assert!(left_out(&prompt).reason.is_some());
}

#[test]
fn the_newest_five_stay_even_over_the_history_budget() {
    let prompt = built(&"ua".repeat(8), |input| input.max_history_tokens = 500);
    assert_eq!(sent(&prompt), ids(6..16));
    assert_eq!((prompt.meter.history_tokens, prompt.meter.budget_tokens), (1_000, 500));
    assert!(prompt.meter.warning);
    assert!(left_out(&prompt).reason.as_deref().unwrap().contains("newest 5 exchanges are sent all the same"));
}

#[test]
fn fewer_than_five_stay_where_the_request_cannot_take_them() {
    let prompt = built(&"ua".repeat(8), |input| (input.window, input.max_tokens) = (1_000, 200));
    assert_eq!(sent(&prompt), ids(10..16));
    assert!(left_out(&prompt).reason.as_deref().unwrap().contains("only the newest 3 exchanges fit"));
    let prompt = built(&"ua".repeat(8), |input| (input.window, input.max_tokens) = (400, 200));
    assert_eq!((sent(&prompt), prompt.window_start, prompt.meter.left_out), (vec![], None, 16));
    assert!(left_out(&prompt).reason.as_deref().unwrap().contains("only the newest 0 exchanges fit"));
}

#[test]
fn never_begins_with_an_assistant_message() {
    assert_eq!(sent(&built("aaua", |_| {})), ids(2..4));
    assert_eq!(sent(&built("a", |_| {})), vec![]);
    assert_eq!(sent(&built("saua", |_| {})), ids(2..4));
}

#[test]
fn unanswered_questions_belong_to_the_next_exchange() {
    // u0 broke off without a reply, u1 was asked next: they leave together.
    let prompt = built("uuauaua", |input| (input.window, input.max_tokens) = (990, 200));
    assert_eq!(sent(&prompt), ids(3..7), "u0 u1 a2 need 300 tokens, 295 are left beside two exchanges");
    let whole = built("uuauaua", |_| {});
    assert_eq!(sent(&whole), ids(0..7));
    let roles: Vec<Role> = whole.messages().iter().map(|(role, _)| *role).collect();
    use Role::{Assistant, System, User};
    assert_eq!(roles, [System, User, Assistant, User, Assistant, User, Assistant, User, System]);
    assert!(whole.messages()[1].1.contains("w\n\nu1"));
}

#[test]
fn an_open_exchange_continues_in_the_new_text() {
    let prompt = built("uau", |_| {});
    assert_eq!(sent(&prompt), ids(0..3));
    let messages = prompt.messages();
    assert!(messages[3].1.starts_with("u2 w") && messages[3].1.ends_with("w\n\nAnd now?"));
    // It is not one of the five to keep: 5 × 200 + 100.
    let prompt = built(&format!("{}u", "ua".repeat(8)), |input| input.max_history_tokens = 500);
    assert_eq!(sent(&prompt), ids(6..17));
}

#[test]
fn second_replies_stay_with_the_first_and_blank_messages_vanish() {
    let prompt = built("uaau_a_", |_| {});
    assert_eq!(sent(&prompt), ids([0, 1, 2, 3, 5]));
    assert_eq!(prompt.messages().len(), 7, "system, u, aa, u, a, user, trailing");
    assert_eq!(prompt.meter.history_tokens, 5 * (95 + FRAME_TOKENS));
}

#[test]
fn warns_from_eighty_per_cent() {
    let warning = |budget| built(&"ua".repeat(8), |input| input.max_history_tokens = budget).meter.warning;
    assert!(warning(2_000));
    assert!(!warning(2_001));
    assert!(!built("", |input| input.max_history_tokens = 500).meter.warning);
}

#[test]
fn the_meter_says_what_leaves_next() {
    let full = built(&"ua".repeat(25), |input| input.max_history_tokens = 5_000);
    let leaving = full.meter.leaving.unwrap();
    assert_eq!((leaving.messages, leaving.first_id), (20, id(0)), "3,000 of 5,000 tokens are the most that can stay");
    assert!(leaving.beginning.starts_with("u0 w w") && leaving.beginning.chars().count() <= 80, "{}", leaving.beginning);
    let over = built(&"ua".repeat(26), |input| input.max_history_tokens = 5_000);
    assert_eq!(over.window_start, Some(id(22)), "with one exchange more, these and one more have left");
    assert_eq!(over.meter.leaving.unwrap().first_id, id(22));
    for few in 0..=5 {
        let prompt = built(&"ua".repeat(few), |input| input.max_history_tokens = 500);
        assert_eq!(prompt.meter.leaving, None, "the newest {few} stay");
    }
    let prompt = built(&"ua".repeat(6), |input| input.max_history_tokens = 500);
    assert_eq!(prompt.meter.leaving, None, "the five that are left are the newest");
}

#[test]
fn a_beginning_is_one_short_line() {
    let of = |text: &str| {
        let (revision, mut branch) = (anna(), branch(&"ua".repeat(20), 3));
        branch[0].2 = text.to_owned();
        let history = counted(&branch, &Words);
        build(input(&revision, &history)).unwrap().meter.leaving.unwrap().beginning
    };
    assert_eq!(of(" Who\nis\tthere?  \n"), "Who is there?");
    assert_eq!(of(&"é".repeat(80)), "é".repeat(80));
    assert_eq!(of(&"é".repeat(81)), format!("{}…", "é".repeat(79)));
}

#[test]
fn a_strategy_that_asks_for_too_much_is_held_to_the_request() {
    struct Everything;
    impl Strategy for Everything {
        fn id(&self) -> &str {
            "everything"
        }
        fn compose(&self, request: &ComposeRequest<'_>) -> Composition {
            let memory = |words| Block::new(BlockKind::Memory, Origin::State, Role::System, "w ".repeat(words), request.counter);
            let memory = vec![memory(50_000), memory(95)];
            Composition { memory, window: Window { first: 0, reason: None }, budget: u32::MAX }
        }
        fn leaving(&self, _: &[Exchange]) -> usize {
            0
        }
    }
    let (revision, branch) = (anna(), branch(&"ua".repeat(50), 95));
    let history = counted(&branch, &Words);
    let prompt = Builder::new(input(&revision, &history)).strategy(&Everything).build().unwrap();
    assert_eq!(prompt.meter.history_tokens, 9_000);
    assert!(left_out(&prompt).reason.as_deref().unwrap().contains("the strategy's choice was over"));
    let memory: Vec<bool> = of_kind(&prompt, BlockKind::Memory).iter().map(|block| block.included).collect();
    assert_eq!(memory, [false, true], "what does not fit is left out whole");
}

#[test]
fn the_full_strategy_is_bound_by_the_models_window_alone() {
    let (revision, branch) = (anna(), branch(&"ua".repeat(40), 95));
    let history = counted(&branch, &Words);
    let built = |exchanges: usize| {
        let input = BuildInput { max_history_tokens: 500, ..input(&revision, &history[..exchanges * 2]) };
        Builder::new(input).strategy(&Full::default()).build().unwrap()
    };
    let whole = built(40);
    assert_eq!((whole.meter.left_out, whole.meter.history_tokens), (0, 8_000));
    assert_eq!(whole.meter.budget_tokens, 9_800 - 500 - (whole.meter.request_tokens - 8_000));
    assert_eq!((whole.strategy.id.as_str(), whole.strategy.version.as_str()), ("std-full-strategy", "1"));
}

/// Brings messages back.
struct Recalled(Vec<u32>);

impl ContextProvider for Recalled {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        let block = |number: &u32| {
            let origin = Origin::Recalled { id: id(*number) };
            Block::new(BlockKind::Trailing, origin, Role::System, format!("recalled {number}"), wanted.counter)
        };
        self.0.iter().map(block).collect()
    }
}

#[test]
fn what_the_window_holds_is_not_recalled() {
    let (revision, branch) = (anna(), branch(&"ua".repeat(25), 95));
    let history = counted(&branch, &Words);
    let goals = ["Sleep better".to_owned(), " ".to_owned()];
    let providers: [&dyn ContextProvider; 2] = [&Recalled(vec![3, 30]), &Goals(&goals)];
    let input = BuildInput { max_history_tokens: 4_999, ..input(&revision, &history) };
    let prompt = Builder::new(input).providers(&providers).build().unwrap();
    let trailing = of_kind(&prompt, BlockKind::Trailing);
    let texts: Vec<(&str, bool)> = trailing.iter().map(|block| (block.text.as_str(), block.included)).collect();
    assert_eq!(texts[..2], [("recalled 3", true), ("recalled 30", false)]);
    assert_eq!(texts[2], ("What the user wants to reach:\n- Sleep better", true));
    assert!(texts[3].0.starts_with("Current time") && texts[4].0.starts_with("Anna stays"));
    assert!(trailing[1].reason.as_deref().unwrap().contains("stands in the history"));
}
