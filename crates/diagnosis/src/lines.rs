//! Events of `tracing` as lines without content.

use crate::LogFile;
use chrono::{SecondsFormat, Utc};
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Whose sentences are written in this program's source. What a library says may hold anything.
const OURS: &str = "evenkeel";
/// Fields that hold a stable name out of the program's source.
const CODES: [&str; 3] = ["code", "job", "setting"];
/// Fields that hold an id.
const IDS: [&str; 4] = ["id", "conversation", "context", "provider"];
/// Longest line in bytes, far more than any sentence of the source.
const LONGEST: usize = 2_000;

/// Which process says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// The app with its windows.
    Window,
    /// The server for other programs.
    Mcp,
    /// A command of the command line.
    CommandLine,
    /// The engine.
    Engine,
}

impl Process {
    /// The process's name in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Mcp => "mcp",
            Self::CommandLine => "cli",
            Self::Engine => "engine",
        }
    }
}

enum Output {
    File(Arc<LogFile>),
    Stderr,
}

/// Writes each event as a line: its time, level, process and source, the sentence of this program's source, and of its
/// fields numbers, codes and ids. Of every other field only the name is written, of a library's event not the text.
pub struct Lines {
    output: Output,
    process: Process,
}

impl Lines {
    /// Lines in a log. What cannot be written is dropped: a full disk is no reason to stop.
    #[must_use]
    pub fn to_file(log: Arc<LogFile>, process: Process) -> Self {
        Self { output: Output::File(log), process }
    }

    /// Lines on standard error, which a desktop keeps in files of its own.
    #[must_use]
    pub fn to_stderr(process: Process) -> Self {
        Self { output: Output::Stderr, process }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let line = line(event, self.process);
        match &self.output {
            Output::File(log) => drop(log.append(&line)),
            Output::Stderr => drop(std::io::stderr().write_all(line.as_bytes())),
        }
    }
}

fn line(event: &Event<'_>, process: Process) -> String {
    let about = event.metadata();
    let mut said = Said { is_ours: is_ours(about.target()), text: String::new(), fields: String::new() };
    event.record(&mut said);
    let at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    let text = if said.is_ours { said.text.as_str() } else { "(what a library says is left out)" };
    let mut line = format!("{at} {} {} {} {text}{}", about.level(), process.name(), about.target(), said.fields);
    line.truncate(line.floor_char_boundary(LONGEST));
    line = line.replace(['\n', '\r'], " ");
    line.push('\n');
    line
}

/// The crates of this program are `evenkeel` and `evenkeel_…`; another's name could begin alike.
fn is_ours(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or_default();
    name == OURS || name.strip_prefix(OURS).is_some_and(|rest| rest.starts_with('_'))
}

/// What may be said of an event.
struct Said {
    is_ours: bool,
    text: String,
    fields: String,
}

impl Said {
    fn keep(&mut self, field: &Field, value: impl std::fmt::Display) {
        let _ = write!(self.fields, " {}={value}", field.name());
    }

    fn word(&mut self, field: &Field, value: &str) {
        if !self.is_ours {
            return;
        }
        let is_kept = (CODES.contains(&field.name()) && is_code(value)) || (IDS.contains(&field.name()) && is_id(value));
        self.keep(field, if is_kept { value } else { "…" });
    }
}

impl Visit for Said {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" { self.text = value.to_owned() } else { self.word(field, value) }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            if self.is_ours {
                self.text = format!("{value:?}");
            }
        } else {
            self.word(field, &format!("{value:?}"));
        }
    }
}

/// `provider_timeout`, `check-backups`, `purgeTrash`
fn is_code(value: &str) -> bool {
    (1..=40).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
}

/// A UUID.
fn is_id(value: &str) -> bool {
    value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use tracing_subscriber::layer::SubscriberExt;

    const MARKER: &str = "Zwetschgenknödel";

    fn logged(task: impl FnOnce()) -> String {
        let dir = tempfile::tempdir().unwrap();
        let log = Arc::new(LogFile::new(dir.path().join("logs")));
        let subscriber = tracing_subscriber::registry().with(Lines::to_file(Arc::clone(&log), Process::Window));
        tracing::subscriber::with_default(subscriber, task);
        std::fs::read_to_string(dir.path().join("logs/evenkeel.log")).unwrap_or_default()
    }

    #[test]
    fn sentences_numbers_codes_and_ids_are_kept() {
        let id = "0192d4e0-7b3a-7c11-9a52-3f0e8d1c2b4a";
        let text = logged(|| {
            tracing::warn!(code = "provider_timeout", left = 3_u32, ok = true, conversation = %id, "nothing was recalled");
        });
        assert!(text.contains(" WARN window evenkeel_diagnosis::lines::tests nothing was recalled"), "{text}");
        for part in [" code=provider_timeout", " left=3", " ok=true", &format!(" conversation={id}")] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn whatever_else_is_said_is_left_out() {
        let (key, address) = ("sk-live-0123456789abcdef", "https://host/?key=0123456789abcdef");
        let text = logged(|| {
            tracing::error!(error = %format!("no companion {MARKER}"), provider = MARKER, code = %key, "a job failed");
            tracing::warn!(id = MARKER, conversation = ?vec![MARKER], setting = address, reason = MARKER, "named");
            tracing::info!(target: "hyper::client", "sent {MARKER} to {address}");
            tracing::info!(target: "evenkeelish", text = MARKER, "{MARKER}");
        });
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("a job failed error=… provider=… code=…"), "{text}");
        for secret in [MARKER, key, address, "0123456789abcdef"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }

    #[test]
    fn a_line_stays_one_line_of_bounded_length() {
        let long = "é".repeat(3_000);
        let text = logged(|| tracing::warn!("first\nsecond {long}"));
        assert_eq!(text.lines().count(), 1);
        assert!(text.len() <= LONGEST + 1);
    }

    proptest! {
        #[test]
        fn no_text_with_a_space_or_a_letter_beyond_ascii_is_a_code_or_an_id(text in ".*[ é@/:=0-9].*") {
            prop_assert!(!is_code(&text));
            prop_assert!(!is_id(&text) || text.len() == 36);
        }
    }
}
