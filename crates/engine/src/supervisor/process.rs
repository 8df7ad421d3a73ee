//! One child from its start to its end.

use super::{EngineEndpoint, EngineEvent, SupervisorOptions};
use crate::EngineError;
use crate::protocol::{ChildLine, ReadyLine, StartLine};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{broadcast, oneshot, watch};
use zeroize::Zeroizing;

/// Longest line that a child may say, in bytes.
const MAX_LINE: u64 = 64 * 1024;
/// What is kept of a child's last words, in bytes.
const MAX_LAST_WORDS: usize = 2000;
/// The child ends by itself this many minutes later than its parent would end it: a second line.
const CHILD_IDLE_MARGIN: u64 = 10;
/// Variables of the environment that a child may see: what its own start and dates need.
const KEPT_VARIABLES: [&str; 5] = ["TZ", "LANG", "SystemRoot", "OMP_NUM_THREADS", "RUST_BACKTRACE"];

/// Why a start failed.
pub(super) enum StartFailure {
    /// Trying again is of no use.
    Final(EngineError),
    /// The child died.
    Died { code: Option<i32>, signal: Option<i32>, reason: String },
}

/// What is needed to start a child.
pub(super) struct Spawn<'a> {
    pub options: &'a SupervisorOptions,
    pub idle: Duration,
    pub model_path: &'a Path,
    pub context_tokens: Option<u32>,
    pub events: &'a broadcast::Sender<EngineEvent>,
}

/// A child that answers, or did until a moment ago.
#[derive(Debug)]
pub(super) struct Running {
    model_path: PathBuf,
    context_tokens: Option<u32>,
    ready: ReadyLine,
    pid: Option<u32>,
    token: SecretString,
    life: Arc<Life>,
    stop: Option<oneshot::Sender<()>>,
    ended: watch::Receiver<bool>,
}

/// Who uses the child, and whether it is still to be had.
#[derive(Debug)]
struct Life {
    phase: Mutex<Phase>,
    uses: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Phase {
    uses: usize,
    over: bool,
    crashed: bool,
}

/// Keeps the model loaded until it is dropped.
#[derive(Debug)]
pub struct EngineUse {
    life: Arc<Life>,
}

impl EngineUse {
    /// Whether the child has died under this request. Known some milliseconds after the
    /// connection broke, so that a broken reply can be told as the engine's crash.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.life.phase().crashed
    }
}

impl Drop for EngineUse {
    fn drop(&mut self) {
        let mut phase = self.life.phase();
        phase.uses -= 1;
        self.life.uses.send_replace(phase.uses);
    }
}

impl Life {
    fn phase(&self) -> std::sync::MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(self: &Arc<Self>) -> Option<EngineUse> {
        let mut phase = self.phase();
        if phase.over {
            return None;
        }
        phase.uses += 1;
        self.uses.send_replace(phase.uses);
        Some(EngineUse { life: self.clone() })
    }

    /// Ends the child's time unless somebody uses it.
    fn end_if_free(&self) -> bool {
        let mut phase = self.phase();
        phase.over |= phase.uses == 0;
        phase.over
    }

    fn end(&self, crashed: bool) {
        let mut phase = self.phase();
        phase.over = true;
        phase.crashed = crashed;
    }
}

impl Running {
    pub fn serves(&self, model_path: &Path, context_tokens: Option<u32>) -> bool {
        self.model_path == model_path && self.context_tokens == context_tokens
    }

    /// Whether it has this file loaded still.
    pub fn holds(&self, model_path: &Path) -> bool {
        self.model_path == model_path && !self.is_over()
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.life.phase().over
    }

    pub fn model(&self) -> &str {
        &self.ready.model
    }

    /// The address, held; None when the child has ended.
    pub fn endpoint(&self) -> Option<EngineEndpoint> {
        let hold = self.life.hold()?;
        Some(EngineEndpoint {
            base_url: format!("http://127.0.0.1:{}", self.ready.port),
            token: self.token.clone(),
            window: self.ready.window,
            trained_window: self.ready.trained_window,
            model: self.ready.model.clone(),
            embedding: self.ready.embedding,
            pid: self.pid,
            hold,
        })
    }

    /// Waits until nobody uses it. From then on it is nobody's any more and only to be unloaded.
    pub async fn wait_until_free(&self) {
        let mut uses = self.life.uses.subscribe();
        while !self.life.end_if_free() {
            if uses.changed().await.is_err() {
                break;
            }
        }
    }

    /// Ends the child, as dropping this does, and waits until it is gone.
    pub async fn unload_now(mut self) {
        self.stop.take();
        let _ = self.ended.wait_for(|ended| *ended).await;
    }
}

