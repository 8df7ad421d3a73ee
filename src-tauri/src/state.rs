//! What the shell keeps while it runs.

use crate::shortcut::Availability;
use evenkeel_domain::ConversationId;
use evenkeel_service::Service;
use std::sync::{Mutex, PoisonError};

/// The service and the few facts that only the desktop knows.
pub struct Shell {
    /// The one service behind every face.
    pub service: Service,
    /// What quick chat handed to the main window.
    pub moved: Moved,
    shortcut: Mutex<Availability>,
}

impl Shell {
    /// Begins with an unbound shortcut.
    #[must_use]
    pub fn new(service: Service) -> Self {
        Self { service, moved: Moved::default(), shortcut: Mutex::new(Availability::Off) }
    }

    /// Whether the global shortcut works.
    pub fn shortcut(&self) -> Availability {
        *self.shortcut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether the global shortcut works.
    pub fn set_shortcut(&self, availability: Availability) {
        *self.shortcut.lock().unwrap_or_else(PoisonError::into_inner) = availability;
    }
}

/// A conversation on its way from quick chat to the main window. An event alone would be lost where
/// that window is only being made, so the page asks for it, and gets it once.
#[derive(Debug, Default)]
pub struct Moved(Mutex<Option<ConversationId>>);

impl Moved {
    /// Keeps a conversation for the main window; a later one takes its place.
    pub fn put(&self, conversation: ConversationId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(conversation);
    }

    /// Takes the conversation, if one waits.
    pub fn take(&self) -> Option<ConversationId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_conversation_moved_is_given_out_once() {
        let moved = Moved::default();
        assert_eq!(moved.take(), None);
        let [first, last] = [1, 2].map(|byte| ConversationId::from_parts(chrono::DateTime::UNIX_EPOCH, [byte; 10]));
        moved.put(first);
        moved.put(last);
        assert_eq!([moved.take(), moved.take()], [Some(last), None]);
    }
}
