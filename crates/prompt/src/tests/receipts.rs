//! A receipt leads back to the request, whatever was sent.

use super::{Words, id, noon};
use crate::{
    Block, BlockKind, BuildInput, Builder, Characters, ContextProvider, Full, Goals, HistoryMessage, O200k, Origin, Prompt,
    PromptError, SlidingWindow, TokenCounter, Wanted, edited, rebuilt, system_text, whole_anchor,
};
use evenkeel_domain::{
    MessageId, ModelChoice, PromptForm, ProviderId, ProviderKind, RECEIPT_VERSION, Receipt, ReceiptBlock, Revision, Role,
    TextEdit, Usage,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::HashMap;

/// A stored text, what stands before it and what is replaced in it.
#[derive(Debug, Clone)]
struct Edited {
    stored: String,
    prefix: String,
    edits: Vec<TextEdit>,
}

impl Edited {
    fn sent(&self) -> String {
        format!("{}{}", self.prefix, edited(&self.stored, &self.edits).unwrap())
    }
}

/// Edits at random places between characters, in order.
fn edits_of(stored: &str, cuts: &[(u16, u16, String)]) -> Vec<TextEdit> {
    let places: Vec<usize> = stored.char_indices().map(|(at, _)| at).chain([stored.len()]).collect();
    let mut from = 0;
    let mut edits = Vec::new();
    for (gap, length, with) in cuts {
        let start = from + usize::from(*gap);
        let end = start + usize::from(*length);
        let (Some(start), Some(end_at)) = (places.get(start), places.get(end)) else { break };
        edits.push(TextEdit { start: *start as u32, end: *end_at as u32, with: with.clone() });
        from = end;
    }
    edits
}

fn texts() -> impl Strategy<Value = Edited> {
    let cuts = proptest::collection::vec((0u16..12, 0u16..6, "[a-z…\\[\\]]{0,6}"), 0..4);
    ("[a-zäé日🫠 \n\"\\\\]{1,60}", prop_oneof![3 => Just(String::new()), 1 => "[A-Z][a-zé]{0,9}: "], cuts)
        .prop_map(|(stored, prefix, cuts)| Edited { edits: edits_of(&stored, &cuts), stored, prefix })
}

#[derive(Debug, Clone)]
struct Case {
    past: Vec<(Role, Edited)>,
    recalled: Vec<Edited>,
    user: Edited,
    goals: Vec<String>,
    persona: (String, String, Option<String>),
    counter: usize,
    sizes: (u32, u32, u32, u32),
    start: Option<u32>,
}

fn cases() -> impl Strategy<Value = Case> {
    let role = prop_oneof![5 => Just(Role::User), 5 => Just(Role::Assistant), 1 => Just(Role::System)];
    let persona = (
        prop_oneof![4 => "[A-Z][a-zé]{1,9}", 1 => "🫠{60,90}"],
        prop_oneof![3 => "[A-Za-z. 日]{0,80}", 1 => "([a-z]{2,9} ){150,200}"],
        proptest::option::weighted(0.3, prop_oneof!["[A-Za-z ]{1,60}", "([a-z]{2,9} ){150,200}"]),
    );
    let goals = proptest::collection::vec("[a-z ]{1,20}", 0..3);
    let sizes = (500u32..6_000, 1u32..200, 20u32..3_000, 1u32..5);
    let past = proptest::collection::vec((role, texts()), 0..30);
    let recalled = proptest::collection::vec(texts(), 0..3);
    (past, recalled, texts(), goals, persona, 0usize..3, sizes, proptest::option::of(0u32..30)).prop_map(
        |(past, recalled, mut user, goals, persona, counter, sizes, start)| {
            user.prefix.clear();
            Case { past, recalled, user, goals, persona, counter, sizes, start }
        },
    )
}

/// Messages that recall found: numbers from 1,000 on.
struct Found<'a>(&'a [Edited]);

impl ContextProvider for Found<'_> {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        let block = |(at, found): (u32, &Edited)| {
            let origin = Origin::Recalled { id: id(1_000 + at) };
            let mut block = Block::new(BlockKind::Trailing, origin, Role::System, found.sent(), wanted.counter);
            (block.prefix, block.edits) = (found.prefix.clone(), found.edits.clone());
            block
        };
        (0..).zip(self.0).map(block).collect()
    }
}

impl Case {
    fn revision(&self) -> Revision {
        let (name, personality, anchor) = &self.persona;
        Revision::new(name, "Is a patient companion.", personality, anchor.as_deref(), noon())
    }

