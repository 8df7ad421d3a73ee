//! The workload `store`: a seeded vault of a million messages in 5,000 conversations of 500
//! contexts, beside raw SQLCipher statements on the same file, and beside itself without encryption.

mod append;
pub mod chance;
pub mod duel;
mod lists;
mod open;
pub mod population;
pub mod profile;
pub mod raw;
mod recall;
mod search;
mod start;
mod tax;
pub mod vault;

use crate::error::BenchError;
use crate::report::{Progress, Report};
use raw::Cells;
use rusqlite::types::Value;
use uuid::Uuid;
use vault::Vault;

/// What can be measured alone.
pub const PARTS: [&str; 7] = ["lists", "open", "append", "search", "recall", "encryption", "start"];

const STORE: &str = "store";
const RAW: &str = "raw SQLCipher";

/// Measures everything, or one of [`PARTS`], with `runs` counted runs of each comparison.
pub fn run(messages: usize, runs: usize, part: Option<&str>, progress: Progress) -> Result<Report, BenchError> {
    let vault = Vault::cached(messages, progress)?;
    let mut report = Report::default();
    for name in PARTS.into_iter().filter(|name| part.is_none_or(|part| part == *name)) {
        progress.say(&format!("{name}: {runs} alternating runs …"));
        report.append(match name {
            "lists" => lists::measure(&vault, runs)?,
            "open" => open::measure(&vault, runs, progress)?,
            "append" => append::measure(&vault, runs, progress)?,
            "search" => search::measure(&vault, runs)?,
            "recall" => recall::measure(&vault, runs)?,
            "encryption" => tax::measure(&vault, runs, progress)?,
            _ => start::measure(&vault, runs)?,
        });
    }
    Ok(report)
}

/// Being faster by giving something else would not count: the ids of both sides, in order. The
/// raw row begins with its id.
fn same(what: &str, ours: impl Iterator<Item = Uuid>, theirs: &[Cells]) -> Result<(), BenchError> {
    let ours: Vec<_> = ours.map(|id| Value::Blob(id.into_bytes().to_vec())).collect();
    let theirs: Vec<_> = theirs.iter().filter_map(|row| row.first().cloned()).collect();
    if ours == theirs {
        return Ok(());
    }
    let (our, their) = (ours.len(), theirs.len());
    Err(BenchError::Worthless(format!("{what}: the store and the raw statement answer differently ({our} and {their} rows)")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn answers_that_differ_are_worthless() {
        let (first, second) = (Uuid::from_bytes([1; 16]), Uuid::from_bytes([2; 16]));
        let row = |id: Uuid| vec![Value::Blob(id.into_bytes().to_vec()), Value::Null];
        same("rows", [first, second].into_iter(), &[row(first), row(second)]).unwrap();
        for other in [vec![row(second), row(first)], vec![row(first)], Vec::new()] {
            assert!(same("rows", [first, second].into_iter(), &other).is_err());
        }
    }
}
