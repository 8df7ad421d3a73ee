//! What a model is to the rest of the app: a request in, a stream of events out.

use crate::{ChatRequest, Outgoing, ProviderError, ToolCall};
use async_trait::async_trait;
use evenkeel_domain::Usage;
use futures::stream::BoxStream;

/// A growing reply. Dropping it cancels the reply and closes the connection.
///
/// The last item is either [`ModelEvent::End`] or an error; nothing follows either of them.
pub type EventStream = BoxStream<'static, Result<ModelEvent, ProviderError>>;

/// Something that answers.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// What [`LanguageModel::stream`] sends for a request, byte for byte: always the same for the same request.
    ///
    /// # Errors
    /// The address cannot be read.
    fn outgoing(&self, request: &ChatRequest) -> Result<Outgoing, ProviderError>;

    /// Sends the request and returns once the provider has accepted it. Dropping the future
    /// cancels the request.
    ///
    /// # Errors
    /// Everything that goes wrong before the first byte of the reply; what goes wrong later is
    /// an item of the stream.
    async fn stream(&self, request: ChatRequest) -> Result<EventStream, ProviderError>;
}

/// One step of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// More text; never empty.
    Text(String),
    /// More of the model's reasoning; never empty.
    Reasoning(String),
    /// A whole wish to run a tool.
    ToolCall(ToolCall),
    /// What the provider counted, at most once and before the end.
    Usage(Usage),
    /// The provider said that the reply is whole.
    End(EndReason),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// It was done.
    Stop,
    /// The token limit of the reply or the model's window was reached.
    Length,
    /// It waits for the results of its tool calls.
    ToolCalls,
    /// The provider's filter, or the model's refusal, cut the reply.
    Filtered,
    /// Anything else, in the provider's word; `unstated` where it gave none.
    Other(String),
}
