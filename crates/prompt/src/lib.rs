//! Turns a persona, a branch of messages and a new user text into the request for a model.
//!
//! Everything here is pure: no IO, no clock, no randomness; the same input gives the same bytes.
//! The parts of a prompt stand in an order that keeps its beginning unchanged from request to
//! request, so that a model's prompt cache can serve it:
//!
//! 1. system: the persona of the pinned revision, never shortened and never dropped;
//! 2. tools and memory, where a [`ContextProvider`] gives some;
//! 3. history in whole exchanges, chosen by a [`Strategy`];
//! 4. the user's text;
//! 5. trailing, never stored: recalled messages, goals, current time and anchor.

mod anchor;
mod answer;
mod block;
mod budget;
mod builder;
mod error;
mod exchange;
mod follow_up;
mod form;
mod goals;
mod history;
mod last_n;
mod notes;
mod persona;
mod provider;
mod recall;
mod receipt;
mod redaction;
mod render;
mod strategy;
mod tokens;
mod tools;

pub use anchor::{ANCHOR_TOKENS, whole_anchor};
pub use block::{Block, BlockKind, Origin};
pub use budget::Budget;
pub use builder::{BuildInput, Builder, HistoryMessage, Prompt};
pub use error::PromptError;
pub use exchange::{Exchange, exchanges};
pub use follow_up::{FollowUpInput, follow_up, wanted};
pub use form::{FormTask, FormValues, NotJson, likeliest_source};
pub use goals::Goals;
pub use last_n::LastN;
pub use notes::{HEADINGS, Labelled, NotesCheck, NotesTask, Rejection, labels_in, pinned_lines, without_labels};
pub use persona::system_text;
pub use provider::{ContextProvider, Wanted};
pub use recall::{Question, RANKING, RECALL, Ranked, Ranking, Recall, best, question, ranked};
pub use receipt::{Rebuilt, edited, rebuilt};
pub use redaction::{Redacted, Redactor};
pub use strategy::{
    ComposeRequest, Composition, Extraction, Full, SlidingWindow, Strategy, Summarization, SummaryText, TurnComplete, Window,
    WindowRequest, Work,
};
pub use tokens::{Calibrated, Characters, FRAME_TOKENS, O200k, TokenCounter};
pub use tools::ToolDefinitions;

#[cfg(test)]
mod tests;
