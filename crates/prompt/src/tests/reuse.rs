//! How much of each request a prompt cache can serve, over 400 turns at a history budget of 4k.

use super::{anna, id, input};
use crate::{
    BlockKind, Builder, ComposeRequest, Composition, Exchange, FRAME_TOKENS, HistoryMessage, O200k, Prompt, SlidingWindow,
    Strategy, TokenCounter, Window,
};
use evenkeel_domain::{BUILT_IN_PRESETS, MessageId, Revision, Role};

const TURNS: u32 = 400;
const BUDGET: u32 = 4_000;

/// Drops the oldest exchange at each turn, as most chat apps do.
struct PerTurn;

impl Strategy for PerTurn {
    fn id(&self) -> &str {
        "per-turn"
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Composition {
        let request = request.beside(&[]);
        let mut left = request.budget;
        let fits = |exchange: &&Exchange| left.checked_sub(exchange.tokens).map(|rest| left = rest).is_some();
        let kept = request.exchanges.iter().rev().take_while(fits).count();
        Composition::of(Window { first: request.exchanges.len() - kept, reason: None }, request.budget)
    }

    fn leaving(&self, sent: &[Exchange]) -> usize {
        sent.len().min(1)
    }
}

/// Sums over all turns, in tokens.
#[derive(Default)]
struct Sums {
    stored: u32,
    whole: u32,
    reused: u32,
    fill: f64,
    evictions: u32,
}

impl Sums {
    fn add(&mut self, prompt: &Prompt, previous: Option<&Prompt>) {
        let parts = |prompt: &Prompt, kinds: fn(BlockKind) -> bool| -> Vec<(String, u32)> {
            let blocks = prompt.blocks.iter().filter(|block| block.included && kinds(block.kind));
            blocks.map(|block| (format!("{:?} {}", block.role, block.text), block.tokens)).collect()
        };
        let stored = parts(prompt, |kind| kind != BlockKind::Trailing);
        let trailing = parts(prompt, |kind| kind == BlockKind::Trailing);
        self.stored += stored.iter().map(|part| part.1).sum::<u32>();
        self.whole += stored.iter().chain(&trailing).map(|part| part.1).sum::<u32>();
        let before = previous.map(|previous| parts(previous, |_| true)).unwrap_or_default();
        self.reused += stored.iter().zip(&before).take_while(|(now, before)| now == before).map(|(now, _)| now.1).sum::<u32>();
        self.evictions += u32::from(previous.is_some_and(|previous| previous.meter.left_out < prompt.meter.left_out));
        self.fill += f64::from(prompt.meter.history_tokens) / f64::from(BUDGET) / f64::from(TURNS);
    }

    fn plain(&self) -> f64 {
        f64::from(self.reused) / f64::from(self.stored)
    }

    fn with_trailing(&self) -> f64 {
        f64::from(self.reused) / f64::from(self.whole)
    }
}

/// Sentences of 12–52 tokens from a fixed sequence; about 65 tokens a turn with frames.
fn line(state: &mut u64) -> String {
    const WORDS: [&str; 16] = [
        "the",
        "meeting",
        "was",
        "moved",
        "again",
        "and",
        "nobody",
        "asked",
        "me",
        "about",
        "it",
        "so",
        "now",
        "everything",
        "feels",
        "late",
    ];
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    };
    let length = 12 + next() % 30;
    (0..length).map(|_| WORDS[next() % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

fn run(strategy: &dyn Strategy) -> Sums {
    let preset = &BUILT_IN_PRESETS[0];
    let revision = Revision::new(preset.name, preset.system_prompt, preset.default_personality, None, anna().created_at);
    let mut state = 7;
    let lines: Vec<String> = (0..TURNS * 2).map(|_| line(&mut state)).collect();
    let message = |(at, content)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        let content: &String = content;
        HistoryMessage { id: id(u32::try_from(at).unwrap()), role, content, tokens: O200k.count(content), prefix: "", edits: &[] }
    };
    let history: Vec<HistoryMessage<'_>> = lines.iter().enumerate().map(message).collect();
    let (mut sums, mut previous, mut start): (Sums, Option<Prompt>, Option<MessageId>) = Default::default();
    for turn in 0..TURNS {
        let at = turn as usize * 2;
        let mut input = input(&revision, &history[..at]);
        (input.counter, input.turn, input.user_text, input.evicted_before) = (&O200k, turn + 1, history[at].content, start);
        (input.max_history_tokens, input.now) = (BUDGET, input.now + chrono::Duration::minutes(i64::from(turn)));
        let prompt = Builder::new(input).strategy(strategy).build().unwrap();
        start = prompt.window_start;
        sums.add(&prompt, previous.as_ref());
        previous = Some(prompt);
    }
    let per_turn = history.iter().map(|message| message.tokens + FRAME_TOKENS).sum::<u32>() / TURNS;
    println!(
        "{}: reuse {:.3}, with the trailing text in the sum {:.3}, mean fill {:.2}, {} evictions, {per_turn} tokens a turn",
        strategy.id(),
        sums.plain(),
        sums.with_trailing(),
        sums.fill,
        sums.evictions,
    );
    sums
}

#[test]
fn hysteresis_keeps_the_prefix() {
    let (window, per_turn) = (run(&SlidingWindow::default()), run(&PerTurn));
    assert!(window.plain() >= 0.95, "{}", window.plain());
    assert!(window.with_trailing() >= 0.92, "{}", window.with_trailing());
    assert!(window.fill >= 0.65, "{}", window.fill);
    assert!(per_turn.plain() < 0.4, "the comparison means something: {}", per_turn.plain());
}
