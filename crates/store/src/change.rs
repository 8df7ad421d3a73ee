//! What a committed write changed, told to everyone who shows it.

use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The kinds of things that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Noun {
    /// A companion.
    Context,
    /// A template for contexts.
    Preset,
    /// A thread.
    Conversation,
    /// A node of a conversation's tree.
    Message,
    /// A place that runs models.
    Provider,
    /// The settings; the change's id is `settings`.
    Settings,
    /// A GGUF file of the engine.
    ModelFile,
    /// What the scheduler does; the change's id is the job's name.
    Job,
    /// What is typed and not sent; the change's id is the draft's key.
    Draft,
    /// The summaries of a conversation; the change's id is the conversation's.
    Summary,
    /// The values that were told in a conversation; the change's id is the conversation's.
    State,
    /// What the app remembers of itself, such as its running time; the change's id is the key.
    AppState,
    /// Another program that uses the companions; the change's id is its name.
    Connection,
    /// What tools did in a conversation; the change's id is the conversation's.
    Operation,
    /// A server of tools, or what was decided of one of its tools.
    Tool,
}

impl Noun {
    /// Every noun.
    pub const ALL: [Self; 15] = [
        Self::Context,
        Self::Preset,
        Self::Conversation,
        Self::Message,
        Self::Provider,
        Self::Settings,
        Self::ModelFile,
        Self::Job,
        Self::Draft,
        Self::Summary,
        Self::State,
        Self::AppState,
        Self::Connection,
        Self::Operation,
        Self::Tool,
    ];

    /// The noun in a sentence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Preset => "preset",
            Self::Conversation => "conversation",
            Self::Message => "message",
            Self::Provider => "provider",
            Self::Settings => "settings",
            Self::ModelFile => "model file",
            Self::Job => "job",
            Self::Draft => "draft",
            Self::Summary => "summary",
            Self::State => "value of the state",
            Self::AppState => "state of the app",
            Self::Connection => "connection",
            Self::Operation => "operation",
            Self::Tool => "server of tools",
        }
    }
}

/// What became of a thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Deed {
    /// It is there now, and was not.
    Made,
    /// It, or what belongs to it, is another; also where nobody says more.
    #[default]
    Changed,
    /// It is there no more.
    Gone,
}

/// One thing that was inserted, updated or deleted: whoever shows it reads it again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What kind of thing.
    pub noun: Noun,
    /// Its id; empty where another process wrote, or one write changed more than eight, and any of them
    /// may have changed.
    pub id: String,
    /// What became of it; told of messages alone, and not to the window, which reads everything again.
    #[serde(skip)]
    pub deed: Deed,
}

impl Change {
    /// A thing that changed, without saying more.
    #[must_use]
    pub fn of(noun: Noun, id: impl ToString) -> Self {
        Self { noun, id: id.to_string(), deed: Deed::Changed }
    }
}

type Callback = dyn Fn(&Change) + Send + Sync;
type Callbacks = Mutex<Vec<Arc<Callback>>>;

/// The one place that changes leave from.
#[derive(Default)]
pub(crate) struct Changes {
    callbacks: Arc<Callbacks>,
}

impl Changes {
    pub(crate) fn subscribe(&self, callback: Arc<Callback>) -> Subscription {
        lock(&self.callbacks).push(Arc::clone(&callback));
        Subscription { callbacks: Arc::downgrade(&self.callbacks), callback }
    }

    /// Tells all subscribers; no lock is held meanwhile, so a callback may use the store.
    pub(crate) fn emit(&self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let callbacks = lock(&self.callbacks).clone();
        for change in changes {
            for callback in &callbacks {
                callback(change);
            }
        }
    }
}

/// Keeps a callback subscribed until it is dropped.
#[must_use = "dropping the subscription ends it"]
pub struct Subscription {
    callbacks: Weak<Callbacks>,
    callback: Arc<Callback>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(callbacks) = self.callbacks.upgrade() {
            lock(&callbacks).retain(|callback| !Arc::ptr_eq(callback, &self.callback));
        }
    }
}

fn lock(callbacks: &Callbacks) -> std::sync::MutexGuard<'_, Vec<Arc<Callback>>> {
    callbacks.lock().unwrap_or_else(PoisonError::into_inner)
}
