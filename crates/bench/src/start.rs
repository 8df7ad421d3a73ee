//! The workload `start`: the real app, from the start of its process to a window that can be used, with
//! a vault of a million messages beside an empty one.

use crate::arguments::PROFILE_CHILD;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::store::duel::{Names, Times};
use crate::store::profile::furnished;
use crate::store::vault::{Vault, folder, run_folder};
use evenkeel_service::ServiceOptions;
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// Of a start with an empty vault (figure 10).
const MOST_OF_EMPTY: f64 = 1.1;
/// Starts the app on a desktop of its own and looks when its page is ready.
const SCRIPT: &str = "tests/e2e/start.mjs";

/// Milliseconds of one run, each side twice: until the window can be used, and until it shows the
/// messages of the conversation that it begins with.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    full: Vec<f64>,
    empty: Vec<f64>,
    full_shown: Vec<f64>,
    empty_shown: Vec<f64>,
}

/// Measures by the same harness that drives the app in the journeys.
pub fn run(messages: usize, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    // Seeded here, where that can be told.
    Vault::cached(messages, progress)?;
    let failed = |source| BenchError::system("starting the app", source);
    let program = std::env::current_exe().map_err(failed)?;
    let profiles = run_folder()?;
    progress.say(&format!("start: {runs} alternating runs on a desktop of its own …"));
    let cache = folder()?;
    let output = Command::new("node")
        .args([SCRIPT, &runs.to_string(), &messages.to_string()])
        .arg(profiles.path())
        .env("EVENKEEL_BENCH", program)
        .env("EVENKEEL_CACHE", cache.parent().unwrap_or(&cache))
        .stderr(Stdio::inherit())
        .output()
        .map_err(failed)?;
    if !output.status.success() {
        return Err(BenchError::Worthless(format!(
            "{SCRIPT} ended with {}; it needs the project's folder, Node and the app",
            output.status
        )));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let measured: Vec<Run> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if measured.len() < runs {
        return Err(BenchError::Worthless(format!("{} of {runs} runs were measured", measured.len())));
    }
    Ok(Report { rows: rows(measured, messages), preface: String::new() })
}

fn rows(measured: Vec<Run>, messages: usize) -> Vec<Row> {
    let (ours, theirs) = (format!("{messages} messages"), "empty vault");
    let (usable, shown): (Vec<_>, Vec<_>) =
        measured.into_iter().map(|run| ((run.full, run.empty), (run.full_shown, run.empty_shown))).unzip();
    let mut rows = Vec::new();
    for (what, times, most) in [
        ("start of the app to a usable window", usable, Some(MOST_OF_EMPTY)),
        ("start of the app to its messages, of which an empty vault has none", shown, None),
    ] {
        let (full, empty) = times.into_iter().unzip();
        let times = Times::of(full, empty);
        rows.extend(times.rows(Names { what, ours: &ours, theirs }, most));
        rows.push(Row::reported(format!("{what}: added by {ours} (ms)"), times.added()));
    }
    rows
}

/// Makes a profile that the system's own keychain opens; the child of the script above, on its desktop.
pub async fn make_profile(dir: &Path, messages: usize) -> Result<(), BenchError> {
    let options = ServiceOptions::new(dir.to_owned(), None)?;
    let vault = (messages > 0).then(|| Vault::cached(messages, Progress::new(true))).transpose()?;
    furnished(options, vault.as_ref()).await?.shutdown().await;
    Ok(())
}

/// The folder and the number of messages, where the arguments are those of the child.
pub fn child(given: &[String]) -> Option<(&Path, usize)> {
    match given {
        [first, dir, messages] if first == PROFILE_CHILD => Some((Path::new(dir), messages.parse().ok()?)),
        _ => None,
    }
}
