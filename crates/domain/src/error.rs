//! The one error shape of every face: `{code, message, details}`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal),+ $(,)?) => {
        /// What went wrong, as a stable name that the window turns into the user's language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $variant,)+
        }

        impl ErrorCode {
            /// Every code with its name and meaning, in the order of the docs.
            pub const ALL: &'static [(ErrorCode, &'static str, &'static str)] =
                &[$((ErrorCode::$variant, $text, concat!($($doc),+))),+];

            /// What happened, in one sentence.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii_start()),+ }
            }

            /// The code's name in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

codes! {
    /// An argument is outside its range or malformed; `details` has field, value and range.
    InvalidParameter = "invalid_parameter",
    /// The thing named does not exist; `details` lists those that do.
    NotFound = "not_found",
    /// A limit on number or size was reached.
    LimitReached = "limit_reached",
    /// A reply is being written in this conversation.
    Busy = "busy",
    /// The context has expired and can only be read; extending it makes it answer again.
    ContextExpired = "context_expired",
    /// The program that asks may not do this; `details.client` names it.
    NotPermitted = "not_permitted",
    /// No model has been chosen yet.
    NoModel = "no_model",
    /// The context may use models on this machine only, and the chosen one is elsewhere.
    LocalOnly = "local_only",
    /// The prompt cannot fit the model's window, even without history.
    PromptTooLarge = "prompt_too_large",
    /// The provider refused the key.
    ProviderUnauthorized = "provider_unauthorized",
    /// The provider does not know the model.
    ProviderModelNotFound = "provider_model_not_found",
    /// The provider asks to wait; `details.retryAfterSeconds` says how long, where it said so.
    ProviderRateLimited = "provider_rate_limited",
    /// The provider refused the request as malformed.
    ProviderRejected = "provider_rejected",
    /// The provider failed on its side.
    ProviderFailed = "provider_failed",
    /// Nothing answers at the provider's address.
    ProviderUnreachable = "provider_unreachable",
    /// The provider sent nothing for longer than its time limit.
    ProviderTimeout = "provider_timeout",
    /// The reply ended before the provider said that it was whole.
    ProviderBrokenOff = "provider_broken_off",
    /// The provider answered something that is not its wire format.
    ProviderMalformed = "provider_malformed",
    /// An address that may not be called (plain http beyond this machine, link-local, metadata).
    ProviderAddressRefused = "provider_address_refused",
    /// A server of tools could not be reached, or did not do what it was asked; `details.server` or `details.command` names it.
    ToolFailed = "tool_failed",
    /// The engine could not be started.
    EngineUnavailable = "engine_unavailable",
    /// The engine stopped; it is started again at the next message.
    EngineCrashed = "engine_crashed",
    /// The file is no model that the engine can run.
    ModelFileInvalid = "model_file_invalid",
    /// The model file is not where it was.
    ModelFileMissing = "model_file_missing",
    /// No keychain service can be reached.
    KeychainUnavailable = "keychain_unavailable",
    /// The keychain is locked.
    KeychainLocked = "keychain_locked",
    /// The keychain waits for the user's answer.
    KeychainWaiting = "keychain_waiting",
    /// The keychain holds no key of this vault.
    KeychainMissing = "keychain_missing",
    /// The key or code does not open this vault.
    WrongKey = "wrong_key",
    /// A vault file is damaged; it is left as it is.
    VaultDamaged = "vault_damaged",
    /// The vault was written by a newer version.
    VaultTooNew = "vault_too_new",
    /// The vault is locked.
    VaultLocked = "vault_locked",
    /// Something of a vault exists already where a new one was to be made.
    VaultExists = "vault_exists",
    /// The data was moved to a folder that is not there now; no new vault is made in its place.
    VaultAway = "vault_away",
    /// The data cannot be moved to that folder; it stays where it is.
    MoveRefused = "move_refused",
    /// Another process holds the vault for a change that excludes others.
    VaultInUse = "vault_in_use",
    /// A recovery code may not be written to this place, where it would lie beside the vault.
    PlaceRefused = "place_refused",
    /// The file is no archive, or is not what was written; nothing of it was taken over.
    ArchiveInvalid = "archive_invalid",
    /// The passphrase or key file does not open the archive, or it was sealed to the other of the two.
    ArchiveLocked = "archive_locked",
    /// The archive was written by a newer version.
    ArchiveTooNew = "archive_too_new",
    /// A file stands where a new one was to be written.
    FileExists = "file_exists",
    /// An import was interrupted and has to be finished or undone first.
    ImportPending = "import_pending",
    /// Reading or writing the vault failed; what was acknowledged before is safe.
    Storage = "storage",
    /// The folder or its drive allows no writing; nothing was changed.
    NotWritable = "not_writable",
    /// The disk is full.
    DiskFull = "disk_full",
    /// A defect of Evenkeel; the text says where.
    Internal = "internal",
}

/// An error as it leaves a face.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// What kind of error.
    pub code: ErrorCode,
    /// What happened, to what, and what to do, in English.
    pub message: String,
    /// Facts for the sentence in the user's language: field, value, range, address, seconds, …
    pub details: BTreeMap<String, String>,
}

impl ErrorBody {
    /// An error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: BTreeMap::new() }
    }

    /// Adds one fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.details.insert(key.to_owned(), value.to_string());
        self
    }

    /// The same where the caller knows the field `own` by another name.
    #[must_use]
    pub fn of_field(mut self, own: &str, called: &str) -> Self {
        if self.details.get("field").is_some_and(|field| field == own) {
            if let Some(rest) = self.message.strip_prefix(own) {
                self.message = format!("{called}{rest}");
            }
            self = self.with("field", called);
        }
        self
    }
}

impl std::fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code.as_str())
    }
}

impl std::error::Error for ErrorBody {}
