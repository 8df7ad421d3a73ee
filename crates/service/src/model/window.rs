//! How many tokens a model takes: what is known at once, and what its provider is asked for meanwhile.

use super::{Chosen, UNKNOWN_WINDOW, usable_window};
use crate::provider::keyed_provider;
use crate::{Service, ServiceError};
use evenkeel_domain::{ModelChoice, Provider, ProviderId, ProviderKind};
use evenkeel_engine::ModelFile;
use evenkeel_provider::list_models;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// A provider that has not told a window by then is asked again by the next message.
const LOOKUP: Duration = Duration::from_secs(10);
/// Longest wait for a question under way, where something is better done with its answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The window of a model, in tokens of request and reply together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub tokens: u32,
    /// Assumed, because the provider has not been heard yet.
    pub is_guess: bool,
}

/// What providers have said of their models' windows, and which of them are being asked.
#[derive(Default)]
pub(crate) struct Windows(Mutex<Told>);

#[derive(Default)]
struct Told {
    known: HashMap<ModelChoice, u32>,
    /// Those of which their provider was heard, but did not say the window.
    unsaid: HashSet<ModelChoice>,
    /// Closed once the question is over, in whatever way it ended.
    asked: HashMap<ModelChoice, watch::Receiver<()>>,
}

impl Windows {
    pub fn known(&self, choice: &ModelChoice) -> Option<u32> {
        self.lock().known.get(choice).copied()
    }

    /// The window that a provider has said, not one assumed where it said none.
    fn said(&self, choice: &ModelChoice) -> Option<u32> {
        let told = self.lock();
        told.known.get(choice).copied().filter(|_| !told.unsaid.contains(choice))
    }

    /// Takes in what a provider said of a model's window; `None` = nothing.
    pub fn remember(&self, choice: &ModelChoice, window: Option<u32>) {
        let mut told = self.lock();
        told.known.insert(choice.clone(), window.unwrap_or(UNKNOWN_WINDOW));
        match window {
            Some(_) => told.unsaid.remove(choice),
            None => told.unsaid.insert(choice.clone()),
        };
    }

    /// Forgets what a provider said of its models, as when its address changes.
    pub fn forget(&self, provider: ProviderId) {
        let mut told = self.lock();
        told.known.retain(|choice, _| choice.provider_id != provider);
        told.unsaid.retain(|choice| choice.provider_id != provider);
        told.asked.retain(|choice, _| choice.provider_id != provider);
    }

    /// Takes the turn to ask, which lasts until it is dropped; `None` while somebody has it.
    fn begin(&self, choice: &ModelChoice) -> Option<watch::Sender<()>> {
        let mut told = self.lock();
        told.asked.retain(|_, turn| turn.has_changed().is_ok());
        if told.asked.contains_key(choice) {
            return None;
        }
        let (turn, over) = watch::channel(());
        told.asked.insert(choice.clone(), over);
        Some(turn)
    }

