//! What a command prints: JSON as it crosses to the window, or text and tables to read.

use super::failure::{Failure, exit_code};
use chrono::{DateTime, Local, Utc};
use evenkeel_domain::ErrorBody;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Where a command's words go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printer {
    json: bool,
    terminal: bool,
}

impl Printer {
    /// Prints JSON, or text to read.
    pub fn new(json: bool) -> Self {
        Self { json, terminal: io::stdout().is_terminal() }
    }

    /// Whether JSON is wanted.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Prints what a command has to say: the value as JSON, or the text made of it.
    pub fn value<T: Serialize>(self, value: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
        if self.json {
            let json = serde_json::to_string_pretty(value).map_err(|error| Failure::internal("writing JSON", &error))?;
            return self.whole(&json);
        }
        self.whole(&text(value))
    }

    /// Prints one line of JSON at once.
    pub fn line<T: Serialize>(self, value: &T) -> Result<(), Failure> {
        let json = serde_json::to_string(value).map_err(|error| Failure::internal("writing JSON", &error))?;
        self.whole(&json)
    }

    /// Prints a text and ends its line.
    pub fn whole(self, text: &str) -> Result<(), Failure> {
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        self.piece(&format!("{text}{end}"))
    }

    /// Prints a piece of a text at once.
    pub fn piece(self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let text = if self.terminal { harmless(text) } else { Cow::Borrowed(text) };
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
    }

    /// Says on standard error what a person should know; nothing where JSON is wanted.
    pub fn note(self, text: &str) {
        if !self.json {
            tell(text);
        }
    }

    /// Asks on standard error, and leaves the answer on the same line.
    pub fn question(self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{}", harmless(text)).and_then(|()| stderr.flush());
    }

    /// Says on standard error what went wrong.
    pub fn error(self, body: &ErrorBody) {
        if self.json {
            tell(&serde_json::to_string(body).unwrap_or_default());
        } else {
            tell(&format!("evenkeel: {} ({})\n{}", body.message, body.code.as_str(), body.advice()));
        }
    }

    /// The exit code of a command, once what it has still to say was said.
    pub fn ended(self, outcome: Result<(), Failure>) -> ExitCode {
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failure::Ended(code)) => code.into(),
            Err(Failure::Refused(body)) => {
                self.error(&body);
                exit_code(body.code).into()
            }
            // Whoever read has heard enough.
            Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(Failure::Output(error)) => {
                tell(&format!("evenkeel: writing to standard output failed: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

/// Writes a line to standard error; where nobody listens there is nobody to tell.
fn tell(text: &str) {
    let mut stderr = io::stderr().lock();
    let text = if stderr.is_terminal() { harmless(text) } else { Cow::Borrowed(text) };
    let _ = writeln!(stderr, "{text}");
}

/// Asks for a line on the terminal; `None` at the end of input.
pub(super) fn asked(question: &str) -> Result<Option<String>, Failure> {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
    drop(stderr);
    let mut line = String::new();
    match io::stdin().read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(line.trim().to_owned())),
        Err(error) => Err(Failure::internal("reading the terminal", &error)),
    }
}

/// What models and other people wrote must not steer a terminal: without control characters but those of lines.
fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if text.contains(steers) { Cow::Owned(text.replace(steers, "")) } else { Cow::Borrowed(text) }
}

/// Rows under headings, each column as wide as its widest cell.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let on_a_line = |cell: String| cell.split_whitespace().collect::<Vec<_>>().join(" ");
    let headings = headings.map(str::to_owned);
    let rows: Vec<[String; N]> = std::iter::once(headings).chain(rows.into_iter().map(|row| row.map(on_a_line))).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Lines of a name and a value; those without a value are left out.
pub(super) fn fields<const N: usize>(fields: [(&str, Option<String>); N]) -> String {
    let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 1;
    let line = |(name, value): (&str, Option<String>)| {
        let label = format!("{name}:");
        value.map(|value| format!("{label:<width$} {value}\n"))
    };
    fields.into_iter().filter_map(line).collect()
}

/// A time as a person of this place reads it.
pub(super) fn when(time: DateTime<Utc>) -> String {
    time.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

/// At most so many characters, with a mark where more are.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_each_row_on_its_line() {
        let rows = [["Mara".to_owned(), "a\nb".to_owned()], ["Ödön the Calm".to_owned(), String::new()]];
        assert_eq!(table(["NAME", "NOTE"], rows), "NAME           NOTE\nMara           a b\nÖdön the Calm\n");
    }

    #[test]
    fn what_steers_a_terminal_is_left_out() {
        assert_eq!(harmless("a\u{1b}[31mb\r\n\tc\u{9b}2J\u{7}"), "a[31mb\n\tc2J");
        assert!(matches!(harmless("plain\ntext"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_marked_where_they_are_cut() {
        assert_eq!((shortened("short", 5), shortened("a longer one", 8)), ("short".to_owned(), "a longe…".to_owned()));
    }
}
