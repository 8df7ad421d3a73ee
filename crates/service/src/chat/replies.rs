//! One reply at a time per conversation.

use crate::ServiceError;
use evenkeel_domain::{ConversationId, ErrorBody, ErrorCode};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio_util::sync::CancellationToken;

/// The conversations in which a reply is being written.
#[derive(Clone, Default)]
pub(crate) struct Replies(Arc<Open>);

#[derive(Default)]
struct Open {
    turns: Mutex<HashMap<ConversationId, CancellationToken>>,
    /// Told whenever work in the background has to give way.
    give_way: Notify,
    stops: AtomicU64,
}

/// The right to write in a conversation; ends when dropped.
pub(crate) struct Turn {
    replies: Replies,
    conversation: ConversationId,
    /// Cancelled when the user stops the reply.
    pub stop: CancellationToken,
}

impl Replies {
    /// Takes the turn of a conversation.
    ///
    /// # Errors
    /// A reply is being written in it.
    pub fn begin(&self, conversation: ConversationId) -> Result<Turn, ServiceError> {
        let mut open = self.lock();
        if open.contains_key(&conversation) {
            let message = "a reply is being written in this conversation; stop it or wait for its end";
            return Err(ErrorBody::new(ErrorCode::Busy, message).with("conversationId", conversation).into());
        }
        let stop = CancellationToken::new();
        open.insert(conversation, stop.clone());
        self.0.give_way.notify_waiters();
        Ok(Turn { replies: self.clone(), conversation, stop })
    }

    /// Stops the reply of a conversation, if one is being written.
    pub fn stop(&self, conversation: ConversationId) {
        if let Some(stop) = self.lock().get(&conversation) {
            stop.cancel();
        }
    }

    /// Stops every reply, and what is done in the background.
    pub fn stop_all(&self) {
        self.lock().values().for_each(CancellationToken::cancel);
        self.0.stops.fetch_add(1, Ordering::Relaxed);
        self.0.give_way.notify_waiters();
    }

    /// Ready once work in the background has to give way, counted from this call: a reply begins, or
    /// everything is stopped.
    pub fn give_way(&self) -> Notified<'_> {
        self.0.give_way.notified()
    }

    /// How often everything was stopped.
    pub fn stops(&self) -> u64 {
        self.0.stops.load(Ordering::Relaxed)
    }

    /// The conversations in which a reply is being written.
    pub fn under_way(&self) -> Vec<ConversationId> {
        self.lock().keys().copied().collect()
    }

    /// Whether no reply is being written.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConversationId, CancellationToken>> {
        self.0.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.replies.lock().remove(&self.conversation);
    }
}
