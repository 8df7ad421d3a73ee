//! The nouns of Evenkeel and the rules that hold for them. Plain data, no IO, no clock, no
//! randomness: times and ids are passed in.

mod chat;
mod context;
mod conversation;
mod error;
mod id;
mod limits;
mod message;
mod model;
mod preset;
mod settings;

pub use chat::{ChatEvent, SendRequest, TokenMeter};
pub use context::{Context, ContextDraft, ContextPatch, Revision};
pub use conversation::Conversation;
pub use error::{ErrorBody, ErrorCode};
pub use id::{ContextId, ConversationId, IdError, MessageId, ModelFileId, PresetId, ProviderId, RevisionId};
pub use limits::{FieldError, Limits};
pub use message::{Message, MessageStatus, Role, TokenCount, Usage};
pub use model::{ModelChoice, ModelInfo, Provider, ProviderKind, ProviderLocality};
pub use preset::{BUILT_IN_PRESETS, BuiltInPreset, DefaultSettings, Preset};
pub use settings::{Settings, Theme};

#[cfg(test)]
mod tests;
