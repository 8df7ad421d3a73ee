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
    /// It was started, or its address called, and speaks no MCP.
    #[error("{server} did not answer as a server of tools does: {reason}")]
    NoServer {
        /// Its name.
        server: String,
        /// What came instead, with the program's last words.
        reason: String,
    },
    /// It has ended, or the connection has.
    #[error("{server} has ended: {reason}; it is started again with the next call")]
    Ended {
        /// Its name.
        server: String,
        /// How, with the program's last words.
        reason: String,
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

impl ToolError {
    /// The error as every face gives it.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        let body = ErrorBody::new(ErrorCode::ToolFailed, self.to_string());
        match self {
            Self::Start { command, reason } => body.with("command", command).with("reason", reason),
            Self::NoServer { server, reason } | Self::Ended { server, reason } | Self::Refused { server, reason } => {
                body.with("server", server).with("reason", reason)
            }
            Self::Stopped { server } => body.with("server", server),
            Self::TooSlow { server, limit } => body.with("server", server).with("seconds", limit.as_secs()),
        }
    }
}
