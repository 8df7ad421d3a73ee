//! Which strategy composes the past for a context.

use super::memory::Memory;
use crate::ServiceError;
use evenkeel_domain::{Context, FULL, StandardStrategy, StateSchema};
use evenkeel_prompt::{Extraction, Full, SlidingWindow, Strategy, Summarization, SummaryText};

/// Tokens of history after which no more is read for a strategy that is bound by the model's window
/// alone: the largest window that a context can be given.
const LARGEST_WINDOW: u64 = 2_000_000;

/// The strategy of a context, with what it remembers of the branch.
///
/// # Errors
/// Its settings are not such as it takes.
pub(crate) fn strategy_of(context: &Context, memory: &Memory) -> Result<Box<dyn Strategy>, ServiceError> {
    Ok(match context.strategy.settings()? {
        Some(StandardStrategy::Full(_)) => Box::new(Full::default()),
        Some(StandardStrategy::SlidingWindow(settings)) => Box::new(SlidingWindow::from(settings)),
        Some(StandardStrategy::Summarization(settings)) => {
            let text = |summary: &evenkeel_domain::Summary| SummaryText {
                id: summary.id,
                up_to: summary.up_to_id,
                text: summary.text.clone(),
            };
            Box::new(Summarization::new(&settings, memory.summary.as_ref().map(text)))
        }
        Some(StandardStrategy::Extraction(settings)) => {
            Box::new(Extraction::new(StateSchema::parse(&settings.schema)?, memory.values(), settings.last_n))
        }
        _ => Box::new(SlidingWindow::default()),
    })
}

/// Tokens of history that are worth reading for a context's strategy: a little more than it may send.
pub(crate) fn worth_reading(context: &Context) -> u64 {
    if context.strategy.plugin_id == FULL { LARGEST_WINDOW } else { u64::from(context.max_history_tokens) * 2 }
}
