//! The one binary of Evenkeel: the window, quick chat, the server for other programs, and the engine's child process.

#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

use evenkeel_lib::{Options, Task};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// What is said without a wish. rmcp warns of each error that it answers with, whose text may name a context.
const QUIET: &str = "warn,rmcp=error";

fn main() -> ExitCode {
    let options = Options::from_process();
    let filter = EnvFilter::try_from_env("EVENKEEL_LOG").unwrap_or_else(|_| EnvFilter::new(QUIET));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    if let Err(error) = evenkeel_service::harden_process() {
        tracing::warn!(%error, "the process is not protected from being dumped");
    }
    if options.task == Task::Engine {
        return evenkeel_engine::child::run(evenkeel_engine::child::RunOptions::default());
    }
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
