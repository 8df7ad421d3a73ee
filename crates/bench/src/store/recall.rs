//! Candidates for recall and their order, in a vault of any size.

use super::chance::Chance;
use super::vault::Vault;
use crate::error::BenchError;
use crate::report::{Report, Row};
use crate::statistics::{median, percentile};
use evenkeel_domain::{ContextId, RecallWish};
use evenkeel_prompt::{RANKING, question, ranked};
use evenkeel_store::Store;
use std::time::Instant;

/// Different questions of 3–8 words.
const QUESTIONS: usize = 150;
/// Contexts that are asked in turn.
const CONTEXTS: u32 = 50;
/// Milliseconds within which 95 of 100 are answered (figure 4).
const MOST_P95: f64 = 20.0;

/// Measures; each run asks all questions once.
pub fn measure(vault: &Vault, runs: usize) -> Result<Report, BenchError> {
    let store = vault.store()?;
    let contexts: Vec<ContextId> =
        store.read(|read| read.contexts(true, CONTEXTS, 0))?.iter().map(|context| context.id).collect();
    let mut chance = Chance::new(6);
    let questions: Vec<String> = (0..QUESTIONS).map(|number| chance.text(number % 6 + 3)).collect();
    let mut times = Vec::new();
    let mut candidates = 0;
    for run in 0..=runs {
        for (number, text) in questions.iter().enumerate() {
            let began = Instant::now();
            candidates += asked(&store, contexts[number % contexts.len()], text)?;
            // The first run fills the caches.
            if run > 0 {
                times.push(began.elapsed().as_secs_f64() * 1_000.0);
            }
        }
    }
    if candidates == 0 {
        return Err(BenchError::Worthless("nothing was recalled at all".to_owned()));
    }
    let what = "recall: candidates and their order";
    let rows = vec![
        Row::reported(format!("{what}, median of {QUESTIONS} questions (ms)"), median(&times)),
        Row::at_most(format!("{what}, p95 of {QUESTIONS} questions (ms)"), percentile(&times, 0.95), MOST_P95),
    ];
    Ok(Report { rows, preface: String::new() })
}

/// How many were found.
fn asked(store: &Store, context: ContextId, text: &str) -> Result<usize, BenchError> {
    let question = question(text, None);
    let (words, contexts) = (question.words.clone(), vec![context]);
    let wish = RecallWish { words, contexts, with_local_only: true, ..RecallWish::default() };
    let found = store.read(|read| read.recall_candidates(&wish))?;
    Ok(ranked(&question, &found, &[], &RANKING).messages.len())
}
