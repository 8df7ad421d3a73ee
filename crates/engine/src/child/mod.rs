//! The child process: reads one line from the parent, loads the model, serves it, and goes when
//! the parent goes.

mod chat;
mod failure;
mod grammar;
mod http;
mod library;
mod loaded;
mod openai;
mod slot;
mod template;
mod text;
mod worker;

pub use library::libraries;

use crate::protocol::{ChildLine, MAX_START_LINE, ReadyLine, StartLine};
use evenkeel_domain::ErrorCode;
use failure::Failure;
use http::App;
use loaded::Loaded;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

/// How often an idle child looks at the clock.
const IDLE_CHECK: Duration = Duration::from_secs(10);
/// Time for libraries to put themselves away at the end; then the process ends without them.
const EXIT_GRACE: Duration = Duration::from_millis(300);
/// Exit status when the parent spoke no valid line.
const EXIT_USAGE: u8 = 64;
/// Exit status after a `failed` line.
const EXIT_FAILED: u8 = 2;

/// What the embedding program can choose.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// The folder with llama.cpp's CPU variants (`libggml-cpu-*.so`), absolute. None = `lib`
    /// beside the program, which is the only place an installed app looks at.
    pub library_dir: Option<PathBuf>,
}

/// Runs the subcommand `evenkeel engine` until the parent closes standard input.
///
/// The parent writes one JSON line (`token`, `modelPath`, `contextTokens`, `threads`,
/// `idleMinutes`) and reads one: `{"event":"ready","port":…}` or `{"event":"failed","code":…}`.
/// The endpoint then answers on 127.0.0.1 to requests that carry the token.
///
/// The log of llama.cpp goes to `tracing`, so it appears only where the program has set up a
/// subscriber.
#[must_use]
pub fn run(options: RunOptions) -> ExitCode {
    let mut input = BufReader::new(std::io::stdin());
    let Some(start) = read_start(&mut input) else {
        let _ = writeln!(
            std::io::stderr(),
            "This is a part of Evenkeel that the app starts by itself. It takes its orders from standard input and is of no use alone."
        );
        return ExitCode::from(EXIT_USAGE);
    };
    if let Err(error) = watch_parent(input) {
        return fail(&internal(&format!("no thread could be started: {error}")));
    }
    match serve(start, options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

fn read_start(input: &mut impl BufRead) -> Option<StartLine> {
    let mut line = Zeroizing::new(Vec::new());
    input.by_ref().take(MAX_START_LINE).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice::<StartLine>(&line).ok().filter(|start| !start.token.is_empty())
}

/// Ends the process when standard input ends, which is when the parent has gone, however it went.
fn watch_parent(mut input: impl Read + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        let mut rest = [0; 256];
        while matches!(input.read(&mut rest), Ok(count) if count > 0) {}
        leave();
    })?;
    Ok(())
}

/// Ends the process with success, even where a library hangs while it is put away.
fn leave() -> ! {
    let _ = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(EXIT_GRACE);
        std::process::abort();
    });
    std::process::exit(0)
}

fn serve(mut start: StartLine, options: RunOptions) -> Result<(), Failure> {
    let token = Zeroizing::new(std::mem::take(&mut start.token));
    let loaded = Arc::new(Loaded::load(&start, options.library_dir)?);
    let (ready, readiness) = mpsc::channel();
    let work = worker::start(loaded.clone(), ready).map_err(|error| internal(&format!("no thread could be started: {error}")))?;
    readiness
        .recv()
        .map_err(|_| internal("the model thread ended"))?
        .map_err(|error| Failure { code: ErrorCode::EngineUnavailable, message: error.to_string() })?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| internal(&error.to_string()))?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(|error| internal(&format!("no local port could be opened: {error}")))?;
        let port = listener.local_addr().map_err(|error| internal(&error.to_string()))?.port();
        let app = Arc::new(App::new(loaded.clone(), work, token, port));
        say(&ChildLine::Ready(ready_line(&loaded, port)));
        if start.idle_minutes > 0 {
            tokio::spawn(leave_when_idle(app.clone(), Duration::from_secs(u64::from(start.idle_minutes) * 60)));
        }
        axum::serve(listener, http::router(app)).await.map_err(|error| internal(&error.to_string()))
    })
}

async fn leave_when_idle(app: Arc<App>, limit: Duration) {
    while app.idle() < limit {
        tokio::time::sleep(IDLE_CHECK).await;
    }
    leave();
}

fn ready_line(loaded: &Loaded, port: u16) -> ReadyLine {
    ReadyLine {
        port,
        model: loaded.file.name.clone(),
        window: loaded.window,
        trained_window: loaded.trained_window,
        chat_template: loaded.template.is_some(),
        embedding: loaded.file.embedding,
        tokenizer: loaded.file.tokenizer.clone(),
        threads: loaded.threads,
    }
}

fn fail(failure: &Failure) -> ExitCode {
    say(&ChildLine::Failed { code: failure.code, message: failure.message.clone() });
    ExitCode::from(EXIT_FAILED)
}

/// A parent that has closed its end learns nothing, and needs to learn nothing.
fn say(line: &ChildLine) {
    if let Ok(text) = serde_json::to_string(line) {
        let mut output = std::io::stdout().lock();
        let _ = writeln!(output, "{text}");
        let _ = output.flush();
    }
}

fn internal(reason: &str) -> Failure {
    Failure {
        code: ErrorCode::EngineUnavailable,
        message: format!("The engine could not start: {reason}. Try again; if it happens again, restart Evenkeel."),
    }
}
