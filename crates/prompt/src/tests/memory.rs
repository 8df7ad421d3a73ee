//! Strategies with a memory: summaries and extracted values.

use super::{Words, anna, branch, counted, id, ids, input, left_out, of_kind, sent};
use crate::strategy::Strategy as _;
use crate::{
    BlockKind, BuildInput, Builder, Extraction, HistoryMessage, Origin, Prompt, Summarization, SummaryText, TurnComplete, Work,
    exchanges,
};
use evenkeel_domain::{MessageId, StateSchema, SummaryId, SummarySettings};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::ops::Range;

const NOTES: &str = "## Facts about the user\n- Has a sister. [m1]\n\n## Open threads\n- none\n\n## Commitments made\n- none";

fn summary_id(number: u8) -> SummaryId {
    SummaryId::from_parts(chrono::DateTime::UNIX_EPOCH, [number; 10])
}

fn summary(up_to: u32) -> SummaryText {
    SummaryText { id: summary_id(1), up_to: id(up_to), text: NOTES.into() }
}

fn of(settings: SummarySettings, summary: Option<SummaryText>) -> Summarization {
    Summarization::new(&settings, summary)
}

fn built(strategy: &dyn crate::Strategy, input: BuildInput<'_>) -> Prompt {
    Builder::new(input).strategy(strategy).build().unwrap()
}

fn schema() -> StateSchema {
    StateSchema::parse(&serde_json::json!({ "properties": { "city": { "type": "string" }, "date": {} } })).unwrap()
}

#[test]
fn a_summary_stands_for_what_it_covers() {
    let texts = branch(&"ua".repeat(8), 3);
    let (history, revision) = (counted(&texts, &Words), anna());
    let prompt = built(&of(SummarySettings::default(), Some(summary(9))), input(&revision, &history));
    assert_eq!(sent(&prompt), ids(10..16));
    assert_eq!(prompt.window_start, Some(id(10)));
    let memory = of_kind(&prompt, BlockKind::Memory);
    assert_eq!((memory.len(), &memory[0].origin), (1, &Origin::Summary { id: summary_id(1) }));
    assert!(memory[0].text.contains("- Has a sister.\n") && !memory[0].text.contains("[m1]"), "{}", memory[0].text);
    let out = left_out(&prompt);
    assert_eq!((&out.origin, prompt.meter.left_out), (&Origin::Earlier { messages: 10 }, 10));
    assert_eq!(out.reason.as_deref(), Some("the summary stands for what was said before"));
    assert_eq!(prompt.strategy.id, "std-summarization-strategy");
}

#[test]
fn a_summary_that_ends_before_what_is_loaded_covers_none_of_it() {
    let texts = branch("uaua", 3);
    let (history, revision) = (counted(&texts, &Words), anna());
    let prompt =
        built(&of(SummarySettings::default(), Some(summary(77))), BuildInput { earlier: 6, ..input(&revision, &history) });
    assert_eq!((sent(&prompt), prompt.meter.left_out), (ids(0..4), 6));
}

#[test]
fn what_follows_the_summary_is_cut_where_it_is_over_its_budget() {
    let texts = branch(&"ua".repeat(12), 20);
    let (history, revision) = (counted(&texts, &Words), anna());
    let strategy = of(SummarySettings::default(), Some(summary(3)));
    let prompt = built(&strategy, BuildInput { max_history_tokens: 400, ..input(&revision, &history) });
    assert_eq!(prompt.window_start, Some(id(14)), "cut to the newest five exchanges");
    assert!(left_out(&prompt).reason.as_deref().unwrap().ends_with("; the summary stands for what was said before"));
    let next = BuildInput { max_history_tokens: 400, evicted_before: prompt.window_start, ..input(&revision, &history) };
    assert_eq!(built(&strategy, next).window_start, Some(id(14)));
}