    fn build(&self, strategy: &dyn crate::Strategy) -> Result<Prompt, PromptError> {
        let counter = [&Words as &dyn TokenCounter, &O200k, &Characters][self.counter];
        let sent: Vec<String> = self.past.iter().map(|(_, text)| text.sent()).collect();
        let message =
            |((at, (role, text)), content): ((u32, &(Role, Edited)), &'_ String)| (at, *role, text.clone(), content.clone());
        let messages: Vec<_> = (0..).zip(&self.past).zip(&sent).map(message).collect();
        let history: Vec<HistoryMessage<'_>> = messages
            .iter()
            .map(|(at, role, text, content)| HistoryMessage {
                id: id(*at),
                role: *role,
                content,
                tokens: counter.count(content),
                prefix: &text.prefix,
                edits: &text.edits,
            })
            .collect();
        let (revision, user, goals) = (self.revision(), self.user.sent(), Goals(&self.goals));
        let found = Found(&self.recalled);
        let (window, max_tokens, max_history_tokens, turn) = self.sizes;
        Builder::new(BuildInput {
            user_text: &user,
            user_edits: &self.user.edits,
            turn,
            window,
            max_tokens,
            max_history_tokens,
            evicted_before: self.start.map(id),
            counter,
            ..super::input(&revision, &history)
        })
        .strategy(strategy)
        .providers(&[&found, &goals])
        .build()
    }

    /// What the vault would say.
    fn stored(&self, user: MessageId) -> HashMap<MessageId, String> {
        let past = (0..).zip(&self.past).map(|(at, (_, text))| (id(at), text.stored.clone()));
        let recalled = (1_000..).zip(&self.recalled).map(|(at, text)| (id(at), text.stored.clone()));
        past.chain(recalled).chain([(user, self.user.stored.clone())]).collect()
    }
}

fn receipt(prompt: &Prompt, revision: &Revision) -> Receipt {
    Receipt {
        version: RECEIPT_VERSION,
        reply_id: id(9_001),
        user_message_id: id(9_000),
        created_at: prompt.built_at,
        revision_id: revision.id.clone(),
        speaker: prompt.speaker.clone(),
        model: ModelChoice { provider_id: ProviderId::from_parts(noon(), [7; 10]), model: "m".into() },
        model_name: "m".into(),
        provider_name: "P".into(),
        provider_kind: ProviderKind::Ollama,
        address: "http://127.0.0.1/api/chat".into(),
        temperature: 0.7,
        max_tokens: 100,
        window: 1_000,
        strategy: prompt.strategy.clone(),
        form: PromptForm::Messages,
        blocks: prompt.blocks.iter().map(Block::for_receipt).collect(),
        meter: prompt.meter.clone(),
        follow_up: None,
        request_hash: String::new(),
        request_bytes: 0,
        usage: Some(Usage::default()),
        rounds: Vec::new(),
    }
}

/// What the vault would give for each block, but for one message.
fn stored(case: &Case, receipt: &Receipt, lost: Option<MessageId>) -> Vec<Option<String>> {
    let (revision, contents) = (case.revision(), case.stored(receipt.user_message_id));
    let text = |block: &ReceiptBlock| match &block.origin {
        Origin::Revision { .. } => Some(system_text(&revision)),
        Origin::Anchor { .. } => Some(whole_anchor(&revision)),
        _ => block.message(receipt.user_message_id).filter(|id| Some(*id) != lost).and_then(|id| contents.get(&id).cloned()),
    };
    receipt.blocks.iter().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(20_261_121), ..ProptestConfig::default() })]

    #[test]
    fn the_rebuilt_prompt_is_the_one_that_was_sent(case in cases(), full in any::<bool>()) {
        let strategy: &dyn crate::Strategy = if full { &Full::default() } else { &SlidingWindow::default() };
        let Ok(prompt) = case.build(strategy) else { return Ok(()) };
        let receipt = receipt(&prompt, &case.revision());
        let again = rebuilt(&receipt, &stored(&case, &receipt, None));
        prop_assert_eq!(&again.missing, &Vec::<usize>::new());
        let rebuilt = again.prompt.unwrap();
        prop_assert_eq!(rebuilt.messages(), prompt.messages());
        prop_assert_eq!(rebuilt.user_last(), prompt.user_last());
        prop_assert_eq!(rebuilt.folded(), prompt.folded());
        prop_assert_eq!(rebuilt.as_text(), prompt.as_text());
        prop_assert_eq!(rebuilt.window_start, prompt.window_start);
        for ((block, kept), text) in prompt.blocks.iter().zip(&receipt.blocks).zip(&again.texts) {
            prop_assert_eq!(if block.included { block.text.as_str() } else { "" }, text);
            prop_assert_eq!(kept.hash.len(), if block.text.is_empty() { 0 } else { 64 });
        }
    }

    #[test]
    fn no_receipt_repeats_what_was_said_or_what_the_persona_is(case in cases()) {
        let Ok(prompt) = case.build(&SlidingWindow::default()) else { return Ok(()) };
        for block in prompt.blocks.iter().map(Block::for_receipt) {
            let is_own = matches!(block.origin, Origin::Clock | Origin::Goals);
            prop_assert_eq!(block.text.is_some(), is_own, "{:?}", block.origin);
            let anchor = matches!(block.origin, Origin::Anchor { .. });
            prop_assert!(!anchor || block.edits.iter().all(|edit| edit.with.len() <= "The assistant".len()), "{:?}", block.edits);
        }
    }

    #[test]
    fn a_lost_message_is_named_and_nothing_is_made_up(case in cases(), lost in 0u32..30) {
        let Ok(prompt) = case.build(&Full::default()) else { return Ok(()) };
        let receipt = receipt(&prompt, &case.revision());
        let again = rebuilt(&receipt, &stored(&case, &receipt, Some(id(lost))));
        let was_sent = |block: &Block| block.included && block.origin == Origin::Message { id: id(lost) };
        let at: Vec<usize> = prompt.blocks.iter().enumerate().filter(|(_, block)| was_sent(block)).map(|(at, _)| at).collect();
        prop_assert_eq!(again.prompt.is_none(), !at.is_empty());
        prop_assert!(at.iter().all(|at| again.texts[*at].is_empty()));
        prop_assert_eq!(again.missing, at);
    }
}

#[test]
fn edits_that_do_not_fit_give_nothing() {
    let edit = |start, end| TextEdit { start, end, with: "x".into() };
    assert_eq!(edited("a🫠b", &[edit(0, 1), edit(5, 6)]).as_deref(), Some("x🫠x"));
    assert_eq!(edited("ab", &[edit(2, 2)]).as_deref(), Some("abx"), "an insertion at the end");
    for edits in [vec![edit(0, 2)], vec![edit(2, 5)], vec![edit(0, 9)], vec![edit(5, 6), edit(0, 1)], vec![edit(6, 5)]] {
        assert_eq!(edited("a🫠b", &edits), None, "{edits:?}");
    }
}
