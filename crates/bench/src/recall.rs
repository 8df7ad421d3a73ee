//! The workload `recall`: questions whose evidence is known, beside plain BM25 on the same messages.
//!
//! Each sample is a vault of its own: one context, a conversation for each session, a message for each
//! turn. Scores are those of retrieval: any@5 (a part of the evidence is among the first five), all@5
//! (all of it), MRR (one through the rank of the first), for messages and for conversations.

mod locomo;
mod measure;
mod set;
mod synthetic;

use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::statistics::percentile;
use measure::{Scores, Side, measure};
use set::Set;
use std::path::Path;

/// Milliseconds within which 95 of 100 searches end (figure 4).
const MOST_P95: f64 = 20.0;

/// Measures the questions of a file, or of the set that is made up.
pub fn run(file: Option<&Path>, progress: Progress) -> Result<Report, BenchError> {
    let set = match file {
        Some(path) => locomo::read(path)?,
        None => synthetic::set(synthetic::SEED),
    };
    progress.say(&format!("{}: {} messages, {} questions …", set.name, set.messages(), set.questions()));
    let (ours, plain, times) = scored(&set)?;
    let mut rows = Vec::new();
    for (figure, ours, plain) in ours.beside(&plain) {
        rows.push(Row::at_least(format!("{figure}: recall (plain BM25 {plain:.3})"), ours, plain));
    }
    rows.push(Row::at_most("recall, p95 (ms)", percentile(&times, 0.95), MOST_P95));
    Ok(Report { rows, preface: format!("{}: {} messages, {} questions\n", set.name, set.messages(), set.questions()) })
}

/// Both sides on a set, and how many milliseconds ours took for each question.
fn scored(set: &Set) -> Result<(Scores, Scores, Vec<f64>), BenchError> {
    let (mut ours, mut plain, mut times) = (Scores::default(), Scores::default(), Vec::new());
    for sample in &set.samples {
        measure(sample, &mut |side, places, time| match side {
            Side::Ours => {
                times.push(time);
                ours.add(&places);
            }
            Side::Plain => plain.add(&places),
        })?;
    }
    Ok((ours, plain, times))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    /// The short form of the workload: no figure of it may fall behind plain BM25.
    #[test]
    fn recall_finds_at_least_as_much_as_plain_bm25() {
        let set = synthetic::short();
        assert!(set.messages() >= 500 && set.questions() >= 50, "{} {}", set.messages(), set.questions());
        let (ours, plain, _) = scored(&set).unwrap();
        for (figure, ours, plain) in ours.beside(&plain) {
            assert!(ours >= plain, "{figure}: {ours} and {plain}");
        }
    }
}
