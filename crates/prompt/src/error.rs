//! Why a prompt cannot be built.

use evenkeel_domain::{ErrorBody, ErrorCode};

/// A request that cannot fit the model's window. All numbers are tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The parts that are never dropped are over the budget of the request.
    #[error(
        "the message does not fit: persona {system} + message {user} + time and anchor {trailing} tokens are over the {budget} tokens \
         that the model's window of {window} leaves beside a reply of {max_tokens}; shorten the message or the persona, lower maxTokens, \
         or choose a model with a larger window"
    )]
    TooLarge {
        /// Persona: system prompt and personality.
        system: u32,
        /// The user's text.
        user: u32,
        /// Time and anchor, and the framing of the reply.
        trailing: u32,
        /// What the request may take.
        budget: u32,
        /// The model's window.
        window: u32,
        /// Reserved for the reply.
        max_tokens: u32,
    },
    /// The reply alone takes the whole window.
    #[error(
        "a reply of {max_tokens} tokens leaves no room for a message in the model's window of {window}; set maxTokens to {advice} or less, \
         or choose a model with a larger window"
    )]
    ReplyFillsWindow {
        /// Reserved for the reply.
        max_tokens: u32,
        /// The model's window.
        window: u32,
        /// A value of `maxTokens` that leaves three quarters of the window to the request.
        advice: u32,
    },
}

impl PromptError {
    /// The error's code on every face.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::PromptTooLarge
    }
}

impl From<PromptError> for ErrorBody {
    fn from(error: PromptError) -> Self {
        let body = Self::new(error.code(), error.to_string());
        match error {
            PromptError::TooLarge { system, user, trailing, budget, window, max_tokens } => body
                .with("system", system)
                .with("user", user)
                .with("trailing", trailing)
                .with("budget", budget)
                .with("window", window)
                .with("maxTokens", max_tokens),
            PromptError::ReplyFillsWindow { max_tokens, window, advice } => {
                body.with("maxTokens", max_tokens).with("window", window).with("advice", advice)
            }
        }
    }
}
