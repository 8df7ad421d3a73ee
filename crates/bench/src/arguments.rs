//! The command line.

use crate::engine;
use crate::error::BenchError;
use crate::faults;
use crate::prompt;
use crate::recall;
use crate::report::{Progress, Report};
use crate::{server, start, store, writes};
use std::path::PathBuf;

/// First argument of the child that is the engine; no workload has this name.
pub const ENGINE_CHILD: &str = "engine-child";
/// First argument of the child that makes a profile.
pub const PROFILE_CHILD: &str = "profile-child";
/// First argument of the child that builds prompts.
pub const BUILD_CHILD: &str = "build-child";
/// Counted runs of a comparison unless told otherwise.
const DEFAULT_RUNS: usize = 12;
/// More runs than this take days.
const MOST_RUNS: usize = 1_000;
/// Messages of the seeded vault unless told otherwise.
const DEFAULT_MESSAGES: usize = 1_000_000;
/// Fewer have no two conversations with a full page; more fill a disk.
const MESSAGES: std::ops::RangeInclusive<usize> = 1_000..=10_000_000;

/// Longer tells nothing new.
const MOST_SECONDS: usize = 3_600;

/// A named set of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// The built-in engine, the app's own share of a reply, the calm conversation.
    Engine,
    /// The encrypted database.
    Store,
    /// Building prompts, and what a cache can reuse of them.
    Prompt,
    /// The start of the app.
    Start,
    /// Finding older messages.
    Recall,
    /// What the vault promises when something breaks.
    Faults,
    /// Two processes that write to one vault.
    Writes,
    /// Many programs that read over HTTP while somebody writes.
    Server,
}

impl Workload {
    /// All of them, with what they measure.
    const ALL: [(&'static str, Self, &'static str); 8] = [
        (
            "engine",
            Self::Engine,
            "the built-in engine beside llama.cpp's own server, the app's share of the first token, a calm conversation",
        ),
        (
            "store",
            Self::Store,
            "a vault of a million messages (--messages N) beside raw SQLCipher statements: lists, opening, appending, search, \
             recall, encryption, start. It is seeded once, in the cache folder, under a key that is a constant of the benchmark",
        ),
        (
            "recall",
            Self::Recall,
            "questions about what was said, beside plain BM25: a set that is made up, or FILE of LoCoMo's form",
        ),
        (
            "prompt",
            Self::Prompt,
            "building the prompt of conversations of up to a million messages beside LangChain's trim_messages, and the share of \
             each prompt that the engine's cache serves over 400 turns",
        ),
        (
            "faults",
            Self::Faults,
            "kills, failing calls, power cuts, damage and full disks, each with what the vault promises of it; about half an hour",
        ),
        (
            "writes",
            Self::Writes,
            "10,000 writes of the app and of `evenkeel mcp` at the same time, through the app's socket and beside it: none is lost, \
             and each sees all",
        ),
        (
            "server",
            Self::Server,
            "200 programs that read a conversation over HTTP while it is written to, for a minute (--seconds N): errors, losses, times",
        ),
        ("start", Self::Start, "the real app from its start to a usable window, with that vault beside an empty one"),
    ];

    /// Measures.
    pub async fn run(self, arguments: &Arguments) -> Result<Report, BenchError> {
        match self {
            Self::Engine => engine::run(arguments.runs, arguments.part.as_deref(), Progress::new(arguments.json)).await,
            Self::Prompt => prompt::run(arguments.runs, arguments.part.as_deref(), Progress::new(arguments.json)).await,
            Self::Store => {
                store::run(arguments.messages, arguments.runs, arguments.part.as_deref(), Progress::new(arguments.json))
            }
            Self::Start => start::run(arguments.messages, arguments.runs, Progress::new(arguments.json)),
            Self::Recall => recall::run(arguments.file.as_deref(), Progress::new(arguments.json)),
            Self::Faults => faults::run(arguments.part.as_deref(), Progress::new(arguments.json)).await,
            Self::Writes => writes::run(arguments.part.as_deref(), Progress::new(arguments.json)),
            Self::Server => server::run(arguments.seconds, Progress::new(arguments.json)).await,
        }
    }

    /// The parts that can be measured alone.
    fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Engine => &engine::PARTS,
            Self::Store => &store::PARTS,
            Self::Prompt => &prompt::PARTS,
            Self::Start | Self::Recall | Self::Server => &[],
            Self::Faults => &faults::PARTS,
            Self::Writes => &writes::PARTS,
        }
    }
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// What to measure.
    pub workload: Workload,
    /// Print JSON only.
    pub json: bool,
    /// Counted runs of each comparison, 1–1,000.
    pub runs: usize,
    /// Messages of the seeded vault, 1,000–10,000,000; the workload `engine` has none.
    pub messages: usize,
    /// How long the workload `server` runs, 1–3,600.
    pub seconds: u64,
    /// The one part to measure; all of them without it.
    pub part: Option<String>,
    /// The data of the workload `recall`; what is made up without it.
    pub file: Option<PathBuf>,
}

