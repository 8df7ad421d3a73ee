//! What the shell keeps while it runs.

use crate::shortcut::Availability;
use evenkeel_service::Service;
use std::sync::{Mutex, PoisonError};

/// The service and the few facts that only the desktop knows.
pub struct Shell {
    /// The one service behind every face.
    pub service: Service,
    shortcut: Mutex<Availability>,
}

impl Shell {
    /// Begins with an unbound shortcut.
    #[must_use]
    pub fn new(service: Service) -> Self {
        Self { service, shortcut: Mutex::new(Availability::Off) }
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
