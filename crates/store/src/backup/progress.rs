//! Who is told how far the work is, and may stop it.

use super::BackupError;
use std::ops::ControlFlow;

/// What is being done. The steps of each work are told in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Copying the database to a key of its own.
    Copying,
    /// Putting the copy, the key slots and the description into one file.
    Packing,
    /// Taking the database out of the file again and comparing it with its hash.
    Unpacking,
    /// Checking it: page codes, structure, foreign keys, counts, messages.
    Checking,
    /// The file is proved and about to get its name.
    Publishing,
    /// The file has its name; noting the check beside it. Can no longer be stopped.
    Recording,
    /// Checking again the backups whose checks were lost, and deleting those that are out of their
    /// time. Stopping it leaves them; the new backup is made.
    Rotating,
    /// Copying the backup's database to the vault's key.
    Rekeying,
    /// Reading what can be read of a damaged database.
    Salvaging,
    /// Bringing that copy to this version's schema.
    Migrating,
    /// The copy is ready; writing down what is about to happen.
    Journalling,
    /// Written down: from here on the restore is finished, by the next start if need be.
    Swapping,
    /// The present database is set aside.
    SetAside,
    /// The restored database is in its place.
    MovedIn,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The step.
    pub step: Step,
    /// What is done of it: bytes where the step copies, otherwise 0.
    pub done: u64,
    /// Out of how much; 0 where nobody knows.
    pub of: u64,
}

/// Is told of every step and of the progress within copies; `Break` stops the work, where that
/// can still be done, with everything as it was before.
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Tells of progress, and fails where the work is to stop.
pub(super) fn tell(watch: &mut Watch<'_>, step: Step, done: u64, of: u64) -> Result<(), BackupError> {
    match watch(Progress { step, done, of }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(BackupError::Cancelled),
    }
}

/// Tells of a step that can no longer be stopped.
pub(super) fn announce(watch: &mut Watch<'_>, step: Step) {
    let _ = watch(Progress { step, done: 0, of: 0 });
}
