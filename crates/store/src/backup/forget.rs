//! Deleting every older copy of a vault, so that what was deleted in it is nowhere any more.

use super::info::{BackupId, BackupInfo, BackupResult, VaultKeys};
use super::journal::{remove_set_aside, set_aside_databases};
use super::{BackupError, index, list};
use evenkeel_vault::Profile;
use std::fs;
use std::path::PathBuf;

/// Backups of the vault, and databases beside it, by what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forgotten {
    /// They are gone.
    pub removed: Vec<PathBuf>,
    /// They are still there: they could not be deleted, or it cannot be told whose they are.
    pub left: Vec<PathBuf>,
}

/// Deletes every backup of the vault in the profile but one, also those that an earlier key opens, and every database
/// that a restore or a rescue has set aside. What is of another vault or no backup at all stays and is not counted; what
/// is too damaged or too new to say whose it is stays and is listed.
///
/// # Errors
/// `NotProved` if the one that is to stay is not there or not verified: then nothing is deleted. `FolderMissing` or
/// `File` if a folder cannot be listed.
pub fn forget_others(profile: &Profile, keys: VaultKeys<'_>, kept: BackupId) -> Result<Forgotten, BackupError> {
    let folder = profile.backups();
    let found = list(&folder, Some(keys))?;
    let (stays, others): (Vec<_>, Vec<_>) = found.iter().partition(|info| info.about.as_ref().is_some_and(|it| it.id == kept));
    if !stays.iter().any(|info| info.result == BackupResult::Verified) {
        return Err(BackupError::NotProved { reason: "it is not in the folder of the backups any more".to_owned() });
    }
    let mut forgotten = Forgotten::default();
    for info in others {
        match whose(info, keys) {
            Whose::Ours if fs::remove_file(&info.path).is_ok() => forgotten.removed.push(info.path.clone()),
            Whose::Ours | Whose::Unknown => forgotten.left.push(info.path.clone()),
            Whose::Others => {}
        }
    }
    index::tidy(&folder);
    for path in set_aside_databases(profile)? {
        let gone = remove_set_aside(profile, &path).is_ok();
        if gone { &mut forgotten.removed } else { &mut forgotten.left }.push(path);
    }
    Ok(forgotten)
}

enum Whose {
    Ours,
    Others,
    Unknown,
}

fn whose(info: &BackupInfo, keys: VaultKeys<'_>) -> Whose {
    let vault = info.about.as_ref().map(|about| about.vault_id);
    match &info.result {
        BackupResult::Foreign | BackupResult::OtherVault => Whose::Others,
        BackupResult::TooNew => Whose::Unknown,
        _ if vault == Some(keys.vault_id) => Whose::Ours,
        _ if vault.is_some() => Whose::Others,
        _ => Whose::Unknown,
    }
}
