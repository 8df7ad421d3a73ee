//! The program: reads what it is asked for, begins its log, and becomes that process.

use crate::{Options, Task, cli, mcp};
use evenkeel_diagnosis::{CrashReports, Lines, LogFile, Process, catch_panics};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

/// Whoever works on the program names here what standard error shows, whole: with it, content may stand there.
const WISH: &str = "EVENKEEL_LOG";
/// What standard error shows without that wish, as lines without content. rmcp warns of each error that it answers with.
const QUIET: &str = "warn,rmcp=error";
/// What the log keeps.
const KEPT: &str = "warn,rmcp=error,evenkeel=info";

/// Runs the program until it ends.
#[must_use]
pub fn main() -> ExitCode {
    let options = Options::from_process();
    begin_log(process(&options.task), evenkeel_service::log_folder(&options.profile));
    if let Err(error) = evenkeel_service::harden_process() {
        tracing::warn!(%error, "the process is not protected from being dumped");
    }
    match &options.task {
        Task::Engine => evenkeel_engine::child::run(evenkeel_engine::child::RunOptions::default()),
        Task::CommandLine(wish, manner) => cli::run(&options, wish, manner),
        Task::Mcp => {
            tracing::info!("Evenkeel starts");
            mcp::serve(&options)
        }
        Task::Window | Task::Quick => {
            tracing::info!("Evenkeel starts");
            window(options)
        }
    }
}

fn window(options: Options) -> ExitCode {
    match crate::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the desktop could not be reached");
            ExitCode::FAILURE
        }
    }
}

fn process(task: &Task) -> Process {
    match task {
        Task::Window | Task::Quick => Process::Window,
        Task::Mcp => Process::Mcp,
        Task::Engine => Process::Engine,
        Task::CommandLine(..) => Process::CommandLine,
    }
}

/// From here on what happens is in the log, and a panic leaves a report; neither holds content.
fn begin_log(process: Process, folder: PathBuf) {
    let wish = EnvFilter::try_from_env(WISH).ok();
    catch_panics(CrashReports::new(folder.clone()), process, wish.is_some());
    let kept = Lines::to_file(Arc::new(LogFile::new(folder)), process).with_filter(EnvFilter::new(KEPT));
    let (whole, quiet) = match wish {
        Some(wish) => (Some(fmt::layer().with_writer(std::io::stderr).with_filter(wish)), None),
        // A command says by itself what went wrong, there too, and a script reads that.
        None if process == Process::CommandLine => (None, None),
        None => (None, Some(Lines::to_stderr(process).with_filter(EnvFilter::new(QUIET)))),
    };
    tracing_subscriber::registry().with(kept).with(whole).with(quiet).init();
}
