//! The folder that the data is to be moved to.

use crate::place::{Note, Stand, real};
use crate::{Place, Profile, VaultError};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder that is made in one that holds something else.
const FOLDER: &str = "evenkeel";
/// Left free beside what is copied, in bytes: the database writes a log when it is opened.
const SPARE: u64 = 16 << 20;

/// A folder that is new or empty.
#[derive(Debug)]
pub(super) struct Target {
    pub profile: Profile,
    /// It has to be made.
    pub is_new: bool,
}

/// What is at a path.
enum Found {
    Nothing,
    /// A folder with nothing in it, or a place that the data was moved away from.
    Free,
    Taken,
}

impl Target {
    /// The folder that is meant by `folder`.
    pub fn choose(profile: &Profile, folder: &Path) -> Result<Self, VaultError> {
        let refused = |reason: &str| Err(refused(folder, reason));
        if !folder.is_absolute() {
            return refused("it is not the whole path of a folder");
        }
        let profile_dir = real(profile.dir())?;
        let chosen = resolved(folder)?;
        let (dir, found) = match look(&chosen, profile)? {
            Found::Taken => {
                let inside = chosen.join(FOLDER);
                let found = look(&inside, profile)?;
                (inside, found)
            }
            found => (chosen, found),
        };
        if dir.starts_with(&profile_dir) {
            return refused("it lies in the folder that the data is in");
        }
        if profile_dir.starts_with(&dir) {
            return refused("the folder that the data is in lies in it");
        }
        if dir.to_str().is_none() {
            return refused("its name is no text that can be written down");
        }
        match found {
            Found::Taken => refused("neither it nor the folder evenkeel in it is empty"),
            found => Ok(Self { profile: Profile::new(dir), is_new: matches!(found, Found::Nothing) }),
        }
    }

    /// Refuses a disk on which `bytes` have no room. Where the system does not say how much is free,
    /// the copy itself will tell.
    pub fn check_room(&self, bytes: u64) -> Result<(), VaultError> {
        let folder = if self.is_new { self.profile.dir().parent() } else { Some(self.profile.dir()) };
        let free = folder.and_then(free_bytes);
        has_room(self.profile.dir(), bytes, free)
    }
}

/// Refuses `free` bytes that are too few for `bytes`.
pub(super) fn has_room(path: &Path, bytes: u64, free: Option<u64>) -> Result<(), VaultError> {
    let needed = bytes.saturating_add(SPARE);
    match free {
        Some(free) if free < needed => Err(VaultError::NoRoom { path: path.to_owned(), needed, free }),
        _ => Ok(()),
    }
}

/// Whether a folder holds nothing but what taking the lock of a profile makes.
pub(super) fn is_bare(profile: &Profile) -> Result<bool, VaultError> {
    is_bare_but(profile.dir(), |_| false).map_err(|e| VaultError::unread(profile.dir(), e))
}

/// The path without links; the last part of it need not exist.
fn resolved(folder: &Path) -> Result<PathBuf, VaultError> {
    match folder.canonicalize() {
        Ok(found) => return Ok(found),
        Err(e) if e.kind() == ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => {}
        Err(e) => return Err(refused(folder, &e.to_string())),
    }
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(refused(folder, "it names no folder"));
    };
    let around = parent.canonicalize().map_err(|_| refused(folder, "the folder around it does not exist"))?;
    Ok(around.join(name))
}

fn look(path: &Path, profile: &Profile) -> Result<Found, VaultError> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
        Err(e) => Err(refused(path, &e.to_string())),
        Ok(about) if about.is_symlink() => Err(refused(path, "it is a link")),
        Ok(about) if !about.is_dir() => Err(refused(path, "it is a file")),
        Ok(_) => {
            let is_free = is_bare_but(path, |name| name == crate::place::FILE);
            let is_free = is_free.map_err(|e| refused(path, &e.to_string()))? && leads_here(path, profile);
            Ok(if is_free { Found::Free } else { Found::Taken })
        }
    }
}

fn refused(path: &Path, reason: &str) -> VaultError {
    VaultError::MoveRefused { path: path.to_owned(), reason: reason.to_owned() }
}

/// Whether a folder's note, if it has one, is that of a place that the data was moved away from.
fn leads_here(path: &Path, profile: &Profile) -> bool {
    let folder = Profile::new(path.to_owned());
    match Note::read(&folder) {
        Ok(None) => true,
        Ok(Some(Note { stand: Stand::Left { .. }, .. })) => {
            let here = Place::of(&folder).and_then(|place| real(place.profile().dir()));
            here.is_ok_and(|here| real(profile.dir()).is_ok_and(|mine| here == mine))
        }
        _ => false,
    }
}

fn is_bare_but(folder: &Path, is_spared: impl Fn(&str) -> bool) -> std::io::Result<bool> {
    let profile = Profile::new(folder.to_owned());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let is_lock = path == profile.lock_file() && entry.file_type()?.is_file();
        let is_folder = (path == profile.backups() || path == profile.models()) && entry.file_type()?.is_dir();
        let is_empty = is_folder && fs::read_dir(&path)?.next().is_none();
        // They say nothing of a vault, and are begun wherever the app was started.
        let is_started = (path == profile.logs() || path == profile.run()) && entry.file_type()?.is_dir();
        if !(is_lock || is_empty || is_started || is_spared(&entry.file_name().to_string_lossy())) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}
