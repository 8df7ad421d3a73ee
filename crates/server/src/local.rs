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

use crate::App;
use crate::accept::listen;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Begins a connection that speaks MCP.
const MCP: &str = "mcp";
/// Asks whether the vault is open.
const STATE: &str = "state";
const OPEN: &str = "open";
const CLOSED: &str = "closed";
/// Bytes of the first line.
const FIRST_LINE: usize = 16;
/// What the first line, and the answer to a question, may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections at the same time; further ones wait.
const CONNECTIONS: usize = 64;

/// Connects to the app that listens in a folder, to speak MCP with it; `None` where none does.
pub async fn connect(folder: &Path) -> Option<AppStream> {
    let mut app = system::connect(folder).await?;
    app.write_all(format!("{MCP}\n").as_bytes()).await.ok()?;
    Some(app)
}

/// Whether the app that listens in a folder has its vault open; `None` where none listens or answers.
pub async fn is_open(folder: &Path) -> Option<bool> {
    let asked = async {
        let mut app = system::connect(folder).await?;
        app.write_all(format!("{STATE}\n").as_bytes()).await.ok()?;
        first_line(&mut app).await
    };
    match tokio::time::timeout(PATIENCE, asked).await.ok()??.as_str() {
        OPEN => Some(true),
        CLOSED => Some(false),
        _ => None,
    }
}

/// Serves whoever connects until it is stopped; what is under way ends then too.
pub async fn serve(app: Arc<dyn App>, listener: Listener, stop: CancellationToken) {
    listen(listener, CONNECTIONS, stop, move |stream| welcome(app.clone(), stream)).await;
}

async fn welcome<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(app: Arc<dyn App>, mut stream: S) {
    let Ok(Some(purpose)) = tokio::time::timeout(PATIENCE, first_line(&mut stream)).await else { return };
    match purpose.as_str() {
        MCP => {
            let (read, write) = tokio::io::split(stream);
            if let Err(error) = evenkeel_mcp::serve(app.companions(), read, write).await {
                tracing::debug!(%error, "a connection to the local socket ended");
            }
        }
        STATE => {
            let answer = if app.is_open() { OPEN } else { CLOSED };
            let _ = stream.write_all(format!("{answer}\n").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        _ => tracing::debug!("a connection to the local socket asked for something unknown"),
    }
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
