//! Files beside and below SQLite: made private, synced, removed.

use crate::StoreError;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Makes an empty file that only its owner may read and write, where there is none.
pub(crate) fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|source| StoreError::File { action: "create", path: path.to_owned(), source })
}

/// Takes away what others may do with the file; SQLite gives its log the same permissions.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let failed = |source| StoreError::File { action: "make private", path: path.to_owned(), source };
        if fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Removes a leftover.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::File { action: "remove the unfinished", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Makes what is in a file durable.
pub(crate) fn sync_file(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { action: "write", path: path.to_owned(), source };
    fs::OpenOptions::new().write(true).open(path).and_then(|file| file.sync_all()).map_err(failed)
}

/// Makes the new name itself durable. Windows keeps names in its journal and opens no folders.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let failed = |source| StoreError::File { action: "write", path: folder.to_owned(), source };
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// A path whose name goes on.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
