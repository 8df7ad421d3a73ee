//! The parent's side: starts the child at the first request, watches it, switches models, and
//! stops it when nothing has been asked for a while.

mod process;

use crate::EngineError;
use process::{Running, Spawn, StartFailure};
use secrecy::SecretString;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, broadcast, watch};

/// Deaths while loading within [`CRASH_PERIOD`] after which it is not tried again.
const MAX_CRASHES: usize = 3;
/// Deaths while loading are forgotten after this time.
const CRASH_PERIOD: Duration = Duration::from_secs(60);
/// Events that a slow listener may fall behind by.
const EVENT_BACKLOG: usize = 32;

/// How the engine is run.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// The program, usually the app's own.
    pub program: PathBuf,
    /// What makes it the engine, usually `["engine"]`. Nothing secret goes here.
    pub args: Vec<String>,
    /// Time without a held [`EngineUse`] after which the model is unloaded.
    pub idle: Duration,
    /// Time that loading a model may take.
    pub load_limit: Duration,
}

impl SupervisorOptions {
    /// The engine of `program` (`program engine`), unloaded after 10 minutes, with 5 minutes to load.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, args: vec!["engine".to_owned()], idle: Duration::from_secs(600), load_limit: Duration::from_secs(300) }
    }
}

/// What happens to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineEvent {
    /// A model is loaded and answers.
    Started {
        /// The model's name.
        model: String,
    },
    /// The child ended by itself. The next [`Supervisor::endpoint`] starts it again.
    Crashed {
        /// Its exit status, where it exited.
        code: Option<i32>,
        /// The signal that ended it, where one did (Unix).
        signal: Option<i32>,
    },
    /// The model was unloaded because nothing was asked, or for another model.
    Unloaded,
}

/// A loaded model's address.
#[derive(Debug)]
pub struct EngineEndpoint {
    /// `http://127.0.0.1:PORT`; the OpenAI-compatible paths begin with `/v1`.
    pub base_url: String,
    /// The bearer token of this child; another child has another.
    pub token: SecretString,
    /// Tokens of prompt and reply together.
    pub window: u32,
    /// The window the model was trained for, in tokens.
    pub trained_window: u32,
    /// The model's name.
    pub model: String,
    /// Whether it makes embeddings instead of replies.
    pub embedding: bool,
    /// The child's process id, while it was last known to run.
    pub pid: Option<u32>,
    /// Keeps the model loaded. Hold it (or the whole endpoint) while a request runs, drop it after.
    pub hold: EngineUse,
}

pub use process::EngineUse;

/// Starts and watches one engine child at a time. Cheap to clone; all clones are one engine.
#[derive(Debug, Clone)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: SupervisorOptions,
    /// Milliseconds without a request after which a model is freed.
    idle: AtomicU64,
    events: broadcast::Sender<EngineEvent>,
    /// Turns true once, when the app quits.
    closing: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    /// Deaths while loading, oldest first, with the file.
    crashes: VecDeque<(Instant, PathBuf)>,
    last_reason: String,
}

impl State {
    fn loaded(&self, model_path: &Path, context_tokens: Option<u32>) -> Option<EngineEndpoint> {
        self.running.as_ref().filter(|running| running.serves(model_path, context_tokens)).and_then(Running::endpoint)
    }
}

impl Supervisor {
    /// Starts nothing yet.
    #[must_use]
    pub fn new(options: SupervisorOptions) -> Self {
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let (closing, _) = watch::channel(false);
        let idle = AtomicU64::new(millis(options.idle));
        Self { inner: Arc::new(Inner { options, idle, events, closing, state: Mutex::default() }) }
    }

    /// Changes the time without a request after which a model is freed, from the next model on that
    /// is loaded.
    pub fn set_idle(&self, idle: Duration) {
        self.inner.idle.store(millis(idle), Ordering::Relaxed);
    }

