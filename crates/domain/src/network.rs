//! Why something is sent over the network.

use serde::{Deserialize, Serialize};

/// Why a request is made; the network journal shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum RequestPurpose {
    /// A reply.
    Chat,
    /// A conversation's title.
    Title,
    /// A summary of a conversation.
    Summary,
    /// The values that a context keeps instead of a history.
    Extraction,
    /// Reading the beginning of the next request ahead.
    ReadAhead,
    /// What texts mean.
    Embedding,
    /// The list of a provider's models.
    Models,
    /// The search for servers on this machine.
    Detection,
    /// A server of tools.
    Tool,
    /// An address that is told of long operations.
    Webhook,
    /// Everything else of the built-in engine: health, tokens.
    Engine,
}
