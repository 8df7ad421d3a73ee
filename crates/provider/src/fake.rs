//! A model that plays a script, for tests of everything that uses [`LanguageModel`].
//!
//! ```
//! # use evenkeel_provider::{fake::*, *};
//! # use futures::StreamExt;
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let model = ScriptedModel::replying("Take a breath.");
//! let mut events = model.stream(ChatRequest::default()).await.unwrap();
//! assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("Take a breath.".into()))));
//! assert_eq!(model.requests().len(), 1);
//! # });
//! ```

use crate::{ChatRequest, EndReason, Endpoint, EventStream, LanguageModel, ModelEvent, Outgoing, ProviderError, Report};
use async_trait::async_trait;
use evenkeel_domain::{ErrorCode, ProviderKind, Usage};
use futures::{StreamExt, stream};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// One step of a scripted reply.
#[derive(Debug, Clone)]
pub enum Step {
    /// Gives an event. Nothing follows [`ModelEvent::End`].
    Event(ModelEvent),
    /// Waits until the test calls `notify_one`, which may also come before.
    Gate(Arc<Notify>),
    /// Breaks off with an error.
    Error(ProviderError),
    /// Never goes on: what follows is only the drop of the stream.
    Hang,
}

/// What one request is answered with.
#[derive(Debug, Clone, Default)]
pub struct Script {
    refusal: Option<ProviderError>,
    steps: Vec<Step>,
}

impl Script {
    /// Plays the steps. A script without an end breaks off, as every real model's reply does.
    #[must_use]
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { refusal: None, steps: steps.into_iter().collect() }
    }

    /// Gives the text in one piece, usage of 10 and 5 tokens, and an end.
    pub fn text(text: impl Into<String>) -> Self {
        Self::pieces([text.into()])
    }

    /// Gives the pieces one by one, usage of 10 and 5 tokens, and an end.
    pub fn pieces<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Self {
        let usage = Usage { prompt_tokens: 10, completion_tokens: 5, cached_tokens: Some(0) };
        let texts = pieces.into_iter().map(|piece| ModelEvent::Text(piece.into()));
        let events = texts.chain([ModelEvent::Usage(usage), ModelEvent::End(EndReason::Stop)]);
        Self::steps(events.map(Step::Event))
    }

    /// Refuses the request before anything has come.
    #[must_use]
    pub fn refusing(error: ProviderError) -> Self {
        Self { refusal: Some(error), steps: Vec::new() }
    }
}

/// A provider's error of the given code, as it comes from `https://scripted.example`. A code
/// that is no provider's gives `Failed`.
#[must_use]
pub fn failure(code: ErrorCode) -> ProviderError {
    let at = Report { model: Some("scripted".into()), ..Report::at("https://scripted.example") };
    let reason = "scripted".to_owned();
    match code {
        ErrorCode::ProviderUnauthorized => ProviderError::Unauthorized { at },
        ErrorCode::ProviderModelNotFound => ProviderError::ModelNotFound { at },
        ErrorCode::ProviderRateLimited => ProviderError::RateLimited { at, retry_after: Some(Duration::from_secs(30)) },
        ErrorCode::ProviderRejected => ProviderError::Rejected { at },
        ErrorCode::ProviderUnreachable => ProviderError::Unreachable { at, reason },
        ErrorCode::ProviderTimeout => ProviderError::Timeout { at, limit: Duration::from_secs(60) },
        ErrorCode::ProviderBrokenOff => ProviderError::BrokenOff { at },
        ErrorCode::ProviderMalformed => ProviderError::Malformed { at, reason },
        ErrorCode::ProviderAddressRefused => ProviderError::AddressRefused { at, reason },
        ErrorCode::LocalOnly => ProviderError::LocalOnly { at },
        _ => ProviderError::Failed { at, status: Some(500) },
    }
}

/// A model that plays scripts, one a request in order; the last one again and again. Clones
/// share scripts and records.
#[derive(Clone)]
pub struct ScriptedModel {
    inner: Arc<Inner>,
}

struct Inner {
    scripts: Mutex<VecDeque<Script>>,
    requests: Mutex<Vec<ChatRequest>>,
    open: Arc<AtomicUsize>,
}

