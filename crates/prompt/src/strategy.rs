//! Strategies: how the past becomes a part of a request.

mod extraction;
mod full;
mod sliding_window;
mod summarization;

use crate::{Block, Exchange, HistoryMessage, TokenCounter};

pub use extraction::Extraction;
pub use full::Full;
pub use sliding_window::SlidingWindow;
pub use summarization::{Summarization, SummaryText};

/// What a strategy composes from. Token figures include framing.
#[derive(Clone, Copy)]
pub struct ComposeRequest<'a> {
    /// The loaded messages of the branch, oldest first.
    pub history: &'a [HistoryMessage<'a>],
    /// Their exchanges from the start of the previous window on, oldest first; all that are loaded
    /// where there was none. Positions are those in `history`.
    pub exchanges: &'a [Exchange],
    /// Messages of the branch that come before `history`.
    pub earlier: u32,
    /// What the user wrote now.
    pub user_text: &'a str,
    /// The context's most tokens of history.
    pub max_history_tokens: u32,
    /// Tokens that the request has left for memory and history together; never exceeded.
    pub room: u32,
    /// Counts in the tokens of this request.
    pub counter: &'a dyn TokenCounter,
}

impl<'a> ComposeRequest<'a> {
    /// What is left for the history beside `memory`.
    #[must_use]
    pub fn beside(&self, memory: &[Block]) -> WindowRequest<'a> {
        let taken = memory.iter().filter(|block| block.included).fold(0u32, |sum, block| sum.saturating_add(block.tokens));
        let ceiling = self.room.saturating_sub(taken);
        WindowRequest { exchanges: self.exchanges, budget: self.max_history_tokens.min(ceiling), ceiling }
    }
}

/// What history is chosen from. Token figures include framing.
#[derive(Debug, Clone, Copy)]
pub struct WindowRequest<'a> {
    /// As in [`ComposeRequest`].
    pub exchanges: &'a [Exchange],
    /// Budget of the history H: the smaller of `maxHistoryTokens` and the ceiling.
    pub budget: u32,
    /// What the request has left for history; never exceeded.
    pub ceiling: u32,
}

/// The part of the history that is sent: exchange `first` and all after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Position of the first exchange that is sent; their number if none is.
    pub first: usize,
    /// Why exchanges were left out, or why the window is over its budget; `None` if all are sent.
    pub reason: Option<String>,
}

/// What a strategy makes of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composition {
    /// Blocks of the kind memory that stand before the history, in their order. One that does not fit
    /// is left out whole.
    pub memory: Vec<Block>,
    /// The history that is sent verbatim.
    pub window: Window,
    /// The budget that the window was chosen for, which the meter shows.
    pub budget: u32,
}

impl Composition {
    /// A window without memory.
    #[must_use]
    pub fn of(window: Window, budget: u32) -> Self {
        Self { memory: Vec::new(), window, budget }
    }
}

/// What was sent, and what has been said since.
#[derive(Clone, Copy)]
pub struct TurnComplete<'a> {
    /// The loaded messages of the branch with the reply, oldest first.
    pub history: &'a [HistoryMessage<'a>],
    /// Their exchanges.
    pub exchanges: &'a [Exchange],
    /// How many tokens the history may take: what the last request had for it.
    pub max_history_tokens: u32,
}

/// Work that a strategy wants done in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// These exchanges go into the summary.
    Summarise {
        /// Positions in [`TurnComplete::exchanges`].
        exchanges: std::ops::Range<usize>,
    },
}

/// Turns the past into a part of a request, and says what to do when a turn has ended. Pure, like
/// everything here: whatever it remembers is put into it before.
pub trait Strategy {
    /// Stable id, such as `std-sliding-window-strategy`.
    fn id(&self) -> &str;

    /// Its version; receipts carry it.
    fn version(&self) -> &str {
        "1"
    }

    /// Composes memory and history. The builder drops more if they are over the room.
    fn compose(&self, request: &ComposeRequest<'_>) -> Composition;

    /// How many of the exchanges that are sent now leave, oldest first and at the least, when the
    /// window next moves as the conversation goes on, whatever its budget is then.
    fn leaving(&self, sent: &[Exchange]) -> usize;

    /// Why another strategy composed in its place; `None` if it did itself, or has not composed yet.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// What is to be done in the background now that a turn has ended.
    fn on_turn_complete(&self, _turn: &TurnComplete<'_>) -> Option<Work> {
        None
    }
}
