//! What can go wrong between the app and a provider.

use evenkeel_domain::{ErrorBody, ErrorCode};
use secrecy::{ExposeSecret, SecretString};
use std::{fmt, time::Duration};

/// Characters of a provider's own words that are kept.
const SAID_LIMIT: usize = 500;
/// What stands where a secret was.
const SCRUBBED: &str = "•••";
/// A secret shorter than this is not looked for: replacing it would eat ordinary words.
const SHORTEST_SECRET: usize = 4;

/// Where an error happened and what the provider said about it. Holds no secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Origin and path of the request, without query.
    pub address: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The provider's own words, at most 500 characters, with keys removed.
    pub said: Option<String>,
}

impl Report {
    /// A report that knows only the address.
    pub fn at(address: impl Into<String>) -> Self {
        Self { address: address.into(), ..Self::default() }
    }

    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or("it was asked for")
    }

    /// ` It says: "…"`, or nothing.
    fn quote(&self) -> Quote<'_> {
        Quote(self.said.as_deref())
    }

    /// ` (status 500)`, or nothing.
    fn status_note(&self) -> String {
        self.status.map(|status| format!(" (status {status})")).unwrap_or_default()
    }
}

/// Prints the provider's words as a sentence of their own.
struct Quote<'a>(Option<&'a str>);

impl fmt::Display for Quote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(said) => write!(f, " It says: \"{said}\""),
            None => Ok(()),
        }
    }
}

/// Why a provider gave no reply, or no whole one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, wrong, or may not use this (401, 403).
    #[error("{} refused the key{}.{} Enter a valid key for this provider in the settings.", at.address, at.status_note(), at.quote())]
    Unauthorized {
        /// Where, and what the provider said.
        at: Report,
    },
    /// The provider does not know the model.
    #[error("{} does not know the model {}.{} Choose another model, or install this one there.", at.address, at.model(), at.quote())]
    ModelNotFound {
        /// Where, and what the provider said.
        at: Report,
    },
    /// Too many requests, no quota left, or overloaded (429, 529, 503 with Retry-After).
    #[error("{} asks to wait{}.{} Send again {}.", at.address, at.status_note(), at.quote(), when(*retry_after))]
    RateLimited {
        /// Where, and what the provider said.
        at: Report,
        /// How long to wait, where the provider said so.
        retry_after: Option<Duration>,
    },
    /// The model's window cannot hold the request.
    #[error("The prompt is too long for the model {}{}.{} Start a new conversation, shorten the message, or choose a model with a larger window.", at.model(), at.status_note(), at.quote())]
    TooLong {
        /// Where, and what the provider said.
        at: Report,
    },
    /// The provider, or a check before sending, refused the request itself (other 4xx).
    #[error("{} did not accept the request{}.{} Check the provider's address, headers and model settings.", at.address, at.status_note(), at.quote())]
    Rejected {
        /// Where, and what the provider said.
        at: Report,
    },
    /// The provider failed on its side (5xx, or an error inside the stream).
    #[error("{} failed{}.{} Nothing is lost; send again, or choose another model.", at.address, at.status_note(), at.quote())]
    Failed {
        /// Where, and what the provider said.
        at: Report,
        /// The HTTP status, where one stands behind it.
        status: Option<u16>,
    },
    /// No connection came about.
    #[error("Nothing answers at {} ({reason}). Check that the server is running and the address is right.", at.address)]
    Unreachable {
        /// Where.
        at: Report,
        /// What the system said, such as `connection refused`.
        reason: String,
    },
    /// Nothing came for longer than the provider's time limit.
    #[error("{} sent nothing for {} seconds. Send again, or raise the provider's time limit in the settings.", at.address, limit.as_secs_f32())]
    Timeout {
        /// Where.
        at: Report,
        /// The limit that passed.
        limit: Duration,
    },
    /// The reply ended before the provider said that it was whole.
    #[error("The reply from {} broke off before its end.{} What had arrived is kept; send again for a whole reply.", at.address, at.quote())]
    BrokenOff {
        /// Where, and what the provider said.
        at: Report,
    },
    /// The answer is not in the expected wire format.
    #[error("{} answered something that is not its wire format ({reason}). Check the provider's address and kind.", at.address)]
    Malformed {
        /// Where.
        at: Report,
        /// What was wrong with the answer.
        reason: String,
    },
    /// An address that may not be called; nothing was sent, or the redirect was not followed.
    #[error("{} may not be called: {reason}. Enter another address in the provider's settings.", at.address)]
    AddressRefused {
        /// Where.
        at: Report,
        /// Which rule forbids it.
        reason: String,
    },
    /// Only this machine may answer, and the address or the model is elsewhere; nothing was sent.
    #[error("{} is not on this machine, and only models on this machine may answer here. Choose a local model, or lift the limit for this context.", at.address)]
    LocalOnly {
        /// Where.
        at: Report,
    },
}

