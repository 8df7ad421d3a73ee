//! What the ways in ask of the app. They know nothing of how the app does it.

use async_trait::async_trait;
use evenkeel_domain::{Conversation, ConversationId, ErrorBody, NamedSession, Sessions, SessionsShown};
use evenkeel_mcp::Companions;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Where the vault of the running app stands, for other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppVault {
    /// Open.
    Open,
    /// On its way to being open, or waiting for the user's answer: nobody has locked it.
    Opening,
    /// Not open, and not before the user opens it in the window.
    Locked,
}

/// The running app.
#[async_trait]
pub trait App: Send + Sync + 'static {
    /// Where the vault stands. No wish of a program opens it.
    fn vault(&self) -> AppVault;

    /// The companions, for one connection.
    fn companions(&self) -> Arc<dyn Companions>;

    /// Is told the id of each conversation in which something was said, or that came, changed or went.
    fn conversations_changed(&self) -> broadcast::Receiver<ConversationId>;

    /// A page of sessions and figures of all of them, without what the user wants to have taken out of what is sent.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn sessions(&self, query: SessionsShown) -> Result<Sessions, ErrorBody>;

    /// A conversation that is not in the trash.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, ErrorBody>;

    /// The conversation that a program has given a name.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn named_session(&self, client: &str, name: &str) -> Result<Option<ConversationId>, ErrorBody>;

    /// Keeps the name that a program has given a conversation.
    ///
    /// # Errors
    /// The vault is not open or cannot be written.
    async fn name_session(&self, session: NamedSession) -> Result<(), ErrorBody>;
}
