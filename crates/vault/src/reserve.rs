//! Room that is kept on the disk so that deleting works when the disk is full: deleting writes first, to the
//! database's log, and only then gives room back.

use crate::durable::private_file;
use crate::{Profile, VaultError};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Bytes that are kept: enough for the log of a few thousand deleted messages.
pub const RESERVE_BYTES: u64 = 4 << 20;
/// Bytes written at a time where the system cannot set room aside.
const PART: usize = 1 << 16;

/// Keeps the reserve of a profile, where there is none; answers whether it is there now. Where the disk has no
/// room for twice as much, it is left for another time.
///
/// # Errors
/// [`VaultError::Io`] for anything but a full disk.
pub fn keep_reserve(profile: &Profile) -> Result<bool, VaultError> {
    let path = profile.reserve();
    if fs::metadata(&path).is_ok_and(|about| about.len() >= RESERVE_BYTES) {
        return Ok(true);
    }
    let kept = private_file(OpenOptions::new().write(true).create(true).truncate(true), &path).and_then(|file| fill(&file));
    match kept {
        Ok(()) => Ok(true),
        Err(error) => {
            // Half a reserve would take the room that others need now.
            let _ = fs::remove_file(&path);
            match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Ok(false),
                _ => Err(VaultError::io("Writing", &path, error)),
            }
        }
    }
}

/// Gives the reserve back to the disk; answers whether there was one.
///
/// # Errors
/// [`VaultError::Io`].
pub fn release_reserve(profile: &Profile) -> Result<bool, VaultError> {
    release(&profile.reserve())
}

fn release(path: &Path) -> Result<bool, VaultError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(VaultError::io("Removing", path, error)),
    }
}

#[cfg(target_os = "linux")]
fn fill(file: &File) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    // Twice as much has to be free: the last room belongs to what is said, not to the reserve.
    match fallocate(file, FallocateFlags::empty(), 0, 2 * RESERVE_BYTES) {
        Ok(()) => file.set_len(RESERVE_BYTES).and_then(|()| file.sync_all()),
        Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => write(file),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn fill(file: &File) -> std::io::Result<()> {
    write(file)
}

/// Writes bytes that no file system can fold together.
fn write(mut file: &File) -> std::io::Result<()> {
    let (mut part, mut state) = (vec![0; PART], 1_u64);
    for _ in 0..RESERVE_BYTES / PART as u64 {
        for chunk in part.chunks_exact_mut(8) {
            // xorshift64: noise, and nothing secret.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&part)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn it_is_kept_once_and_given_back_once() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::new(folder.path().join("profile"));
        profile.prepare().unwrap();
        assert!(!release_reserve(&profile).unwrap());
        assert!(keep_reserve(&profile).unwrap() && keep_reserve(&profile).unwrap());
        assert_eq!(fs::metadata(profile.reserve()).unwrap().len(), RESERVE_BYTES);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, PermissionsExt};
            let about = fs::metadata(profile.reserve()).unwrap();
            assert!(about.blocks() * 512 >= RESERVE_BYTES, "its room is really taken");
            assert_eq!(about.permissions().mode() & 0o077, 0);
        }
        assert!(release_reserve(&profile).unwrap() && !release_reserve(&profile).unwrap());
    }

    #[test]
    fn what_is_written_where_nothing_can_be_set_aside_is_as_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reserve");
        write(&File::create(&path).unwrap()).unwrap();
        let bytes = fs::read(path).unwrap();
        assert_eq!(bytes.len() as u64, RESERVE_BYTES);
        assert_ne!(bytes[..PART], bytes[PART..2 * PART]);
    }
}
