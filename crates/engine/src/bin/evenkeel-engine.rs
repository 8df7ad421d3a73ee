//! The engine's child process alone, for tests and measurements. The app starts the same code as
//! `evenkeel engine`.
use evenkeel_engine::child::{self, RunOptions};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = RunOptions::default();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--library-dir" {
            options.library_dir = arguments.next().map(PathBuf::from);
        }
    }
    child::run(options)
}
