//! llama.cpp's own server as a child process.

use crate::error::BenchError;
use crate::python::python;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};

/// The server's program; it travels inside the benchmark so that it needs no path.
const PROGRAM: &str = include_str!("../../peer/llama_server.py");
/// Longest wait for its address.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Lines of its log that an error quotes.
const QUOTED_LINES: usize = 3;

/// The running server; it ends when dropped.
pub struct Peer {
    /// Where it answers.
    pub base_url: String,
    /// Threads that compute, the same as the engine's.
    pub threads: usize,
    _process: Child,
}

impl Peer {
    /// Starts it on a model file.
    ///
    /// # Errors
    /// [`BenchError::Peer`] without Python, without the package, or when it gives no address.
    pub async fn start(model: &Path, window: u32) -> Result<Self, BenchError> {
        let (python, threads) = (python(), threads());
        let mut command = Command::new(&python);
        command.args(["-c", PROGRAM]).arg(model).arg(window.to_string()).arg(threads.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process =
            command.spawn().map_err(|error| BenchError::Peer(format!("{} could not be run ({error})", python.display())))?;
        let (Some(output), Some(log)) = (process.stdout.take(), process.stderr.take()) else {
            return Err(BenchError::Peer("its pipes were not there".to_owned()));
        };
        let log = tokio::spawn(last_lines(log));
        let mut line = String::new();
        let read = tokio::time::timeout(START_LIMIT, BufReader::new(output).read_line(&mut line)).await;
        let address = line.trim();
        if !address.starts_with("http://") {
            let _ = process.kill().await;
            let said = log.await.unwrap_or_default().join(" / ");
            let reason = if read.is_err() { "it gave no address in time" } else { "it ended" };
            return Err(BenchError::Peer(format!("{reason} ({said})")));
        }
        Ok(Self { base_url: address.to_owned(), threads, _process: process })
    }
}

/// Reads the log to its end, so that the server never waits for a reader; keeps the last lines.
async fn last_lines(log: ChildStderr) -> Vec<String> {
    let mut lines = BufReader::new(log).lines();
    let mut kept = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if kept.len() == QUOTED_LINES {
            kept.remove(0);
        }
        kept.push(line);
    }
    kept
}

/// Physical cores, at most what is available: the engine's own rule.
fn threads() -> usize {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    sysinfo::System::physical_core_count().unwrap_or(available).clamp(1, available)
}