impl ScriptedModel {
    /// Plays the scripts in order. Without any, each reply breaks off.
    #[must_use]
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let inner =
            Inner { scripts: Mutex::new(scripts.into_iter().collect()), requests: Mutex::default(), open: Arc::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Answers every request with the text.
    pub fn replying(text: impl Into<String>) -> Self {
        Self::new([Script::text(text)])
    }

    /// Adds a script at the end.
    pub fn push(&self, script: Script) {
        lock(&self.inner.scripts).push_back(script);
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        lock(&self.inner.requests).clone()
    }

    /// Replies that have begun and are neither dropped nor over: 0 shows that a stop arrived.
    #[must_use]
    pub fn open_streams(&self) -> usize {
        self.inner.open.load(Ordering::SeqCst)
    }

    fn next_script(&self) -> Script {
        let mut scripts = lock(&self.inner.scripts);
        match scripts.len() {
            0 => Script::default(),
            1 => scripts[0].clone(),
            _ => scripts.pop_front().unwrap_or_default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a reply as open while it lives.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn outgoing(&self, request: &ChatRequest) -> Result<Outgoing, ProviderError> {
        Endpoint::new(ProviderKind::OpenaiCompatible, "https://scripted.example").outgoing(request)
    }

    async fn stream(&self, request: ChatRequest) -> Result<EventStream, ProviderError> {
        lock(&self.inner.requests).push(request);
        let script = self.next_script();
        if let Some(error) = script.refusal {
            return Err(error);
        }
        let open = Open::new(&self.inner.open);
        let steps = VecDeque::from(script.steps);
        Ok(stream::unfold(Some((steps, open)), |state| async move { play(state?).await }).boxed())
    }
}

type Playing = (VecDeque<Step>, Open);
type Played = Option<(Result<ModelEvent, ProviderError>, Option<Playing>)>;

async fn play((mut steps, open): Playing) -> Played {
    loop {
        match steps.pop_front() {
            Some(Step::Gate(gate)) => gate.notified().await,
            Some(Step::Hang) => futures::future::pending().await,
            Some(Step::Event(event @ ModelEvent::End(_))) => return Some((Ok(event), None)),
            Some(Step::Event(event)) => return Some((Ok(event), Some((steps, open)))),
            Some(Step::Error(error)) => return Some((Err(error), None)),
            None => return Some((Err(failure(ErrorCode::ProviderBrokenOff)), None)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures::FutureExt;

    fn text(text: &str) -> Step {
        Step::Event(ModelEvent::Text(text.into()))
    }

    #[tokio::test]
    async fn a_gate_holds_the_reply_and_a_drop_is_seen() {
        let gate = Arc::new(Notify::new());
        let model = ScriptedModel::new([Script::steps([text("a"), Step::Gate(Arc::clone(&gate)), text("b"), Step::Hang])]);
        let mut events = model.stream(ChatRequest::default()).await.unwrap();
        assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("a".into()))));
        assert!(events.next().now_or_never().is_none());
        gate.notify_one();
        assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("b".into()))));
        assert!(events.next().now_or_never().is_none());
        assert_eq!(model.open_streams(), 1);
        drop(events);
        assert_eq!(model.open_streams(), 0);
    }

    #[tokio::test]
    async fn scripts_are_played_in_order_and_never_end_silently() {
        let refused = failure(ErrorCode::ProviderUnauthorized);
        let model = ScriptedModel::new([Script::refusing(refused.clone()), Script::steps([text("cut")])]);
        let request = ChatRequest { model: "m".into(), ..ChatRequest::default() };
        assert_eq!(model.stream(request.clone()).await.err(), Some(refused));
        for _ in 0..2 {
            let items: Vec<_> = model.stream(request.clone()).await.unwrap().collect().await;
            let broken = Err(failure(ErrorCode::ProviderBrokenOff));
            assert_eq!(items, [Ok(ModelEvent::Text("cut".into())), broken]);
        }
        assert_eq!(model.requests(), [request.clone(), request.clone(), request]);
    }
}
