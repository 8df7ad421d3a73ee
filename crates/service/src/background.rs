//! Work that models do beside the replies: titles, summaries, values.

use crate::chat::wording::worded;
use crate::model::{Chosen, Ready};
use crate::{Service, ServiceError};
use evenkeel_domain::{Context, ConversationId, ErrorBody, ErrorCode, ModelChoice, Role, WorkModel};
use evenkeel_provider::{ChatMessage, ChatRequest, EndReason, ModelEvent, ProviderError};
use futures::StreamExt;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers in a row that were of no use, after which a conversation is left alone until the app starts again.
const TRIES: u32 = 3;
/// The most bytes that are read of an answer.
const READ: usize = 64 << 10;

/// The conversations that a model was asked about for one kind of work.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<ConversationId, Tried>>);

#[derive(Default, Clone, Copy)]
struct Tried {
    is_asked: bool,
    failures: u32,
}

impl Attempts {
    /// Takes the turn to ask about a conversation; `None` while somebody has it, or after too many failures.
    pub fn begin(&self, id: ConversationId) -> Option<Attempt<'_>> {
        let mut tried = self.lock();
        let tried = tried.entry(id).or_default();
        let may = !tried.is_asked && tried.failures < TRIES;
        tried.is_asked |= may;
        may.then(|| Attempt { attempts: self, id, has_failed: false })
    }

    /// Lets a conversation be asked about again: what failed has changed.
    pub fn forgive(&self, id: ConversationId) {
        if let Some(tried) = self.lock().get_mut(&id) {
            tried.failures = 0;
        }
    }

    fn end(&self, id: ConversationId, failed: bool) {
        if let Some(tried) = self.lock().get_mut(&id) {
            let failures = if failed { tried.failures + 1 } else { 0 };
            *tried = Tried { is_asked: false, failures };
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConversationId, Tried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to ask about a conversation; ends when dropped, also in the middle of asking.
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    id: ConversationId,
    pub has_failed: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.attempts.end(self.id, self.has_failed);
    }
}

/// What a model is asked for.
pub(crate) struct Wish<'a> {
    pub messages: Vec<(Role, String)>,
    pub temperature: f32,
    pub max_tokens: u32,
    /// What the answer has to fit, where the provider can hold it to that.
    pub response_schema: Option<&'a Value>,
}

/// What it answered.
pub(crate) struct Answer {
    pub text: String,
    /// It came to its own end.
    pub is_whole: bool,
}

/// Asks a model; the engine in the memory that it has for such work.
pub(crate) async fn answer_of(ready: &Ready, chosen: &Chosen, wish: Wish<'_>) -> Result<Answer, ServiceError> {
    let sent = |(role, text): (Role, String)| ChatMessage::new(role, worded(&text, ready.unwanted.as_ref()).text);
    let mut request = ChatRequest {
        model: ready.model_name.clone(),
        messages: wish.messages.into_iter().map(sent).collect(),
        temperature: Some(wish.temperature),
        max_tokens: Some(wish.max_tokens),
        window: Some(chosen.window),
        response_schema: wish.response_schema.cloned(),
        background: ready.is_engine,
        ..ChatRequest::default()
    };
    let mut stream = match ready.model.stream(request.clone()).await {
        // A server that does not know the field is asked without it.
        Err(ProviderError::Rejected { .. }) if request.response_schema.take().is_some() => ready.model.stream(request).await?,
        opened => opened?,
    };
    let mut answer = Answer { text: String::new(), is_whole: false };
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(delta) if answer.text.len() < READ => answer.text.push_str(&delta),
            ModelEvent::End(reason) => {
                answer.is_whole = reason != EndReason::Length && answer.text.len() < READ;
                break;
            }
            _ => {}
        }
    }
    Ok(answer)
}

/// Whether the user has named a model with its provider for some work: what the work is about may be sent there.
pub(crate) fn is_named(wish: Option<&WorkModel>) -> bool {
    matches!(wish, Some(WorkModel::Choice(_)))
}

impl Service {
    /// The model for work beside the replies: the wished one, else the one that answers.
    ///
    /// # Errors
    /// It is not there, or the context is local only and it is elsewhere.
    pub(crate) async fn work_model(
        &self,
        wish: Option<&WorkModel>,
        answering: &Chosen,
        context: &Context,
    ) -> Result<Chosen, ServiceError> {
        let choice = match wish {
            None if answering.lent.is_some() => return Err(lent_for_a_reply()),
            None => return Ok(answering.clone()),
            Some(WorkModel::Name(model)) => ModelChoice { provider_id: answering.provider.id, model: model.clone() },
            Some(WorkModel::Choice(choice)) => choice.clone(),
        };
        if choice == answering.choice {
            return Ok(answering.clone());
        }
        self.chosen_model(&Context { model: Some(choice), ..context.clone() }).await
    }
}

fn lent_for_a_reply() -> ServiceError {
    let message = "the model of a program is lent for a reply alone; name a model for this work in the companion's settings";
    ErrorBody::new(ErrorCode::NoModel, message).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_conversation_is_asked_about_by_one_at_a_time_and_not_for_ever() {
        let attempts = Attempts::default();
        let id = ConversationId::from_parts(chrono::DateTime::UNIX_EPOCH, [1; 10]);
        let attempt = attempts.begin(id);
        assert!(attempt.is_some() && attempts.begin(id).is_none());
        drop(attempt);
        for _ in 0..TRIES {
            let mut attempt = attempts.begin(id).unwrap();
            attempt.has_failed = true;
        }
        assert!(attempts.begin(id).is_none());
        attempts.forgive(id);
        assert!(attempts.begin(id).is_some());
    }
}
