//! Which strategy composes the past for a context.

use super::installed::BranchEnd;
use super::memory::Memory;
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{Context, ConversationId, FULL, MessageId, StandardStrategy, StateSchema};
use evenkeel_prompt::{Extraction, Full, SlidingWindow, Strategy, Summarization, SummaryText};

/// Tokens of history after which no more is read for a strategy that is bound by the model's window
/// alone: the largest window that a context can be given.
const LARGEST_WINDOW: u64 = 2_000_000;

/// The strategy that composes for a context.
pub(crate) struct Wished {
    pub strategy: Box<dyn Strategy + Send + Sync>,
    /// Why it is not the one that was chosen; receipts and the page say so.
    pub instead_of: Option<String>,
}

impl Wished {
    fn chosen(strategy: impl Strategy + Send + Sync + 'static) -> Self {
        Self { strategy: Box::new(strategy), instead_of: None }
    }

    fn instead(reason: String) -> Self {
        Self { strategy: Box::new(SlidingWindow::default()), instead_of: Some(reason) }
    }
}

impl Service {
    /// The strategy of a context, with what it remembers of the branch; the sliding window where the one that was chosen cannot be had.
    ///
    /// # Errors
    /// Its settings are not such as it takes.
    pub(crate) async fn strategy_of(
        &self,
        session: &Session,
        context: &Context,
        branch: (ConversationId, Option<MessageId>),
        memory: &Memory,
    ) -> Result<Wished, ServiceError> {
        let (choice, (conversation, leaf)) = (&context.strategy, branch);
        Ok(match choice.settings()? {
            Some(StandardStrategy::Full(_)) => Wished::chosen(Full::default()),
            Some(StandardStrategy::SlidingWindow(settings)) => Wished::chosen(SlidingWindow::from(settings)),
            Some(StandardStrategy::Summarization(settings)) => {
                let text = |summary: &evenkeel_domain::Summary| SummaryText {
                    id: summary.id,
                    up_to: summary.up_to_id,
                    text: summary.text.clone(),
                };
                Wished::chosen(Summarization::new(&settings, memory.summary.as_ref().map(text)))
            }
            Some(StandardStrategy::Extraction(settings)) => {
                Wished::chosen(Extraction::new(StateSchema::parse(&settings.schema)?, memory.values(), settings.last_n))
            }
            None => match self.installed_strategy(session, choice, BranchEnd { conversation, leaf, context: context.id }).await {
                Ok(installed) => Wished::chosen(installed),
                Err(error) => Wished::instead(error.to_string()),
            },
        })
    }
}

/// Tokens of history that are worth reading for a context's strategy: a little more than it may send.
pub(crate) fn worth_reading(context: &Context) -> u64 {
    if context.strategy.plugin_id == FULL { LARGEST_WINDOW } else { u64::from(context.max_history_tokens) * 2 }
}
