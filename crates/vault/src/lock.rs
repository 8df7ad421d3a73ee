//! The lock file that keeps processes apart: shared while a vault is open, exclusive while it is
//! made, migrated, restored or re-keyed.

use crate::{Profile, VaultError, durable};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

/// A held lock. It is released when dropped and when the process ends, however it ends.
#[derive(Debug)]
pub struct VaultLock {
    file: File,
    path: PathBuf,
    exclusive: bool,
}

impl VaultLock {
    /// Takes the lock for using the vault beside other processes.
    ///
    /// # Errors
    /// [`VaultError::InUse`] while another holds it exclusively, [`VaultError::Io`].
    pub fn shared(profile: &Profile) -> Result<Self, VaultError> {
        Self::take(profile, false)
    }

    /// Takes the lock for a change that excludes every other process.
    ///
    /// # Errors
    /// [`VaultError::InUse`] while anyone else holds it, [`VaultError::Io`].
    pub fn exclusive(profile: &Profile) -> Result<Self, VaultError> {
        Self::take(profile, true)
    }

    /// Turns an exclusive lock into a shared one, once the change is done. Another process may
    /// come between on systems that cannot do it in one step.
    ///
    /// # Errors
    /// [`VaultError::InUse`] if another process took it exclusively in between, [`VaultError::Io`].
    pub fn downgrade(mut self) -> Result<Self, VaultError> {
        if cfg!(windows) {
            // LockFileEx stacks locks of one handle instead of converting them.
            self.file.unlock().map_err(|e| VaultError::io("Unlocking", &self.path, e))?;
        }
        self.exclusive = false;
        self.acquire()
    }

    /// Whether every other process is kept out.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Whether it is the exclusive lock of `profile`.
    #[must_use]
    pub fn is_exclusive_of(&self, profile: &Profile) -> bool {
        self.exclusive && self.path == profile.lock_file()
    }

    fn take(profile: &Profile, exclusive: bool) -> Result<Self, VaultError> {
        profile.prepare()?;
        let path = profile.lock_file();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = durable::private_file(&mut options, &path).map_err(|e| VaultError::io("Opening", &path, e))?;
        Self { file, path, exclusive }.acquire()
    }

    fn acquire(self) -> Result<Self, VaultError> {
        let taken = if self.exclusive { self.file.try_lock() } else { self.file.try_lock_shared() };
        match taken {
            Ok(()) => Ok(self),
            Err(TryLockError::WouldBlock) => Err(VaultError::InUse),
            Err(TryLockError::Error(e)) => Err(VaultError::io("Locking", &self.path, e)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn shared_locks_coexist_and_exclusive_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().to_owned());
        let first = VaultLock::shared(&profile).unwrap();
        let second = VaultLock::shared(&profile).unwrap();
        assert!(matches!(VaultLock::exclusive(&profile), Err(VaultError::InUse)));
        drop((first, second));
        let alone = VaultLock::exclusive(&profile).unwrap();
        assert!(alone.is_exclusive());
        assert!(matches!(VaultLock::shared(&profile), Err(VaultError::InUse)));
        let shared = alone.downgrade().unwrap();
        assert!(!shared.is_exclusive());
        VaultLock::shared(&profile).unwrap();
        assert!(matches!(VaultLock::exclusive(&profile), Err(VaultError::InUse)));
    }
}
