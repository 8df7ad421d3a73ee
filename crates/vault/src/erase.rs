//! Erasing a vault: everything of it, and nothing else that lies in its folder.

use crate::{KeyFile, Profile, SecretStore, SlotKind, VaultError, VaultLock, durable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Says that an erasure has begun; it is removed last.
const MARK: &str = "erasing.json";
/// The note of a restore that is under way.
pub(crate) const JOURNAL: &str = "restore.journal";
/// Lists the vaults that were erased and whose keychain items are still to be removed: their ids alone.
const LEFT: &str = "forgetting.json";
/// How the names of files of a vault begin.
const OURS: [&str; 3] = ["vault.db", "vault.keys", JOURNAL];

/// What is being erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Erasure {
    vault_id: Option<Uuid>,
    models: bool,
    /// The vault is one that the keychain opens.
    #[serde(default = "yes")]
    has_item: bool,
}

/// What notes of earlier versions leave unsaid.
fn yes() -> bool {
    true
}

/// Erases the vault of a profile: database, key slots, backups, what restores have set aside, work
/// files, the keychain item and, if wished, the folder of model files. The profile's folder and
/// files in it that are none of Evenkeel's stay. From its first step on it will be finished, by
/// [`finish_erasure`] at the next start if need be. `key_file` is that of the open vault, since
/// those on the disk may have been damaged meanwhile.
///
/// Answers whether the keychain item is gone. A keychain that is locked or does not answer keeps it,
/// and it still opens backups that were saved elsewhere: [`forget_left_items`] tries again.
///
/// # Errors
/// [`VaultError::InUse`] without the exclusive lock of `profile`, [`VaultError::Io`].
pub fn erase(
    profile: &Profile,
    keychain: &dyn SecretStore,
    key_file: &KeyFile,
    models: bool,
    lock: &VaultLock,
) -> Result<bool, VaultError> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    let erasure = Erasure { vault_id: Some(key_file.vault_id()), models, has_item: key_file.has(SlotKind::Keychain) };
    let bytes = serde_json::to_vec(&erasure)
        .map_err(|e| VaultError::Io { what: "Writing the note of the erasure as JSON".to_owned(), source: e.into() })?;
    durable::write(&mark(profile), &bytes)?;
    finish(profile, keychain, erasure)
}

/// Finishes an erasure that was interrupted, if there is one. Call it at each start, before the
/// vault is looked for; without one it does nothing, whatever `lock` is. Answers whether there was
/// one.
///
/// # Errors
/// [`VaultError::InUse`] without the exclusive lock of `profile`, [`VaultError::Io`].
pub fn finish_erasure(profile: &Profile, keychain: &dyn SecretStore, lock: &VaultLock) -> Result<bool, VaultError> {
    let bytes = match fs::read(mark(profile)) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        read => read.map_err(|e| VaultError::unread(&mark(profile), e))?,
    };
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    // It was written whole or not at all; should it be damaged, the model files are spared.
    let mut erasure: Erasure =
        serde_json::from_slice(&bytes).unwrap_or(Erasure { vault_id: None, models: false, has_item: true });
    if erasure.vault_id.is_none() {
        erasure.vault_id = KeyFile::read(profile).ok().map(|file| file.vault_id());
    }
    finish(profile, keychain, erasure)?;
    Ok(true)
}

/// Whether an erasure was interrupted.
#[must_use]
pub fn erasure_is_pending(profile: &Profile) -> bool {
    mark(profile).exists()
}

fn finish(profile: &Profile, keychain: &dyn SecretStore, erasure: Erasure) -> Result<bool, VaultError> {
    remove_vault(profile, erasure.models)?;
    let is_forgotten = match erasure.vault_id {
        Some(vault_id) if keychain.delete(vault_id).is_err() && erasure.has_item => {
            let mut left = left_items(profile)?;
            left.insert(vault_id);
            note_left_items(profile, &left)?;
            false
        }
        known => known.is_some(),
    };
    durable::sync_folder(&mark(profile))?;
    remove_file(&mark(profile))?;
    durable::sync_folder(&mark(profile))?;
    Ok(is_forgotten)
}

