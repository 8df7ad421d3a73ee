//! A named pipe of the user. Without a right to write, which the system gives to the pipe's owner, administrators and the
//! system alone, nobody can ask anything through it; processes of other machines are refused.

use crate::ServerError;
use crate::accept::Incoming;
use std::path::Path;
use std::time::Duration;
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer, ServerOptions};

/// The system's word for: every instance of the pipe has its client; another one comes at once.
const PIPE_BUSY: i32 = 231;
/// How often, and at what distance, a busy pipe is tried.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(25);

/// A connection to the app, as the other process has it.
pub type AppStream = NamedPipeClient;

/// Listens as long as it lives.
#[derive(Debug)]
pub struct Listener {
    name: String,
    next: NamedPipeServer,
}

impl Listener {
    /// Listens under a name that is made from a folder's.
    ///
    /// # Errors
    /// [`ServerError::Taken`] where another process listens, else what the system says.
    pub fn bind(folder: &Path) -> Result<Self, ServerError> {
        let name = name(folder)?;
        // Being the first keeps another process from answering in this one's place.
        let next = ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).create(&name);
        let next = next.map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => ServerError::Taken,
            _ => error.into(),
        })?;
        Ok(Self { name, next })
    }
}

impl Incoming for Listener {
    type Stream = NamedPipeServer;

    async fn next(&mut self) -> std::io::Result<NamedPipeServer> {
        self.next.connect().await?;
        let next = ServerOptions::new().reject_remote_clients(true).create(&self.name)?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// Connects to whoever listens under the name of a folder.
pub(super) async fn connect(folder: &Path) -> Option<NamedPipeClient> {
    let name = name(folder).ok()?;
    for _ in 0..TRIES {
        match ClientOptions::new().open(&name) {
            Ok(stream) => return Some(stream),
            Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => tokio::time::sleep(BETWEEN).await,
            Err(_) => return None,
        }
    }
    None
}

fn name(folder: &Path) -> std::io::Result<String> {
    Ok(format!(r"\\.\pipe\evenkeel-{}", super::short_name(&std::path::absolute(folder)?)))
}
