//! Reading ahead: when a reply has ended, the engine reads what the next request will begin with.
//!
//! The end of a request is new at every turn, so that the reply which stood after it has to be read once more; and
//! where the window has moved, all of it. On a slow machine that takes seconds, which pass while the user reads and
//! types instead of after they send.

use super::plan::Question;
use crate::summary::Talked;
use crate::{Service, ServiceError};
use evenkeel_domain::{RequestPurpose, Role};
use evenkeel_provider::{ChatMessage, ChatRequest};
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Time for it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Stands for what the user will say.
const ANSWER: &str = ".";

/// Held while what a turn leaves to be done is done, the reading ahead at its end.
#[derive(Clone, Default)]
pub(crate) struct Reading(Arc<Mutex<()>>);

impl Reading {
    /// Holds it; `None` while somebody does, whose work may have a moment left.
    pub fn begin(&self) -> Option<OwnedMutexGuard<()>> {
        self.0.clone().try_lock_owned().ok()
    }
}

impl Service {
    /// Ready once nothing is being read ahead, for whoever measures what that saves.
    pub async fn has_read_ahead(&self) {
        drop(self.reading().0.lock().await);
    }

    /// Lets the engine read what the next message of a conversation will be sent with; gives way to any other reply.
    pub(crate) async fn read_ahead(&self, talked: &Talked) {
        let give_way = self.replies().give_way();
        tokio::pin!(give_way);
        // What is told from here on is heard, also before it is waited for.
        give_way.as_mut().enable();
        let is_over = self.replies().stops() != talked.stops || !self.replies().is_empty();
        if is_over || !talked.chosen.is_engine() || !talked.reuses {
            return;
        }
        let read = tokio::select! {
            read = tokio::time::timeout(PATIENCE, self.read_next(talked)) => read.unwrap_or(Ok(())),
            () = give_way => return,
        };
        if let Err(error) = read {
            tracing::info!(conversation = %talked.conversation, code = error.code().as_str(), "nothing was read ahead");
        }
    }

    async fn read_next(&self, talked: &Talked) -> Result<(), ServiceError> {
        let (parties, place) = ((&talked.context, &talked.revision), (talked.conversation, Some(talked.reply)));
        // The vault is not kept open over the reading.
        let prompt = self.prompt(&*self.session()?, &Question::empty(parties, &talked.chosen, place)).await?;
        let ready = self.ready(&talked.chosen, &talked.context, RequestPurpose::ReadAhead).await?;
        let mut beginning = prompt.beginning();
        if beginning.last().is_none_or(|(role, _)| *role != Role::Assistant) {
            return Ok(());
        }
        // Templates may write a last reply otherwise than one that was answered.
        beginning.push((Role::User, ANSWER.to_owned()));
        let request = ChatRequest {
            model: ready.model_name.clone(),
            messages: beginning.into_iter().map(|(role, text)| ChatMessage::new(role, text)).collect(),
            temperature: Some(0.0),
            // The least that can be asked for.
            max_tokens: Some(1),
            window: Some(talked.chosen.window),
            ..ChatRequest::default()
        };
        let mut stream = ready.model.stream(request).await?;
        while let Some(event) = stream.next().await {
            event?;
        }
        Ok(())
    }
}
