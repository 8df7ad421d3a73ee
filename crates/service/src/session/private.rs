//! Conversations that are never written to disk: a store in memory beside that of the vault.

use super::{Doubt, Session};
use crate::ServiceError;
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, Conversation, ConversationId, MessageId, Revision, StateValueId, SummaryId};
use evenkeel_store::{Change, ReadHandle, Store, StoreError, Subscription, WriteHandle};
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::broadcast;

/// The private conversations of a session; they end with it.
pub(crate) struct Private {
    store: Arc<Store>,
    ids: RwLock<HashSet<ConversationId>>,
    _changes: Subscription,
}

impl Private {
    /// Makes the store; `name` has to be new in this process.
    pub fn new(name: &str, now: DateTime<Utc>, changes: broadcast::Sender<Change>) -> Result<Self, StoreError> {
        let store = Store::in_memory(name, now)?;
        let subscription = store.subscribe(move |change| {
            let _ = changes.send(change.clone());
        });
        Ok(Self { store: Arc::new(store), ids: RwLock::default(), _changes: subscription })
    }

    /// Begins a conversation with a context.
    pub fn begin(&self, conversation: &Conversation, context: &Context, revision: &Revision) -> Result<(), StoreError> {
        self.store.write(|w| {
            mirror(w, context, revision)?;
            w.insert_conversation(conversation)
        })?;
        self.ids.write().unwrap_or_else(PoisonError::into_inner).insert(conversation.id);
        Ok(())
    }

    /// Forgets a conversation.
    pub fn end(&self, id: ConversationId) -> Result<(), StoreError> {
        self.store.write(|w| w.delete_conversation(id))?;
        self.ids.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        Ok(())
    }

    /// Whether a conversation is private.
    pub fn has(&self, id: ConversationId) -> bool {
        self.ids.read().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// The private conversations.
    pub fn ids(&self) -> Vec<ConversationId> {
        self.ids.read().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn holds(&self, item: Item) -> Result<bool, StoreError> {
        match item {
            Item::Conversation(id) => Ok(self.has(id)),
            Item::Message(id) => self.store.read(|r| Ok(r.message(id)?.is_some())),
            Item::Deleted(id) => self.store.read(|r| {
                for conversation in self.ids() {
                    if r.deleted_messages(conversation)?.iter().any(|message| message.id == id) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }),
            Item::Summary(id) => self.store.read(|r| Ok(r.summary(id, |_| Vec::new())?.is_some())),
            Item::State(id) => self.store.read(|r| Ok(r.state_value(id)?.is_some())),
            Item::Vault => Ok(false),
        }
    }
}

/// Copies a context as it is now beside the conversations that it answers in. Its preset stays in
/// the vault, and so does what is counted there.
pub(crate) fn mirror(w: &mut WriteHandle<'_>, context: &Context, revision: &Revision) -> Result<(), StoreError> {
    let copy = Context { preset_id: None, deleted_at: None, ..context.clone() };
    if w.context(copy.id)?.is_some() { w.update_context(&copy, revision) } else { w.insert_context(&copy, revision) }
}

/// What a conversation is found by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    Conversation(ConversationId),
    Message(MessageId),
    /// A message whose deletion may be undone.
    Deleted(MessageId),
    Summary(SummaryId),
    /// A value of its state.
    State(StateValueId),
    /// Something that no private conversation has.
    Vault,
}

impl From<ConversationId> for Item {
    fn from(id: ConversationId) -> Self {
        Self::Conversation(id)
    }
}

impl From<MessageId> for Item {
    fn from(id: MessageId) -> Self {
        Self::Message(id)
    }
}

impl From<SummaryId> for Item {
    fn from(id: SummaryId) -> Self {
        Self::Summary(id)
    }
}

impl From<StateValueId> for Item {
    fn from(id: StateValueId) -> Self {
        Self::State(id)
    }
}

/// The records of one conversation, wherever they are kept.
pub(crate) struct Records {
    vault: Arc<Store>,
    private: Option<Arc<Private>>,
    doubt: Arc<Doubt>,
    item: Item,
}

impl Records {
    pub(super) fn new(session: &Session, item: Item) -> Self {
        Self { vault: session.store(), private: session.private(), doubt: session.doubt.clone(), item }
    }

    /// Reads in a thread that may block.
    pub async fn read<T: Send + 'static>(
        self,
        work: impl FnOnce(&ReadHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let doubt = self.doubt.clone();
        let task = tokio::task::spawn_blocking(move || self.store()?.read(work));
        let done = task.await.map_err(|error| ServiceError::internal("reading a conversation", &error))?;
        done.map_err(|error| doubt.told(error))
    }

    /// Writes in one transaction, in a thread that may block; returns after COMMIT.
    pub async fn write<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let doubt = self.doubt.clone();
        let task = tokio::task::spawn_blocking(move || self.store()?.write(work));
        let done = task.await.map_err(|error| ServiceError::internal("writing a conversation", &error))?;
        done.map_err(|error| doubt.told(error))
    }

    /// Reads the vault and the records in one go.
    pub async fn read_beside<T: Send + 'static>(
        self,
        work: impl FnOnce(&ReadHandle<'_>, &ReadHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let doubt = self.doubt.clone();
        let task = tokio::task::spawn_blocking(move || {
            let there = self.store()?;
            if Arc::ptr_eq(&there, &self.vault) {
                return there.read(|r| work(r, r));
            }
            self.vault.read(|vault| there.read(|records| work(vault, records)))
        });
        let done = task.await.map_err(|error| ServiceError::internal("reading a conversation", &error))?;
        done.map_err(|error| doubt.told(error))
    }

    fn store(&self) -> Result<Arc<Store>, StoreError> {
        match &self.private {
            Some(private) if private.holds(self.item)? => Ok(private.store.clone()),
            _ => Ok(self.vault.clone()),
        }
    }
}
