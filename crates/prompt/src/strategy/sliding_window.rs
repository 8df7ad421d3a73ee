//! The newest exchanges, evicted in blocks.

use super::{ComposeRequest, Composition, Strategy, Window, WindowRequest};
use crate::Exchange;
use crate::exchange::tail_within;
use evenkeel_domain::{SLIDING_WINDOW, WindowSettings};

/// Keeps its start while the history fits its budget, and then drops a block of the oldest
/// exchanges at once.
///
/// Dropping one exchange at each turn would change the beginning of every request and with it
/// break every prompt cache (reuse 0.255 instead of 0.955 over 400 turns).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlidingWindow {
    /// Per cent of the budget that stay after an eviction, 1–100.
    pub keep_percent: u32,
    /// Newest answered exchanges that stay even if they are more than that.
    pub keep_exchanges: usize,
}

impl Default for SlidingWindow {
    fn default() -> Self {
        WindowSettings::default().into()
    }
}

impl From<WindowSettings> for SlidingWindow {
    fn from(settings: WindowSettings) -> Self {
        Self { keep_percent: settings.keep_percent, keep_exchanges: settings.keep_exchanges as usize }
    }
}

impl Strategy for SlidingWindow {
    fn id(&self) -> &str {
        SLIDING_WINDOW
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Composition {
        let request = request.beside(&[]);
        Composition::of(self.window(&request), request.budget)
    }

    /// The window moves once what is sent now and what is added to it are over the budget. The
    /// larger the budget is then, the more was added, and it stays for sure, being newer: so this
    /// part of what is sent now is the most that can stay.
    fn leaving(&self, sent: &[Exchange]) -> usize {
        let tokens: u64 = sent.iter().map(|exchange| u64::from(exchange.tokens)).sum();
        let most = tokens * u64::from(self.keep_percent.min(100)) / 100;
        tail_within(sent, u32::try_from(most).unwrap_or(u32::MAX)).min(self.newest(sent))
    }
}

impl SlidingWindow {
    /// The window of a history, whatever memory stands beside it.
    #[must_use]
    pub fn window(&self, request: &WindowRequest<'_>) -> Window {
        let exchanges = request.exchanges;
        if tail_within(exchanges, request.budget) == 0 {
            return Window { first: 0, reason: None };
        }
        let target = u64::from(request.budget) * u64::from(self.keep_percent.min(100)) / 100;
        let by_tokens = tail_within(exchanges, u32::try_from(target).unwrap_or(u32::MAX));
        let newest = self.newest(exchanges);
        if by_tokens <= newest {
            let reason = format!(
                "history was over its budget of {} tokens and was cut to {} % of it, in whole exchanges",
                request.budget, self.keep_percent
            );
            return Window { first: by_tokens, reason: Some(reason) };
        }
        self.floor(newest, request)
    }

    /// Where the newest exchanges begin that stay whatever the budget says. An open exchange at
    /// the end is not counted among them: it is a part of what is being asked.
    fn newest(&self, exchanges: &[Exchange]) -> usize {
        let open = usize::from(exchanges.last().is_some_and(|last| !last.answered));
        exchanges.len().saturating_sub(self.keep_exchanges + open)
    }

    /// The newest exchanges, or as many of them as the request can take at all.
    fn floor(&self, newest: usize, request: &WindowRequest<'_>) -> Window {
        let fitting = tail_within(request.exchanges, request.ceiling);
        let first = newest.max(fitting);
        let kept = request.exchanges.len() - first;
        let reason = if fitting <= newest {
            format!("history was over its budget of {} tokens; the newest {kept} exchanges are sent all the same", request.budget)
        } else {
            format!(
                "only the newest {kept} exchanges fit the {} tokens that the request leaves, fewer than the {} to keep",
                request.ceiling, self.keep_exchanges
            )
        };
        Window { first, reason: Some(reason) }
    }
}
