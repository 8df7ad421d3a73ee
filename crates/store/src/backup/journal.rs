//! The note that makes a restore a swap: from the moment it is on disk the restore will be
//! finished, by this process or by the next start.

use super::check::pump;
use super::progress::{Step, Watch, announce};
use super::{BackupError, work};
use crate::StoreError;
use crate::file::{sync_folder, with_suffix};
use evenkeel_vault::{KeyFile, Profile, VaultLock, adopt_key_slots, write_durably};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const NAME: &str = "restore.journal";
const FORMAT: u32 = 1;
/// What the present database is called from then on: this and a time.
const ASIDE: &str = ".pre-restore-";
/// The restored database in its work folder.
pub(super) const READY: &str = "ready.db";
/// Key slots to be taken over, in the same folder.
pub(super) const SLOTS: &str = "ready.keys";
/// What may lie beside a database that was set aside.
const BESIDE: [&str; 3] = ["-wal", "-journal", SLOTS_BESIDE];
/// Where the key slots of a database that was set aside are kept, if those in force do not open it.
const SLOTS_BESIDE: &str = "-keys";

/// What is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Journal {
    format: u32,
    /// The work folder that holds the restored database.
    work: String,
    /// The name that the present database gets.
    aside: String,
    /// Whether the profile takes over the backup's key slots.
    adopts_key_slots: bool,
    /// SHA-256 of the restored database, in hex.
    sha256: String,
}

/// What became of an interrupted restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingRestore {
    /// There was none.
    None,
    /// It was finished: the restored database is in its place.
    Finished,
    /// It could not be finished: the database from before is in its place again.
    Undone,
}

/// Whether a restore was interrupted after its point of no return. Ask before looking for a vault:
/// while it is pending there may be no database in its place.
#[must_use]
pub fn restore_is_pending(profile: &Profile) -> bool {
    path(profile).exists()
}

/// Finishes an interrupted restore, or undoes it if the restored database is not whole. Call it at
/// each start, before the vault is looked for; it needs no key, and without an interrupted restore
/// it does nothing, whatever `lock` is.
///
/// # Errors
/// `InUse` without the exclusive lock of `profile`; `JournalDamaged`; `File`, `NotWritable`,
/// `Vault`: it can be called again.
pub fn finish_pending_restore(profile: &Profile, lock: &VaultLock) -> Result<PendingRestore, BackupError> {
    let Some(journal) = Journal::read(profile)? else { return Ok(PendingRestore::None) };
    if !lock.is_exclusive_of(profile) {
        return Err(BackupError::InUse);
    }
    let ready = journal.folder(profile).join(READY);
    let whole = match hash_of(&ready) {
        Ok(sha256) => sha256 == journal.sha256,
        Err(BackupError::FolderMissing { .. }) => false,
        Err(error) => return Err(error),
    };
    // Without the copy, a database in its place is the restored one: it was moved there.
    if whole || (!ready.exists() && profile.database().exists()) {
        journal.finish(profile, lock, &mut |_| ControlFlow::Continue(()))?;
        return Ok(PendingRestore::Finished);
    }
    journal.undo(profile, lock)?;
    Ok(PendingRestore::Undone)
}

/// Databases that restores have set aside, oldest first, each with the files whose names go on with
/// `-wal` or `-journal`. They stay until [`remove_set_aside`].
///
/// # Errors
/// `FolderMissing` or `File` if the profile's folder cannot be listed.
pub fn set_aside_databases(profile: &Profile) -> Result<Vec<PathBuf>, BackupError> {
    let failed = |source| BackupError::file("list", profile.dir(), source);
    let start = aside_start(profile);
    let mut found = Vec::new();
    for entry in fs::read_dir(profile.dir()).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&start) && !BESIDE.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Deletes a database that a restore has set aside, with its log. Whoever calls it has made sure that
/// a newer backup was verified.
///
/// # Errors
/// `FolderMissing` or `File`, also if `path` is none of [`set_aside_databases`]; what is not deleted is
/// listed as before.
pub fn remove_set_aside(profile: &Profile, path: &Path) -> Result<(), BackupError> {
    let is_pending = Journal::read(profile)?.is_some_and(|journal| journal.aside(profile) == path);
    if is_pending || !set_aside_databases(profile)?.iter().any(|known| known == path) {
        return Err(BackupError::file("remove", path, ErrorKind::NotFound.into()));
    }
    // The log first: it is listed as long as the database is there.
    for end in BESIDE {
        remove_if_there(&with_suffix(path, end))?;
    }
    remove_if_there(path)?;
    sync(path)
}

/// Fails if the database at `database` is about to be replaced.
pub(crate) fn refuse_pending(database: &Path) -> Result<(), StoreError> {
    let journal = database.with_file_name(NAME);
    if journal.exists() { Err(StoreError::RestorePending { path: journal }) } else { Ok(()) }
}

/// The work folder that an interrupted restore still needs.
pub(super) fn work_in_use(profile: &Profile) -> Result<Option<String>, BackupError> {
    Ok(Journal::read(profile)?.map(|journal| journal.work))
}

impl Journal {
    /// A note for a restored database that lies in the work folder `work`.
    pub(super) fn new(
        profile: &Profile,
        work: String,
        time: &str,
        adopts_key_slots: bool,
        ready: &Path,
    ) -> Result<Self, BackupError> {
        Ok(Self { format: FORMAT, work, aside: free_name(profile, time), adopts_key_slots, sha256: hash_of(ready)? })
    }

    /// Where a database would be kept that is set aside now.
    pub(super) fn free_aside(profile: &Profile, time: &str) -> PathBuf {
        profile.dir().join(free_name(profile, time))
    }

