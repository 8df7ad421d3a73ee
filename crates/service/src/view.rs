//! What the service gives to and takes from its faces.

mod keys;
mod life;

pub use keys::{KeyChange, LockKind, RootSecrets, SlotInfo, SlotName, VaultSlots};
pub use life::{ContextPage, ExportFormat, LaterMessages, PersonaAdvice, PersonaDraft, PresetPage, RecommendedHistory};

use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Conversation, ErrorBody, FieldError, Message, ModelChoice, ModelInfo, ProviderId, ProviderKind, TokenMeter,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Where the vault stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum VaultState {
    /// There is none, nor a trace of one.
    New,
    /// It is being opened.
    Opening,
    /// It was made, and the recovery code has not been typed back yet.
    ConfirmRecovery,
    /// Open.
    Open,
    /// No keychain can be reached.
    Unavailable,
    /// The keychain is locked.
    Locked,
    /// The keychain waits for the user's answer.
    Waiting,
    /// The keychain holds no key of this vault.
    Missing,
    /// The key does not open this vault.
    WrongKey,
    /// A file of the vault is damaged.
    Damaged,
    /// A newer version wrote the vault.
    TooNew,
    /// The user locked it.
    LockedByUser,
}

/// The vault's state with what a screen needs to offer a way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultStatus {
    /// The state.
    pub state: VaultState,
    /// The profile folder.
    pub profile_dir: String,
    /// The vault can be opened by the keychain.
    pub has_keychain_slot: bool,
    /// The vault can be opened by a passphrase.
    pub has_passphrase: bool,
    /// Whether its key slots can be read; without them no key opens it, and a backup is the way.
    pub has_key_slots: bool,
    /// A keychain answers.
    pub keychain_available: bool,
    /// Why it is not open.
    pub error: Option<ErrorBody>,
}

/// How a new vault is to be opened from now on; the recovery code always works too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultOptions {
    /// Keep the key in the system's keychain.
    pub use_keychain: bool,
    /// A passphrase, at least 8 characters.
    pub passphrase: Option<String>,
}

/// The recovery code, shown once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RecoverySheet {
    /// The code in groups of characters.
    pub groups: Vec<String>,
    /// Indexes (from 0) of the groups to type back.
    pub ask_groups: Vec<u32>,
    /// When the code was made; of a new vault, when that was.
    pub created_at: DateTime<Utc>,
}

/// What stands around the recovery code in a file, in the user's language: 4,096 bytes at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RecoveryWords {
    /// What it is and of when, above the code.
    pub title: String,
    /// What to do with it, below the code; one line each.
    pub notes: Vec<String>,
}

impl RecoveryWords {
    const LONGEST: usize = 4_096;

    /// Checks the length.
    pub(crate) fn check(&self) -> Result<(), FieldError> {
        let bytes = self.title.len() + self.notes.iter().map(String::len).sum::<usize>();
        if bytes <= Self::LONGEST {
            return Ok(());
        }
        Err(FieldError { field: "words", value: format!("{bytes} bytes"), range: format!("at most {} bytes", Self::LONGEST) })
    }

    /// The whole text, with the code between title and notes.
    pub(crate) fn around(&self, code: &str) -> Zeroizing<String> {
        let notes = self.notes.join("\n");
        Zeroizing::new(format!("{}\n\n{code}\n\n{notes}\n", self.title))
    }
}

/// A way to open the vault.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum UnlockMethod {
    /// The system's keychain.
    Keychain,
    /// The recovery code.
    RecoveryCode {
        /// As typed.
        code: String,
    },
    /// The passphrase.
    Passphrase {
        /// As typed.
        passphrase: String,
    },
}

/// What a context made from a preset has different from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PresetOverrides {
    /// 1–120 characters; the preset's name if absent.
    pub name: Option<String>,
    /// 0–1.
    pub temperature: Option<f32>,
    /// 1–131,072 tokens.
    pub max_tokens: Option<u32>,
    /// 500–2,000,000 tokens.
    pub max_history_tokens: Option<u32>,
    /// 1–3,650 days, or 0 for never.
    pub expiry_days: Option<u32>,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConversationPage {
    /// Newest activity first.
    pub items: Vec<Conversation>,
    /// Number on all pages.
    pub total_count: u32,
}

