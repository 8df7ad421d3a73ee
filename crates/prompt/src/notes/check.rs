//! When a model's answer is taken for notes.

use super::{HEADINGS, Line, Notes, labels_in, says};
use crate::TokenCounter;
use crate::answer::bare;

/// How an answer that refuses begins, in lower case.
const REFUSALS: [&str; 9] =
    ["i'm sorry", "i’m sorry", "i am sorry", "i can't", "i can’t", "i cannot", "i'm unable", "i am unable", "as an ai"];

/// Why an answer is not taken for notes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The model would not.
    #[error("the model refused")]
    Refused,
    /// A heading is missing.
    #[error("the heading {0:?} is missing")]
    NoHeading(&'static str),
    /// A line rests on nothing.
    #[error("a line names no message")]
    NoLabel,
    /// A line names a message that was not there.
    #[error("a line names m{0}, which it was not given")]
    UnknownLabel(u32),
    /// It takes too much room.
    #[error("it has {tokens} tokens, and may have {limit}")]
    TooLong {
        /// Its tokens.
        tokens: u32,
        /// What it may have.
        limit: u32,
    },
    /// A line that has to stay is gone.
    #[error("a line that has to stay is missing")]
    LostPinned,
    /// It says much less than the notes before.
    #[error("it says less than the notes before")]
    Emptier,
}

/// What an answer is held to.
#[derive(Clone, Copy)]
pub struct NotesCheck<'a> {
    /// Numbers of the labels of the messages that were given.
    pub places: &'a [u32],
    /// The notes before, whose labels may be named too.
    pub previous: Option<&'a str>,
    /// Lines that have to stay.
    pub pinned: &'a [String],
    /// Most tokens.
    pub max_tokens: u32,
    /// Counts them.
    pub counter: &'a dyn TokenCounter,
}

impl NotesCheck<'_> {
    /// The notes in a model's answer, in their one form.
    ///
    /// # Errors
    /// The first reason why they are none; the notes before stay then.
    pub fn accept(&self, answer: &str) -> Result<String, Rejection> {
        let answer = bare(answer);
        let notes = Notes::read(answer);
        if refuses(answer) || notes.lines.iter().any(|line| refuses(&line.text)) {
            return Err(Rejection::Refused);
        }
        if let Some(missing) = notes.headings.iter().position(|is_there| !is_there) {
            return Err(Rejection::NoHeading(HEADINGS[missing]));
        }
        self.check_labels(&notes)?;
        let lost = |pinned: &String| !notes.lines.iter().any(|line| says(&line.text, pinned));
        if self.pinned.iter().any(lost) {
            return Err(Rejection::LostPinned);
        }
        if self.is_emptier(&notes) {
            return Err(Rejection::Emptier);
        }
        let text = notes.write();
        match self.counter.count(&text) {
            tokens if tokens > self.max_tokens => Err(Rejection::TooLong { tokens, limit: self.max_tokens }),
            _ => Ok(text),
        }
    }

    /// A line of the user's may rest on nothing but their word.
    fn check_labels(&self, notes: &Notes) -> Result<(), Rejection> {
        let earlier = labels_in(self.previous.unwrap_or_default());
        let is_given = |label: &u32| self.places.contains(label) || earlier.contains(label);
        for line in &notes.lines {
            if let Some(unknown) = line.labels.iter().find(|label| !is_given(label)) {
                return Err(Rejection::UnknownLabel(*unknown));
            }
            if line.labels.is_empty() && !self.pinned.iter().any(|pinned| says(&line.text, pinned)) {
                return Err(Rejection::NoLabel);
            }
        }
        Ok(())
    }

    /// Notes shrink where things are settled, but not to less than half, and facts do not all vanish.
    fn is_emptier(&self, notes: &Notes) -> bool {
        let before = Notes::read(self.previous.unwrap_or_default());
        let facts = |lines: &[Line]| lines.iter().any(|line| line.heading == 0);
        notes.lines.len() * 2 < before.lines.len() || (facts(&before.lines) && !facts(&notes.lines))
    }
}

fn refuses(text: &str) -> bool {
    let begun: String = text.chars().take(20).flat_map(char::to_lowercase).collect();
    REFUSALS.iter().any(|refusal| begun.starts_with(refusal))
}
