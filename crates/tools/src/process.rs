//! A server that is a program: started with an environment of its own, and ended with all it has started.

use crate::{Program, ToolError};
use secrecy::ExposeSecret;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// What is kept of a program's last words, in bytes.
const MAX_LAST_WORDS: usize = 2_000;
/// Variables of the environment that a program sees beside those that the user adds.
const KEPT_VARIABLES: &[&str] = if cfg!(windows) {
    &["PATH", "PATHEXT", "SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "LANG"]
} else {
    &["PATH", "HOME", "LANG", "TMPDIR"]
};

/// A running program. It ends when this is dropped, and so does what it has started in turn.
pub(crate) struct Running {
    /// The group that it began; its id stays that of the group after it has ended.
    #[cfg_attr(not(unix), allow(dead_code))]
    group: Option<u32>,
    child: Child,
    words: LastWords,
}

/// The end of what a program wrote to standard error.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// The last line that is not blank; empty where there is none.
    pub fn line(&self) -> String {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }

    fn add(&self, bytes: &[u8]) {
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(bytes);
        let surplus = words.len().saturating_sub(MAX_LAST_WORDS);
        words.drain(..surplus);
    }
}

/// Starts a program, with the pipes to speak with it.
///
/// # Errors
/// It cannot be started.
pub(crate) fn start(program: &Program) -> Result<(Running, ChildStdout, ChildStdin), ToolError> {
    let failed = |reason: String| ToolError::Start { command: program.command.clone(), reason };
    let mut child = command(program).spawn().map_err(|error| failed(error.to_string()))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let words = LastWords::default();
    let running = Running { group: child.id(), child, words: words.clone() };
    let (Some(input), Some(output), Some(errors)) = pipes else { return Err(failed("its pipes were not there".to_owned())) };
    tokio::spawn(collect(errors, words));
    Ok((running, output, input))
}

fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.command);
    command.args(&program.args).env_clear().kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(KEPT_VARIABLES.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))));
    command.envs(program.env.iter().map(|(name, value)| (name, value.expose_secret())));
    // Launchers such as npx start the server proper as a child of theirs: the whole group is ended.
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// Reads what the program writes to standard error, so that it never blocks, and keeps the end. It is in no log: it may
/// hold what the program was asked.
async fn collect(errors: ChildStderr, words: LastWords) {
    let mut errors = BufReader::new(errors);
    let mut buffer = [0; 4_096];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        words.add(&buffer[..count]);
    }
}

impl Running {
    pub fn words(&self) -> &LastWords {
        &self.words
    }

    /// How it ended, if it has; for messages.
    pub fn ending(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(status.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) {
            // A group that is gone needs no ending; one whose first process has ended may have others.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
