//! How many tokens a request may take.

use crate::PromptError;

/// The room of one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The model's window.
    pub window: u32,
    /// Reserved for the reply.
    pub max_tokens: u32,
    /// Kept free, since templates and tokenizers differ: 2 % of the window, 10 % for estimates.
    pub margin: u32,
    /// What the request may take: window − `max_tokens` − margin, at least 1.
    pub request: u32,
}

impl Budget {
    /// The budget of a request to a model with `window` tokens and a reply of `max_tokens`.
    ///
    /// # Errors
    /// [`PromptError::ReplyFillsWindow`] if nothing is left for the request.
    pub fn new(window: u32, max_tokens: u32, estimated: bool) -> Result<Self, PromptError> {
        let margin = window.div_ceil(if estimated { 10 } else { 50 });
        match window.saturating_sub(max_tokens).saturating_sub(margin) {
            0 => Err(PromptError::ReplyFillsWindow { max_tokens, window, advice: (window / 4).max(1) }),
            request => Ok(Self { window, max_tokens, margin, request }),
        }
    }
}
