//! What can go wrong with a connection.

use evenkeel_domain::ErrorCode;
use rmcp::service::ServerInitializeError;

/// A connection that could not be served. What single requests cannot have is answered to them.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The first message was none of the protocol, or nothing could be written.
    #[error("the program that started this does not speak MCP, or does not read its answers: {0}")]
    Begin(#[source] Box<ServerInitializeError>),
    /// The server's own task ended.
    #[error("the server ended in the middle: {0}; start it again")]
    Task(#[source] tokio::task::JoinError),
}

impl McpError {
    /// The stable name of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Begin(_) => ErrorCode::InvalidParameter,
            Self::Task(_) => ErrorCode::Internal,
        }
    }
}
