//! Key slots that come back with a backup.

use crate::{KeyFile, Profile, VaultError, VaultLock};

/// Gives the profile the key slots of a backup, where it has none that can be read. Slots of the
/// same vault that are there stay: they may be newer than those of the backup. Those of another root
/// key of the same vault are written over, since they do not open what comes with these; whoever may need them
/// again has kept them. Damaged copies are set aside first. Doing it twice is the same as doing it once.
///
/// Answers whether the slots were written.
///
/// # Errors
/// [`VaultError::InUse`] without the exclusive lock of `profile`; [`VaultError::Exists`] if the
/// profile has the slots of another vault; [`VaultError::TooNew`], [`VaultError::Io`].
pub fn adopt_key_slots(profile: &Profile, key_file: &KeyFile, lock: &VaultLock) -> Result<bool, VaultError> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    match KeyFile::read(profile) {
        Ok(present) if present.vault_id() == key_file.vault_id() => {
            if present.is_of_same_root(key_file) {
                return Ok(false);
            }
            key_file.supersede(profile)?;
            return Ok(true);
        }
        Ok(present) => return Err(VaultError::Exists { found: format!("vault {}", present.vault_id()) }),
        Err(VaultError::Damaged { .. }) => KeyFile::clear_away(profile)?,
        Err(VaultError::NoVault) => {}
        Err(error) => return Err(error),
    }
    profile.prepare()?;
    key_file.publish(profile)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{CreateOptions, create, unlock_recovery};
    use std::fs;

    fn made(dir: &std::path::Path, name: &str) -> (Profile, crate::Created, VaultLock) {
        let profile = Profile::new(dir.join(name));
        let lock = VaultLock::exclusive(&profile).unwrap();
        let created = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
        (profile, created, lock)
    }

    #[test]
    fn an_empty_profile_takes_them_and_its_own_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (_, made, _lock) = made(dir.path(), "old");
        let empty = Profile::new(dir.path().join("new"));
        let lock = VaultLock::exclusive(&empty).unwrap();
        assert!(adopt_key_slots(&empty, &made.key_file, &lock).unwrap());
        let read = KeyFile::read(&empty).unwrap();
        assert!(unlock_recovery(&read, &made.recovery_code.text()).is_ok());
        assert!(!adopt_key_slots(&empty, &made.key_file, &lock).unwrap());
    }

    #[test]
    fn damaged_copies_are_set_aside_and_another_vault_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (profile, first, lock) = made(dir.path(), "first");
        let (_, second, _second_lock) = made(dir.path(), "second");
        let refused = adopt_key_slots(&profile, &second.key_file, &lock);
        assert!(matches!(refused, Err(VaultError::Exists { .. })));
        assert_eq!(KeyFile::read(&profile).unwrap().vault_id(), first.key_file.vault_id());
        for copy in [profile.key_slots(), profile.key_slots_copy()] {
            fs::write(copy, b"not what it was").unwrap();
        }
        assert!(adopt_key_slots(&profile, &first.key_file, &lock).unwrap());
        assert_eq!(KeyFile::read(&profile).unwrap().vault_id(), first.key_file.vault_id());
        assert_eq!(fs::read(profile.dir().join("vault.keys.damaged-1")).unwrap(), b"not what it was");
    }

    #[test]
    fn a_shared_lock_is_not_enough() {
        let dir = tempfile::tempdir().unwrap();
        let (_, made, _lock) = made(dir.path(), "old");
        let empty = Profile::new(dir.path().join("new"));
        let lock = VaultLock::shared(&empty).unwrap();
        assert!(matches!(adopt_key_slots(&empty, &made.key_file, &lock), Err(VaultError::InUse)));
        assert!(!empty.traces().any());
    }
}
