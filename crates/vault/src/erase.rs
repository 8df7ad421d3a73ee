//! Erasing a vault: everything of it, and nothing else that lies in its folder.

use crate::{KeyFile, Profile, SecretStore, VaultError, VaultLock, durable};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Says that an erasure has begun; it is removed last.
const MARK: &str = "erasing.json";
/// The note of a restore that is under way.
pub(crate) const JOURNAL: &str = "restore.journal";
/// How the names of files of a vault begin.
const OURS: [&str; 3] = ["vault.db", "vault.keys", JOURNAL];

/// What is being erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Erasure {
    vault_id: Option<Uuid>,
    models: bool,
}

/// Erases the vault of a profile: database, key slots, backups, what restores have set aside, work
/// files, the keychain item and, if wished, the folder of model files. The profile's folder and
/// files in it that are none of Evenkeel's stay. From its first step on it will be finished, by
/// [`finish_erasure`] at the next start if need be. A keychain that does not answer is passed over:
/// what it holds opens nothing any more. Answers whether the keychain item is gone.
///
/// # Errors
/// [`VaultError::InUse`] without the exclusive lock of `profile`, [`VaultError::Io`].
pub fn erase(profile: &Profile, keychain: &dyn SecretStore, models: bool, lock: &VaultLock) -> Result<bool, VaultError> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    let erasure = Erasure { vault_id: KeyFile::read(profile).ok().map(|file| file.vault_id()), models };
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
        read => read.map_err(|e| VaultError::io("Reading", &mark(profile), e))?,
    };
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    // It was written whole or not at all; should it be damaged, the model files are spared.
    let erasure = serde_json::from_slice(&bytes).unwrap_or(Erasure { vault_id: None, models: false });
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
    let forgotten = erasure.vault_id.is_some_and(|vault_id| keychain.delete(vault_id).is_ok());
    durable::sync_folder(&mark(profile))?;
    remove_file(&mark(profile))?;
    durable::sync_folder(&mark(profile))?;
    Ok(forgotten)
}

/// Removes the files of a vault, with or without the folder of model files; all else stays.
pub(crate) fn remove_vault(profile: &Profile, models: bool) -> Result<(), VaultError> {
    // The key slots first: from then on nothing on this machine but the backups opens, and they go next.
    remove_files(profile, OURS[1])?;
    remove_folder(&profile.backups())?;
    for start in [OURS[0], OURS[2]] {
        remove_files(profile, start)?;
    }
    for folder in [profile.work(), profile.jobs()] {
        remove_folder(&folder)?;
    }
    if models { remove_folder(&profile.models()) } else { Ok(()) }
}

/// Whether there is a file of a vault, or anything in its folders.
pub(crate) fn has_files(profile: &Profile) -> bool {
    let names = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_ours = |name: std::ffi::OsString| OURS.iter().any(|start| name.to_string_lossy().starts_with(start));
    let folders = [profile.backups(), profile.work(), profile.jobs(), profile.models()];
    names(profile.dir()).any(is_ours) || folders.iter().any(|folder| names(folder).next().is_some())
}

fn mark(profile: &Profile) -> PathBuf {
    profile.dir().join(MARK)
}

fn remove_files(profile: &Profile, start: &str) -> Result<(), VaultError> {
    let failed = |e| VaultError::io("Listing", profile.dir(), e);
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
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{CreateOptions, KeychainError, create};
    use secrecy::{ExposeSecret, SecretString};
    use std::collections::HashMap;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Memory(Mutex<HashMap<Uuid, String>>);

    impl SecretStore for Memory {
        fn get(&self, vault: Uuid) -> Result<SecretString, KeychainError> {
            self.0.lock().unwrap().get(&vault).cloned().map(SecretString::from).ok_or(KeychainError::Missing)
        }
        fn set(&self, vault: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
            self.0.lock().unwrap().insert(vault, secret.expose_secret().to_owned());
            Ok(())
        }
        fn delete(&self, vault: Uuid) -> Result<(), KeychainError> {
            self.0.lock().unwrap().remove(&vault);
            Ok(())
        }
    }

    fn furnished(dir: &Path, keychain: &Memory) -> (Profile, VaultLock) {
        let profile = Profile::new(dir.join("profile"));
        let lock = VaultLock::exclusive(&profile).unwrap();
        create(&profile, CreateOptions { keychain: Some(keychain), ..CreateOptions::default() }, &lock).unwrap();
        for name in ["vault.db", "vault.db-wal", "vault.db.pre-restore-1", "vault.keys.damaged-1", "restore.journal"] {
            fs::write(profile.dir().join(name), b"x").unwrap();
        }
        for folder in [profile.work().join("backup-1"), profile.jobs()] {
            fs::create_dir_all(folder).unwrap();
        }
        for path in [profile.backups().join("a.ekbackup"), profile.models().join("m.gguf"), profile.dir().join("letter.txt")] {
            fs::write(path, b"x").unwrap();
        }
        (profile, lock)
    }

    fn left(profile: &Profile) -> Vec<String> {
        let entries = fs::read_dir(profile.dir()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn everything_of_the_vault_goes_and_the_rest_stays() {
        for (models, expected) in [(false, vec!["letter.txt", "models", "vault.lock"]), (true, vec!["letter.txt", "vault.lock"])]
        {
            let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
            let (profile, lock) = furnished(dir.path(), &keychain);
            assert!(erase(&profile, &keychain, models, &lock).unwrap());
            assert_eq!(left(&profile), expected);
            assert!(!profile.traces().any() && keychain.0.lock().unwrap().is_empty());
            create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
        }
    }

    #[test]
    fn an_erasure_that_was_cut_off_is_finished_and_never_without_the_lock() {
        let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
        let (profile, lock) = furnished(dir.path(), &keychain);
        assert!(!finish_erasure(&profile, &keychain, &lock).unwrap());
        let vault_id = KeyFile::read(&profile).unwrap().vault_id();
        let note = serde_json::to_vec(&Erasure { vault_id: Some(vault_id), models: false }).unwrap();
        fs::write(mark(&profile), note).unwrap();
        fs::remove_file(profile.key_slots()).unwrap();
        assert!(erasure_is_pending(&profile));
        let shared = lock.downgrade().unwrap();
        assert!(matches!(finish_erasure(&profile, &keychain, &shared), Err(VaultError::InUse)));
        assert!(matches!(erase(&profile, &keychain, true, &shared), Err(VaultError::InUse)));
        assert!(profile.database().exists());
        drop(shared);
        let lock = VaultLock::exclusive(&profile).unwrap();
        assert!(finish_erasure(&profile, &keychain, &lock).unwrap());
        assert_eq!(left(&profile), ["letter.txt", "models", "vault.lock"]);
        assert!(keychain.0.lock().unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_removed_and_not_followed() {
        let (dir, keychain) = (tempfile::tempdir().unwrap(), Memory::default());
        let (profile, lock) = furnished(dir.path(), &keychain);
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("m.gguf"), b"x").unwrap();
        fs::remove_dir_all(profile.models()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, profile.models()).unwrap();
        erase(&profile, &keychain, true, &lock).unwrap();
        assert!(elsewhere.join("m.gguf").exists() && fs::symlink_metadata(profile.models()).is_err());
    }
}
