//! The copy: every file of a profile, synced, read back and compared.

use crate::durable::{self, UNFINISHED};
use crate::{Profile, VaultError, erase, place};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes read at a time.
const PART: usize = 1 << 20;

/// What a profile consists of, relative to its folder; folders before what is in them.
#[derive(Debug, Default)]
pub(super) struct Contents(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    /// Bytes of a file; `None` = a folder.
    bytes: Option<u64>,
}

impl Contents {
    /// Everything in the folder but locks, work files, and what is still being written.
    pub fn of(profile: &Profile) -> Result<Self, VaultError> {
        let mut contents = Self::default();
        contents.list(profile, Path::new(""))?;
        let is_mid_restore = contents.0.iter().any(|entry| entry.path == Path::new(erase::JOURNAL));
        if is_mid_restore {
            let reason = "a restore of this vault is not finished; start Evenkeel again first".to_owned();
            return Err(VaultError::MoveRefused { path: profile.dir().to_owned(), reason });
        }
        Ok(contents)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.0.iter().filter_map(|entry| entry.bytes).sum()
    }

    /// The names.
    pub fn entries(&self) -> Vec<PathBuf> {
        self.0.iter().map(|entry| entry.path.clone()).collect()
    }

    /// Copies all of it from one folder to another, which holds none of it.
    pub fn copy(&self, from: &Path, to: &Path) -> Result<(), VaultError> {
        for entry in &self.0 {
            let copy = to.join(&entry.path);
            match entry.bytes {
                None => private_folder(&copy)?,
                Some(_) => copy_file(&from.join(&entry.path), &copy)?,
            }
        }
        for entry in &self.0 {
            // The folder of each entry, and so every folder.
            durable::sync_folder(&to.join(&entry.path))?;
        }
        Ok(())
    }

    fn list(&mut self, profile: &Profile, folder: &Path) -> Result<(), VaultError> {
        let listed = profile.dir().join(folder);
        let failed = |e| VaultError::unread(&listed, e);
        for entry in fs::read_dir(&listed).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = folder.join(entry.file_name());
            if is_left_behind(profile, &entry.path()) {
                continue;
            }
            let refused = |reason: &str| VaultError::MoveRefused { path: entry.path(), reason: reason.to_owned() };
            if path.to_str().is_none() {
                return Err(refused("its name is no text that can be written down; rename it"));
            }
            let about = entry.metadata().map_err(|e| VaultError::unread(&entry.path(), e))?;
            if about.is_symlink() {
                return Err(refused("it is a link, and what it leads to would not be moved; put the file itself in its place"));
            }
            if about.is_dir() {
                self.0.push(Entry { path: path.clone(), bytes: None });
                self.list(profile, &path)?;
            } else if about.is_file() {
                self.0.push(Entry { path, bytes: Some(about.len()) });
            } else {
                return Err(refused("it is neither a file nor a folder; take it out of the data folder"));
            }
        }
        Ok(())
    }
}

/// Whether something in the profile means nothing in another folder.
fn is_left_behind(profile: &Profile, path: &Path) -> bool {
    let is_unfinished = path.file_name().is_some_and(|name| name.to_string_lossy().contains(UNFINISHED));
    let own = [profile.work(), profile.jobs(), profile.logs(), profile.run(), profile.reserve(), profile.lock_file()];
    let is_own = own.iter().any(|own| own == path) || path == profile.dir().join(place::FILE);
    is_own || (is_unfinished && path.parent() == Some(profile.dir()))
}

/// Removes the entries of a copy, the last first; folders only where nothing else is in them.
pub(super) fn remove(folder: &Path, entries: &[PathBuf]) -> Result<(), VaultError> {
    for path in entries.iter().rev().map(|entry| folder.join(entry)) {
        let removed = match fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => fs::remove_dir(&path),
            Ok(_) => fs::remove_file(&path),
            Err(e) => Err(e),
        };
        match removed {
            Err(e) if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
                return Err(VaultError::io("Removing", &path, e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes a folder that only its owner may open.
pub(super) fn private_folder(path: &Path) -> Result<(), VaultError> {
    crate::profile::private_folder(path).map_err(|e| VaultError::io("Making the folder", path, e))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), VaultError> {
    let mut source = File::open(from).map_err(|e| VaultError::unread(from, e))?;
    // create_new: never write through a link that someone put there.
    let made = durable::private_file(OpenOptions::new().write(true).create_new(true), to);
    let mut copy = made.map_err(|e| VaultError::io("Writing", to, e))?;
    let read = pump(&mut source, from, |part| copy.write_all(part).map_err(|e| VaultError::io("Writing", to, e)))?;
    copy.sync_all().map_err(|e| VaultError::io("Syncing", to, e))?;
    drop(copy);
    let mut written = File::open(to).map_err(|e| VaultError::unread(to, e))?;
    if pump(&mut written, to, |_| Ok(()))? == read {
        return Ok(());
    }
    Err(VaultError::damaged(to.display().to_string(), "it reads back differently from what was written"))
}

/// Reads a file to its end and gives its SHA-256.
fn pump(file: &mut File, path: &Path, mut take: impl FnMut(&[u8]) -> Result<(), VaultError>) -> Result<[u8; 32], VaultError> {
    let (mut hash, mut part) = (Sha256::new(), vec![0; PART]);
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(read) => {
                hash.update(&part[..read]);
                take(&part[..read])?;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(VaultError::unread(path, e)),
        }
    }
}
