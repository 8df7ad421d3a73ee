//! Strategies: how much of the history a request carries.

mod sliding_window;

use crate::Exchange;
pub use sliding_window::SlidingWindow;

/// What a strategy chooses from. Token figures include framing.
#[derive(Debug, Clone, Copy)]
pub struct WindowRequest<'a> {
    /// Exchanges from the start of the previous window on, oldest first; all that are loaded
    /// where there was none.
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

/// Chooses the history of a request. Pure, like everything here.
pub trait Strategy {
    /// Stable id, such as `std-sliding-window-strategy`.
    fn id(&self) -> &'static str;

    /// Chooses the window. The builder drops more if the choice is over the ceiling.
    fn window(&self, request: &WindowRequest<'_>) -> Window;

    /// How many of the exchanges that are sent now leave, oldest first and at the least, when the
    /// window next moves as the conversation goes on, whatever its budget is then.
    fn leaving(&self, sent: &[Exchange]) -> usize;
}
