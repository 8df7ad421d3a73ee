//! The clock that stops a plug-in: one thread for each host, asleep while no plug-in runs.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use wasmtime::Engine;

/// How far apart ticks are; a deadline is kept to within two of them.
const TICK: Duration = Duration::from_millis(10);

/// Moves the engine's epoch on while a plug-in runs. The thread ends with it.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    ended: bool,
}

/// While it lives, time passes.
pub(crate) struct Running<'a>(&'a Shared);

impl Ticker {
    pub fn start(engine: &Engine) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (state, engine) = (Arc::clone(&shared), engine.clone());
        let thread = std::thread::Builder::new().name("plugin-clock".to_owned()).spawn(move || state.tick(&engine))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Ticks until a span of time has surely passed, counted from any moment on.
    pub fn ticks(span: Duration) -> u64 {
        u64::try_from(span.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX - 1) + 1
    }

    pub fn run(&self) -> Running<'_> {
        let mut state = self.shared.state();
        state.running += 1;
        // Only the first call wakes the thread: others would make its present tick begin anew.
        if state.running == 1 {
            self.shared.changed.notify_one();
        }
        Running(&self.shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self, engine: &Engine) {
        let mut state = self.state();
        while !state.ended {
            if state.running == 0 {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (after, waited) = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner);
            state = after;
            if waited.timed_out() {
                engine.increment_epoch();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_ends_with_its_ticker() {
        let ticker = Ticker::start(&Engine::default()).unwrap();
        let shared = Arc::clone(&ticker.shared);
        drop(ticker.run());
        drop(ticker);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    #[test]
    fn a_deadline_is_never_short_and_at_most_two_ticks_long() {
        assert_eq!(Ticker::ticks(Duration::from_millis(200)), 21);
        assert_eq!(Ticker::ticks(Duration::from_millis(201)), 22);
        assert_eq!(Ticker::ticks(Duration::ZERO), 1);
    }
}
