//! Writing a file so that, whatever happens, either the old or the new content is there.

use crate::VaultError;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Marks a file that is being written; it is no trace of a vault, since nothing refers to it.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// Opens a file that only its owner may read and write (mode 0600 on Unix).
pub(crate) fn private_file(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Writes `bytes` beside `path`, syncs them, renames them over `path` and syncs the folder. Only
/// the owner may read the file.
///
/// # Errors
/// [`VaultError::Io`]; `path` then holds its old content, and no unfinished file is left.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let unfinished = unfinished_path(path);
    let written =
        fill(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path)).map_err(|e| VaultError::io("Writing", path, e));
    if written.is_err() {
        // The error that matters is the one above; the leftover is harmless.
        let _ = fs::remove_file(&unfinished);
        return written;
    }
    sync_folder(path)
}

/// Makes renames and removals in the folder of `path` durable.
///
/// # Errors
/// [`VaultError::Io`].
pub(crate) fn sync_folder(path: &Path) -> Result<(), VaultError> {
    // Windows has no handle to a folder that could be synced; NTFS journals the rename.
    if cfg!(unix)
        && let Some(folder) = path.parent()
    {
        File::open(folder).and_then(|f| f.sync_all()).map_err(|e| VaultError::io("Syncing", folder, e))?;
    }
    Ok(())
}

fn fill(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    // create_new: never write through a link that someone put there.
    let mut file = private_file(OpenOptions::new().write(true).create_new(true), path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn unfinished_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // The process id keeps two processes that repair the same copy apart.
    name.push(format!("{UNFINISHED}{}", std::process::id()));
    path.with_file_name(name)
}
