//! What holds for every history, budget and tokenizer.

use super::{Words, anna, build, id, sent};
use crate::{BuildInput, Characters, FRAME_TOKENS, HistoryMessage, O200k, Prompt, PromptError, TokenCounter};
use evenkeel_domain::{Leaving, MessageId, Revision, Role};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Text = (MessageId, Role, String);

/// Random branches: mostly alternating, with unanswered, repeated, blank and system messages.
fn texts() -> impl Strategy<Value = Vec<Text>> {
    let role = prop_oneof![5 => Just(None), 1 => Just(Some(Role::User)), 1 => Just(Some(Role::Assistant)), 1 => Just(Some(Role::System))];
    let content = prop_oneof![20 => "[a-zäé日🫠 \n]{1,80}", 2 => "([a-z]{1,9} ){40,120}", 1 => "[ \n]{0,3}"];
    proptest::collection::vec((role, content), 0..60).prop_map(|parts| {
        let mut next = Role::User;
        let mut texts = Vec::new();
        for (at, (role, content)) in parts.into_iter().enumerate() {
            let role = role.unwrap_or(next);
            next = if role == Role::User { Role::Assistant } else { Role::User };
            texts.push((id(u32::try_from(at).unwrap()), role, content));
        }
        texts
    })
}

#[derive(Debug, Clone)]
struct Case {
    texts: Vec<Text>,
    user: String,
    counter: usize,
    window: u32,
    max_tokens: u32,
    max_history: u32,
    turn: u32,
    start: Option<usize>,
    estimates: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = (60u32..6_000, 1u32..800, 20u32..3_000, 1u32..5);
    (texts(), "[a-z日 ]{1,200}", 0usize..3, sizes, proptest::option::of(0usize..60), any::<bool>()).prop_map(
        |(texts, user, counter, (window, max_tokens, max_history, turn), start, estimates)| Case {
            texts,
            user,
            counter,
            window,
            max_tokens,
            max_history,
            turn,
            start,
            estimates,
        },
    )
}

impl Case {
    fn counter(&self) -> &'static dyn TokenCounter {
        [&Words as &dyn TokenCounter, &O200k, &Characters][self.counter]
    }

    fn history(&self) -> Vec<HistoryMessage<'_>> {
        super::counted(&self.texts, self.counter())
    }

    fn build(&self, revision: &Revision) -> Result<Prompt, PromptError> {
        let history = self.history();
        build(BuildInput {
            user_text: &self.user,
            turn: self.turn,
            window: self.window,
            max_tokens: self.max_tokens,
            max_history_tokens: self.max_history,
            evicted_before: self.start.map(|at| id(u32::try_from(at).unwrap())),
            counter: self.counter(),
            counts_are_estimates: self.estimates,
            ..super::input(revision, &history)
        })
    }

    fn budget(&self) -> u32 {
        let part = if self.estimates || self.counter().is_estimate() { 10 } else { 50 };
        self.window.saturating_sub(self.max_tokens).saturating_sub(self.window.div_ceil(part))
    }

    /// The messages that can be sent at all, oldest first.
    fn visible(&self) -> Vec<&Text> {
        self.texts.iter().filter(|(_, _, text)| !text.trim().is_empty()).collect()
    }
}

