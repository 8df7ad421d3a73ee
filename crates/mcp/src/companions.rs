//! What the server asks of the app. It knows nothing of how the app does it.

use crate::Sampler;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Access, ChatEvent, ConnectionGrant, Context, ContextDraft, ContextId, ContextPatch, ContextQuery, Conversation,
    ConversationId, ConversationsShown, ErrorBody, Message, MessageQuery, MessageSelection, Operation, OperationQuery, Preset,
    PresetDraft, PresetId, PresetQuery,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};

/// What a context that is made from a preset has different from it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresetOverrides {
    /// Name of the context, instead of the preset's.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Sampling temperature.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub temperature: Option<f32>,
    /// Longest reply, in tokens.
    #[schemars(range(min = 1, max = 131_072))]
    pub max_tokens: Option<u32>,
    /// History that is sent with a message, in tokens at most.
    #[schemars(range(min = 500, max = 2_000_000))]
    pub max_history_tokens: Option<u32>,
    /// Days after the last interaction until the context expires; null = never.
    #[serde(default, deserialize_with = "crate::schema::named")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 3_650))]
    pub expiry_days: Option<Option<u32>>,
}

/// A message for a context, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The program that says it.
    pub client: String,
    /// Who answers.
    pub context_id: ContextId,
    /// The conversation to go on with; `None` begins one.
    pub conversation_id: Option<ConversationId>,
    /// What is said.
    pub text: String,
    /// The persona's reminder may be sent with it.
    pub maintain_personality: bool,
    /// Who replies, where it is not the context itself.
    pub agent_id: Option<ContextId>,
}

/// The app, as the server sees it. Every method refuses with the one error shape of all faces, and each of them refuses
/// while the vault is not open.
#[async_trait]
pub trait Companions: Send + Sync + 'static {
    /// The time.
    fn now(&self) -> DateTime<Utc>;

    /// Is told whenever contexts or presets may have come, gone or changed, by whichever process.
    fn lists_changed(&self) -> broadcast::Receiver<()>;

    /// What a program may do, by the name and version that it gives itself; it is remembered.
    ///
    /// # Errors
    /// The vault is not open: the message says what to do.
    async fn grant(&self, client: &str, version: &str) -> Result<ConnectionGrant, ErrorBody>;

    /// Writes into the log what a program did.
    async fn note(&self, access: Access);

    /// A page of contexts, and how many there are on all pages.
    ///
    /// # Errors
    /// Page or page size is outside its range.
    async fn contexts(&self, query: ContextQuery) -> Result<(Vec<Context>, u32), ErrorBody>;

    /// Makes a context.
    ///
    /// # Errors
    /// A field is outside its range, or there is no room.
    async fn create_context(&self, draft: ContextDraft) -> Result<Context, ErrorBody>;

    /// Makes a context from a preset.
    ///
    /// # Errors
    /// There is no such preset, an override is outside its range, or there is no room.
    async fn create_context_from_preset(&self, preset: PresetId, overrides: PresetOverrides) -> Result<Context, ErrorBody>;

    /// Changes a context.
    ///
    /// # Errors
    /// There is none, it has expired, or a field is outside its range.
    async fn update_context(&self, id: ContextId, patch: ContextPatch) -> Result<Context, ErrorBody>;

    /// Puts a context into the trash.
    ///
    /// # Errors
    /// There is none.
    async fn delete_context(&self, id: ContextId) -> Result<(), ErrorBody>;

    /// A page of presets, and how many there are on all pages.
    ///
    /// # Errors
    /// Page or page size is outside its range.
    async fn presets(&self, query: PresetQuery) -> Result<(Vec<Preset>, u32), ErrorBody>;

    /// One preset.
    ///
    /// # Errors
    /// There is none; the error lists those that exist.
    async fn preset(&self, id: PresetId) -> Result<Preset, ErrorBody>;

    /// Makes a preset.
    ///
    /// # Errors
    /// A field is outside its range.
    async fn create_preset(&self, draft: PresetDraft) -> Result<Preset, ErrorBody>;

    /// Changes a preset.
    ///
    /// # Errors
    /// There is none, or a field is outside its range.
    async fn update_preset(&self, id: PresetId, draft: PresetDraft) -> Result<Preset, ErrorBody>;

    /// Hides a preset, or shows it again.
    ///
    /// # Errors
    /// There is none.
    async fn set_preset_active(&self, id: PresetId, is_active: bool) -> Result<Preset, ErrorBody>;

    /// Deletes a preset; one that ships with the app is hidden.
    ///
    /// # Errors
    /// There is none.
    async fn delete_preset(&self, id: PresetId) -> Result<(), ErrorBody>;

    /// The conversations of a context that a program may see, the newest activity first; none from the trash. Their
    /// titles are without what the user wants to have taken out of what is sent.
    ///
    /// # Errors
    /// The vault cannot be read.
    async fn conversations(&self, query: ConversationsShown) -> Result<Vec<Conversation>, ErrorBody>;

    /// A page of messages, without what the user wants to have taken out of what is sent, and how many there are on all
    /// pages.
    ///
    /// # Errors
    /// Page or page size is outside its range.
    async fn messages(&self, query: MessageQuery) -> Result<(Vec<Message>, u32), ErrorBody>;

    /// What tools did last in a conversation, the newest first, without what the user wants to have taken out of what is
    /// sent.
    ///
    /// # Errors
    /// The limit is not 1–50, or there is no such conversation.
    async fn operations(&self, query: OperationQuery) -> Result<Vec<Operation>, ErrorBody>;

    /// Deletes the messages that a selection names, so that they can be brought back for a while. Gives how many went,
    /// and how many are left that a next call would delete.
    ///
    /// # Errors
    /// A message that is named does not exist, the context has expired, or a reply is being written.
    async fn delete_messages(&self, selection: MessageSelection) -> Result<(u32, u32), ErrorBody>;

    /// Puts the conversations of a context that a program may see into the trash. Gives how many messages went with them.
    ///
    /// # Errors
    /// A reply is being written in one of them.
    async fn clear(&self, query: ConversationsShown) -> Result<u32, ErrorBody>;

    /// Sends a message, and tells what happens until the reply is stored. Dropping the call does not stop the reply. The
    /// reply comes from `lent` where there is one, else from the context's model.
    ///
    /// # Errors
    /// The message cannot be sent as it is; nothing was stored then.
    async fn chat(
        &self,
        turn: Turn,
        lent: Option<Arc<dyn Sampler>>,
        events: mpsc::UnboundedSender<ChatEvent>,
    ) -> Result<(), ErrorBody>;

    /// Stops the reply of a conversation; what had arrived is kept.
    async fn stop(&self, conversation: ConversationId);
}
