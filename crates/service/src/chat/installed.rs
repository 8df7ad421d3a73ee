//! A strategy of other people in the place of a standard one.

use super::plan::Plan;
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{ContextId, ConversationId, Message, MessageId, Role, SLIDING_WINDOW, StrategyChoice};
use evenkeel_plugin::{ComposeInput, ComposeOutput, ExchangeInput, MessageInput, Plugin, PluginError, TurnInput};
use evenkeel_prompt::{Block, BlockKind, ComposeRequest, Composition, Exchange, Origin, SlidingWindow, Strategy, Window};
use evenkeel_store::{ReadHandle, WriteHandle};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Where a strategy's state is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchEnd {
    pub conversation: ConversationId,
    /// The end of the branch; `None` where it is only beginning.
    pub leaf: Option<MessageId>,
    /// The context that answers.
    pub context: ContextId,
}

/// A loaded plug-in with what a context and a conversation have for it. A call takes at most the
/// deadline of its host, 200 ms; one that fails is answered by the sliding window.
pub(crate) struct Installed {
    plugin: Arc<Plugin>,
    config: Value,
    /// What it wanted to know again when the last turn ended.
    state: Option<Value>,
    fault: OnceLock<String>,
}

impl Installed {
    pub fn new(plugin: Arc<Plugin>, config: Value, state: Option<Value>) -> Self {
        Self { plugin, config, state, fault: OnceLock::new() }
    }

    fn ask(&self, request: &ComposeRequest<'_>) -> Result<ComposeOutput, PluginError> {
        let messages = |exchange: &Exchange| {
            let said = request.history[exchange.messages.clone()].iter().filter(|message| !message.content.trim().is_empty());
            let message = said.map(|message| MessageInput {
                id: message.id,
                role: message.role,
                tokens: message.tokens,
                content: message.content,
            });
            message.collect()
        };
        let exchange = |exchange: &Exchange| ExchangeInput {
            tokens: exchange.tokens,
            answered: exchange.answered,
            messages: messages(exchange),
        };
        // What is loaded but left the window before counts as earlier too.
        let before = request.exchanges.first().map_or(request.history.len(), |first| first.messages.start);
        self.plugin.compose(&ComposeInput {
            config: &self.config,
            state: self.state.as_ref(),
            max_history_tokens: request.max_history_tokens,
            room: request.room,
            earlier: request.earlier.saturating_add(u32::try_from(before).unwrap_or(u32::MAX)),
            user_text: request.user_text,
            exchanges: request.exchanges.iter().map(exchange).collect(),
        })
    }
}

impl Strategy for Installed {
    fn id(&self) -> &str {
        if self.fault().is_some() { SLIDING_WINDOW } else { self.plugin.manifest().id.as_str() }
    }

    fn version(&self) -> &str {
        if self.fault().is_some() { "1" } else { &self.plugin.manifest().version }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Composition {
        let output = match self.ask(request) {
            Ok(output) => output,
            Err(error) => {
                // Set once: a prompt is composed once.
                let _ = self.fault.set(error.to_string());
                return SlidingWindow::default().compose(request);
            }
        };
        let origin = || Origin::Provider { name: self.plugin.manifest().id.as_str().to_owned() };
        let block = |text: String| Block::new(BlockKind::Memory, origin(), Role::System, text, request.counter);
        let texts = output.memory.into_iter().map(|memory| memory.text).filter(|text| !text.trim().is_empty());
        let memory: Vec<Block> = texts.map(block).collect();
        let budget = request.beside(&memory).budget;
        Composition { memory, window: Window { first: output.first, reason: output.reason }, budget }
    }

    /// Nobody but the plug-in knows.
    fn leaving(&self, _sent: &[Exchange]) -> usize {
        0
    }
}

impl Service {
    /// Tells an installed strategy that a turn has ended, and keeps what it wants to know again.
    pub(crate) async fn tell_strategy(&self, plan: &Plan, reply: &Message) {
        let choice = &plan.context.strategy;
        if !matches!(choice.settings(), Ok(None)) {
            return;
        }
        if let Err(error) = self.told_strategy(choice, &plan.user_message, reply).await {
            tracing::warn!(code = error.code().as_str(), %error, "a strategy was not told of a turn");
        }
    }

    async fn told_strategy(&self, choice: &StrategyChoice, asked: &Message, reply: &Message) -> Result<(), ServiceError> {
        let session = self.session()?;
        let place = BranchEnd { conversation: reply.conversation_id, leaf: Some(reply.id), context: reply.context_id };
        let (plugin, state) = self.installed(&session, &choice.plugin_id, place).await?;
        let (config, user_text, text) = (Value::Object(choice.config.clone()), asked.content.clone(), reply.content.clone());
        let task = tokio::task::spawn_blocking(move || {
            plugin.turn_complete(&TurnInput { config: &config, state: state.as_ref(), user_text: &user_text, reply: &text })
        });
        let told = task.await.map_err(|error| ServiceError::internal("telling a strategy", &error))??;
        if let Some(told) = told {
            let (ids, plugin_id) = ((asked.id, reply.id), choice.plugin_id.clone());
            let write = move |w: &mut WriteHandle<'_>| w.put_strategy_state(ids, &plugin_id, &told.state);
            session.records(place.conversation).write(write).await?;
        }
        Ok(())
    }

    /// An installed strategy with what it left on a branch.
    async fn installed(
        &self,
        session: &Session,
        id: &str,
        place: BranchEnd,
    ) -> Result<(Arc<Plugin>, Option<Value>), ServiceError> {
        let (plugin, name) = (self.plugin(id).await?, id.to_owned());
        let Some(leaf) = place.leaf else { return Ok((plugin, None)) };
        let read = move |r: &ReadHandle<'_>| r.strategy_state(leaf, place.context, &name);
        Ok((plugin, session.records(place.conversation).read(read).await?))
    }

    /// The installed strategy that a context has chosen, ready to compose.
    ///
    /// # Errors
    /// It is not installed or cannot run here, or the vault cannot be read.
    pub(crate) async fn installed_strategy(
        &self,
        session: &Session,
        choice: &StrategyChoice,
        place: BranchEnd,
    ) -> Result<Installed, ServiceError> {
        let (plugin, state) = self.installed(session, &choice.plugin_id, place).await?;
        Ok(Installed::new(plugin, Value::Object(choice.config.clone()), state))
    }
}