/// A conversation at its newest messages, or at one that was looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// The conversation.
    pub conversation: Conversation,
    /// The newest messages of the shown branch, or those around a message (at most 50), oldest first.
    pub messages: Vec<Message>,
    /// Whether earlier ones exist.
    pub has_earlier: bool,
    /// Whether later ones exist on the shown branch.
    pub has_later: bool,
    /// How full the history budget is.
    pub meter: TokenMeter,
    /// Whether a reply is being written in it, in whatever window that was asked for.
    pub is_replying: bool,
    /// Whether it is kept in memory alone.
    pub is_private: bool,
}

/// Messages before a known one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EarlierMessages {
    /// Oldest first.
    pub messages: Vec<Message>,
    /// Whether still earlier ones exist.
    pub has_earlier: bool,
}

/// A provider to add or to change.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ProviderDraft {
    /// `None` adds one.
    pub id: Option<ProviderId>,
    /// Wire format.
    pub kind: ProviderKind,
    /// 1–120 characters.
    pub name: String,
    /// https anywhere, http on this machine only.
    pub base_url: String,
    /// `None` keeps the stored key (only while the origin stays), an empty text removes it.
    pub key: Option<String>,
    /// Headers sent beside the standard ones.
    pub extra_headers: BTreeMap<String, String>,
    /// Models entered by hand.
    pub manual_models: Vec<String>,
    /// Tokens; replaces the window that the provider reports.
    pub window_override: Option<u32>,
    /// 5–3,600 seconds.
    pub timeout_seconds: u32,
}

/// A provider that answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// The models it lists.
    pub models: Vec<ModelInfo>,
    /// Milliseconds until it had answered.
    pub millis: u32,
}

/// A model server found on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DetectedServer {
    /// Wire format.
    pub kind: ProviderKind,
    /// What it is.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// The models it has.
    pub models: Vec<ModelInfo>,
}

/// What kind of model is offered at first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum OfferKind {
    /// The model that ships with the app.
    BuiltIn,
    /// A server that runs already.
    LocalServer,
    /// A model file to get, chosen by free memory.
    Recommended,
    /// A cloud provider with a key.
    Cloud,
}

/// What taking a model file off the engine's list means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ModelFileRemoval {
    /// The model's name on the list.
    pub name: String,
    /// Where its file is.
    pub path: String,
    /// The file is deleted from the disk too, because it lies in the profile's own folder of models.
    pub deletes_file: bool,
    /// It is the default model; afterwards none is chosen.
    pub is_default: bool,
    /// The engine has it loaded, or is loading something just now.
    pub is_loaded: bool,
}

/// A size of models that runs well on this machine, for a file that is still to be got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Recommendation {
    /// Fewest weights, in billions.
    pub from_billions: u32,
    /// Most weights, in billions.
    pub to_billions: u32,
    /// Memory that it takes at four bits a weight, in gigabytes.
    pub needs_gigabytes: u32,
    /// Memory that is free, in gigabytes.
    pub free_gigabytes: u32,
    /// Tokens in a second that the processor may be expected to write; 0 = less than one.
    pub tokens_per_second: u32,
}

/// One model that a new user can begin with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ModelOffer {
    /// What kind.
    pub kind: OfferKind,
    /// Name of the model or server; empty where the kind says all.
    pub name: String,
    /// What is known of the model file, where it is one that is there.
    pub model: Option<ModelInfo>,
    /// What to set as the default; `None` where something has to be entered first.
    pub choice: Option<ModelChoice>,
    /// The server to add as a provider when it is chosen.
    pub server: Option<DetectedServer>,
    /// What to look for, where a file is still to be got.
    pub recommendation: Option<Recommendation>,
    /// Small, for trying out.
    pub for_trying_out: bool,
    /// Free memory is enough.
    pub fits: bool,
}

/// What happened to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum EngineNoticeKind {
    /// It runs.
    Started,
    /// It died.
    Crashed,
    /// It freed its model after a while without a request.
    Unloaded,
}

/// News of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EngineNotice {
    /// What happened.
    pub kind: EngineNoticeKind,
    /// A sentence in English; empty where there is nothing to say.
    pub message: String,
}
