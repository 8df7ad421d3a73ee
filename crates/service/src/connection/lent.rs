//! A program's own model in place of the app's (MCP sampling).

use crate::ServiceError;
use crate::model::{Chosen, may_answer};
use async_trait::async_trait;
use evenkeel_domain::{Context, ModelChoice, Provider, ProviderId, ProviderKind, ProviderLocality};
use evenkeel_mcp::Sampler;
use evenkeel_provider::wire::sampling::SCHEME;
use evenkeel_provider::{ChatRequest, EndReason, EventStream, LanguageModel, ModelEvent, Outgoing, ProviderError, Report, body};
use futures::{StreamExt, stream};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use uuid::Uuid;

/// How long a program may take: its user may be asked first.
const LIMIT: Duration = Duration::from_secs(15 * 60);
/// Characters of a model's name that are kept.
const NAME: usize = 200;
/// Tokens that any model of today holds; more are counted on where the context's budget does.
const LEAST_WINDOW: u32 = 8_192;

/// A model that a program lends for one reply.
pub(crate) struct Lent {
    sampler: Arc<dyn Sampler>,
    /// What it was called in the program's answer.
    model: OnceLock<String>,
}

impl Lent {
    pub fn new(sampler: Arc<dyn Sampler>) -> Arc<Self> {
        Arc::new(Self { sampler, model: OnceLock::new() })
    }

    /// The program that lends it.
    pub fn client(&self) -> &str {
        self.sampler.client()
    }

    /// Its name, once it has answered.
    pub fn model(&self) -> Option<&str> {
        self.model.get().map(String::as_str)
    }

    fn address(&self) -> String {
        format!("{SCHEME}{}", self.client())
    }
}

impl Chosen {
    /// A program's model for a context.
    ///
    /// # Errors
    /// The words of `kept_here_by` may not leave this machine; a program may ask a model anywhere.
    pub fn lent(kept_here_by: Option<&str>, context: &Context, lent: Arc<Lent>) -> Result<Self, ServiceError> {
        // No provider of the vault has it.
        let (id, client) = (ProviderId::from(Uuid::nil()), lent.client().to_owned());
        let provider = Provider {
            id,
            kind: ProviderKind::OpenaiCompatible,
            name: format!("MCP sampling: {client}"),
            base_url: lent.address(),
            locality: ProviderLocality::Remote,
            key_hint: None,
            extra_headers: BTreeMap::new(),
            manual_models: Vec::new(),
            window_override: None,
            timeout_seconds: u32::try_from(LIMIT.as_secs()).unwrap_or(u32::MAX),
        };
        let chosen = Self {
            choice: ModelChoice { provider_id: id, model: client.clone() },
            model_name: client,
            provider,
            window: context.max_history_tokens.saturating_add(context.max_tokens).max(LEAST_WINDOW),
            window_is_guess: false,
            counts_exactly: false,
            is_small: false,
            lent: Some(lent),
            file: None,
            sealed_key: None,
        };
        may_answer(kept_here_by, &chosen)?;
        Ok(chosen)
    }
}

#[async_trait]
impl LanguageModel for Lent {
    fn outgoing(&self, request: &ChatRequest) -> Result<Outgoing, ProviderError> {
        let address = self.address();
        let rendered = body(ProviderKind::OpenaiCompatible, &address, request);
        let body = rendered.map_err(|error| rejected(&address, error.to_string()))?;
        Ok(Outgoing { address, body: body.into() })
    }

    async fn stream(&self, request: ChatRequest) -> Result<EventStream, ProviderError> {
        let Outgoing { address, body } = self.outgoing(&request)?;
        let answer = tokio::time::timeout(LIMIT, self.sampler.sample(&body)).await;
        let answer = answer.map_err(|_| ProviderError::Timeout { at: Report::at(&address), limit: LIMIT })?;
        let answer = answer.map_err(|error| rejected(&address, error.message))?;
        if answer.text.trim().is_empty() {
            return Err(ProviderError::BrokenOff { at: Report::at(address) });
        }
        let name = answer.model.chars().filter(|character| !character.is_control()).take(NAME).collect();
        let _ = self.model.set(name);
        let end = if answer.is_cut { EndReason::Length } else { EndReason::Stop };
        Ok(stream::iter([Ok(ModelEvent::Text(answer.text)), Ok(ModelEvent::End(end))]).boxed())
    }
}

fn rejected(address: &str, said: String) -> ProviderError {
    ProviderError::Rejected { at: Report { said: Some(said), ..Report::at(address) } }
}
