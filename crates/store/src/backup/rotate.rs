//! Deleting backups that are out of their time.

use super::info::{BackupId, BackupInfo, BackupResult, BackupStamp, VaultKeys};
use super::progress::{Progress, Step, Watch};
use super::{BackupError, index, list, verify};
use chrono::{DateTime, Utc};
use evenkeel_vault::Profile;
use std::fs;
use std::path::{Path, PathBuf};

/// Says which of the backups to keep. It is given all that may be deleted, newest first.
pub type Keep<'a> = dyn Fn(&[BackupStamp]) -> Vec<BackupId> + 'a;

/// How many backups whose checks were lost one rotation checks again: each is read whole.
const CHECKED_AGAIN: usize = 3;

/// Deletes the vault's backups in `folder` that `keep` does not name, and answers which they were.
/// Before that it checks up to three of those that are not verified.
///
/// Whatever `keep` says, these stay: the newest verified one, the one verified last, and every file
/// that is not verified, damaged, foreign, of another vault or of a newer version. A file that cannot
/// be deleted stays too.
///
/// # Errors
/// `FolderMissing` or `File` if the folder cannot be listed; `Cancelled`.
pub fn rotate(
    folder: &Path,
    keys: VaultKeys<'_>,
    keep: &Keep<'_>,
    (profile, now): (&Profile, DateTime<Utc>),
    watch: &mut Watch<'_>,
) -> Result<Vec<PathBuf>, BackupError> {
    let unverified = list(folder, Some(keys))?.into_iter().filter(|info| info.result == BackupResult::Unverified);
    for info in unverified.take(CHECKED_AGAIN) {
        match verify(&info.path, keys, profile, now, &mut |_| watch(Progress { step: Step::Rotating, done: 0, of: 0 })) {
            Err(BackupError::Cancelled) => return Err(BackupError::Cancelled),
            Err(error) => {
                tracing::warn!(code = error.code().as_str(), %error, "a backup whose check was lost could not be checked again")
            }
            Ok(_) => {}
        }
    }
    let found = list(folder, Some(keys))?;
    let mut removed = Vec::new();
    for info in out_of_time(&found, keep) {
        match fs::remove_file(&info.path) {
            Ok(()) => removed.push(info.path.clone()),
            Err(error) => {
                tracing::warn!(os = error.raw_os_error(), %error, "a backup that is out of its time could not be deleted")
            }
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
    let last = verified().max_by_key(|(stamp, info)| (info.verified_at, stamp.made_at));
    let (Some((newest, _)), Some((last, _))) = (newest, last) else { return Vec::new() };
    let mut kept = keep(&ours.iter().map(|(stamp, _)| *stamp).collect::<Vec<_>>());
    kept.extend([newest.id, last.id]);
    ours.iter().filter(|(stamp, _)| stamp.verified && !kept.contains(&stamp.id)).map(|(_, info)| *info).collect()
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
