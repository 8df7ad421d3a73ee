//! A Unix socket in a folder of the user alone.

use crate::ServerError;
use crate::accept::Incoming;
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = "app.sock";
/// Bytes of a socket's path: 104 with the final zero on macOS, 108 on Linux.
const PATH_BYTES: usize = 100;

/// A connection to the app, as the other process has it.
pub type AppStream = UnixStream;

/// Listens as long as it lives.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    /// Held as long as the socket listens: whoever has it may remove a socket that is left over.
    _lock: File,
}

impl Listener {
    /// Listens in a folder, which is made and closed to others; where the path is too long for a socket or the disk has
    /// none, in a folder of the user under `/tmp`.
    ///
    /// # Errors
    /// [`ServerError::Taken`] where another process listens, [`ServerError::NoPlace`] where no folder serves.
    pub fn bind(folder: &Path) -> Result<Self, ServerError> {
        for path in places(folder)? {
            match bind_at(&path) {
                Err(ServerError::Io(error)) => {
                    tracing::warn!(kind = ?error.kind(), "a place for the local socket does not serve")
                }
                outcome => return outcome,
            }
        }
        Err(ServerError::NoPlace)
    }
}

impl Incoming for Listener {
    type Stream = UnixStream;

    /// Processes of other users are turned away.
    async fn next(&mut self) -> std::io::Result<UnixStream> {
        let (stream, _) = self.socket.accept().await?;
        check_peer(&stream)?;
        Ok(stream)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Connects to whoever listens in a folder, if that is the same user.
pub(super) async fn connect(folder: &Path) -> Option<UnixStream> {
    for path in places(folder).ok()? {
        if !path.parent().is_some_and(|parent| is_own(parent).unwrap_or(false)) {
            continue;
        }
        if let Ok(stream) = UnixStream::connect(&path).await
            && check_peer(&stream).is_ok()
        {
            return Some(stream);
        }
    }
    None
}

/// Where the socket may be, the first choice first. None depends on the environment: programs start others with little of it.
fn places(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let folder = std::path::absolute(folder)?;
    let shared = PathBuf::from(format!("/tmp/evenkeel-{}", uid()));
    let other = shared.join(format!("{}.sock", super::short_name(&folder)));
    Ok([folder.join(SOCKET), other].into_iter().filter(|path| path.as_os_str().len() <= PATH_BYTES).collect())
}

fn bind_at(path: &Path) -> Result<Listener, ServerError> {
    let folder = path.parent().ok_or(ErrorKind::InvalidInput).map_err(Error::from)?;
    make_own(folder)?;
    let lock = File::options().create(true).write(true).truncate(false).mode(0o600).open(path.with_extension("lock"))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ServerError::Taken),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    // Whoever had it listens no more, or the lock would not be ours.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let socket = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(Listener { socket, path: path.to_owned(), _lock: lock })
}

/// Makes a folder that is the user's alone, or takes the rights of others from one that is the user's.
fn make_own(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let about = std::fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != uid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    if about.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn is_own(folder: &Path) -> std::io::Result<bool> {
    let about = std::fs::symlink_metadata(folder)?;
    Ok(about.is_dir() && about.uid() == uid() && about.mode() & 0o077 == 0)
}

fn check_peer(stream: &UnixStream) -> std::io::Result<()> {
    if stream.peer_cred()?.uid() == uid() { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
}

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
