//! Deleting backups that are out of their time.

use super::index;
use super::info::{BackupId, BackupInfo, BackupResult, BackupStamp, VaultKeys};
use super::{BackupError, list};
use std::fs;
use std::path::{Path, PathBuf};

/// Says which of the backups to keep. It is given all that may be deleted, newest first.
pub type Keep<'a> = dyn Fn(&[BackupStamp]) -> Vec<BackupId> + 'a;

/// Deletes the vault's backups in `folder` that `keep` does not name, and answers which they were.
///
/// Whatever `keep` says, these stay: the newest verified one, the one verified last, all of them
/// while none is verified, and every file that is damaged, foreign, of another vault or of a newer
/// version. A file that cannot be deleted stays too.
///
/// # Errors
/// `FolderMissing` or `File` if the folder cannot be listed.
pub fn rotate(folder: &Path, keys: VaultKeys<'_>, keep: &Keep<'_>) -> Result<Vec<PathBuf>, BackupError> {
    let found = list(folder, Some(keys))?;
    let mut removed = Vec::new();
    for info in out_of_time(&found, keep) {
        match fs::remove_file(&info.path) {
            Ok(()) => removed.push(info.path.clone()),
            Err(error) => tracing::warn!(%error, "a backup that is out of its time could not be deleted"),
        }
    }
    if !removed.is_empty() {
        index::tidy(folder);
    }
    Ok(removed)
}

/// Which of the files may go, now that `keep` was asked.
fn out_of_time<'a>(found: &'a [BackupInfo], keep: &Keep<'_>) -> Vec<&'a BackupInfo> {
    let ours: Vec<_> = found.iter().filter_map(|info| Some((stamp(info)?, info))).collect();
    let verified = || ours.iter().filter(|(stamp, _)| stamp.verified);
    // The two differ where the clock was once ahead.
    let newest = verified().max_by_key(|(stamp, _)| stamp.made_at);
    let last = verified().max_by_key(|(_, info)| info.verified_at);
    let (Some((newest, _)), Some((last, _))) = (newest, last) else { return Vec::new() };
    let mut kept = keep(&ours.iter().map(|(stamp, _)| *stamp).collect::<Vec<_>>());
    kept.extend([newest.id, last.id]);
    ours.iter().filter(|(stamp, _)| !kept.contains(&stamp.id)).map(|(_, info)| *info).collect()
}

/// What `keep` is told of a file; `None` where it is not ours to delete.
fn stamp(info: &BackupInfo) -> Option<BackupStamp> {
    let verified = match info.result {
        BackupResult::Verified => true,
        BackupResult::Unverified => false,
        _ => return None,
    };
    let about = info.about.as_ref()?;
    Some(BackupStamp { id: about.id, kind: about.kind, made_at: about.made_at, verified })
}

/// Removes half-written files of this vault in `folder` whose work is over.
pub(super) fn sweep_unfinished(folder: &Path, suffix: &str, goes_on: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let over = name.split_once(suffix).is_some_and(|(start, work)| start.starts_with("evenkeel-") && !goes_on(work));
        if over {
            // It counts for nothing; the next backup tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "rotate/tests.rs"]
mod tests;
