//! The folder that holds one vault, and what lies where in it.

use crate::{VaultError, durable::UNFINISHED, place};
use std::fs;
use std::path::{Path, PathBuf};

const DATABASE: &str = "vault.db";
const KEY_SLOTS: &str = "vault.keys";
/// Begins like the database, so that whatever removes a vault removes it too; it holds nothing.
const RESERVE: &str = "vault.db.reserve";

/// A profile folder: one vault, its key slots, its lock, its backups and its model files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    dir: PathBuf,
}

/// What of a vault exists in a profile folder. A new vault is made only if there is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traces {
    /// The database or a file beside it (`vault.db*`: write-ahead log, copies set aside).
    pub database: bool,
    /// A key-slot file, either copy, also a damaged one that was set aside (`vault.keys*`).
    pub key_slots: bool,
    /// Anything in the backup folder.
    pub backup: bool,
    /// A note that says that the data is in another folder.
    pub moved: bool,
    /// A folder could not be listed, so nobody knows; counts as a trace.
    pub unreadable: bool,
}

impl Traces {
    /// Whether anything of a vault may exist.
    #[must_use]
    pub fn any(self) -> bool {
        self.database || self.key_slots || self.backup || self.moved || self.unreadable
    }
}

impl std::fmt::Display for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = [
            (self.database, "a database"),
            (self.key_slots, "a key-slot file"),
            (self.backup, "a backup"),
            (self.moved, "a note that the data was moved"),
            (self.unreadable, "a folder that cannot be listed"),
        ];
        let found: Vec<_> = named.iter().filter(|(is_there, _)| *is_there).map(|(_, name)| *name).collect();
        f.write_str(&found.join(", "))
    }
}

impl Profile {
    /// The profile in `dir`. Nothing is read or made; see [`Profile::prepare`].
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The folder itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The encrypted database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    /// The first copy of the key-slot file.
    #[must_use]
    pub fn key_slots(&self) -> PathBuf {
        self.dir.join(KEY_SLOTS)
    }

    /// The second copy of the key-slot file.
    #[must_use]
    pub fn key_slots_copy(&self) -> PathBuf {
        self.dir.join("vault.keys.2")
    }

    /// The file that [`crate::VaultLock`] locks; it is empty.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.dir.join("vault.lock")
    }

    /// The folder of backups.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.dir.join("backups")
    }

    /// The folder of model files.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.dir.join("models")
    }

    /// The folder of installed strategies.
    #[must_use]
    pub fn plugins(&self) -> PathBuf {
        self.dir.join("plugins")
    }

    /// The folder of files that are being worked on; all of them are encrypted.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// The file whose room is given back when the disk is full; see [`crate::keep_reserve`].
    #[must_use]
    pub fn reserve(&self) -> PathBuf {
        self.dir.join(RESERVE)
    }

    /// The folder of the locks of jobs; its files are empty.
    #[must_use]
    pub fn jobs(&self) -> PathBuf {
        self.dir.join("jobs")
    }

    /// The folder of the log and of crash reports, which hold no content.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// The folder of the socket by which other processes reach the running app; it holds nothing of the vault.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// The note of a move, if there was one; see [`crate::Place`].
    pub(crate) fn place_note(&self) -> PathBuf {
        self.dir.join(place::FILE)
    }

    /// Makes the profile folder and its sub-folders where they are missing and, on Unix, takes
    /// all rights of others from them (mode 0700).
    ///
    /// # Errors
    /// [`VaultError::Io`].
    pub fn prepare(&self) -> Result<(), VaultError> {
        for folder in [self.dir.clone(), self.backups(), self.models()] {
            private_folder(&folder).map_err(|e| VaultError::io("Making the folder", &folder, e))?;
        }
        Ok(())
    }

    /// What of a vault exists here. Names are listed, not opened, so that a dangling link or a
    /// file without read permission counts too.
    #[must_use]
    pub fn traces(&self) -> Traces {
        let mut traces = Traces::default();
        match names(&self.dir) {
            Err(()) => traces.unreadable = true,
            Ok(names) => {
                let finished = names.iter().filter(|name| !name.contains(UNFINISHED));
                for name in finished {
                    traces.database |= name.starts_with(DATABASE) && name != RESERVE;
                    traces.key_slots |= name.starts_with(KEY_SLOTS);
                }
            }
        }
        match names(&self.backups()) {
            Err(()) => traces.unreadable = true,
            Ok(names) => traces.backup = !names.is_empty(),
        }
        traces.moved = place::leads_away(self);
        traces
    }
}

/// Names in a folder; none if there is no such folder.
fn names(folder: &Path) -> Result<Vec<String>, ()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(_) => return Err(()),
    };
    entries.map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()).map_err(|_| ())).collect()
}

pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        builder.mode(0o700).create(folder)?;
        // A folder that was there before keeps its mode otherwise.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
    }
    #[cfg(not(unix))]
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn profile() -> (tempfile::TempDir, Profile) {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().join("profile"));
        (dir, profile)
    }

    #[test]
    fn an_absent_and_a_prepared_folder_have_no_traces() {
        let (_dir, profile) = profile();
        assert!(!profile.traces().any());
        profile.prepare().unwrap();
        fs::write(profile.lock_file(), b"").unwrap();
        fs::write(profile.reserve(), b"nothing").unwrap();
        fs::write(profile.models().join("m.gguf"), b"x").unwrap();
        fs::write(profile.dir().join("vault.keys.unfinished-12"), b"x").unwrap();
        assert!(!profile.traces().any());
    }

    #[test]
    fn every_remains_of_a_vault_is_a_trace() {
        for (name, expected) in [
            ("vault.db", "a database"),
            ("vault.db-wal", "a database"),
            ("vault.db.pre-restore", "a database"),
            ("vault.keys", "a key-slot file"),
            ("vault.keys.2", "a key-slot file"),
            ("vault.keys.damaged-1", "a key-slot file"),
            ("backups/2026-01-01.evenkeel", "a backup"),
        ] {
            let (_dir, profile) = profile();
            profile.prepare().unwrap();
            fs::write(profile.dir().join(name), b"").unwrap();
            assert_eq!(profile.traces().to_string(), expected, "{name}");
            assert!(profile.traces().any(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_listed_counts_as_a_trace() {
        let (_dir, profile) = profile();
        // A file where a folder is expected cannot be listed, for root either.
        fs::write(profile.dir(), b"").unwrap();
        assert!(profile.traces().unreadable && profile.traces().any());
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_the_owners_alone_even_if_they_were_open() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, profile) = profile();
        fs::create_dir(profile.dir()).unwrap();
        fs::set_permissions(profile.dir(), fs::Permissions::from_mode(0o755)).unwrap();
        profile.prepare().unwrap();
        for folder in [profile.dir().to_owned(), profile.backups(), profile.models()] {
            assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
