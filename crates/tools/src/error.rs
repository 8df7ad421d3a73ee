//! What can go wrong with a server of tools.

use evenkeel_domain::{ErrorBody, ErrorCode};
use std::time::Duration;

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("{command} could not be started: {reason}")]
    Start {
        /// The program.
        command: String,
        /// Why not.
        reason: String,
    },
    /// Nothing answers at its address.
    #[error("Nothing answers at {address}: {reason}")]
    Unreachable {
        /// Its name.
        server: String,
        /// Where.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// What answers at its address wants a token, or another one.
    #[error("{address} wants a token, or another one than it was shown")]
    Unauthorized {
        /// Its name.
        server: String,
        /// Where.
        address: String,
    },
    /// It was started, or its address called, and speaks no MCP.
    #[error("{place} is no MCP server: {reason}{}", quoted(.said))]
    NoServer {
        /// Its name.
        server: String,
        /// Its command, or its address.
        place: String,
        /// What came instead.
        reason: String,
        /// The program's last words; may be empty.
        said: String,
    },
    /// It has ended, or the connection has.
    #[error("{server} has ended: {reason}{}; it is started again with the next call", quoted(.said))]
    Ended {
        /// Its name.
        server: String,
        /// How.
        reason: String,
        /// The program's last words; may be empty.
        said: String,
    },
    /// It took too long.
    #[error("{server} gave no answer within {} seconds", .limit.as_secs())]
    TooSlow {
        /// Its name.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// It refused the call.
    #[error("{server} refused: {reason}")]
    Refused {
        /// Its name.
        server: String,
        /// Why, in its words.
        reason: String,
    },
    /// It was stopped while it was asked.
    #[error("{server} was removed or changed by the user while it was asked, and stopped; whether it did its work is not known")]
    Stopped {
        /// Its name.
        server: String,
    },
}

/// A program's last words, where it had any.
fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}

impl ToolError {
    /// The error as every face gives it.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        let body = ErrorBody::new(ErrorCode::ToolFailed, self.to_string());
        let spoken = |body: ErrorBody, said: &str| if said.is_empty() { body } else { body.with("said", said) };
        match self {
            Self::Start { command, reason } => body.with("command", command).with("reason", reason),
            Self::Unreachable { server, address, reason } => {
                body.with("server", server).with("unreachable", address).with("reason", reason)
            }
            Self::Unauthorized { server, address } => body.with("server", server).with("unauthorized", address),
            Self::NoServer { server, place, reason, said } => {
                spoken(body.with("server", server).with("place", place).with("reason", reason), said)
            }
            Self::Ended { server, reason, said } => spoken(body.with("server", server).with("reason", reason), said),
            Self::Refused { server, reason } => body.with("server", server).with("reason", reason),
            Self::Stopped { server } => body.with("server", server),
            Self::TooSlow { server, limit } => body.with("server", server).with("seconds", limit.as_secs()),
        }
    }
}
