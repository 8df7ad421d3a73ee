//! LangChain's `trim_messages` in a Python process.

use crate::error::BenchError;
use crate::python::python;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The peer's program; it travels inside the benchmark so that it needs no path.
const PROGRAM: &str = include_str!("../../peer/trim_messages.py");

/// The running process; it ends when dropped.
pub struct Trimmer {
    // Dropped first, which tells the process to end.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    process: Child,
}

impl Trimmer {
    /// Starts it.
    ///
    /// # Errors
    /// [`BenchError::Peer`] without Python or without the package.
    pub fn start() -> Result<Self, BenchError> {
        let python = python();
        let mut command = Command::new(&python);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process =
            command.spawn().map_err(|error| BenchError::Peer(format!("{} could not be run ({error})", python.display())))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(BenchError::Peer("its pipes were not there".to_owned()));
        };
        let mut trimmer = Self { input, output: BufReader::new(output), process };
        if trimmer.line()?.trim() != "ready" {
            return Err(BenchError::Peer("langchain-core is not in the Python environment".to_owned()));
        }
        Ok(trimmer)
    }

    /// Trims a conversation of so many messages to so many tokens; gives the milliseconds it took.
    pub fn trim(&mut self, messages: usize, budget: u32) -> Result<f64, BenchError> {
        writeln!(self.input, "{messages} {budget}").map_err(|source| BenchError::system("asking the peer", source))?;
        let line = self.line()?;
        let mut parts = line.split_whitespace();
        let time = parts.next().and_then(|text| text.parse().ok());
        let kept: Option<usize> = parts.next().and_then(|text| text.parse().ok());
        match (time, kept) {
            (Some(time), Some(kept)) if kept > 2 => Ok(time),
            _ => Err(BenchError::Worthless(format!("the peer answered {line:?}"))),
        }
    }

    fn line(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|source| BenchError::system("listening to the peer", source))?;
        Ok(line)
    }
}

impl Drop for Trimmer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
