//! The model of the program itself, which clients of the older era may lend (MCP sampling).
#![expect(deprecated, reason = "newer revisions of the protocol have no sampling; clients of older ones may offer it still")]

use crate::caller::Caller;
use async_trait::async_trait;
use evenkeel_domain::{ErrorBody, ErrorCode};
use rmcp::RoleServer;
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult, ProtocolVersion};
use rmcp::service::{Peer, ServiceError};
use std::sync::Arc;

/// What a program's model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// The text.
    pub text: String,
    /// The model, as the program names it.
    pub model: String,
    /// The reply reached its longest length.
    pub is_cut: bool,
}

/// A program that lends its model.
#[async_trait]
pub trait Sampler: Send + Sync + 'static {
    /// The name that the program gives itself.
    fn client(&self) -> &str;

    /// Asks the program's model; `params` is the JSON of the parameters of `sampling/createMessage`. Dropping the future
    /// gives the question up.
    ///
    /// # Errors
    /// The program or its user refused, or it is gone.
    async fn sample(&self, params: &[u8]) -> Result<Sampled, ErrorBody>;
}

/// A client at the other end of a connection.
struct Client {
    peer: Peer<RoleServer>,
    name: String,
}

/// The model that replies in place of the context's, where the user chose so for this program; `None` where not.
///
/// # Errors
/// The program offers no sampling.
pub(crate) fn lent(caller: &Caller, peer: &Peer<RoleServer>) -> Result<Option<Arc<dyn Sampler>>, ErrorBody> {
    if !caller.lends_model() {
        return Ok(None);
    }
    let offers = peer
        .peer_info()
        .is_some_and(|client| client.capabilities.sampling.is_some() && client.protocol_version < ProtocolVersion::V_2026_07_28);
    let name = caller.name().to_owned();
    if offers {
        return Ok(Some(Arc::new(Client { peer: peer.clone(), name })));
    }
    let message = format!(
        "the replies to {name} are to come from its own model, but it offers no MCP sampling; let them come from Evenkeel's \
         models in Evenkeel, Settings, Connections, then ask again"
    );
    Err(ErrorBody::new(ErrorCode::NoModel, message).with("client", name))
}

#[async_trait]
impl Sampler for Client {
    fn client(&self) -> &str {
        &self.name
    }

    async fn sample(&self, params: &[u8]) -> Result<Sampled, ErrorBody> {
        let params: CreateMessageRequestParams = serde_json::from_slice(params)
            .map_err(|error| ErrorBody::new(ErrorCode::Internal, format!("a request for sampling cannot be made: {error}")))?;
        let answer = self.peer.create_message(params).await;
        answer.map(sampled).map_err(|error| ErrorBody::new(ErrorCode::ProviderRejected, reason(error)))
    }
}

fn sampled(answer: CreateMessageResult) -> Sampled {
    let texts: Vec<&str> = answer.message.content.iter().filter_map(|part| Some(part.as_text()?.text.as_str())).collect();
    Sampled {
        text: texts.join("\n\n"),
        is_cut: answer.stop_reason.as_deref() == Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN),
        model: answer.model,
    }
}

fn reason(error: ServiceError) -> String {
    match error {
        ServiceError::McpError(refused) => refused.message.into_owned(),
        other => other.to_string(),
    }
}
