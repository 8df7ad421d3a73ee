//! The engine's processes: work beside the replies never costs the model that replies its place, or what it
//! remembers of a prompt.

use crate::ServiceError;
use evenkeel_engine::{EngineEndpoint, Supervisor, SupervisorOptions};
use futures::future::join_all;
use std::path::Path;
use std::time::Duration;

/// Starts nothing before it is asked for something.
pub(crate) struct Engines {
    /// The one that replies come from.
    pub chat: Supervisor,
    /// For titles, summaries and values by another model than the one that replies.
    beside: Supervisor,
    /// For what compares meanings.
    pub embedding: Supervisor,
}

impl Engines {
    pub fn new(options: &SupervisorOptions) -> Self {
        let [chat, beside, embedding] = std::array::from_fn(|_| Supervisor::new(options.clone()));
        Self { chat, beside, embedding }
    }

    /// Each of them.
    pub fn all(&self) -> [&Supervisor; 3] {
        [&self.chat, &self.beside, &self.embedding]
    }

    /// A model for work beside the replies: in their process, which has a memory of its own for such work, where it
    /// is loaded there or nothing is; else in another one.
    ///
    /// # Errors
    /// As for [`Supervisor::endpoint`].
    pub async fn beside_chat(&self, file: &Path, window: u32) -> Result<EngineEndpoint, ServiceError> {
        match self.chat.endpoint_unless_taken(file, Some(window)).await? {
            Some(endpoint) => Ok(endpoint),
            None => Ok(self.beside.endpoint(file, Some(window)).await?),
        }
    }

    /// Whether one of them may have this file loaded.
    pub fn may_use(&self, file: &Path) -> bool {
        self.all().iter().any(|engine| engine.may_use(file))
    }

    /// Changes how long a model stays loaded that nothing is asked of.
    pub fn set_idle(&self, idle: Duration) {
        self.all().iter().for_each(|engine| engine.set_idle(idle));
    }

    /// Frees every model.
    pub async fn unload(&self) {
        join_all(self.all().map(Supervisor::unload)).await;
    }

    /// Ends every process for good.
    pub async fn shutdown(&self) {
        join_all(self.all().map(Supervisor::shutdown)).await;
    }
}
