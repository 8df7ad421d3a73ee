//! An open vault.

mod doubt;
mod factors;
pub(crate) mod private;

pub(crate) use doubt::Doubt;

use crate::chat::Grown;
use crate::recall::Meanings;
use crate::{ServiceError, recent::Recent};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ConversationId, Message, MessageId, ModelChoice, Receipt, Settings, StrategyChoice, SummaryId};
use evenkeel_store::{Change, DraftOwner, ReadHandle, ReplyDraft, Store, StoreError, WriteHandle};
use evenkeel_vault::VaultLock;
use private::{Item, Private, Records};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use tokio::sync::broadcast;
use uuid::Uuid;
use zeroize::Zeroizing;

/// Conversations whose window of history is remembered; another one costs its window once more.
const WINDOWS: usize = 256;

/// What a window of history was cut for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WindowKey {
    pub model: ModelChoice,
    /// The model's window in tokens.
    pub window: u32,
    /// The context's history budget in tokens.
    pub max_history_tokens: u32,
    /// How the context keeps its history.
    pub strategy: StrategyChoice,
    /// What stood for the messages before it.
    pub summary: Option<SummaryId>,
}

/// The store with what is kept in memory beside it; dropped when the vault is locked.
pub(crate) struct Session {
    store: Arc<Store>,
    /// Wraps API keys once more inside the database.
    pub secrets: Zeroizing<[u8; 32]>,
    /// The vault's id, a part of what a wrapped API key is bound to.
    pub vault_id: Uuid,
    /// How the models count.
    pub factors: factors::Factors,
    /// Whether it is suspected of damage.
    pub doubt: Arc<Doubt>,
    /// What messages mean, as far as it is kept in memory.
    pub meanings: Meanings,
    settings: RwLock<Settings>,
    windows: Mutex<Recent<ConversationId, (WindowKey, MessageId)>>,
    private: OnceLock<Arc<Private>>,
    changes: broadcast::Sender<Change>,
    _lock: VaultLock,
}

impl Session {
    /// What the session remembers is read from `store`.
    ///
    /// # Errors
    /// The vault cannot be read.
    pub fn new(
        store: Store,
        secrets: Zeroizing<[u8; 32]>,
        vault_id: Uuid,
        lock: VaultLock,
        changes: broadcast::Sender<Change>,
    ) -> Result<Self, StoreError> {
        let (settings, factors) = store.read(|r| Ok((r.settings()?, factors::Factors::load(r)?)))?;
        Ok(Self {
            doubt: Arc::new(Doubt::new(store.path().map(Path::to_owned))),
            store: Arc::new(store),
            secrets,
            vault_id,
            factors,
            meanings: Meanings::default(),
            settings: RwLock::new(settings),
            windows: Mutex::new(Recent::new(WINDOWS)),
            private: OnceLock::new(),
            changes,
            _lock: lock,
        })
    }

    /// The database, for what has a thread of its own.
    pub fn store(&self) -> Arc<Store> {
        self.store.clone()
    }

    /// The records of a conversation, by its id or that of a message in it.
    pub fn records(&self, item: impl Into<Item>) -> Records {
        Records::new(self, item.into())
    }

    /// The conversations that are kept in memory alone, once there was one.
    pub fn private(&self) -> Option<Arc<Private>> {
        self.private.get().cloned()
    }

    /// Whether a conversation is kept in memory alone.
    pub fn is_private(&self, id: ConversationId) -> bool {
        self.private.get().is_some_and(|private| private.has(id))
    }

    /// The place for conversations that are kept in memory alone; `random` makes its name.
    pub fn made_private(&self, random: [u8; 10], now: DateTime<Utc>) -> Result<Arc<Private>, StoreError> {
        if let Some(private) = self.private.get() {
            return Ok(private.clone());
        }
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let made = Private::new(&format!("evenkeel-{name}"), now, self.changes.clone())?;
        Ok(self.private.get_or_init(|| Arc::new(made)).clone())
    }