impl Spawn<'_> {
    pub async fn start(&self) -> Result<Running, StartFailure> {
        let token = random_token().map_err(StartFailure::Final)?;
        let mut child = self
            .command()
            .spawn()
            .map_err(|source| StartFailure::Final(EngineError::Start { program: self.options.program.clone(), source }))?;
        let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(StartFailure::Died { code: None, signal: None, reason: "its pipes were not there".to_owned() });
        };
        let last_words = Arc::new(Mutex::new(String::new()));
        let listening = tokio::spawn(collect(errors, last_words.clone()));
        // A child that died before it could read says so by its exit status below.
        let _ = input.write_all(&self.first_line(&token)).await;
        let line = tokio::time::timeout(self.options.load_limit, first_line(output)).await;
        match line {
            Err(_) => {
                let _ = child.kill().await;
                Err(StartFailure::Final(EngineError::TooSlow {
                    path: self.model_path.to_owned(),
                    seconds: self.options.load_limit.as_secs(),
                }))
            }
            Ok(Some(ChildLine::Ready(ready))) => Ok(self.watch(child, input, ready, token)),
            Ok(Some(ChildLine::Failed { code, message })) => {
                let _ = child.kill().await;
                Err(StartFailure::Final(EngineError::Refused { code, message }))
            }
            Ok(None) => {
                drop(input);
                let _ = child.start_kill();
                let status = child.wait().await;
                let _ = listening.await;
                let words = last_words.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Err(died(status.ok(), &words))
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.options.program);
        command.args(&self.options.args).env_clear().kill_on_drop(true);
        // Or a debugger that ggml starts when it gives up writes into the child's own output.
        command.env("GGML_NO_BACKTRACE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(KEPT_VARIABLES.into_iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))));
        command
    }

    fn first_line(&self, token: &SecretString) -> Zeroizing<Vec<u8>> {
        let minutes = self.idle.as_secs().div_ceil(60) + CHILD_IDLE_MARGIN;
        let line = StartLine {
            token: token.expose_secret().to_owned(),
            model_path: self.model_path.to_owned(),
            context_tokens: self.context_tokens,
            threads: None,
            idle_minutes: u32::try_from(minutes).unwrap_or(0),
        };
        let mut bytes = Zeroizing::new(serde_json::to_vec(&line).unwrap_or_default());
        bytes.push(b'\n');
        bytes
    }

    fn watch(&self, child: Child, input: ChildStdin, ready: ReadyLine, token: SecretString) -> Running {
        let (uses, _) = watch::channel(0);
        let (stop, stopped) = oneshot::channel();
        let (ended_sender, ended) = watch::channel(false);
        let life = Arc::new(Life { phase: Mutex::default(), uses });
        let pid = child.id();
        let watch = Watch { child, _input: input, life: life.clone(), idle: self.idle, events: self.events.clone() };
        tokio::spawn(async move {
            watch.run(stopped).await;
            ended_sender.send_replace(true);
        });
        Running {
            model_path: self.model_path.to_owned(),
            context_tokens: self.context_tokens,
            ready,
            pid,
            token,
            life,
            stop: Some(stop),
            ended,
        }
    }
}

/// The task that owns a child.
struct Watch {
    child: Child,
    /// The child lives as long as this is open.
    _input: ChildStdin,
    life: Arc<Life>,
    idle: Duration,
    events: broadcast::Sender<EngineEvent>,
}

impl Watch {
    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        let mut uses = self.life.uses.subscribe();
        loop {
            let free = *uses.borrow_and_update() == 0;
            tokio::select! {
                status = self.child.wait() => return self.report_end(status.ok()),
                _ = &mut stopped => return self.unload().await,
                _ = uses.changed() => {}
                () = tokio::time::sleep(self.idle), if free => {
                    if self.life.end_if_free() {
                        return self.unload().await;
                    }
                }
            }
        }
    }

    fn report_end(&self, status: Option<ExitStatus>) {
        // Success is the child's own end after long idleness; all else is a crash.
        let crashed = !status.is_some_and(|status| status.success());
        self.life.end(crashed);
        let (code, signal) = ending(status);
        let _ = self.events.send(if crashed { EngineEvent::Crashed { code, signal } } else { EngineEvent::Unloaded });
    }

    async fn unload(&mut self) {
        self.life.end(false);
        let _ = self.child.kill().await;
        let _ = self.events.send(EngineEvent::Unloaded);
    }
}

fn random_token() -> Result<SecretString, EngineError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut()).map_err(|error| EngineError::NoRandomness(error.to_string()))?;
    Ok(SecretString::from(data_encoding::BASE64URL_NOPAD.encode(bytes.as_ref())))
}

async fn first_line(output: ChildStdout) -> Option<ChildLine> {
    let mut line = Vec::new();
    BufReader::new(output).take(MAX_LINE).read_until(b'\n', &mut line).await.ok()?;
    serde_json::from_slice(&line).ok()
}

/// Reads what the child writes to standard error, so that it never blocks, and keeps the end.
async fn collect(errors: ChildStderr, last_words: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line).await {
            Ok(count) if count > 0 => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line);
        tracing::debug!(line = text.trim_end(), "engine");
        let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend(text.chars().take(MAX_LAST_WORDS));
        let surplus = words.len().saturating_sub(MAX_LAST_WORDS);
        if let Some(at) = (surplus..words.len()).find(|at| words.is_char_boundary(*at)) {
            words.drain(..at);
        }
    }
}

fn died(status: Option<ExitStatus>, words: &str) -> StartFailure {
    let (code, signal) = ending(status);
    let how = match (code, signal) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(code), None) => format!("exit status {code}"),
        (None, None) => "no exit status".to_owned(),
    };
    let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let reason = if last.is_empty() { how } else { format!("{how}: {last}") };
    StartFailure::Died { code, signal, reason }
}

fn ending(status: Option<ExitStatus>) -> (Option<i32>, Option<i32>) {
    let Some(status) = status else { return (None, None) };
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    (status.code(), signal)
}