#[test]
fn a_summary_too_large_for_the_request_is_left_out_and_says_so() {
    let texts = branch("uaua", 3);
    let (history, revision) = (counted(&texts, &Words), anna());
    let large = SummaryText { text: "word ".repeat(300), ..summary(1) };
    let input = BuildInput { window: 500, max_tokens: 100, ..input(&revision, &history) };
    let prompt = built(&of(SummarySettings::default(), Some(large)), input);
    let memory = of_kind(&prompt, BlockKind::Memory)[0];
    assert!(!memory.included && memory.reason.as_deref().unwrap().contains("too little"), "{memory:?}");
    assert_eq!(sent(&prompt), ids(0..4), "what it covers is sent as far as it is loaded");
}

fn due(strategy: &Summarization, history: &[HistoryMessage<'_>], max_history_tokens: u32) -> Option<Range<usize>> {
    let exchanges = exchanges(history, 0);
    match strategy.on_turn_complete(&TurnComplete { history, exchanges: &exchanges, max_history_tokens }) {
        Some(Work::Summarise { exchanges }) => Some(exchanges),
        _ => None,
    }
}

#[test]
fn a_summary_is_due_by_number_or_by_room() {
    let strategy = of(SummarySettings::default(), None);
    for (turns, room, expected) in [
        (10, 100_000, None),
        (11, 100_000, Some(0..5)),
        (15, 100_000, Some(0..5)),
        (60, 100_000, Some(0..50)),
        (6, 200, Some(0..3)),
        (10, 200, Some(0..5)),
        (6, 201, None),
        (1, 10, None),
    ] {
        // Two messages of 8 words with 5 more each: 26 tokens an exchange, 160 of 200 are 80 %.
        let texts = branch(&"ua".repeat(turns), if turns == 6 { 9 } else { 8 });
        let room = if turns == 6 { room + 10 } else { room };
        assert_eq!(due(&strategy, &counted(&texts, &Words), room), expected, "{turns} turns in {room} tokens");
    }
    let texts = branch(&format!("{}u", "ua".repeat(13)), 3);
    let with_summary = of(SummarySettings::default(), Some(summary(3)));
    assert_eq!(due(&with_summary, &counted(&texts, &Words), 100_000), Some(2..7), "neither the covered nor the open ones count");
}

#[test]
fn the_state_takes_the_place_of_history() {
    let texts = branch("uauauau", 3);
    let (history, revision) = (counted(&texts, &Words), anna());
    let known = vec![("city".to_owned(), "\"Faro\"".to_owned()), ("gone".to_owned(), "1".to_owned())];
    for (last_n, expected) in [(0, ids([])), (1, ids(6..7)), (2, ids(4..7)), (3, ids(4..7)), (4, ids(2..7)), (200, ids(0..7))] {
        let prompt = built(&Extraction::new(schema(), known.clone(), last_n), input(&revision, &history));
        assert_eq!(sent(&prompt), expected, "last {last_n}");
        let memory = of_kind(&prompt, BlockKind::Memory)[0];
        assert_eq!(memory.origin, Origin::State);
        assert!(memory.text.ends_with("\n{\"city\":\"Faro\",\"date\":null}"), "{}", memory.text);
    }
    let empty = built(&Extraction::new(schema(), vec![("gone".into(), "1".into())], 0), input(&revision, &history));
    assert!(of_kind(&empty, BlockKind::Memory).is_empty(), "a form without a value says nothing");
    assert!(left_out(&empty).reason.as_deref().unwrap().contains("no history"));
    let tight = BuildInput { max_history_tokens: 20, ..input(&revision, &history) };
    assert_eq!(sent(&built(&Extraction::new(schema(), known, 4), tight)), ids(6..7));
}

#[test]
fn composed_prompts_in_their_exact_words() {
    let texts = branch("uauau", 2);
    let (history, revision) = (counted(&texts, &Words), anna());
    let shown = |prompt: &Prompt| {
        let reasons: Vec<_> = prompt.blocks.iter().filter_map(|block| block.reason.clone()).collect();
        let messages = prompt.messages();
        let messages: Vec<String> = messages.iter().map(|(role, text)| format!("--- {}\n{text}", role.as_str())).collect();
        format!("{}\n===== {}", messages.join("\n"), reasons.join(" | "))
    };
    let summarised = built(&of(SummarySettings::default(), Some(summary(1))), input(&revision, &history));
    insta::assert_snapshot!("summarization", shown(&summarised));
    let known = vec![("city".to_owned(), "\"Faro\"".to_owned())];
    insta::assert_snapshot!("extraction", shown(&built(&Extraction::new(schema(), known, 1), input(&revision, &history))));
}

/// A conversation that grows by one exchange a turn, with the summaries that become due; gives each
/// turn's first message and the summary's end.
fn grown(turns: usize, settings: &SummarySettings, budget: u32, words: usize) -> Vec<(Option<MessageId>, Option<u32>, Prompt)> {
    let (texts, revision) = (branch(&"ua".repeat(turns), words), anna());
    let all = counted(&texts, &Words);
    let (mut end, mut start, mut seen) = (None, None, Vec::new());
    for turn in 0..turns {
        let history = &all[..turn * 2];
        let strategy = of(settings.clone(), end.map(summary));
        let input = BuildInput { max_history_tokens: budget, evicted_before: start, ..input(&revision, history) };
        let prompt = built(&strategy, input);
        start = prompt.window_start;
        seen.push((start, end, prompt));
        let history = &all[..turn * 2 + 2];
        if let Some(due) = due(&strategy, history, budget) {
            // Another summary is another key of the window: it begins where that ends.
            end = Some(u32::try_from(exchanges(history, 0)[due.end - 1].messages.end - 1).unwrap());
            start = None;
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(17), failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn over_a_long_conversation_nothing_covered_is_sent_and_the_start_stays(
        turns in 1usize..70, threshold in 2u32..14, part in 1u32..14, budget in 60u32..3_000, words in 1usize..30,
    ) {
        let settings = SummarySettings { threshold, turns: part.min(threshold), ..SummarySettings::default() };
        let seen = grown(turns, &settings, budget, words);
        for pair in seen.windows(2) {
            let ((before, old_end, _), (now, end, prompt)) = (&pair[0], &pair[1]);
            prop_assert!(prompt.meter.request_tokens <= 10_000 - 500);
            let messages = sent(prompt);
            // Whole exchanges, in order, up to the newest.
            prop_assert_eq!(messages.len() % 2, 0);
            if let Some(end) = end {
                prop_assert!(messages.iter().all(|message| *message > id(*end)), "a covered message is sent");
            }
            // Between summaries the start moves only where the budget makes it: then by a cut that says so.
            if old_end == end && before.is_some() && before != now {
                let reason = left_out(prompt).reason.clone().unwrap_or_default();
                prop_assert!(reason.contains("budget") || reason.contains("fit"), "{reason}");
            }
            // Nothing falls between the summary and the window without a word.
            let first = end.map_or(0, |end| end + 1);
            if *now != Some(id(first)) && !messages.is_empty() {
                prop_assert!(left_out(prompt).reason.as_deref().is_some_and(|reason| reason.contains("budget") || reason.contains("fit") || reason.contains("stays until")));
            }
        }
        if budget == 2_999 && turns > 60 {
            prop_assert!(seen.last().is_some_and(|(_, end, _)| end.is_some()));
        }
    }
}

#[test]
fn between_summaries_the_prompt_only_grows_at_its_end() {
    let seen = grown(40, &SummarySettings::default(), 5_000, 6);
    let (mut kept, mut moved) = (0, 0);
    for pair in seen.windows(2) {
        match pair[0].0 == pair[1].0 || pair[0].0.is_none() {
            true => kept += 1,
            false => moved += 1,
        }
    }
    assert_eq!((kept, moved), (33, 6), "once in five turns, from the eleventh on");
}
