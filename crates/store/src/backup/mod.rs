//! Backups: one encrypted file each, which counts only once it was read back whole.
//!
//! A backup holds the key slots of its vault and a copy of the database under a key of its own, so
//! that the recovery code alone opens it on another machine. The format is described in
//! `docs/adr/0011-backups.md`.
//!
//! Everything here blocks, and takes time in proportion to the vault. A [`Watch`] is told of every
//! step and can stop the work until the point where stopping would do harm. Work files, all of them
//! encrypted, lie in the folder `work` of the profile; those of a process that is gone are removed
//! by the next work.

mod check;
mod copy;
mod error;
mod forget;
mod format;
mod index;
mod info;
mod journal;
mod list;
mod make;
mod preview;
mod progress;
mod rekey;
mod rescue;
mod restore;
mod rotate;
mod work;

pub use check::{database_is_whole, verify};
pub use error::BackupError;
pub use forget::{Forgotten, forget_others};
pub use info::{BackupAbout, BackupCounts, BackupId, BackupInfo, BackupKind, BackupResult, BackupStamp, VaultKeys};
pub(crate) use journal::refuse_pending;
pub use journal::{PendingRestore, finish_pending_restore, remove_set_aside, restore_is_pending, set_aside_databases};
pub use list::{key_slots, list};
pub use make::{BackupRequest, make};
pub use preview::{NamedContext, RestorePreview, preview};
pub use progress::{Progress, Step, Watch};
pub use rekey::{RekeyRequest, Reseal, rekey};
pub use rescue::{RescueRequest, Rescued, TableRescue, keep_copy, preview_rescue, rescue};
pub use restore::{RestoreRequest, Restored, restore};
pub use rotate::{Keep, rotate};

/// How the name of every backup ends.
pub const EXTENSION: &str = "ekbackup";