    /// What happens from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<EngineEvent> {
        self.inner.events.subscribe()
    }

    /// The address of `model_path`, loaded with a window of `context_tokens` (None = up to 8192)
    /// or as much as the model has. Starts the child where it is not running and restarts it
    /// where it has crashed. Where another model is loaded, waits until nobody holds that one and
    /// replaces it; so do not hold one endpoint while asking for another.
    ///
    /// # Errors
    /// [`EngineError`]: the file cannot be used, the program cannot be started, the child refused
    /// the model, took too long, or died three times within a minute while loading it.
    pub async fn endpoint(&self, model_path: &Path, context_tokens: Option<u32>) -> Result<EngineEndpoint, EngineError> {
        // A model may take minutes to load; quitting does not wait for that. Dropping the other
        // branch ends the child that it was starting.
        tokio::select! {
            biased;
            () = closed(self.inner.closing.subscribe()) => Err(EngineError::ShutDown),
            result = self.find_or_start(model_path, context_tokens) => result,
        }
    }

    /// As [`Self::endpoint`], but never in the place of another model: `None` where one is loaded, or is
    /// being loaded.
    ///
    /// # Errors
    /// As [`Self::endpoint`].
    pub async fn endpoint_unless_taken(
        &self,
        model_path: &Path,
        context_tokens: Option<u32>,
    ) -> Result<Option<EngineEndpoint>, EngineError> {
        tokio::select! {
            biased;
            () = closed(self.inner.closing.subscribe()) => Err(EngineError::ShutDown),
            result = self.find_or_begin(model_path, context_tokens) => result,
        }
    }

    async fn find_or_begin(&self, model_path: &Path, context_tokens: Option<u32>) -> Result<Option<EngineEndpoint>, EngineError> {
        // Whoever has it may wait for a model that the caller holds.
        let Ok(mut state) = self.inner.state.try_lock() else { return Ok(None) };
        if let Some(endpoint) = state.loaded(model_path, context_tokens) {
            return Ok(Some(endpoint));
        }
        if state.running.as_ref().is_some_and(|running| !running.is_over()) {
            return Ok(None);
        }
        state.running = None;
        crate::inspect(model_path)?;
        self.start(&mut state, model_path, context_tokens).await.map(Some)
    }

    async fn find_or_start(&self, model_path: &Path, context_tokens: Option<u32>) -> Result<EngineEndpoint, EngineError> {
        let mut state = self.inner.state.lock().await;
        if let Some(endpoint) = state.loaded(model_path, context_tokens) {
            return Ok(endpoint);
        }
        if let Some(old) = &state.running {
            // It stays in its place: whoever gives up this wait must not end it for those who use it.
            old.wait_until_free().await;
        }
        if let Some(old) = state.running.take() {
            old.unload_now().await;
        }
        // Hostile or missing files end here, before a process is spent on them.
        crate::inspect(model_path)?;
        self.start(&mut state, model_path, context_tokens).await
    }

    /// Whether this file is loaded. Also true while another is being loaded: what runs then is not
    /// known before that ends, and this does not wait for it.
    #[must_use]
    pub fn may_use(&self, model_path: &Path) -> bool {
        self.inner.state.try_lock().map_or(true, |state| state.running.as_ref().is_some_and(|running| running.holds(model_path)))
    }

    /// Frees the model and what it remembers of conversations; the next [`Self::endpoint`] loads it
    /// again. Does not wait for requests that run.
    pub async fn unload(&self) {
        let running = self.inner.state.lock().await.running.take();
        if let Some(running) = running {
            running.unload_now().await;
        }
    }

    /// Stops the child for good; later calls of [`Self::endpoint`] fail. Does not wait for
    /// requests that run.
    pub async fn shutdown(&self) {
        self.inner.closing.send_replace(true);
        let mut state = self.inner.state.lock().await;
        if let Some(running) = state.running.take() {
            running.unload_now().await;
        }
    }

    async fn start(
        &self,
        state: &mut State,
        model_path: &Path,
        context_tokens: Option<u32>,
    ) -> Result<EngineEndpoint, EngineError> {
        loop {
            let crashes = recent_crashes(&mut state.crashes, model_path, Instant::now());
            if crashes >= MAX_CRASHES {
                return Err(EngineError::KeepsCrashing {
                    path: model_path.to_owned(),
                    times: crashes,
                    reason: state.last_reason.clone(),
                });
            }
            let idle = Duration::from_millis(self.inner.idle.load(Ordering::Relaxed));
            let spawn = Spawn { options: &self.inner.options, idle, model_path, context_tokens, events: &self.inner.events };
            match spawn.start().await {
                Ok(running) => {
                    let endpoint = running.endpoint();
                    let _ = self.inner.events.send(EngineEvent::Started { model: running.model().to_owned() });
                    state.running = Some(running);
                    if let Some(endpoint) = endpoint {
                        return Ok(endpoint);
                    }
                    // It died between its first line and now: count it like a death while loading.
                    self.note_crash(state, model_path, "it ended right after loading".to_owned());
                }
                Err(StartFailure::Final(error)) => return Err(error),
                Err(StartFailure::Died { code, signal, reason }) => {
                    let _ = self.inner.events.send(EngineEvent::Crashed { code, signal });
                    self.note_crash(state, model_path, reason);
                }
            }
        }
    }

    fn note_crash(&self, state: &mut State, model_path: &Path, reason: String) {
        tracing::warn!(reason, "the engine died while loading a model");
        state.crashes.push_back((Instant::now(), model_path.to_owned()));
        state.last_reason = reason;
    }
}

async fn closed(mut closing: watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Forgets old deaths and counts those of `model_path`.
fn recent_crashes(crashes: &mut VecDeque<(Instant, PathBuf)>, model_path: &Path, now: Instant) -> usize {
    crashes.retain(|(at, _)| now.saturating_duration_since(*at) < CRASH_PERIOD);
    crashes.iter().filter(|(_, path)| path == model_path).count()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_count_for_a_minute_and_for_their_file_only() {
        let begin = Instant::now();
        let (a, b) = (PathBuf::from("a"), PathBuf::from("b"));
        let mut crashes = VecDeque::from([(begin, a.clone()), (begin, b.clone()), (begin + Duration::from_secs(30), a.clone())]);
        assert_eq!(recent_crashes(&mut crashes, &a, begin + Duration::from_secs(59)), 2);
        assert_eq!(recent_crashes(&mut crashes, &a, begin + Duration::from_secs(61)), 1);
        assert_eq!(recent_crashes(&mut crashes, &b, begin + Duration::from_secs(61)), 0);
    }
}
