//! What a build costs in instructions, which unlike time are the same in every run: counted by
//! callgrind around children that build the same prompt once and several times.

use super::assembly::{BUDGETS, Place};
use crate::arguments::BUILD_CHILD;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::store::population::LONG;
use crate::store::vault::Vault;
use std::process::Command;

/// Instructions of a build at the longest conversation through those at the shorter one (figure 1).
const MOST_GROWTH: f64 = 1.1;
/// The shorter conversation for each budget, by its place in [`LONG`]: the shortest that fills it.
const SHORTER: [usize; BUDGETS.len()] = [0, 1];
/// Builds of the child that builds several; the other builds one.
const SEVERAL: usize = 11;

/// What the arguments of a child ask for: place of the conversation in [`LONG`], budget, builds.
pub fn child(given: &[String]) -> Option<(usize, u32, usize)> {
    match given {
        [first, length, budget, builds] if first == BUILD_CHILD => {
            Some((length.parse().ok()?, budget.parse().ok()?, builds.parse().ok()?))
        }
        _ => None,
    }
}

/// Builds in this process, for whoever counts its instructions.
pub fn build((length, budget, builds): (usize, u32, usize)) -> Result<(), BenchError> {
    let vault = Vault::long(Progress::new(true))?;
    let store = vault.store()?;
    let threads = vault.long_threads(&store)?;
    let thread = threads.get(length).ok_or_else(|| BenchError::Worthless("there is no such conversation".to_owned()))?;
    let place = Place::new(&store, thread, budget)?;
    (0..builds).try_for_each(|_| place.build().map(drop))
}

/// Counts for each budget.
pub fn measure(progress: Progress) -> Result<Report, BenchError> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let preface = "valgrind is not installed: the instructions of a build were not counted\n".to_owned();
        return Ok(Report { rows: Vec::new(), preface });
    }
    let mut rows = Vec::new();
    for (budget, shorter) in BUDGETS.into_iter().zip(SHORTER) {
        progress.say(&format!("prompt build: instructions with {budget} tokens of history …"));
        let longest = LONG.len() - 1;
        let [few, many] = [a_build(shorter, budget)?, a_build(longest, budget)?];
        let what = format!("prompt build, {budget} tokens: instructions");
        rows.push(Row::reported(format!("{what} at {} messages (million)", LONG[shorter]), few / 1e6));
        rows.push(Row::reported(format!("{what} at {} messages (million)", LONG[longest]), many / 1e6));
        rows.push(Row::at_most(format!("{what}, {} messages / {}", LONG[longest], LONG[shorter]), many / few, MOST_GROWTH));
    }
    Ok(Report { rows, preface: String::new() })
}

/// Instructions of one build: of what [`SEVERAL`] add to one.
#[allow(clippy::cast_precision_loss)]
fn a_build(length: usize, budget: u32) -> Result<f64, BenchError> {
    let [one, several] = [counted(length, budget, 1)?, counted(length, budget, SEVERAL)?];
    Ok(several.saturating_sub(one) as f64 / (SEVERAL - 1) as f64)
}

fn counted(length: usize, budget: u32, builds: usize) -> Result<u64, BenchError> {
    let program = std::env::current_exe().map_err(|source| BenchError::system("finding the benchmark's own program", source))?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.args([BUILD_CHILD.to_owned(), length.to_string(), budget.to_string(), builds.to_string()]);
    let output = command.output().map_err(|source| BenchError::system("starting valgrind", source))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected =
        said.lines().find_map(|line| line.split_once("Collected :").and_then(|(_, number)| number.trim().parse().ok()));
    collected
        .filter(|_| output.status.success())
        .ok_or_else(|| BenchError::Worthless(format!("valgrind counted nothing: {said}")))
}
