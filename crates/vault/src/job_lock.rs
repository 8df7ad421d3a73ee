//! Locks that keep the same job from running twice at once, in this process or another.

use crate::{Profile, VaultError, durable};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

/// The right to run a job. It is released when dropped and when the process ends, however it ends;
/// a process that is only stopped keeps it.
#[derive(Debug)]
pub struct JobLock {
    _file: File,
}

impl JobLock {
    /// Takes the right to run `job`, a name of lower-case letters; `None` while another has it.
    ///
    /// # Errors
    /// [`VaultError::Io`].
    pub fn take(profile: &Profile, job: &'static str) -> Result<Option<Self>, VaultError> {
        let file = open(profile, job)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(VaultError::io("Locking", &path(profile, job), e)),
        }
    }

    /// Whether someone has the right to run `job` at this moment.
    ///
    /// # Errors
    /// [`VaultError::Io`].
    pub fn is_taken(profile: &Profile, job: &'static str) -> Result<bool, VaultError> {
        // Shared, so that two who look do not see each other.
        match open(profile, job)?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(e)) => Err(VaultError::io("Locking", &path(profile, job), e)),
        }
    }
}

fn open(profile: &Profile, job: &'static str) -> Result<File, VaultError> {
    let folder = profile.jobs();
    crate::profile::private_folder(&folder).map_err(|e| VaultError::io("Making the folder", &folder, e))?;
    let path = path(profile, job);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    durable::private_file(&mut options, &path).map_err(|e| VaultError::io("Opening", &path, e))
}

fn path(profile: &Profile, job: &'static str) -> PathBuf {
    profile.jobs().join(format!("{job}.lock"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_has_it_until_it_is_dropped_and_jobs_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().join("profile"));
        assert!(!JobLock::is_taken(&profile, "backup").unwrap());
        let first = JobLock::take(&profile, "backup").unwrap().unwrap();
        assert!(JobLock::take(&profile, "backup").unwrap().is_none());
        assert!(JobLock::is_taken(&profile, "backup").unwrap());
        assert!(JobLock::take(&profile, "expiry").unwrap().is_some());
        drop(first);
        assert!(!JobLock::is_taken(&profile, "backup").unwrap());
        assert!(JobLock::take(&profile, "backup").unwrap().is_some());
        assert!(!profile.traces().any(), "locks are no traces of a vault");
    }
}