    /// Waits until nobody asks about a model.
    async fn settled(&self, choice: &ModelChoice) {
        let asked = self.lock().asked.get(choice).cloned();
        if let Some(mut turn) = asked {
            // Nothing is ever sent: this ends when the turn is dropped.
            let _ = turn.changed().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// The window as far as it is known here and now; a provider that was not heard yet is asked
    /// in the background.
    pub(super) async fn window(&self, provider: &Provider, choice: &ModelChoice, file: Option<Option<&ModelFile>>) -> Window {
        let sure = |tokens| Window { tokens, is_guess: false };
        if let Some(window) = provider.window_override {
            return sure(window);
        }
        if let Some(file) = file {
            // A file that cannot be read says why when the engine loads it.
            return sure(file.map_or(UNKNOWN_WINDOW, |file| usable_window(file.window)));
        }
        if let Some(window) = self.windows().known(choice) {
            return sure(window);
        }
        self.ask_in_background(provider, choice);
        Window { tokens: UNKNOWN_WINDOW, is_guess: true }
    }

    /// The window of the model that is named, or of the default one, where its provider, its file or
    /// the user has said it. Asks nobody.
    pub(crate) async fn known_window(&self, named: Option<ModelChoice>) -> Result<Option<u32>, ServiceError> {
        let session = self.session()?;
        let Some(choice) = named.or_else(|| session.settings().default_model) else { return Ok(None) };
        let id = choice.provider_id;
        let Some(keyed) = session.read(move |r| keyed_provider(r, id)).await? else { return Ok(None) };
        if keyed.provider.window_override.is_some() {
            return Ok(keyed.provider.window_override);
        }
        if keyed.provider.kind != ProviderKind::Engine {
            return Ok(self.windows().said(&choice));
        }
        // A file that is gone is told when its model is asked.
        let Ok(path) = self.engine_file(&choice.model).await else { return Ok(None) };
        Ok(self.file_says(path).await?.filter(|file| file.window > 0).map(|file| usable_window(file.window)))
    }

    /// Gives a guessed window the time to be told, two seconds at most; true if it was.
    pub(crate) async fn window_told(&self, chosen: &mut Chosen) -> bool {
        if !chosen.window_is_guess {
            return false;
        }
        let _ = timeout(PATIENCE, self.windows().settled(&chosen.choice)).await;
        let Some(window) = self.windows().known(&chosen.choice) else { return false };
        chosen.window = window;
        chosen.window_is_guess = false;
        true
    }

    fn ask_in_background(&self, provider: &Provider, choice: &ModelChoice) {
        let Some(turn) = self.windows().begin(choice) else { return };
        let (service, provider, choice) = (self.clone(), provider.clone(), choice.clone());
        tokio::spawn(async move {
            if timeout(LOOKUP, service.ask(&provider, &choice)).await.is_err() {
                tracing::info!(provider = %provider.id, "the provider did not say how large the model's window is");
            }
            drop(turn);
        });
    }

    async fn ask(&self, provider: &Provider, choice: &ModelChoice) {
        let Ok(endpoint) = self.endpoint(provider, false).await else { return };
        let Ok(listed) = list_models(&endpoint, self.http()).await else { return };
        // What another address said is of no use, and it may have been changed meanwhile.
        if self.provider_get(provider.id).await.is_ok_and(|now| now.base_url == provider.base_url) {
            let window = listed.iter().find(|model| model.name == choice.model).and_then(|model| model.window);
            self.windows().remember(choice, window);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use chrono::DateTime;

    fn choice(provider: u8, model: &str) -> ModelChoice {
        ModelChoice { provider_id: ProviderId::from_parts(DateTime::UNIX_EPOCH, [provider; 10]), model: model.into() }
    }

    #[tokio::test]
    async fn a_model_is_asked_about_by_one_at_a_time_and_waiting_ends_with_the_question() {
        let windows = Windows::default();
        let (one, other) = (choice(1, "a"), choice(1, "b"));
        let turn = windows.begin(&one).unwrap();
        assert!(windows.begin(&one).is_none());
        assert!(windows.begin(&other).is_some());
        let early = timeout(Duration::from_millis(20), windows.settled(&one)).await;
        assert!(early.is_err(), "the question was still under way");
        drop(turn);
        timeout(Duration::from_secs(20), windows.settled(&one)).await.unwrap();
        assert!(windows.begin(&one).is_some());
    }

    #[test]
    fn a_window_that_was_not_said_is_used_and_not_believed() {
        let (windows, one) = (Windows::default(), choice(1, "a"));
        windows.remember(&one, None);
        assert_eq!((windows.known(&one), windows.said(&one)), (Some(UNKNOWN_WINDOW), None));
        windows.remember(&one, Some(4_096));
        assert_eq!((windows.known(&one), windows.said(&one)), (Some(4_096), Some(4_096)));
    }

    #[test]
    fn a_changed_provider_is_forgotten_and_others_are_not() {
        let windows = Windows::default();
        windows.remember(&choice(1, "a"), Some(1));
        windows.remember(&choice(2, "a"), Some(2));
        windows.forget(choice(1, "").provider_id);
        assert_eq!([windows.known(&choice(1, "a")), windows.known(&choice(2, "a"))], [None, Some(2)]);
    }
}
