//! A disk that fails on purpose: a layer between SQLite and its files in one folder, which counts the
//! calls that change something, lets the n-th of them fail, and can write down all of them.
//!
//! It is a VFS of SQLite (<https://sqlite.org/vfs.html>) and lies below the encryption, so that what it
//! sees is what a disk sees. It becomes the default of the process with the first [`FaultDisk`]; files
//! in other folders pass through it untouched, so that tests can run beside each other.

#[allow(unsafe_code, reason = "SQLite's file system layer is a table of C functions")]
mod layer;

use crate::error::FaultError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a failing call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// `SQLITE_IOERR`: the disk does not do it.
    Io,
    /// `SQLITE_FULL`: there is no room.
    Full,
}

/// For how long calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// One call fails, the next ones work.
    Once,
    /// From that call on all of them fail.
    Sticky,
}

/// Which call fails, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The number of the call, from 1.
    pub at: u64,
    /// What it says.
    pub failure: Failure,
    /// Whether the later ones fail too.
    pub span: Span,
}

/// A call that changes something on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Opening a file for writing.
    Open,
    /// Writing bytes at a place.
    Write {
        /// Where.
        at: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// Cutting or lengthening to a size.
    Truncate(u64),
    /// Making everything so far durable.
    Sync,
    /// Removing the file.
    Delete,
    /// Growing the index of the log, which lies in shared memory.
    Index,
}

/// What happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A call on the file of that name.
    Call(String, Call),
    /// The test noted something by a number.
    Note(u64),
}

#[derive(Default)]
struct State {
    calls: u64,
    failed: u64,
    plan: Option<Plan>,
    log: Option<Vec<Event>>,
}

/// The disk below one folder.
pub(crate) struct Disk {
    folder: PathBuf,
    state: Mutex<State>,
}

static DISKS: Mutex<Vec<Arc<Disk>>> = Mutex::new(Vec::new());

impl Disk {
    /// The disk that a file lies on, if it is one of ours.
    fn of(path: &Path) -> Option<Arc<Self>> {
        let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.iter().find(|disk| path.starts_with(&disk.folder)).cloned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, and says how it fails if it is to.
    fn fails(&self) -> Option<Failure> {
        let mut state = self.state();
        state.calls += 1;
        let now = state.calls;
        let hit = state.plan.filter(|plan| match plan.span {
            Span::Once => now == plan.at,
            Span::Sticky => now >= plan.at,
        });
        state.failed += u64::from(hit.is_some());
        hit.map(|plan| plan.failure)
    }

    /// Notes a call that was done.
    fn done(&self, file: &Path, call: impl FnOnce() -> Call) {
        let mut state = self.state();
        if let Some(log) = &mut state.log {
            let name = file.strip_prefix(&self.folder).unwrap_or(file).to_string_lossy().into_owned();
            log.push(Event::Call(name, call()));
        }
    }
}

/// The disk of a folder, until it is dropped.
pub struct FaultDisk(Arc<Disk>);

impl FaultDisk {
    /// Puts the files in `folder` and below it on a disk of their own. Without a plan nothing fails.
    ///
    /// # Errors
    /// The folder cannot be found, or SQLite has no file system layer to stand on.
    pub fn over(folder: &Path) -> Result<Self, FaultError> {
        layer::register().map_err(|code| FaultError::Broken(format!("SQLite refused the layer with code {code}")))?;
        let disk = Arc::new(Disk { folder: folder.canonicalize()?, state: Mutex::default() });
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).push(disk.clone());
        Ok(Self(disk))
    }

    /// Begins counting anew and fails by `plan`; without one the disk is healthy.
    pub fn plan(&self, plan: Option<Plan>) {
        let mut state = self.0.state();
        (state.calls, state.failed, state.plan) = (0, 0, plan);
    }

    /// Calls since the plan was made, and how many of them failed.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        let state = self.0.state();
        (state.calls, state.failed)
    }

    /// Begins to write down all calls.
    pub fn record(&self) {
        self.0.state().log = Some(Vec::new());
    }

    /// Writes a number between the calls.
    pub fn note(&self, number: u64) {
        if let Some(log) = &mut self.0.state().log {
            log.push(Event::Note(number));
        }
    }

    /// What was written down, which ends with that.
    #[must_use]
    pub fn recorded(&self) -> Vec<Event> {
        self.0.state().log.take().unwrap_or_default()
    }
}

impl Drop for FaultDisk {
    fn drop(&mut self) {
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|disk| !Arc::ptr_eq(disk, &self.0));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rusqlite::Connection;

    fn fill(path: &Path) -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)")?;
        connection.execute("INSERT INTO t VALUES (zeroblob(10000))", []).map(drop)
    }

    #[test]
    fn the_planned_call_fails_and_those_after_it_as_planned() {
        for (failure, span) in [(Failure::Io, Span::Once), (Failure::Full, Span::Sticky)] {
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultDisk::over(folder.path()).unwrap();
            fill(&folder.path().join("whole.db")).unwrap();
            let (calls, failed) = disk.calls();
            assert!(calls > 10 && failed == 0, "{calls} {failed}");
            let mut told = 0;
            for at in 1..=calls {
                disk.plan(Some(Plan { at, failure, span }));
                let outcome = fill(&folder.path().join(format!("broken-{at}.db")));
                let failed = disk.calls().1;
                assert!(failed == 1 || (failed > 1 && span == Span::Sticky), "call {at}: {failed} failed");
                let expected = if failure == Failure::Io { "SystemIoFailure" } else { "DiskFull" };
                told += u64::from(outcome.is_err_and(|error| format!("{error:?}").contains(expected)));
            }
            // SQLite tries some calls again, and gives some failures a name of its own.
            assert!(told > calls / 2, "{told} of {calls}");
        }
    }

    #[test]
    fn files_elsewhere_and_after_it_are_left_alone() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let disk = FaultDisk::over(folder.path()).unwrap();
        disk.plan(Some(Plan { at: 1, failure: Failure::Io, span: Span::Sticky }));
        fill(&elsewhere.path().join("a.db")).unwrap();
        assert_eq!(disk.calls(), (0, 0));
        drop(disk);
        fill(&folder.path().join("a.db")).unwrap();
    }

    #[test]
    fn what_is_written_down_makes_the_file_again() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FaultDisk::over(folder.path()).unwrap();
        disk.record();
        let path = folder.path().join("a.db");
        fill(&path).unwrap();
        let mut bytes = Vec::new();
        for event in disk.recorded() {
            match event {
                Event::Call(name, Call::Write { at, bytes: part }) if name == "a.db" => {
                    let (at, end) = (at as usize, at as usize + part.len());
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[at..end].copy_from_slice(&part);
                }
                _ => {}
            }
        }
        assert!(bytes.len() > 10_000);
        assert_eq!(bytes, std::fs::read(path).unwrap());
    }
}
