//! What a context's strategy remembers of a branch beside its messages.

use evenkeel_domain::{Context, ContextId, ConversationId, EXTRACTION, MessageId, SUMMARIZATION, StateValue, Summary, SummaryId};
use evenkeel_prompt::{Origin, Prompt};
use evenkeel_store::{ReadHandle, StoreError};

/// Where something is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Branch {
    /// `None` where it is only beginning.
    pub conversation: Option<ConversationId>,
    /// What the question follows.
    pub parent: Option<MessageId>,
    /// The question itself, once it is stored: values may have been taken from it.
    pub asked: Option<MessageId>,
}

/// What is remembered.
#[derive(Default)]
pub(crate) struct Memory {
    /// The summary that applies to the branch.
    pub summary: Option<Summary>,
    /// The values that hold on it.
    pub state: Vec<StateValue>,
    /// The contexts that what is remembered was said to or by.
    pub contexts: Vec<ContextId>,
}

impl Memory {
    /// Reads what the context's strategy has a use for, and nothing else.
    ///
    /// # Errors
    /// The vault cannot be read.
    pub fn read(r: &ReadHandle<'_>, branch: Branch, context: &Context) -> Result<Self, StoreError> {
        match (context.strategy.plugin_id.as_str(), branch.conversation, branch.parent) {
            (SUMMARIZATION, _, Some(parent)) => {
                let summary = r.applicable_summary(parent)?;
                let contexts = summary.as_ref().map(|summary| r.summary_contexts(summary.id)).transpose()?;
                Ok(Self { summary, contexts: contexts.unwrap_or_default(), ..Self::default() })
            }
            (EXTRACTION, Some(conversation), _) => {
                let state = r.state(conversation, branch.asked.or(branch.parent))?;
                Ok(Self { contexts: r.state_contexts(conversation)?, state, ..Self::default() })
            }
            _ => Ok(Self::default()),
        }
    }

    /// The summary's id.
    pub fn summary_id(&self) -> Option<SummaryId> {
        self.summary.as_ref().map(|summary| summary.id)
    }

    /// Names and values of the state.
    pub fn values(&self) -> Vec<(String, String)> {
        self.state.iter().map(|value| (value.name.clone(), value.value.clone())).collect()
    }
}

/// The summary that a prompt was composed with, also where it was left out.
pub(crate) fn summary_of(prompt: &Prompt) -> Option<SummaryId> {
    prompt.blocks.iter().find_map(|block| match block.origin {
        Origin::Summary { id } => Some(id),
        _ => None,
    })
}
