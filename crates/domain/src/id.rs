//! Typed ids. An id is parsed before use and never becomes part of a path.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// An id that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not a valid {kind} id; ids look like 01890a5d-ac96-774b-bcce-b302099a8057")]
pub struct IdError {
    /// What the id was to name.
    pub kind: &'static str,
    /// The text that was given, at most 64 characters of it.
    pub value: String,
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes an id from the time of its birth and 80 bits of randomness (UUID version 7).
            #[must_use]
            pub fn from_parts(now: chrono::DateTime<chrono::Utc>, random: [u8; 10]) -> Self {
                let millis = u64::try_from(now.timestamp_millis()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// The id as a UUID.
            #[must_use]
            pub fn uuid(self) -> Uuid {
                self.0
            }

            /// The time of its birth, to the millisecond; `None` for an id that tells none.
            #[must_use]
            pub fn born_at(self) -> Option<chrono::DateTime<chrono::Utc>> {
                let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
                chrono::DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::parse_str(text).map(Self).map_err(|_| IdError {
                    kind: $kind,
                    value: text.chars().take(64).collect(),
                })
            }
        }
    };
}

uuid_id!(/// Names a context.
    ContextId, "context");
uuid_id!(/// Names a conversation.
    ConversationId, "conversation");
uuid_id!(/// Names a message.
    MessageId, "message");
uuid_id!(/// Names a provider.
    ProviderId, "provider");
uuid_id!(/// Names a server of tools.
    ToolServerId, "tool server");
uuid_id!(/// Names a summary.
    SummaryId, "summary");
uuid_id!(/// Names a value of a conversation's state.
    StateValueId, "state value");
uuid_id!(/// Names an operation.
    OperationId, "operation");

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text of an id.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(/// Names a preset: `preset-calm-counselor` for a built-in one, `preset-<uuid>` for the user's own.
    PresetId);
text_id!(/// Names a persona revision: the lowercase hex SHA-256 of its content.
    RevisionId);
text_id!(/// Names a GGUF file of the engine: the lowercase hex SHA-256 of its canonical path.
    ModelFileId);

impl ModelFileId {
    /// The id of the file at a canonical path.
    #[must_use]
    pub fn of_path(path: &str) -> Self {
        use sha2::{Digest, Sha256};
        Self(Sha256::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