/// Tokens of rendered messages, each with its frame, and the opening of the reply.
fn rendered(messages: &[(Role, String)], counter: &dyn TokenCounter) -> u32 {
    messages.iter().map(|(_, text)| counter.count(text) + FRAME_TOKENS).sum::<u32>() + FRAME_TOKENS
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(20_260_301), ..ProptestConfig::default() })]

    #[test]
    fn never_over_budget_and_the_persona_is_whole(case in cases()) {
        let revision = anna();
        match case.build(&revision) {
            Err(PromptError::ReplyFillsWindow { .. }) => prop_assert_eq!(case.budget(), 0),
            Err(PromptError::TooLarge { system, user, trailing, budget, .. }) => {
                prop_assert_eq!(budget, case.budget());
                prop_assert!(system + user + trailing > budget);
            }
            Ok(prompt) => {
                prop_assert!(prompt.meter.request_tokens <= case.budget());
                // Joined texts are tokenised anew: a join may cost a token, a frame always pays for it.
                prop_assert!(rendered(&prompt.messages(), case.counter()) <= case.budget());
                prop_assert!(rendered(&prompt.user_last(), case.counter()) <= case.budget());
                prop_assert!(rendered(&prompt.folded(), case.counter()) <= case.budget());
                prop_assert!(case.counter().count(&prompt.as_text()) <= case.budget());
                let system = format!("{}\n\nAnna's personality: {}", revision.system_prompt, revision.personality);
                prop_assert_eq!(&prompt.messages()[0], &(Role::System, system));
                prop_assert!(prompt.blocks[0].included);
            }
        }
    }

    #[test]
    fn history_is_a_tail_of_whole_exchanges(case in cases()) {
        let Ok(prompt) = case.build(&anna()) else { return Ok(()) };
        let (sent, visible) = (sent(&prompt), case.visible());
        let first = visible.len() - sent.len();
        let tail: Vec<MessageId> = visible[first..].iter().map(|(id, _, _)| *id).collect();
        prop_assert_eq!(&sent, &tail, "the newest messages in their order, none missing in between");
        if let Some((_, role, _)) = visible.get(first) {
            prop_assert_eq!(*role, Role::User, "begins with a user message");
            // Unless the caller's own start lies between two questions that belong together.
            let told = |before: MessageId| case.start.is_some_and(|at| before < id(at as u32) && id(at as u32) <= visible[first].0);
            prop_assert!(first == 0 || visible[first - 1].1 != Role::User || told(visible[first - 1].0), "begins inside an exchange");
        }
        let roles: Vec<Role> = prompt.folded().iter().map(|(role, _)| *role).collect();
        prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "roles alternate: {:?}", roles);
        prop_assert_eq!(roles.last(), Some(&Role::User));
        prop_assert_eq!(prompt.window_start, sent.first().copied());
    }

    #[test]
    fn same_input_same_bytes(case in cases()) {
        let revision = anna();
        let (one, two) = (case.build(&revision), case.build(&revision));
        prop_assert_eq!(&one, &two);
        if let (Ok(one), Ok(two)) = (one, two) {
            prop_assert_eq!(one.as_text(), two.as_text());
            prop_assert_eq!(one.messages(), two.messages());
        }
    }

    #[test]
    fn what_was_loaded_beyond_the_start_changes_nothing(case in cases(), drop in 0usize..20) {
        // A caller that loads only from the previous start on gets the same request.
        let revision = anna();
        let Some(start) = case.start.filter(|at| *at < case.texts.len()) else { return Ok(()) };
        let drop = drop.min(start);
        let short = Case { texts: case.texts[drop..].to_vec(), ..case.clone() };
        let (whole, part) = (case.build(&revision), short.build(&revision));
        prop_assert_eq!(whole.clone().map(|prompt| prompt.messages()), part.clone().map(|prompt| prompt.messages()));
        if let (Ok(whole), Ok(part)) = (whole, part) {
            prop_assert_eq!(whole.meter.left_out as usize, part.meter.left_out as usize + drop);
        }
    }

    #[test]
    fn the_start_moves_only_when_history_is_over_its_budget(
        words in proptest::collection::vec((1usize..40, 1usize..120), 1..80),
        max_history in 200u32..2_000,
    ) {
        let revision = anna();
        let mut texts: Vec<Text> = Vec::new();
        let mut start: Option<MessageId> = None;
        for (user, reply) in words {
            let text = "w ".repeat(user);
            let case = Case {
                texts: texts.clone(), user: text.clone(), counter: 0, window: 6_000, max_tokens: 500,
                max_history, turn: 3, start: None, estimates: false,
            };
            let history = case.history();
            let mut input = super::input(&revision, &history);
            (input.max_history_tokens, input.evicted_before, input.user_text, input.window) = (max_history, start, &text, 6_000);
            let prompt = build(input).unwrap();
            let before = history.iter().position(|message| Some(message.id) == start);
            if let (Some(before), Some(now)) = (before, prompt.window_start) {
                let tail: u32 = history[before..].iter().map(|message| message.tokens + FRAME_TOKENS).sum();
                let moved = now != history[before].id;
                prop_assert!(now >= history[before].id, "the start never moves back");
                // Five exchanges stay even when they are over the budget by themselves.
                prop_assert!(!moved || tail > prompt.meter.budget_tokens, "moved at {} of {}", tail, prompt.meter.budget_tokens);
                prop_assert!(moved || tail <= prompt.meter.budget_tokens || history.len() - before <= 10, "stayed at {}", tail);
            }
            start = prompt.window_start;
            let at = u32::try_from(texts.len()).unwrap();
            texts.push((id(at), Role::User, text));
            texts.push((id(at + 1), Role::Assistant, "r ".repeat(reply)));
        }
    }

    #[test]
    fn what_was_said_to_leave_next_is_what_leaves(
        turns in proptest::collection::vec((1usize..150, proptest::option::weighted(0.9, 0usize..150)), 1..120),
        max_history in 200u32..2_000,
        window in 700u32..6_000,
    ) {
        let revision = anna();
        let mut texts: Vec<Text> = Vec::new();
        let (mut start, mut announced) = (None, None);
        for (user, reply) in turns {
            let text = "w ".repeat(user);
            let history = super::counted(&texts, &Words);
            let mut input = super::input(&revision, &history);
            (input.max_history_tokens, input.window, input.evicted_before, input.user_text) = (max_history, window, start, &text);
            let Ok(prompt) = build(input) else { continue };
            if prompt.window_start != start
                && let (Some(before), Some(leaving)) = (start, &announced)
            {
                let leaving: &Leaving = leaving;
                prop_assert_eq!(leaving.first_id, before, "the first is the one the window began with");
                let still: Vec<_> = sent(&prompt).into_iter().take(1).collect();
                let left = texts.iter().filter(|(id, _, text)| {
                    *id >= before && still.first().is_none_or(|still| id < still) && !text.trim().is_empty()
                });
                prop_assert!(left.count() >= leaving.messages as usize, "{} were said to leave", leaving.messages);
            }
            (start, announced) = (prompt.window_start, prompt.meter.leaving);
            let at = u32::try_from(texts.len()).unwrap();
            texts.push((id(at), Role::User, text));
            texts.extend(reply.map(|words| (id(at + 1), Role::Assistant, "r ".repeat(words))));
        }
    }
}
