//! What would be sent, without sending it.

use super::plan::{Manner, Plan, Trial};
use super::receipt::asked;
use crate::{Service, ServiceError};
use evenkeel_domain::{Compared, ErrorCode, FieldError, Preview, ProviderKind, SendRequest, StrategyChoice};
use evenkeel_prompt::Block;
use evenkeel_provider::Endpoint;

/// Most strategies that are compared at once.
const COMPARED: usize = 8;
/// Stands for the built-in engine, whose address is made when it starts; no body depends on it.
const ENGINE_ADDRESS: &str = "http://127.0.0.1";

impl Service {
    /// What would be sent for a wish to have an answer. Nothing is stored and no model is called.
    ///
    /// # Errors
    /// What would keep the message from being sent.
    pub async fn chat_preview(&self, request: SendRequest) -> Result<Preview, ServiceError> {
        self.previewed(request, None).await
    }

    /// What each of some strategies would make of a message, in their order. What one of them cannot do is said in its
    /// place.
    ///
    /// # Errors
    /// No strategy, or more than eight, are named, or the message cannot be sent whatever the strategy.
    pub async fn chat_compare(
        &self,
        request: SendRequest,
        strategies: Vec<StrategyChoice>,
    ) -> Result<Vec<Compared>, ServiceError> {
        if !(1..=COMPARED).contains(&strategies.len()) {
            let (value, range) = (strategies.len().to_string(), format!("1 to {COMPARED} strategies"));
            return Err(FieldError { field: "strategies", value, range }.into());
        }
        let mut compared = Vec::with_capacity(strategies.len());
        for strategy in strategies {
            let previewed = match strategy.check() {
                Ok(()) => self.previewed(request.clone(), Some(strategy.clone())).await,
                Err(error) => Err(error.into()),
            };
            compared.push(match previewed {
                Ok(preview) => Compared { strategy, preview: Some(preview), error: None },
                Err(error) if is_its_own(&error) => Compared { strategy, preview: None, error: Some(error.to_body()) },
                Err(error) => return Err(error),
            });
        }
        Ok(compared)
    }

    async fn previewed(&self, request: SendRequest, strategy: Option<StrategyChoice>) -> Result<Preview, ServiceError> {
        let known = self.conversation_of(&request).await?;
        let session = self.session()?;
        let mut plan =
            self.plan(request, known, Manner { reminds: true, trial: Some(Trial { strategy }), ..Manner::default() }).await?;
        self.refit(&session, &mut plan).await?;
        preview(&plan)
    }
}

/// Whether a refusal is about the strategy, or may be: another one can do with less.
fn is_its_own(error: &ServiceError) -> bool {
    let field = error.to_body().details.get("field").is_some_and(|field| field.starts_with("strategy"));
    field || error.code() == ErrorCode::PromptTooLarge
}

fn preview(plan: &Plan) -> Result<Preview, ServiceError> {
    let (chosen, prompt) = (&plan.chosen, &plan.prompt);
    let request = asked(&plan.context, chosen, &chosen.model_name, prompt);
    let provider = &chosen.provider;
    let base_url = if provider.kind == ProviderKind::Engine { ENGINE_ADDRESS } else { &provider.base_url };
    let outgoing = Endpoint::new(provider.kind, base_url).outgoing(&request)?;
    let shown = |block: &Block| if block.included { block.text.clone() } else { String::new() };
    Ok(Preview {
        strategy: prompt.strategy.clone(),
        blocks: prompt.blocks.iter().map(Block::for_receipt).collect(),
        texts: prompt.blocks.iter().map(shown).collect(),
        meter: prompt.meter.clone(),
        model: chosen.choice.clone(),
        provider_name: provider.name.clone(),
        body: String::from_utf8_lossy(&outgoing.body).into_owned(),
    })
}
