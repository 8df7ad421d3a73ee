//! The backups in a folder.

use super::check::open_file;
use super::format::Front;
use super::index::Index;
use super::info::{BackupInfo, BackupResult, VaultKeys};
use super::{BackupError, EXTENSION};
use evenkeel_vault::KeyFile;
use std::fs;
use std::path::Path;

/// Every file in `folder` that is named as a backup is, newest first; damaged and foreign ones are
/// listed as such. Only their fronts are read, so it takes time in proportion to their number.
/// Without keys it says all but the counts, and cannot tell a backup of another vault.
///
/// # Errors
/// `FolderMissing` or `File` if the folder cannot be listed.
pub fn list(folder: &Path, keys: Option<VaultKeys<'_>>) -> Result<Vec<BackupInfo>, BackupError> {
    let failed = |source| BackupError::file("list", folder, source);
    let index = Index::read(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_named_so = path.extension().is_some_and(|extension| extension == EXTENSION);
        if is_named_so && path.is_file() {
            found.push(look(&path, keys, &index));
        }
    }
    found.sort_by(|a, b| (b.made_at(), &b.path).cmp(&(a.made_at(), &a.path)));
    Ok(found)
}

/// The key slots in a backup, with which a recovery code or passphrase opens it where its vault is
/// no more: `evenkeel_vault::unlock_recovery` gives the root key.
///
/// # Errors
/// `Damaged`, `Foreign`, `TooNew`, `FolderMissing`, `File`.
pub fn key_slots(path: &Path) -> Result<KeyFile, BackupError> {
    front(path)?.key_file(path)
}

/// The front of a file.
pub(super) fn front(path: &Path) -> Result<Front, BackupError> {
    Front::read(&mut open_file(path)?, path)
}

/// What can be said of one file without reading all of it.
pub(super) fn look(path: &Path, keys: Option<VaultKeys<'_>>, index: &Index) -> BackupInfo {
    let size_bytes = fs::metadata(path).map_or(0, |file| file.len());
    let mut info =
        BackupInfo { path: path.to_owned(), size_bytes, about: None, verified_at: None, result: BackupResult::Foreign };
    let read = front(path).and_then(|front| {
        let contents = keys.map(|keys| front.contents(keys, path)).transpose();
        let counts = contents.as_ref().ok().and_then(|contents| Some(contents.as_ref()?.census.counts()));
        info.about = Some(front.about(counts));
        match contents? {
            Some(contents) if front.database_at + contents.bytes != front.file_bytes => {
                Err(BackupError::damaged(path, "it does not have the right length"))
            }
            _ => Ok(()),
        }
    });
    let check = index.check_of(path, info.about.as_ref().map(|about| about.id), size_bytes);
    info.verified_at = check.map(|(at, _)| at);
    info.result = match (read, check) {
        (Err(error), _) => result_of(error),
        (Ok(()), Some((_, None))) => BackupResult::Verified,
        (Ok(()), Some((_, Some(reason)))) => BackupResult::Damaged { reason: reason.to_owned() },
        (Ok(()), None) => BackupResult::Unverified,
    };
    info
}

fn result_of(error: BackupError) -> BackupResult {
    match error {
        BackupError::Foreign { .. } => BackupResult::Foreign,
        BackupError::TooNew { .. } => BackupResult::TooNew,
        BackupError::WrongKey { .. } => BackupResult::WrongKey,
        BackupError::OtherVault { .. } => BackupResult::OtherVault,
        BackupError::Damaged { reason, .. } => BackupResult::Damaged { reason },
        error => BackupResult::Damaged { reason: error.to_string() },
    }
}
