//! The one binary of Evenkeel: the window, quick chat, the server for other programs, and the engine's child process.

#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

use evenkeel_diagnosis::{CrashReports, Lines, LogFile, Process, catch_panics};
use evenkeel_lib::{Options, Task};
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

fn main() -> ExitCode {
    let options = Options::from_process();
    begin_log(process(options.task), evenkeel_service::log_folder(&options.profile));
    if let Err(error) = evenkeel_service::harden_process() {
        tracing::warn!(%error, "the process is not protected from being dumped");
    }
    if options.task == Task::Engine {
        return evenkeel_engine::child::run(evenkeel_engine::child::RunOptions::default());
    }
    tracing::info!("Evenkeel starts");
    if options.task == Task::Mcp {
        return evenkeel_lib::serve_mcp(&options);
    }
    match evenkeel_lib::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the desktop could not be reached");
            ExitCode::FAILURE
        }
    }
}

fn process(task: Task) -> Process {
    match task {
        Task::Window | Task::Quick => Process::Window,
        Task::Mcp => Process::Mcp,
        Task::Engine => Process::Engine,
    }
}

/// From here on what happens is in the log, and a panic leaves a report; neither holds content.
fn begin_log(process: Process, folder: PathBuf) {
    let wish = EnvFilter::try_from_env(WISH).ok();
    catch_panics(CrashReports::new(folder.clone()), process, wish.is_some());
    let kept = Lines::to_file(Arc::new(LogFile::new(folder)), process).with_filter(EnvFilter::new(KEPT));
    let (whole, quiet) = match wish {
        Some(wish) => (Some(fmt::layer().with_writer(std::io::stderr).with_filter(wish)), None),
        None => (None, Some(Lines::to_stderr(process).with_filter(EnvFilter::new(QUIET)))),
    };
    tracing_subscriber::registry().with(kept).with(whole).with(quiet).init();
}
