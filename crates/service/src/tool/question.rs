//! Questions to the user whether a tool may run, which are open while a reply waits.

use evenkeel_domain::{ChatEvent, ToolAnswer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a question stays open: a window that was closed or loaded anew answers it no more.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Where a reply's events go.
pub(crate) type Sink<'a> = &'a (dyn Fn(ChatEvent) + Send + Sync);

/// The questions that are open, by their ids.
#[derive(Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<HashMap<String, oneshot::Sender<ToolAnswer>>>>);

/// A question that is open until it is dropped.
pub(crate) struct Question {
    id: String,
    all: Questions,
    answer: oneshot::Receiver<ToolAnswer>,
}

impl Questions {
    /// Opens a question.
    pub fn open(&self, id: &str) -> Question {
        let (told, answer) = oneshot::channel();
        self.lock().insert(id.to_owned(), told);
        Question { id: id.to_owned(), all: self.clone(), answer }
    }

    /// Answers a question; `false` where there is none of that id.
    pub fn answer(&self, id: &str, answer: ToolAnswer) -> bool {
        self.lock().remove(id).is_some_and(|told| told.send(answer).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<ToolAnswer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Question {
    /// Waits for the answer. Silence is a denial.
    pub async fn answered(mut self) -> ToolAnswer {
        match tokio::time::timeout(PATIENCE, &mut self.answer).await {
            Ok(Ok(answer)) => answer,
            _ => ToolAnswer::Deny,
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_that_is_gone_is_denied() {
        let questions = Questions::default();
        let question = questions.open("a");
        questions.lock().clear();
        assert_eq!(question.answered().await, ToolAnswer::Deny);
        assert!(!questions.answer("a", ToolAnswer::Always), "it is over");
    }

    #[tokio::test]
    async fn an_answer_finds_its_question_and_no_other() {
        let questions = Questions::default();
        let (one, other) = (questions.open("one"), questions.open("other"));
        assert!(questions.answer("one", ToolAnswer::Once));
        assert_eq!(one.answered().await, ToolAnswer::Once);
        assert!(!questions.answer("one", ToolAnswer::Always), "an answer counts once");
        drop(other);
        assert!(!questions.answer("other", ToolAnswer::Once), "a reply that was stopped asks no longer");
    }
}
