//! Archives: everything of a vault in one file that other programs open too, and back into a vault.
//!
//! The file is an `age` file, sealed to a passphrase or to the key in a key file. Inside are JSON lines, which
//! `docs/archive.md` describes. It is written beside its place and has its name only once it was read back. Taking
//! one in adds what the vault does not have, and overwrites nothing.
//!
//! Everything here blocks, and takes time in proportion to the archive.

mod apply;
mod check;
mod error;
mod file;
mod import;
mod journal;
mod lines;
mod merge;
mod record;
mod rows;
mod undo;

pub use error::{ArchiveError, Unfit};
pub use file::{ExportRequest, Exported, export, lock_of};
pub use import::{ImportReport, ImportRequest, import, keep_import, pending_import, preview_import};
pub use journal::PendingImport;
pub use merge::Reason;
pub use record::{Counts, Header, Kind, PluginReference, ProviderRecord};
pub use undo::{UndoReport, undo_import};

use std::ops::ControlFlow;

/// How the name of an archive ends.
pub const EXTENSION: &str = "evenkeel.age";

/// What is being done with an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveStep {
    /// Writing it.
    Writing,
    /// Reading back what was written.
    Proving,
    /// Looking through it.
    Checking,
    /// Taking it in.
    Importing,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveProgress {
    /// The step.
    pub step: ArchiveStep,
    /// Records done of it.
    pub done: u64,
    /// Out of how many.
    pub of: u64,
}

/// Is told of the progress; `Break` stops the work.
pub type Watch<'a> = dyn FnMut(ArchiveProgress) -> ControlFlow<()> + 'a;

fn tell(watch: &mut Watch<'_>, step: ArchiveStep, done: u64, of: u64) -> Result<(), ArchiveError> {
    match watch(ArchiveProgress { step, done, of }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ArchiveError::Cancelled),
    }
}
