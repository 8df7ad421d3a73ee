//! What the pages are told of the ways into the vault.

use crate::BackupInfo;
use chrono::{DateTime, Utc};
use evenkeel_domain::ErrorBody;
use evenkeel_vault::{KeyFile, SlotKind};
use serde::{Deserialize, Serialize};

/// A way into the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum SlotName {
    /// The keychain of the system.
    Keychain,
    /// The recovery code; every vault has it.
    RecoveryCode,
    /// The passphrase.
    Passphrase,
}

/// A way into the vault that there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SlotInfo {
    /// Which.
    pub kind: SlotName,
    /// Since when; `None` in vaults from before that was noted.
    pub made_at: Option<DateTime<Utc>>,
}

/// What locking the vault means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum LockKind {
    /// The keychain opens it again, so that whoever is logged in gets in: it hides, and protects from no one at this desk.
    PrivacyScreen,
    /// Only what somebody knows opens it again.
    Real,
}

/// The ways into the vault, and what hangs on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultSlots {
    /// Those that there are.
    pub slots: Vec<SlotInfo>,
    /// What locking means with them.
    pub lock: LockKind,
    /// Backups in the profile that open with other keys than the vault does now.
    pub earlier_backups: u32,
    /// The system tells when the machine is about to sleep.
    pub sleep_is_heard: bool,
}

impl VaultSlots {
    pub(crate) fn of(key_file: &KeyFile, earlier_backups: u32, sleep_is_heard: bool) -> Self {
        let slots = key_file.slots().iter().map(|slot| SlotInfo { kind: slot.kind().into(), made_at: slot.made_at() });
        let is_real = key_file.has(SlotKind::Passphrase) && !key_file.has(SlotKind::Keychain);
        let lock = if is_real { LockKind::Real } else { LockKind::PrivacyScreen };
        Self { slots: slots.collect(), lock, earlier_backups, sleep_is_heard }
    }
}

impl From<SlotKind> for SlotName {
    fn from(kind: SlotKind) -> Self {
        match kind {
            SlotKind::Keychain => Self::Keychain,
            SlotKind::Recovery => Self::RecoveryCode,
            SlotKind::Passphrase => Self::Passphrase,
        }
    }
}

/// What a change of keys has come to. The change itself is in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct KeyChange {
    /// The ways into the vault now.
    pub slots: VaultSlots,
    /// The backup that was made and checked under the new keys.
    pub backup: Option<BackupInfo>,
    /// Why there is none; the daily one will be under the new keys.
    pub backup_error: Option<ErrorBody>,
    /// The keychain did not let go of the key that was taken away; it can be tried again.
    pub keychain_keeps: bool,
}

/// What opens the slots of the vault, for wrapping another root key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RootSecrets {
    /// The recovery code as typed.
    pub recovery_code: String,
    /// The passphrase as typed; needed where the vault has one.
    pub passphrase: Option<String>,
}
