//! The socket by which other processes of the same user reach the running app.
//!
//! A connection begins with one line that says what it is for; what follows belongs to that purpose alone.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{AppStream, Listener};

use crate::accept::listen;
use crate::{App, AppVault};
use evenkeel_domain::{ErrorBody, ErrorCode};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Begins a connection that speaks MCP.
const MCP: &str = "mcp";
/// Asks where the vault stands.
const STATE: &str = "state";
const OPEN: &str = "open";
const OPENING: &str = "opening";
const CLOSED: &str = "closed";
/// Bytes of the first line.
const FIRST_LINE: usize = 16;
/// What the first line, and the answer to a question, may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Programs that speak MCP at the same time; a further one is told that there are too many.
const PROGRAMS: usize = 64;
/// Connections at the same time, which leaves room for questions and refusals; further ones wait.
const CONNECTIONS: usize = 2 * PROGRAMS;

/// Connects to the app that listens in a folder, to speak MCP with it; `None` where none does.
pub async fn connect(folder: &Path) -> Option<AppStream> {
    let mut app = system::connect(folder).await?;
    app.write_all(format!("{MCP}\n").as_bytes()).await.ok()?;
    Some(app)
}

/// Where the vault of the app stands that listens in a folder; `None` where none listens or answers.
pub async fn vault(folder: &Path) -> Option<AppVault> {
    let asked = async {
        let mut app = system::connect(folder).await?;
        app.write_all(format!("{STATE}\n").as_bytes()).await.ok()?;
        first_line(&mut app).await
    };
    match tokio::time::timeout(PATIENCE, asked).await.ok()??.as_str() {
        OPEN => Some(AppVault::Open),
        OPENING => Some(AppVault::Opening),
        CLOSED => Some(AppVault::Locked),
        _ => None,
    }
}

/// Serves whoever connects until it is stopped; what is under way ends then too.
pub async fn serve(app: Arc<dyn App>, listener: Listener, stop: CancellationToken) {
    let room = Arc::new(Semaphore::new(PROGRAMS));
    listen(listener, CONNECTIONS, stop, move |stream| welcome(app.clone(), room.clone(), stream)).await;
}

async fn welcome<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(app: Arc<dyn App>, room: Arc<Semaphore>, mut stream: S) {
    let Ok(Some(purpose)) = tokio::time::timeout(PATIENCE, first_line(&mut stream)).await else { return };
    match purpose.as_str() {
        MCP => {
            let (read, write) = tokio::io::split(stream);
            let Ok(_place) = room.try_acquire() else {
                // Whoever says nothing hears nothing, and makes room again.
                let _ = tokio::time::timeout(PATIENCE, evenkeel_mcp::turn_away(too_many(), read, write)).await;
                return;
            };
            if let Err(error) = evenkeel_mcp::serve(app.companions(), read, write).await {
                tracing::debug!(%error, "a connection to the local socket ended");
            }
        }
        STATE => {
            let answer = match app.vault() {
                AppVault::Open => OPEN,
                AppVault::Opening => OPENING,
                AppVault::Locked => CLOSED,
            };
            let _ = stream.write_all(format!("{answer}\n").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        _ => tracing::debug!("a connection to the local socket asked for something unknown"),
    }
}

fn too_many() -> ErrorBody {
    let message =
        format!("{PROGRAMS} programs use Evenkeel already, the most at the same time; close one of them, then try again");
    ErrorBody::new(ErrorCode::LimitReached, message).with("limit", PROGRAMS)
}

/// The first line, byte by byte: what follows belongs to someone else.
async fn first_line(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await {
            Ok(b'\n') => return String::from_utf8(line).ok(),
            Ok(byte) if line.len() < FIRST_LINE => line.push(byte),
            _ => return None,
        }
    }
}

/// A short name that a folder has, the same from version to version.
fn short_name(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    digest.iter().take(8).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

#[cfg(all(test, unix))]
mod tests;