    /// Makes it the point of no return.
    pub(super) fn write(&self, profile: &Profile) -> Result<(), BackupError> {
        let bytes =
            serde_json::to_vec(self).map_err(|error| StoreError::defect(format!("a journal has no JSON form ({error})")))?;
        Ok(write_durably(&path(profile), &bytes)?)
    }

    fn read(profile: &Profile) -> Result<Option<Self>, BackupError> {
        let path = path(profile);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| BackupError::file("read", &path, source))?,
        };
        let journal: Self = serde_json::from_slice(&bytes).map_err(|error| BackupError::journal(&path, error))?;
        // Names from a file never lead out of the profile.
        let is_name = |name: &str| Path::new(name).file_name().is_some_and(|last| last == name);
        if journal.format != FORMAT {
            return Err(BackupError::journal(&path, "its format number is not known"));
        }
        if !is_name(&journal.work) || !is_name(&journal.aside) || !journal.aside.starts_with(&aside_start(profile)) {
            return Err(BackupError::journal(&path, "it names files that are none of a restore"));
        }
        Ok(Some(journal))
    }

    /// Where the present database goes.
    pub(super) fn aside(&self, profile: &Profile) -> PathBuf {
        profile.dir().join(&self.aside)
    }

    fn folder(&self, profile: &Profile) -> PathBuf {
        work::place(profile).join(&self.work)
    }

    /// Does what is left to do. Each step may have been done already.
    pub(super) fn finish(&self, profile: &Profile, lock: &VaultLock, watch: &mut Watch<'_>) -> Result<(), BackupError> {
        announce(watch, Step::Swapping);
        let (ready, database) = (self.folder(profile).join(READY), profile.database());
        if self.adopts_key_slots {
            self.adopt(profile, lock)?;
        }
        if ready.exists() {
            let aside = self.aside(profile);
            // The database goes first: as long as it is in its place, its log is beside it.
            rename_if_there(&database, &aside)?;
            for end in BESIDE {
                rename_if_there(&with_suffix(&database, end), &with_suffix(&aside, end))?;
            }
            // An index of the log, which SQLite makes anew.
            remove_if_there(&with_suffix(&database, "-shm"))?;
            sync(&database)?;
            announce(watch, Step::SetAside);
            rename_if_there(&ready, &database)?;
            sync(&database)?;
            sync(&ready)?;
        }
        announce(watch, Step::MovedIn);
        self.end(profile)
    }

    /// Puts the database from before back, as far as it was set aside.
    fn undo(&self, profile: &Profile, lock: &VaultLock) -> Result<(), BackupError> {
        let (aside, database) = (self.aside(profile), profile.database());
        let slots = with_suffix(&aside, SLOTS_BESIDE);
        if let Some(former) = read_slots(&slots)? {
            adopt_key_slots(profile, &former, lock)?;
            remove_if_there(&slots)?;
        }
        if !database.exists() {
            for end in BESIDE {
                rename_if_there(&with_suffix(&aside, end), &with_suffix(&database, end))?;
            }
            rename_if_there(&aside, &database)?;
            sync(&database)?;
        }
        self.end(profile)
    }

    fn adopt(&self, profile: &Profile, lock: &VaultLock) -> Result<(), BackupError> {
        // Without them they were taken over before, and the folder is gone.
        let Some(key_file) = read_slots(&self.folder(profile).join(SLOTS))? else { return Ok(()) };
        match KeyFile::read(profile) {
            // The database that is about to be set aside opens by them alone.
            Ok(present) if !present.is_of_same_root(&key_file) => {
                write_durably(&with_suffix(&self.aside(profile), SLOTS_BESIDE), &present.to_bytes()?)?;
            }
            _ => {}
        }
        adopt_key_slots(profile, &key_file, lock)?;
        Ok(())
    }

    /// Removes the note, and then what it referred to.
    fn end(&self, profile: &Profile) -> Result<(), BackupError> {
        let journal = path(profile);
        remove_if_there(&journal)?;
        sync(&journal)?;
        // What stays is encrypted, and the next work removes it.
        let _ = fs::remove_dir_all(self.folder(profile));
        Ok(())
    }
}

/// The key slots in a file; `None` where there is none.
fn read_slots(path: &Path) -> Result<Option<KeyFile>, BackupError> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => {
            let bytes = read.map_err(|source| BackupError::file("read", path, source))?;
            Ok(Some(KeyFile::from_bytes(&bytes, &path.display().to_string())?))
        }
    }
}

fn path(profile: &Profile) -> PathBuf {
    profile.dir().join(NAME)
}

/// A name for a database that is set aside, which nothing has yet.
fn free_name(profile: &Profile, time: &str) -> String {
    let first = format!("{}{time}", aside_start(profile));
    let mut names = std::iter::once(first.clone()).chain((2_u32..).map(|n| format!("{first}-{n}")));
    let free = |name: &String| !profile.dir().join(name).exists();
    names.find(free).unwrap_or(first)
}

fn aside_start(profile: &Profile) -> String {
    format!("{}{ASIDE}", profile.database().file_name().unwrap_or_default().to_string_lossy())
}

fn hash_of(path: &Path) -> Result<String, BackupError> {
    let mut file = File::open(path).map_err(|source| BackupError::file("read", path, source))?;
    let (_, sha256) = pump((&mut file, path), (&mut std::io::sink(), path), |_| Ok(()))?;
    Ok(sha256)
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), BackupError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        renamed => renamed.map_err(|source| BackupError::file("move", from, source)),
    }
}

fn remove_if_there(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| BackupError::file("remove", path, source)),
    }
}

fn sync(path: &Path) -> Result<(), BackupError> {
    sync_folder(path).map_err(|error| BackupError::of_work(error, path))
}
