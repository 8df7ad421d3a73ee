//! What went wrong on the way to a server, in plain words: the protocol's library names its own types.

use crate::exchange::Fault;
use crate::{Server, ToolError, Way};
use evenkeel_domain::{ErrorBody, ErrorCode};
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;

/// Said of a connection that is gone.
const BROKEN_OFF: &str = "the connection broke off";
/// Said of an answer that can be read and means nothing here.
const NO_MCP: &str = "what it answers is no MCP";

/// What went wrong on the way.
pub(crate) enum Trouble {
    /// Nothing answers; what the system said.
    Unreachable(String),
    /// It wants a token, or another one.
    Unauthorized,
    /// Something else, as the end of a sentence about the server.
    Other(String),
}

impl Trouble {
    /// What went wrong while a server was greeted.
    pub fn at_start(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::TransportError { error, .. } => Self::sending(error),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Self::at_start(fallback),
            ClientInitializeError::JsonRpcError(error) => Self::Other(error.message.to_string()),
            ClientInitializeError::ConnectionClosed(_) => Self::Other(BROKEN_OFF.to_owned()),
            ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                Self::Other("it speaks no version of MCP that is known here".to_owned())
            }
            _ => Self::Other(NO_MCP.to_owned()),
        }
    }

    /// What went wrong with a server that had answered before.
    pub fn in_use(error: &ServiceError) -> Self {
        match error {
            ServiceError::TransportSend(error) => Self::sending(error),
            ServiceError::TransportClosed => Self::Other(BROKEN_OFF.to_owned()),
            ServiceError::UnexpectedResponse => Self::Other(NO_MCP.to_owned()),
            other => Self::Other(other.to_string()),
        }
    }

    fn sending(error: &DynamicTransportError) -> Self {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
        while let Some(current) = source {
            if let Some(fault) = current.downcast_ref::<Fault>() {
                return Self::at_address(fault);
            }
            source = current.source();
        }
        Self::Other(format!("{BROKEN_OFF} ({})", error.error))
    }

    fn at_address(fault: &Fault) -> Self {
        let said = match fault {
            Fault::Client(body) => return Self::not_asked(body),
            Fault::AuthRequired(_) | Fault::InsufficientScope(_) => return Self::Unauthorized,
            Fault::HttpStatus(status) if matches!(status.status, 401 | 403) => return Self::Unauthorized,
            Fault::HttpStatus(status) => format!("it answers with HTTP {}", status.status),
            Fault::UnexpectedContentType(Some(kind)) => format!("it answers with {kind}"),
            Fault::UnexpectedContentType(None) | Fault::Deserialize(_) => NO_MCP.to_owned(),
            Fault::ResponseBodyTooLarge { max_size } => format!("its answer has more than {max_size} bytes"),
            Fault::Sse(_) | Fault::Io(_) | Fault::UnexpectedEndOfStream | Fault::SessionExpired => BROKEN_OFF.to_owned(),
            Fault::TransportChannelClosed => BROKEN_OFF.to_owned(),
            other => other.to_string(),
        };
        Self::Other(said)
    }

    /// The request was not made, or came to nothing.
    fn not_asked(body: &ErrorBody) -> Self {
        let reason = body.details.get("reason").unwrap_or(&body.message).clone();
        if body.code == ErrorCode::ProviderUnreachable { Self::Unreachable(reason) } else { Self::Other(reason) }
    }

    /// The error of a server at an address; `None` where that tells no more than what went wrong.
    pub fn of_address(&self, server: &Server) -> Option<ToolError> {
        let Way::Http { url, .. } = &server.way else { return None };
        let (server, address) = (server.name.clone(), url.clone());
        match self {
            Self::Unreachable(reason) => Some(ToolError::Unreachable { server, address, reason: reason.clone() }),
            Self::Unauthorized => Some(ToolError::Unauthorized { server, address }),
            Self::Other(_) => None,
        }
    }

    /// The end of a sentence about the server.
    pub fn words(self) -> String {
        match self {
            Self::Unreachable(reason) => reason,
            Self::Unauthorized => "it wants a token".to_owned(),
            Self::Other(words) => words,
        }
    }
}
