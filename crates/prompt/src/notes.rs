//! Notes of a conversation: the text of a summary, how a model is asked for it, and when its answer is
//! taken for one.

mod check;
mod task;

pub use check::{NotesCheck, Rejection};
pub use task::{Labelled, NotesTask};

use std::collections::BTreeSet;

/// The headings of every summary, in their order. They are fixed: the notes before are read by them.
pub const HEADINGS: [&str; 3] = ["Facts about the user", "Open threads", "Commitments made"];

/// Position of the open threads among the headings: the lines there are meant to be closed some day.
const THREADS: usize = 1;
/// What stands below a heading without lines.
const NONE: &str = "none";
/// Words that turn what a line says into its contrary; `t` is what is left of "don't".
const NEGATIONS: [&str; 7] = ["not", "no", "never", "without", "t", "nicht", "kein"];

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Position of its heading.
    heading: usize,
    /// Without bullet and labels.
    text: String,
    /// Numbers of the labels at its end.
    labels: Vec<u32>,
}

/// A text of notes, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Notes {
    /// Which headings are there.
    headings: [bool; HEADINGS.len()],
    lines: Vec<Line>,
    /// Lines before the first heading.
    before: Vec<String>,
}

impl Notes {
    fn read(text: &str) -> Self {
        let mut notes = Self::default();
        let mut at = None;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(heading) = heading_in(line) {
                notes.headings[heading] = true;
                at = Some(heading);
                continue;
            }
            let (text, labels) = split_labels(without_bullet(line));
            let Some(heading) = at else {
                notes.before.push(text.to_owned());
                continue;
            };
            let is_none = text.trim_matches(|character: char| !character.is_alphanumeric()).eq_ignore_ascii_case(NONE);
            if !is_none && !text.is_empty() {
                notes.lines.push(Line { heading, text: text.to_owned(), labels });
            }
        }
        notes
    }

    /// The notes in their one form.
    fn write(&self) -> String {
        let section = |(number, heading): (usize, &&str)| {
            let lines: Vec<String> = self.lines.iter().filter(|line| line.heading == number).map(Line::write).collect();
            let lines = if lines.is_empty() { format!("- {NONE}") } else { lines.join("\n") };
            format!("## {heading}\n{lines}")
        };
        HEADINGS.iter().enumerate().map(section).collect::<Vec<_>>().join("\n\n")
    }
}

impl Line {
    fn write(&self) -> String {
        let labels: Vec<String> = self.labels.iter().map(|label| format!("m{label}")).collect();
        if labels.is_empty() { format!("- {}", self.text) } else { format!("- {} [{}]", self.text, labels.join(", ")) }
    }
}

/// The heading that a line is, however it is marked.
fn heading_in(line: &str) -> Option<usize> {
    let bare = line.trim_matches(|character: char| character.is_whitespace() || "#*_:.".contains(character));
    HEADINGS.iter().position(|heading| heading.eq_ignore_ascii_case(bare))
}

fn without_bullet(line: &str) -> &str {
    line.strip_prefix(['-', '*', '•', '–']).unwrap_or(line).trim_start()
}

/// A line without the labels at its end, and their numbers.
fn split_labels(line: &str) -> (&str, Vec<u32>) {
    let (mut rest, mut labels) = (line.trim_end(), Vec::new());
    loop {
        let closed = rest.trim_end_matches(['.', ',', ';']).trim_end();
        let Some((before, inside)) = closed.strip_suffix(']').and_then(|open| open.rsplit_once('[')) else { break };
        let numbers: Option<Vec<u32>> = inside.split([',', ' ', ';']).filter(|part| !part.is_empty()).map(label).collect();
        match numbers {
            Some(numbers) if !numbers.is_empty() => {
                labels.splice(0..0, numbers);
                rest = before.trim_end();
            }
            _ => break,
        }
    }
    labels.dedup();
    (rest, labels)
}

fn label(text: &str) -> Option<u32> {
    text.trim().strip_prefix(['m', 'M'])?.parse().ok()
}

/// The numbers of all labels that a summary's text names, in order, each once.
#[must_use]
pub fn labels_in(text: &str) -> Vec<u32> {
    let labels: BTreeSet<u32> = text.lines().flat_map(|line| split_labels(line.trim()).1).collect();
    labels.into_iter().collect()
}

/// A summary's text without labels, as it is sent: a model would write labels in its replies too.
#[must_use]
pub fn without_labels(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(|line| split_labels(line).0).collect();
    lines.join("\n")
}

/// The lines that have to stand in every summary after one that the user wrote in place of `before`: the
/// facts and commitments that are theirs, and those that were so already and still stand.
#[must_use]
pub fn pinned_lines(written: &str, before: &str, pinned: &[String]) -> Vec<String> {
    let known: BTreeSet<String> = {
        let notes = Notes::read(before);
        notes.lines.into_iter().map(|line| line.text).chain(notes.before).collect()
    };
    let notes = Notes::read(written);
    let lasting = notes.lines.into_iter().filter(|line| line.heading != THREADS).map(|line| line.text);
    lasting.chain(notes.before).filter(|line| !known.contains(line) || pinned.contains(line)).collect()
}

/// The words of a text in lower case. Characters of scripts without spaces are words of their own.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    for character in text.chars().chain([' ']) {
        let stands_alone = matches!(character, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
        if character.is_alphanumeric() && !stands_alone {
            word.extend(character.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if stands_alone {
            words.insert(character.to_string());
        }
    }
    words
}

/// Whether a line says what a pinned one says: three quarters of its words, every number, and no
/// "not" more or less.
fn says(line: &str, pinned: &str) -> bool {
    let (wanted, found) = (words(pinned), words(line));
    let there = wanted.intersection(&found).count();
    let has_digit = |word: &&String| word.chars().any(|character| character.is_numeric());
    let negated = |words: &BTreeSet<String>| words.iter().any(|word| NEGATIONS.contains(&word.as_str()));
    there * 4 >= wanted.len() * 3
        && wanted.iter().filter(has_digit).all(|word| found.contains(word))
        && negated(&wanted) == negated(&found)
}

#[cfg(test)]
mod tests;
