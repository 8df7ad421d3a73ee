//! Everything, as long as the model takes it.

use super::{ComposeRequest, Composition, SlidingWindow, Strategy, WindowRequest};
use crate::Exchange;
use evenkeel_domain::FULL;

/// Sends the whole branch, whatever `maxHistoryTokens` says, as long as the model's window takes it;
/// then it is cut as by [`SlidingWindow`]. Best for short conversations: nothing is forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Full(SlidingWindow);

impl Strategy for Full {
    fn id(&self) -> &str {
        FULL
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Composition {
        let (exchanges, room) = (request.exchanges, request.room);
        Composition::of(self.0.window(&WindowRequest { exchanges, budget: room, ceiling: room }), room)
    }

    fn leaving(&self, sent: &[Exchange]) -> usize {
        self.0.leaving(sent)
    }
}
