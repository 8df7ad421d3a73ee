//! Which strategy composes the past for a context.

use crate::ServiceError;
use evenkeel_domain::{Context, FULL, StandardStrategy};
use evenkeel_prompt::{Full, SlidingWindow, Strategy};

/// Tokens of history after which no more is read for a strategy that is bound by the model's window
/// alone: the largest window that a context can be given.
const LARGEST_WINDOW: u64 = 2_000_000;

/// The strategy of a context.
///
/// # Errors
/// Its settings are not such as it takes.
pub(crate) fn strategy_of(context: &Context) -> Result<Box<dyn Strategy>, ServiceError> {
    Ok(match context.strategy.settings()? {
        Some(StandardStrategy::Full(_)) => Box::new(Full::default()),
        Some(StandardStrategy::SlidingWindow(settings)) => Box::new(SlidingWindow::from(settings)),
        _ => Box::new(SlidingWindow::default()),
    })
}

/// Tokens of history that are worth reading for a context's strategy: a little more than it may send.
pub(crate) fn worth_reading(context: &Context) -> u64 {
    if context.strategy.plugin_id == FULL { LARGEST_WINDOW } else { u64::from(context.max_history_tokens) * 2 }
}
