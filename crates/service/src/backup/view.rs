//! Backups as the window shows them.

use crate::VaultStatus;
use chrono::{DateTime, Utc};
use evenkeel_domain::ContextId;
use evenkeel_store::backup::{self, BackupError, BackupKind, BackupResult, Progress, Step};
use serde::{Deserialize, Serialize};

/// A file that is, or looks like, a backup; what cannot be read of it is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BackupInfo {
    /// Where it is.
    pub path: String,
    /// Its id.
    pub id: Option<String>,
    /// Why it was made.
    pub kind: Option<BackupKind>,
    /// When it was made.
    pub made_at: Option<DateTime<Utc>>,
    /// How large it is.
    pub size_bytes: u64,
    /// Contexts in it.
    pub contexts: Option<u64>,
    /// Conversations in it.
    pub conversations: Option<u64>,
    /// Messages in it.
    pub messages: Option<u64>,
    /// When it was last checked completely.
    pub verified_at: Option<DateTime<Utc>>,
    /// Why it cannot be relied on: `damaged`, `wrongKey`, `otherVault`, `tooNew` or `foreign`.
    pub problem: Option<String>,
    /// The newest of the profile that is known to be whole.
    pub is_newest: bool,
}

impl BackupInfo {
    /// One file.
    pub(crate) fn of(info: &backup::BackupInfo, is_newest: bool) -> Self {
        let about = info.about.as_ref();
        let counts = about.and_then(|about| about.counts);
        Self {
            path: info.path.display().to_string(),
            id: about.map(|about| about.id.to_string()),
            kind: about.map(|about| about.kind),
            made_at: about.map(|about| about.made_at),
            size_bytes: info.size_bytes,
            contexts: counts.map(|counts| counts.contexts),
            conversations: counts.map(|counts| counts.conversations),
            messages: counts.map(|counts| counts.messages),
            verified_at: info.verified_at,
            problem: problem(&info.result).map(str::to_owned),
            is_newest,
        }
    }

    /// All files of the profile's folder, in the order given: newest first.
    pub(crate) fn of_folder(infos: &[backup::BackupInfo]) -> Vec<Self> {
        let newest = infos.iter().position(|info| info.result == BackupResult::Verified);
        infos.iter().enumerate().map(|(at, info)| Self::of(info, Some(at) == newest)).collect()
    }

    /// One that was made and checked just now.
    pub(crate) fn newest(info: &backup::BackupInfo) -> Self {
        Self::of(info, true)
    }

    /// What is wrong with a file that failed its check; nothing where the failure says nothing of it.
    pub(crate) fn problem_of(error: &BackupError) -> Option<&'static str> {
        match error {
            BackupError::Damaged { .. } => Some("damaged"),
            BackupError::WrongKey { .. } => Some("wrongKey"),
            BackupError::OtherVault { .. } => Some("otherVault"),
            BackupError::TooNew { .. } => Some("tooNew"),
            BackupError::Foreign { .. } => Some("foreign"),
            _ => None,
        }
    }
}

fn problem(result: &BackupResult) -> Option<&'static str> {
    match result {
        BackupResult::Verified | BackupResult::Unverified => None,
        BackupResult::Damaged { .. } => Some("damaged"),
        BackupResult::WrongKey => Some("wrongKey"),
        BackupResult::OtherVault => Some("otherVault"),
        BackupResult::TooNew => Some("tooNew"),
        BackupResult::Foreign => Some("foreign"),
    }
}

/// How much is in a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultCounts {
    /// Contexts.
    pub contexts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages on all branches.
    pub messages: u64,
}

impl From<backup::BackupCounts> for VaultCounts {
    fn from(counts: backup::BackupCounts) -> Self {
        Self { contexts: counts.contexts, conversations: counts.conversations, messages: counts.messages }
    }
}

/// A context by its id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct NamedContext {
    /// Its id.
    pub id: ContextId,
    /// Its name.
    pub name: String,
}

/// What a restore would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RestorePreview {
    /// When the backup was made.
    pub made_at: DateTime<Utc>,
    /// What is in the vault.
    pub now: VaultCounts,
    /// What is in the backup.
    pub then: VaultCounts,
    /// Contexts that are in the backup alone.
    pub come_back: Vec<NamedContext>,
    /// Contexts that are in the vault alone.
    pub disappear: Vec<NamedContext>,
    /// Messages that are in the vault alone, and would be lost.
    pub newer_messages: u64,
    /// When the newest of them was written.
    pub newest_message_at: Option<DateTime<Utc>>,
    /// The vault is damaged and cannot be compared: `now`, `disappear` and the newer messages are not known.
    pub is_vault_damaged: bool,
}

impl RestorePreview {
    /// As the window shows it.
    pub(crate) fn of(preview: backup::RestorePreview, is_vault_damaged: bool) -> Self {
        let named = |contexts: Vec<backup::NamedContext>| {
            contexts.into_iter().map(|context| NamedContext { id: context.id, name: context.name }).collect()
        };
        Self {
            made_at: preview.backup.made_at,
            now: preview.now.into(),
            then: preview.then.into(),
            come_back: named(preview.returning),
            disappear: named(preview.vanishing),
            newer_messages: preview.lost_messages,
            newest_message_at: preview.lost_between.map(|(_, newest)| newest),
            is_vault_damaged,
        }
    }
}

/// What forgetting everywhere has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ForgetReport {
    /// The backup that was made for it, the only one of the vault in the profile now.
    pub backup: BackupInfo,
    /// Older backups, and databases from before a restore, that were deleted.
    pub removed: u32,
    /// Files that are still there: they could not be deleted, or it cannot be told whose they are.
    pub left: Vec<String>,
}

impl ForgetReport {
    pub(super) fn of(made: &backup::BackupInfo, forgotten: &backup::Forgotten) -> Self {
        Self {
            backup: BackupInfo::newest(made),
            removed: u32::try_from(forgotten.removed.len()).unwrap_or(u32::MAX),
            left: forgotten.left.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// What a restore of the open vault has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RestoreReport {
    /// The vault was damaged, so that no backup of it could be made before; its database was set aside all the same.
    pub without_backup: bool,
    /// Where the database from before is; `None` if there was none.
    pub set_aside: Option<String>,
}

/// What a restore without an open vault has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClosedRestore {
    /// Where the vault stands now: open, unless it could not be opened after the restore.
    pub status: VaultStatus,
    /// The vault's own database was whole and had only lost its keys: it is open again as it was, and nothing was replaced.
    pub kept_database: bool,
    /// Where the database from before is; `None` if there was none or it was kept.
    pub set_aside: Option<String>,
}

/// What a restore is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum RestoreStep {
    /// Taking the database out of the backup.
    Unpacking,
    /// Checking it, page for page.
    Checking,
    /// Reading what can be read of a damaged vault.
    Reading,
    /// Copying it to the vault's key.
    Copying,
    /// Bringing the copy to this version and putting it in the vault's place.
    Finishing,
}

/// How far a restore is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RestoreProgress {
    /// What is being done.
    pub step: RestoreStep,
    /// Bytes done of this step.
    pub done: u64,
    /// Out of how many; 0 where nobody knows.
    pub of: u64,
}

impl From<Progress> for RestoreProgress {
    fn from(progress: Progress) -> Self {
        let step = match progress.step {
            Step::Unpacking => RestoreStep::Unpacking,
            Step::Checking => RestoreStep::Checking,
            Step::Salvaging => RestoreStep::Reading,
            Step::Rekeying => RestoreStep::Copying,
            _ => RestoreStep::Finishing,
        };
        Self { step, done: progress.done, of: progress.of }
    }
}
