//! What is known of a backup.

use chrono::{DateTime, Utc};
use evenkeel_vault::{RootKey, Use};
use secrecy::SecretBox;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use uuid::Uuid;

use crate::connection::Key;

/// Names a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BackupId(Uuid);

impl BackupId {
    /// Makes an id from the time of the backup and 80 bits of randomness (UUID version 7).
    #[must_use]
    pub fn from_parts(now: DateTime<Utc>, random: [u8; 10]) -> Self {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// The id as a UUID.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        self.0
    }

    /// The last eight hex digits, which are random: enough to tell the files of one second apart.
    pub(super) fn short(self) -> String {
        self.0.simple().to_string().split_off(24)
    }
}

impl std::fmt::Display for BackupId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a backup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum BackupKind {
    /// By the scheduler, once a day.
    Daily,
    /// Before something is deleted for good.
    BeforePurge,
    /// Before the schema changes.
    BeforeMigration,
    /// Before another backup takes the vault's place.
    BeforeRestore,
    /// After a key of the vault has changed: earlier ones open with the keys from before.
    AfterKeyChange,
    /// Because the user asked.
    Manual,
}

/// How much is in a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupCounts {
    /// Contexts, also those in the trash.
    pub contexts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages on all branches.
    pub messages: u64,
}

/// What a whole backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupAbout {
    /// Its id.
    pub id: BackupId,
    /// The vault that it is of.
    pub vault_id: Uuid,
    /// Why it was made.
    pub kind: BackupKind,
    /// When it was made, by the clock of that machine.
    pub made_at: DateTime<Utc>,
    /// The version of Evenkeel that made it.
    pub app_version: String,
    /// The schema of the database in it.
    pub schema: i64,
    /// What is in it; `None` without the key.
    pub counts: Option<BackupCounts>,
}

/// How far a backup can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum BackupResult {
    /// It was opened and checked, page for page.
    Verified,
    /// Its front is whole; the database in it has not been checked here.
    Unverified,
    /// It is not what was written.
    Damaged {
        /// What does not fit.
        reason: String,
    },
    /// The key given does not open it.
    WrongKey,
    /// It is of another vault.
    OtherVault,
    /// A newer version of Evenkeel made it.
    TooNew,
    /// It is no backup of Evenkeel, whatever its name says.
    Foreign,
}

/// A file that is, or looks like, a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupInfo {
    /// Where it is.
    pub path: PathBuf,
    /// How large it is, in bytes.
    pub size_bytes: u64,
    /// What it says of itself; `None` where that cannot be read.
    pub about: Option<BackupAbout>,
    /// When it was last checked completely, with whatever result.
    pub verified_at: Option<DateTime<Utc>>,
    /// How far it can be relied on.
    pub result: BackupResult,
}

impl BackupInfo {
    /// When it was made; the beginning of time where that cannot be read, which sorts it last.
    pub(super) fn made_at(&self) -> DateTime<Utc> {
        self.about.as_ref().map_or(DateTime::UNIX_EPOCH, |about| about.made_at)
    }
}

/// What rotation decides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupStamp {
    /// The backup.
    pub id: BackupId,
    /// Why it was made.
    pub kind: BackupKind,
    /// When it was made.
    pub made_at: DateTime<Utc>,
    /// Whether it is known to be whole.
    pub verified: bool,
}

/// What opens the backups of one vault.
#[derive(Clone, Copy)]
pub struct VaultKeys<'a> {
    /// The vault's root key.
    pub root: &'a RootKey,
    /// The vault's id.
    pub vault_id: Uuid,
}

impl VaultKeys<'_> {
    /// The key of the database for one use.
    pub(super) fn database(self, purpose: Use) -> Key {
        let subkey = self.root.subkey(self.vault_id, purpose);
        SecretBox::init_with_mut(|key: &mut [u8; 32]| *key = *subkey)
    }
}
