//! The nouns of Evenkeel and the rules that hold for them. Plain data, no IO, no clock, no
//! randomness: times and ids are passed in.

mod advice;
mod care;
mod chat;
mod connection;
mod context;
mod conversation;
mod error;
mod error_advice;
mod feature;
mod follow_up;
pub mod generation;
mod history;
mod id;
mod job;
mod lifetime;
mod limits;
mod long_operation;
mod memory;
mod message;
mod model;
mod network;
pub mod operation;
mod phrase;
mod preset;
mod recall;
mod receipt;
mod redaction;
mod schema;
mod search;
mod server;
mod session;
mod settings;
mod strategy;
mod tag;
mod tool;
mod trash;

pub use advice::{Advice, AdviceKind, PersonaField, advise, advise_reply, longest_reply};
pub use care::{CareCard, CareSign, Contact, Helpline, HelplineKind, helplines, region_of, signs};
pub use chat::{ChatEvent, Leaving, SendRequest, TokenMeter};
pub use connection::{Access, AccessKind, Connection, ConnectionGrant};
pub use context::{Context, ContextDraft, ContextPatch, ContextPlace, ContextQuery, ContextSort, Revision, RevisionUse};
pub use conversation::{
    AgentShare, ComposerDraft, Conversation, ConversationPlace, ConversationQuery, ConversationStatistics, ConversationsShown,
    DraftKey, TitleSource,
};
pub use error::{ErrorBody, ErrorCode};
pub use feature::{Feature, FeatureFlags, FeatureStage};
pub use follow_up::{FollowUp, FollowUpSignal, HistoryNeed};
pub use history::recommended_max_history_tokens;
pub use id::{
    ContextId, ConversationId, IdError, MessageId, ModelFileId, OperationId, PresetId, ProviderId, RevisionId, StateValueId,
    SummaryId, ToolServerId,
};
pub use job::{Job, JobEnd, JobResult};
pub use lifetime::{
    ClockReading, ClockSample, ClockVerdict, ClockWatch, DeletionHold, EXPIRED_BEFORE_TRASH, EXPIRED_IN_SIGHT, EXPIRY_WARNING,
    HOLD_AFTER_JUMP, JUMP_TOLERANCE, LONGEST_PAUSE, PURGE_CONFIRMATION, PurgeStep, TIME_UNWATCHED, TRASH_BEFORE_PURGE,
    TrashEntry, expire_due, moved, purge_allowance, purge_step, trash_due, warning_due, within_allowance,
};
pub use limits::{FieldError, Limits};
pub use long_operation::{LongOperationSettings, WebhookFailure};
pub use memory::{Evidence, StateSource, StateValue, Summary};
pub use message::{Citation, Message, MessageQuery, MessageSelection, MessageStatus, Role, TokenCount, Usage, Vote, beginning};
pub use model::{ModelChoice, ModelInfo, Provider, ProviderKind, ProviderLocality, runs_in_cloud};
pub use network::RequestPurpose;
pub use operation::{
    FinishedOperation, FoundAnswer, FoundCount, FoundFile, FoundId, FoundValue, Operation, OperationDraft, OperationMetadata,
    OperationPageQuery, OperationQuery, OperationRule, OperationSettings, StatusChange, glob_fits, tool_fits,
};
pub use phrase::plain_word;
pub use preset::{BUILT_IN_PRESETS, BuiltInPreset, DefaultSettings, Preset, PresetDraft, PresetQuery};
pub use recall::{Meaning, RecallCandidate, RecallFound, RecallWish, RecallWord};
pub use receipt::{
    BlockKind, Compared, Origin, Preview, PromptForm, RECEIPT_VERSION, Receipt, ReceiptBlock, ReceiptRound, RequestText,
    RoundCall, RoundMessage, RoundText, StrategyUsed, TextEdit, sha256_hex,
};
pub use redaction::{RedactionKind, RedactionSettings};
pub use schema::{Misfit, StateSchema};
pub use search::{SearchHit, SearchQuery, SnippetPart};
pub use server::ServerSettings;
pub use session::{NamedSession, SessionPart, SessionQuery, SessionSummary, Sessions, SessionsShown};
pub use settings::{Settings, Theme};
pub use strategy::{
    EXTRACTION, ExtractionSettings, FULL, FullSettings, MemorySettings, RecallSettings, SLIDING_WINDOW, SUMMARIZATION,
    StandardStrategy, StrategyChoice, StrategySource, SummarySettings, WindowSettings, WorkModel,
};
pub use tag::{checked_tags, folded};
pub use tool::{
    RECENT_CONTEXT, Tool, ToolAnswer, ToolChoice, ToolEnd, ToolPermit, ToolRefusal, ToolRule, ToolSchema, ToolServer,
    ToolTransport, ToolUse, ToolVerdict, wire_names,
};
pub use trash::{KindSize, TrashId, TrashItem, TrashSummary, VaultStatistics};

#[cfg(test)]
mod tests;
