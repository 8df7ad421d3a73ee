//! Workloads of Evenkeel beside their peers.
//!
//! ```text
//! evenkeel-bench NAME [FILE] [--json] [--runs N] [--messages N] [--seconds N] [--part PART]
//! ```
//!
//! Prints a table of metric, value, target and whether it was reached; `--json` prints nothing but
//! an array of `{metric, value, target, ok}`. Exits 0 when everything was measured (also where a
//! target was missed: the column says so), 1 when something could not be measured, 2 on wrong use.

mod app;
mod arguments;
mod clock;
mod engine;
mod error;
mod faults;
mod prompt;
mod python;
mod recall;
mod report;
mod server;
mod start;
mod statistics;
mod store;
mod writes;

use arguments::{Arguments, ENGINE_CHILD};
use error::BenchError;
use report::Report;
use std::io::Write;
use std::process::ExitCode;

/// Exit status of a wrong command line.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    // The engine under test is a child of this same program, as it is a child of the app.
    if given.first().is_some_and(|first| first == ENGINE_CHILD) {
        return evenkeel_engine::child::run(evenkeel_engine::child::RunOptions::default());
    }
    if let Some(done) = faults::child(&given) {
        return done.map_or_else(|error| refuse(&error.to_string(), 1), |()| ExitCode::SUCCESS);
    }
    if let Some(way) = writes::child(&given) {
        let shown = runtime().and_then(|runtime| runtime.block_on(writes::write(way)));
        let told = shown.and_then(|figures| say(&figures));
        return told.map_or_else(|error| refuse(&error.to_string(), 1), |()| ExitCode::SUCCESS);
    }
    if let Some((dir, messages)) = start::child(&given) {
        let made = runtime().and_then(|runtime| runtime.block_on(start::make_profile(dir, messages)));
        return made.map_or_else(|error| refuse(&error.to_string(), 1), |()| ExitCode::SUCCESS);
    }
    if let Some(wanted) = prompt::instructions::child(&given) {
        return prompt::instructions::build(wanted).map_or_else(|error| refuse(&error.to_string(), 1), |()| ExitCode::SUCCESS);
    }
    let arguments = match arguments::parse(&given) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error.to_string(), EXIT_USAGE),
    };
    match run(&arguments).and_then(|report| print(&report, arguments.json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string(), 1),
    }
}

fn run(arguments: &Arguments) -> Result<Report, BenchError> {
    runtime()?.block_on(arguments.workload.run(arguments))
}

fn runtime() -> Result<tokio::runtime::Runtime, BenchError> {
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    made.map_err(|source| BenchError::system("starting the runtime", source))
}

fn print(report: &Report, json: bool) -> Result<(), BenchError> {
    let text = if json { report.json()? } else { report.text() };
    say(&text)
}

fn say(text: &str) -> Result<(), BenchError> {
    writeln!(std::io::stdout(), "{text}").map_err(|source| BenchError::system("printing the result", source))
}

fn refuse(message: &str, status: u8) -> ExitCode {
    // Nothing is left to say it to where standard error is closed.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(status)
}
