//! A strategy of other people in the place of a standard one.

use evenkeel_plugin::{ComposeInput, ComposeOutput, ExchangeInput, MessageInput, Plugin, PluginError};
use evenkeel_prompt::{
    Block, BlockKind, ComposeRequest, Composition, Exchange, Origin, SlidingWindow, Strategy, TurnComplete, Window, Work,
};
use evenkeel_domain::Role;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

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

    /// Why the sliding window stood in for it, if it did.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
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
        self.plugin.compose(&ComposeInput {
            config: &self.config,
            state: self.state.as_ref(),
            max_history_tokens: request.max_history_tokens,
            room: request.room,
            earlier: request.earlier,
            user_text: request.user_text,
            exchanges: request.exchanges.iter().map(exchange).collect(),
        })
    }
}

impl Strategy for Installed {
    fn id(&self) -> &str {
        self.plugin.manifest().id.as_str()
    }

    fn version(&self) -> &str {
        &self.plugin.manifest().version
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
        let origin = || Origin::Provider { name: self.id().to_owned() };
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

    fn on_turn_complete(&self, _turn: &TurnComplete<'_>) -> Option<Work> {
        Some(Work::Tell)
    }
}
