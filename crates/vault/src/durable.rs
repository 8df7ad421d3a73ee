//! Writing a file so that, whatever happens, either the old or the new content is there.

use crate::VaultError;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
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
    let written = fill(&unfinished, bytes)
        .and_then(|()| {
            interruption::step();
            fs::rename(&unfinished, path)
        })
        .map_err(|e| VaultError::io("Writing", path, e));
    interruption::step();
    if written.is_err() {
        // The error that matters is the one above; the leftover is harmless.
        let _ = fs::remove_file(&unfinished);
        return written;
    }
    sync_folder(path)
}

/// Writes `bytes` as a file that is not there yet, as [`write`] does otherwise.
///
/// # Errors
/// [`VaultError::Io`], of kind `AlreadyExists` if something has the name by then; no unfinished file is left.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let unfinished = unfinished_path(path);
    let named = fill(&unfinished, bytes).and_then(|()| name_new(&unfinished, path));
    // Gone already if it got its name.
    let _ = fs::remove_file(&unfinished);
    named.map_err(|e| VaultError::io("Writing", path, e))?;
    sync_folder(path)
}

/// Gives a finished file another name without taking the place of anything, also of what came meanwhile. The file may
/// keep its first name as well where that cannot be removed.
///
/// # Errors
/// `AlreadyExists` if something has the name; what else the system says. The file is then where it was.
pub fn name_new(finished: &Path, path: &Path) -> std::io::Result<()> {
    // A link never takes the place of a file, as a renaming would.
    match fs::hard_link(finished, path) {
        Ok(()) => {
            let _ = fs::remove_file(finished);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
        // File systems of sticks know no links.
        Err(_) if fs::symlink_metadata(path).is_err() => fs::rename(finished, path),
        Err(error) => Err(error),
    }
}

/// As [`write`] for what comes piece by piece: `fill` is given what writes a piece.
///
/// # Errors
/// [`VaultError::Io`] or that of `fill`; `path` then holds its old content, and no unfinished file is left.
pub fn write_streamed<E: From<VaultError>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), VaultError>) -> Result<(), E>,
) -> Result<(), E> {
    let unfinished = unfinished_path(path);
    let written = streamed(&unfinished, fill)
        .and_then(|()| fs::rename(&unfinished, path).map_err(|e| VaultError::io("Writing", path, e).into()));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
        return written;
    }
    Ok(sync_folder(path)?)
}

fn streamed<E: From<VaultError>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), VaultError>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |e| VaultError::io("Writing", path, e);
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e).into()),
        _ => {}
    }
    let file = private_file(OpenOptions::new().write(true).create_new(true), path).map_err(failed)?;
    let mut file = BufWriter::new(file);
    fill(&mut |piece| file.write_all(piece).map_err(failed))?;
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok(file.sync_all().map_err(failed)?)
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
    interruption::step();
    let (begun, rest) = bytes.split_at(bytes.len() / 2);
    file.write_all(begun)?;
    interruption::step();
    file.write_all(rest)?;
    file.sync_all()
}

/// Lets tests end a change at each of its steps, as a kill would: nothing runs after it, not even tidying up.
pub(crate) mod interruption {
    #[cfg(not(test))]
    pub(crate) fn step() {}

    #[cfg(test)]
    pub(crate) use for_tests::{killed_at, step};

    #[cfg(test)]
    mod for_tests {
        use std::cell::Cell;
        use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

        /// What a kill unwinds with.
        struct Killed;

        thread_local! {
            static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
        }

        pub(crate) fn step() {
            match LEFT.get() {
                None => {}
                Some(0) => resume_unwind(Box::new(Killed)),
                Some(left) => LEFT.set(Some(left - 1)),
            }
        }

        /// Runs `work` and ends it at its `n`-th step, from 0; false if it came to its own end before.
        pub(crate) fn killed_at(n: u32, work: impl FnOnce()) -> bool {
            LEFT.set(Some(n));
            let outcome = catch_unwind(AssertUnwindSafe(work));
            LEFT.set(None);
            match outcome {
                Ok(()) => false,
                Err(killed) if killed.is::<Killed>() => true,
                Err(panic) => resume_unwind(panic),
            }
        }
    }
}

fn unfinished_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // The process id keeps two processes that repair the same copy apart.
    name.push(format!("{UNFINISHED}{}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_takes_the_place_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("talk.md");
        write_new(&path, b"first").unwrap();
        let refused = write_new(&path, b"second").unwrap_err();
        assert!(matches!(refused, VaultError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }
}
