//! Conversations and questions about them.

use chrono::{DateTime, Utc};

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What evidence names it by.
    pub id: String,
    /// Whether the person says it; the other one does otherwise.
    pub is_user: bool,
    /// What is said.
    pub text: String,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// When it begins.
    pub begins: DateTime<Utc>,
    /// What is said, in order.
    pub lines: Vec<Line>,
}

/// A question with the messages that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub text: String,
    /// Ids of lines, at least one.
    pub evidence: Vec<String>,
}

/// Conversations of two, and questions about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// The conversations in time order.
    pub sessions: Vec<Session>,
    /// The questions.
    pub questions: Vec<Asked>,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// What it is called in the table.
    pub name: String,
    /// Its samples.
    pub samples: Vec<Sample>,
}

impl Set {
    /// Messages in all samples.
    pub fn messages(&self) -> usize {
        self.samples.iter().flat_map(|sample| &sample.sessions).map(|session| session.lines.len()).sum()
    }

    /// Questions in all samples.
    pub fn questions(&self) -> usize {
        self.samples.iter().map(|sample| sample.questions.len()).sum()
    }
}
