//! The workload `prompt`: building the prompt of a long conversation beside LangChain's
//! `trim_messages`, and how much of each prompt the engine's cache serves over 400 turns.

mod assembly;
pub mod instructions;
mod reuse;
mod trimmer;

use crate::error::BenchError;
use crate::report::{Progress, Report};
use crate::store::vault::Vault;

/// What can be measured alone.
pub const PARTS: [&str; 2] = ["build", "reuse"];

/// Measures everything, or one of [`PARTS`], with `runs` counted runs of each comparison.
pub async fn run(runs: usize, part: Option<&str>, progress: Progress) -> Result<Report, BenchError> {
    let wanted = |name| part.is_none_or(|part| part == name);
    let mut report = Report::default();
    if wanted("build") {
        report.append(assembly::measure(&Vault::long(progress)?, runs, progress)?);
        report.append(instructions::measure(progress)?);
    }
    if wanted("reuse") {
        report.append(reuse::measure(progress).await?);
    }
    Ok(report)
}
