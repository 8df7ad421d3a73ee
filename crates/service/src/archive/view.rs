//! Archives as the window shows them.

use chrono::{DateTime, Utc};
use evenkeel_store::archive::{self, Counts, Exported, ImportReport, PendingImport, Reason};
use evenkeel_vault::AgeLock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How many there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveCounts {
    /// The settings: 1, or 0.
    pub settings: u64,
    /// Presets of the user, and built-in ones that were edited.
    pub presets: u64,
    /// Providers, without their keys.
    pub providers: u64,
    /// Model files, by reference.
    pub model_files: u64,
    /// Wordings of personas.
    pub revisions: u64,
    /// Companions.
    pub contexts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages on all branches.
    pub messages: u64,
    /// Receipts of replies.
    pub receipts: u64,
    /// Summaries.
    pub summaries: u64,
    /// Values of the state.
    pub state_values: u64,
}

impl From<Counts> for ArchiveCounts {
    fn from(counts: Counts) -> Self {
        Self {
            settings: counts.settings,
            presets: counts.presets,
            providers: counts.providers,
            model_files: counts.model_files,
            revisions: counts.revisions,
            contexts: counts.contexts,
            conversations: counts.conversations,
            messages: counts.messages,
            receipts: counts.receipts,
            summaries: counts.summaries,
            state_values: counts.state_values,
        }
    }
}

/// A place that the user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchivePlace {
    /// Its path.
    pub path: String,
    /// Something stands there.
    pub exists: bool,
}

/// What an archive is sealed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ArchiveLock {
    /// A passphrase.
    Passphrase,
    /// The key in a key file.
    KeyFile,
}

impl From<AgeLock> for ArchiveLock {
    fn from(lock: AgeLock) -> Self {
        match lock {
            AgeLock::Passphrase => Self::Passphrase,
            AgeLock::Key => Self::KeyFile,
        }
    }
}

/// An archive that the user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveFile {
    /// Its path.
    pub path: String,
    /// What opens it.
    pub lock: ArchiveLock,
    /// Its size.
    pub size_bytes: u64,
}

/// What a new archive is sealed to. It has no `Debug`.
#[derive(Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ArchiveProtection {
    /// A passphrase of at least 8 characters.
    Passphrase {
        /// It.
        passphrase: String,
    },
    /// A key that is made for it.
    NewKey {
        /// Where its key file is written.
        key_path: String,
    },
    /// A key that the user has already.
    KeyFile {
        /// Its key file.
        key_path: String,
    },
}

/// What opens an archive. It has no `Debug`.
#[derive(Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ArchiveSecret {
    /// Its passphrase.
    Passphrase {
        /// It.
        passphrase: String,
    },
    /// Its key.
    KeyFile {
        /// The key file.
        key_path: String,
    },
}

/// An archive that was written and read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveExport {
    /// Its path.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// What is in it.
    pub counts: ArchiveCounts,
    /// Where the key is that was made for it.
    pub key_path: Option<String>,
}

impl ArchiveExport {
    pub(super) fn of(path: &Path, exported: &Exported, key_path: Option<PathBuf>) -> Self {
        Self {
            path: path.display().to_string(),
            size_bytes: exported.size_bytes,
            counts: exported.counts.into(),
            key_path: key_path.map(|path| path.display().to_string()),
        }
    }
}

/// What is not taken over, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveKept {
    /// `different`, `inTrash`, `hangs`, `elsewhere` or `conversationKept`.
    pub reason: String,
    /// How many.
    pub counts: ArchiveCounts,
}

/// What an import would do, or has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveReport {
    /// When the archive was written.
    pub exported_at: DateTime<Utc>,
    /// By which version of the app.
    pub app_version: String,
    /// What is in it.
    pub counts: ArchiveCounts,
    /// What is added.
    pub added: ArchiveCounts,
    /// What the vault has just so.
    pub same: ArchiveCounts,
    /// What stays as it is in the vault.
    pub kept: Vec<ArchiveKept>,
    /// Plug-ins that were installed where it was written, and are not here.
    pub missing_plugins: Vec<String>,
}

impl ArchiveReport {
    pub(super) fn of(report: ImportReport, installed: &BTreeSet<String>) -> Self {
        let missing = report.header.plugins.iter().map(|plugin| plugin.id.clone()).filter(|id| !installed.contains(id));
        Self {
            exported_at: report.header.exported_at,
            missing_plugins: missing.collect(),
            app_version: report.header.app_version,
            counts: report.header.counts.into(),
            added: report.added.into(),
            same: report.same.into(),
            kept: report.kept.into_iter().map(|(reason, counts)| kept(reason, counts)).collect(),
        }
    }
}

fn kept(reason: Reason, counts: Counts) -> ArchiveKept {
    let reason = match reason {
        Reason::Different => "different",
        Reason::InTrash => "inTrash",
        Reason::Hangs => "hangs",
        Reason::Elsewhere => "elsewhere",
        Reason::ConversationKept => "conversationKept",
    };
    ArchiveKept { reason: reason.to_owned(), counts: counts.into() }
}

/// An import that was stopped or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PendingArchive {
    /// The archive's file.
    pub path: String,
    /// When it was begun.
    pub started_at: DateTime<Utc>,
    /// It is being undone, and can no longer go on.
    pub is_undoing: bool,
}

impl From<PendingImport> for PendingArchive {
    fn from(pending: PendingImport) -> Self {
        Self { path: pending.path, started_at: pending.started_at, is_undoing: pending.is_undoing }
    }
}

/// What undoing an import has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveUndo {
    /// Things that are gone again; a conversation counts as one.
    pub removed: u64,
    /// Things that were used since, and stay.
    pub kept: u64,
}

/// What is being done with an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveProgress {
    /// What is being done.
    pub step: ArchiveStep,
    /// Records done of it.
    pub done: u64,
    /// Out of how many.
    pub of: u64,
}

impl From<archive::ArchiveProgress> for ArchiveProgress {
    fn from(progress: archive::ArchiveProgress) -> Self {
        let step = match progress.step {
            archive::ArchiveStep::Writing => ArchiveStep::Writing,
            archive::ArchiveStep::Proving => ArchiveStep::Proving,
            archive::ArchiveStep::Checking => ArchiveStep::Checking,
            archive::ArchiveStep::Importing => ArchiveStep::Importing,
        };
        Self { step, done: progress.done, of: progress.of }
    }
}

/// A conversation that was written as a folder of envelopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeExport {
    /// The folder.
    pub path: String,
    /// Files in it, one for each message.
    pub files: u32,
}

/// What opens envelopes. It has no `Debug`.
#[derive(Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum EnvelopeKey {
    /// The key of this vault: it wrote them.
    Vault,
    /// The SHA-256 of a string that another program was configured with.
    Text {
        /// The string.
        text: String,
    },
}

/// A conversation that was read from a folder of envelopes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeImport {
    /// The new conversation.
    pub conversation: evenkeel_domain::Conversation,
    /// Messages in it.
    pub messages: u32,
    /// Names of files that are no envelopes, the first 20.
    pub skipped: Vec<String>,
}