    /// Reads in a thread that may block.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ReadHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let store = self.store.clone();
        let task = tokio::task::spawn_blocking(move || store.read(work));
        let done = task.await.map_err(|error| ServiceError::internal("reading the vault", &error))?;
        done.map_err(|error| self.doubt.told(error))
    }

    /// Writes in one transaction, in a thread that may block; returns after COMMIT.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let store = self.store.clone();
        let task = tokio::task::spawn_blocking(move || store.write(work));
        let done = task.await.map_err(|error| ServiceError::internal("writing the vault", &error))?;
        done.map_err(|error| self.doubt.told(error))
    }

    /// The same for what leads to room on the disk; see [`Store::write_freeing`].
    pub async fn write_freeing<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteHandle<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let store = self.store.clone();
        let task = tokio::task::spawn_blocking(move || store.write_freeing(work));
        let done = task.await.map_err(|error| ServiceError::internal("writing the vault", &error))?;
        done.map_err(|error| self.doubt.told(error))
    }

    /// Keeps what has arrived of a reply, in the background: a reply never waits for it.
    /// The receipt is given the first time.
    pub fn keep_draft(&self, skeleton: &Message, grown: Grown, receipt: Option<Receipt>, now: DateTime<Utc>) {
        if self.is_private(skeleton.conversation_id) {
            return;
        }
        let store = self.store.clone();
        let draft = ReplyDraft {
            reply_id: skeleton.id,
            conversation_id: skeleton.conversation_id,
            parent_id: skeleton.parent_id,
            context_id: skeleton.context_id,
            revision_id: skeleton.revision_id.clone(),
            model: skeleton.model.clone(),
            content: grown.text,
            reasoning: (!grown.reasoning.is_empty()).then_some(grown.reasoning),
            owner: DraftOwner { pid: std::process::id(), token: String::new() },
            updated_at: now,
        };
        tokio::task::spawn_blocking(move || {
            let kept = store.write(|w| {
                w.put_draft(&draft)?;
                receipt.as_ref().map_or(Ok(()), |receipt| w.put_draft_receipt(draft.context_id, receipt))
            });
            if let Err(error) = kept {
                tracing::warn!(code = error.code().as_str(), %error, "a reply's draft was not kept");
            }
        });
    }

    /// Keeps what was learnt of how the models count, where there is something new. A failure costs
    /// nothing but that.
    pub async fn keep_factors(&self) {
        let Some(learnt) = self.factors.unkept() else { return };
        if let Err(error) = self.write(move |w| factors::keep(w, learnt)).await {
            tracing::warn!(code = error.code().as_str(), %error, "what was learnt of the models' tokens was not kept");
        }
    }

    pub fn settings(&self) -> Settings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_settings(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Takes over settings that another process has written, unless this one has written meanwhile.
    pub fn swap_settings(&self, before: &Settings, stored: Settings) -> bool {
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        let is_unchanged = *settings == *before;
        if is_unchanged {
            *settings = stored;
        }
        is_unchanged
    }

    /// First message of the window that the last request of a conversation had.
    /// `None` after the model, the budget or the summary has changed, when older messages may fit again.
    pub fn window_start(&self, conversation: ConversationId, key: &WindowKey) -> Option<MessageId> {
        self.last_window(conversation).filter(|(known, _)| known == key).map(|(_, start)| start)
    }

    /// The same with what it was cut for, for a reader that learns only in reading what to compare it with.
    pub fn last_window(&self, conversation: ConversationId) -> Option<(WindowKey, MessageId)> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.get(&conversation).cloned()
    }

    /// First message of the window that the last request of a conversation had, whatever it was cut for.
    pub fn last_window_start(&self, conversation: ConversationId) -> Option<MessageId> {
        self.last_window(conversation).map(|(_, start)| start)
    }

    pub fn set_window_start(&self, conversation: ConversationId, key: WindowKey, start: Option<MessageId>) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        match start {
            Some(start) => windows.insert(conversation, (key, start)),
            None => windows.remove(&conversation),
        };
    }
}