/// Removes the files of a vault, with or without the folder of model files; all else stays.
pub(crate) fn remove_vault(profile: &Profile, models: bool) -> Result<(), VaultError> {
    // The key slots first: from then on nothing on this machine but the backups opens, and they go next.
    remove_files(profile, OURS[1])?;
    remove_folder(&profile.backups())?;
    for start in [OURS[0], OURS[2]] {
        remove_files(profile, start)?;
    }
    for folder in [profile.work(), profile.jobs(), profile.plugins(), profile.logs()] {
        remove_folder(&folder)?;
    }
    if models { remove_folder(&profile.models()) } else { Ok(()) }
}

/// Whether there is a file of a vault, a note of erased ones, or anything in its folders.
pub(crate) fn has_files(profile: &Profile) -> bool {
    let names = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_ours = |name: std::ffi::OsString| name == LEFT || OURS.iter().any(|start| name.to_string_lossy().starts_with(start));
    let folders = [profile.backups(), profile.work(), profile.jobs(), profile.plugins(), profile.models()];
    names(profile.dir()).any(is_ours) || folders.iter().any(|folder| names(folder).next().is_some())
}

/// Tries again to remove the keychain items of erased vaults that could not be removed before.
/// Answers how many are left. Costs nothing where there are none; else it may take as long as the
/// keychain does.
///
/// # Errors
/// [`VaultError::Io`].
pub fn forget_left_items(profile: &Profile, keychain: &dyn SecretStore) -> Result<usize, VaultError> {
    let noted = left_items(profile)?;
    if noted.is_empty() {
        return Ok(0);
    }
    let in_use = match KeyFile::read(profile) {
        Ok(file) => Some(file.vault_id()),
        Err(VaultError::NoVault) => None,
        // One of them may have come back with a backup: that is known once its key slots can be read.
        Err(_) => return Ok(noted.len()),
    };
    let is_gone = |id: Uuid| Some(id) == in_use || keychain.delete(id).is_ok();
    let gone: BTreeSet<Uuid> = noted.into_iter().filter(|id| is_gone(*id)).collect();
    // Read again: the keychain may have taken minutes, in which another vault was erased.
    let mut left = left_items(profile)?;
    left.retain(|id| !gone.contains(id));
    note_left_items(profile, &left)?;
    Ok(left.len())
}

fn left_items(profile: &Profile) -> Result<BTreeSet<Uuid>, VaultError> {
    let path = profile.dir().join(LEFT);
    match fs::read(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(BTreeSet::new()),
        // It is written whole or not at all; one that cannot be understood names nothing.
        read => Ok(serde_json::from_slice(&read.map_err(|e| VaultError::unread(&path, e))?).unwrap_or_default()),
    }
}

/// Takes the note of keychain items along with a vault that was moved, and out of its old folder.
pub(crate) fn hand_over_left_items(from: &Profile, to: &Profile) -> Result<(), VaultError> {
    let left = left_items(from)?;
    if !left.is_empty() {
        note_left_items(to, &(&left_items(to)? | &left))?;
    }
    remove_file(&from.dir().join(LEFT))
}

fn note_left_items(profile: &Profile, left: &BTreeSet<Uuid>) -> Result<(), VaultError> {
    let path = profile.dir().join(LEFT);
    if left.is_empty() {
        return remove_file(&path);
    }
    let bytes = serde_json::to_vec(left)
        .map_err(|e| VaultError::Io { what: "Writing the note of keychain items as JSON".to_owned(), source: e.into() })?;
    durable::write(&path, &bytes)
}

fn mark(profile: &Profile) -> PathBuf {
    profile.dir().join(MARK)
}

fn remove_files(profile: &Profile, start: &str) -> Result<(), VaultError> {
    let failed = |e| VaultError::unread(profile.dir(), e);
    for entry in fs::read_dir(profile.dir()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(start);
        if is_ours && !entry.path().is_dir() {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

pub(crate) fn remove_file(path: &Path) -> Result<(), VaultError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(VaultError::io("Removing", path, e)),
        _ => Ok(()),
    }
}

/// A link in place of the folder is removed, and what it leads to stays.
fn remove_folder(path: &Path) -> Result<(), VaultError> {
    let removed = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    removed.map_err(|e| VaultError::io("Removing", path, e))
}

#[cfg(test)]
mod tests;