/// When to try again, in words.
fn when(retry_after: Option<Duration>) -> String {
    match retry_after.map(whole_seconds) {
        Some(1) => "in 1 second".into(),
        Some(seconds) => format!("in {seconds} seconds"),
        None => "a little later".into(),
    }
}

/// Seconds, rounded up: waiting too short is refused again.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

impl ProviderError {
    /// The error's stable name.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unauthorized { .. } => ErrorCode::ProviderUnauthorized,
            Self::ModelNotFound { .. } => ErrorCode::ProviderModelNotFound,
            Self::RateLimited { .. } => ErrorCode::ProviderRateLimited,
            Self::TooLong { .. } => ErrorCode::PromptTooLarge,
            Self::Rejected { .. } => ErrorCode::ProviderRejected,
            Self::Failed { .. } => ErrorCode::ProviderFailed,
            Self::Unreachable { .. } => ErrorCode::ProviderUnreachable,
            Self::Timeout { .. } => ErrorCode::ProviderTimeout,
            Self::BrokenOff { .. } => ErrorCode::ProviderBrokenOff,
            Self::Malformed { .. } => ErrorCode::ProviderMalformed,
            Self::AddressRefused { .. } => ErrorCode::ProviderAddressRefused,
            Self::LocalOnly { .. } => ErrorCode::LocalOnly,
        }
    }

    /// Where it happened and what the provider said.
    #[must_use]
    pub fn report(&self) -> &Report {
        match self {
            Self::Unauthorized { at }
            | Self::ModelNotFound { at }
            | Self::RateLimited { at, .. }
            | Self::TooLong { at }
            | Self::Rejected { at }
            | Self::Failed { at, .. }
            | Self::Unreachable { at, .. }
            | Self::Timeout { at, .. }
            | Self::BrokenOff { at }
            | Self::Malformed { at, .. }
            | Self::AddressRefused { at, .. }
            | Self::LocalOnly { at } => at,
        }
    }

    /// The error as it leaves a face. Details, each where known: `address`, `model`, `status`,
    /// `retryAfterSeconds` (rounded up), `timeoutSeconds`, `said`, `reason`.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        let at = self.report();
        let mut body = ErrorBody::new(self.code(), self.to_string()).with("address", &at.address);
        if let Some(model) = &at.model {
            body = body.with("model", model);
        }
        if let Some(status) = at.status {
            body = body.with("status", status);
        }
        if let Some(said) = &at.said {
            body = body.with("said", said);
        }
        match self {
            Self::RateLimited { retry_after: Some(wait), .. } => body.with("retryAfterSeconds", whole_seconds(*wait)),
            Self::Timeout { limit, .. } => body.with("timeoutSeconds", limit.as_secs_f32()),
            Self::Unreachable { reason, .. } | Self::Malformed { reason, .. } | Self::AddressRefused { reason, .. } => {
                body.with("reason", reason)
            }
            _ => body,
        }
    }
}

impl From<ProviderError> for ErrorBody {
    fn from(error: ProviderError) -> Self {
        error.to_body()
    }
}

/// Makes reports about one request and keeps its secrets out of them.
#[derive(Clone, Default)]
pub(crate) struct Site {
    /// Origin and path.
    pub address: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// What must not appear in a report.
    pub secrets: Vec<SecretString>,
}

impl Site {
    /// A report with the provider's words, cleaned.
    pub fn report(&self, status: Option<u16>, said: Option<&str>) -> Report {
        Report {
            address: self.address.clone(),
            model: self.model.clone(),
            status,
            said: said.map(|text| self.clean(text)).filter(|text| !text.is_empty()),
        }
    }

    /// A report without words.
    pub fn bare(&self) -> Report {
        self.report(None, None)
    }

    /// Removes secrets and control characters, folds white space, keeps 500 characters.
    pub fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            let secret = secret.expose_secret();
            if secret.len() >= SHORTEST_SECRET {
                text = text.replace(secret, SCRUBBED);
            }
        }
        let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let folded = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        if folded.chars().count() <= SAID_LIMIT {
            return folded;
        }
        folded.chars().take(SAID_LIMIT - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_holds_no_secret_and_at_most_500_characters() {
        let site = Site { secrets: vec!["sk-12345".into(), "ab".into()], ..Site::default() };
        assert_eq!(site.clean("key sk-12345\n is\u{7} bad, about"), "key ••• is bad, about");
        assert_eq!(site.clean(&"é".repeat(2_000)).chars().count(), 500);
        // A secret across the cut must not survive in part.
        let long = format!("{}sk-12345", "x".repeat(495));
        assert!(!site.clean(&long).contains("sk-"));
    }

    #[test]
    fn the_wait_is_rounded_up_and_told() {
        let error = ProviderError::RateLimited {
            at: Report::at("https://a.example/v1"),
            retry_after: Some(Duration::from_millis(1_200)),
        };
        assert_eq!(error.to_body().details["retryAfterSeconds"], "2");
        assert_eq!(error.to_string(), "https://a.example/v1 asks to wait. Send again in 2 seconds.");
    }
}