/// Reads the arguments after the program's name.
///
/// # Errors
/// [`BenchError::Usage`] with the workloads that exist.
pub fn parse(given: &[String]) -> Result<Arguments, BenchError> {
    let (mut workload, mut json, mut runs, mut messages, mut part, mut file) = (None, false, DEFAULT_RUNS, None, None, None);
    let mut seconds = None;
    let mut left = given.iter();
    while let Some(argument) = left.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--runs" => {
                let given = left.next().and_then(|text| within(text, 1..=MOST_RUNS));
                runs = given.ok_or_else(|| usage("--runs takes a number from 1 to 1000."))?;
            }
            "--messages" => {
                let given = left.next().and_then(|text| within(text, MESSAGES));
                messages = Some(given.ok_or_else(|| usage("--messages takes a number from 1000 to 10000000."))?);
            }
            "--seconds" => {
                let given = left.next().and_then(|text| within(text, 1..=MOST_SECONDS));
                seconds = Some(given.ok_or_else(|| usage("--seconds takes a number from 1 to 3600."))? as u64);
            }
            "--part" => part = Some(left.next().cloned().ok_or_else(|| usage("--part takes the name of a part."))?),
            flag if flag.starts_with('-') => return Err(usage(&format!("There is no option {flag}."))),
            name if workload.is_none() => workload = Some(named(name)?),
            path if workload == Some(Workload::Recall) && file.is_none() => file = Some(PathBuf::from(path)),
            extra => return Err(usage(&format!("One workload at a time: '{extra}' is too much."))),
        }
    }
    let workload: Workload = workload.ok_or_else(|| usage("No workload was named."))?;
    if let Some(unknown) = part.as_deref().filter(|part| !workload.parts().contains(part)) {
        return Err(usage(&format!("There is no part '{unknown}'; there are: {}.", workload.parts().join(", "))));
    }
    if messages.is_some() && workload == Workload::Engine {
        return Err(usage("--messages belongs to the workloads store and start."));
    }
    if seconds.is_some() && workload != Workload::Server {
        return Err(usage("--seconds belongs to the workload server."));
    }
    let (messages, seconds) = (messages.unwrap_or(DEFAULT_MESSAGES), seconds.unwrap_or(server::SECONDS));
    Ok(Arguments { workload, json, runs, messages, seconds, part, file })
}

fn within(text: &str, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
    text.parse().ok().filter(|number| range.contains(number))
}

fn named(name: &str) -> Result<Workload, BenchError> {
    let found = Workload::ALL.iter().find(|(known, _, _)| *known == name);
    found.map(|(_, workload, _)| *workload).ok_or_else(|| usage(&format!("There is no workload '{name}'.")))
}

fn usage(reason: &str) -> BenchError {
    let mut message = format!(
        "{reason}\nusage: evenkeel-bench NAME [FILE] [--json] [--runs N] [--messages N] [--seconds N] [--part PART]\nNAME is one of:"
    );
    for (name, _, purpose) in Workload::ALL {
        message.push_str(&format!("\n  {name}  {purpose}"));
    }
    BenchError::Usage(message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn parsed(text: &str) -> Result<Arguments, BenchError> {
        parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_before_or_after_the_name() {
        let expected = Arguments {
            workload: Workload::Engine,
            json: true,
            runs: 3,
            messages: 1_000_000,
            seconds: 60,
            part: None,
            file: None,
        };
        let server = parsed("server --seconds 3").unwrap();
        assert_eq!((server.workload, server.seconds), (Workload::Server, 3));
        assert_eq!(parsed("engine --json --runs 3").unwrap(), expected);
        assert_eq!(parsed("--runs 3 --json engine").unwrap(), expected);
        assert_eq!(parsed("engine --json --runs 3 --part calm").unwrap().part.as_deref(), Some("calm"));
        assert_eq!(parsed("engine").unwrap(), Arguments { json: false, runs: DEFAULT_RUNS, ..expected });
        assert_eq!(parsed("start --messages 5000").unwrap().workload, Workload::Start);
        let store = parsed("store --messages 5000 --part append").unwrap();
        assert_eq!((store.workload, store.messages, store.part.as_deref()), (Workload::Store, 5_000, Some("append")));
        assert_eq!(parsed("faults --part kill").unwrap().part.as_deref(), Some("kill"));
        assert_eq!(parsed("writes --part files").unwrap().part.as_deref(), Some("files"));
        let recall = parsed("recall --json locomo10.json").unwrap();
        assert_eq!((recall.workload, recall.file), (Workload::Recall, Some(PathBuf::from("locomo10.json"))));
    }

    #[test]
    fn what_is_wrong_is_answered_with_the_workloads_there_are() {
        for wrong in [
            "",
            "engin",
            "engine search",
            "recall a.json b.json",
            "engine --runs",
            "engine --runs 0",
            "engine --runs 1001",
            "engine --fast",
            "engine --part x",
            "engine --part append",
            "engine --messages 5000",
            "store --messages",
            "store --seconds 3",
            "server --seconds 0",
            "server --seconds 3601",
            "server --part x",
            "start --part open",
            "store --messages 999",
        ] {
            let error = parsed(wrong).unwrap_err();
            assert!(matches!(&error, BenchError::Usage(message) if message.contains("\n  engine  ")), "{wrong}: {error}");
        }
    }
}
