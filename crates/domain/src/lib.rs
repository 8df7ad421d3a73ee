//! The nouns of Evenkeel and the rules that hold for them. Plain data, no IO, no clock, no
//! randomness: times and ids are passed in.

mod chat;
mod context;
mod conversation;
mod error;
mod id;
mod job;
mod limits;
mod message;
mod model;
mod preset;
mod search;
mod settings;
mod tag;
mod trash;

pub use chat::{ChatEvent, SendRequest, TokenMeter};
pub use context::{Context, ContextDraft, ContextPatch, ContextQuery, ContextSort, Revision, RevisionUse};
pub use conversation::{
    AgentShare, ComposerDraft, Conversation, ConversationQuery, ConversationStatistics, DraftKey, TitleSource,
};
pub use error::{ErrorBody, ErrorCode};
pub use id::{ContextId, ConversationId, IdError, MessageId, ModelFileId, PresetId, ProviderId, RevisionId};
pub use job::{Job, JobEnd, JobResult};
pub use limits::{FieldError, Limits};
pub use message::{Message, MessageStatus, Role, TokenCount, Usage, Vote};
pub use model::{ModelChoice, ModelInfo, Provider, ProviderKind, ProviderLocality};
pub use preset::{BUILT_IN_PRESETS, BuiltInPreset, DefaultSettings, Preset, PresetQuery};
pub use search::{SearchHit, SearchQuery, SnippetPart};
pub use settings::{Settings, Theme};
pub use tag::{checked_tags, folded};
pub use trash::{KindSize, TrashId, TrashItem, VaultStatistics};

#[cfg(test)]
mod tests;
