//! What the ways in ask of the app. They know nothing of how the app does it.

use async_trait::async_trait;
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ErrorBody, FinishedOperation, Message, MessageId, NamedSession, SessionPart,
    SessionQuery, Sessions, SessionsShown,
};
use evenkeel_mcp::Companions;
use std::collections::HashMap;
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

/// What happened in the vault, by whichever face. Who is told of it reads what it may know.
#[derive(Debug, Clone)]
pub enum Happened {
    /// Something was said in a conversation, or it came, changed or went.
    Session(ConversationId),
    /// A message came, or came back.
    MessageMade(MessageId),
    /// What belongs to a message is another, such as the user's judgement.
    MessageChanged(MessageId),
    /// A message was deleted.
    MessageGone(MessageId),
    /// A tool ran.
    Operation(Arc<FinishedOperation>),
    /// Another process wrote, or so much changed at once that it is not told one by one.
    Much,
    /// So much happened that the listener has not heard of.
    Missed(u64),
}

/// The running app.
#[async_trait]
pub trait App: Send + Sync + 'static {
    /// Where the vault stands. No wish of a program opens it.
    fn vault(&self) -> AppVault;

    /// The companions, for one connection.
    fn companions(&self) -> Arc<dyn Companions>;

    /// Is told what happens from now on. Whoever is slower than 256 of it hears how much was missed.
    fn happenings(&self) -> broadcast::Receiver<Happened>;

    /// A page of sessions and figures of all of them, without what the user wants to have taken out of what is sent.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn sessions(&self, query: SessionsShown) -> Result<Sessions, ErrorBody>;

    /// A part of a session, without what the user wants to have taken out of what is sent; `None` where it is not there
    /// for the program.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn session_part(&self, query: SessionQuery) -> Result<Option<SessionPart>, ErrorBody>;

    /// Of some conversations those that are there for a program, as in [`SessionsShown`].
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn sessions_there(&self, query: SessionsShown, ids: Vec<ConversationId>) -> Result<Vec<ConversationId>, ErrorBody>;

    /// The context of a conversation in the trash that was there for a program, as in [`SessionsShown`].
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn trashed_session(&self, query: SessionsShown, id: ConversationId) -> Result<Option<ContextId>, ErrorBody>;

    /// A message, without what the user wants to have taken out of what is sent.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn message(&self, id: MessageId) -> Result<Option<Message>, ErrorBody>;

    /// Where a message was that is deleted and can still be brought back: its conversation, and the context that it was of.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn deleted_message_place(&self, id: MessageId) -> Result<Option<(ConversationId, ContextId)>, ErrorBody>;

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

    /// The names that a program has given conversations.
    ///
    /// # Errors
    /// The vault is not open or cannot be read.
    async fn session_names(&self, client: &str) -> Result<HashMap<ConversationId, String>, ErrorBody>;

    /// Keeps the name that a program has given a conversation.
    ///
    /// # Errors
    /// The vault is not open or cannot be written.
    async fn name_session(&self, session: NamedSession) -> Result<(), ErrorBody>;
}
