//! The lines of an archive. The types are this format's own: what the tables or the app change inside does not
//! change what is in an archive. `docs/archive.md` describes them for other programs.

use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, MessageId, PresetId, ProviderId, RevisionId, StateValueId, SummaryId};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What the first line says that the file is.
pub(super) const FORMAT: &str = "evenkeel-archive";
/// Raised when a reader of the version before would misread it.
pub(super) const VERSION: u32 = 1;
/// Stands for the built-in provider of models, whose id differs from vault to vault.
pub(super) const ENGINE: Uuid = Uuid::from_u128(0x0000_0000_0000_8000_8000_656e_6769_6e65);

/// How many there are of each kind of record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counts {
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
    /// Companions that are gone, and of which messages stand in conversations of others.
    pub former_contexts: u64,
    /// Threads.
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

impl Counts {
    /// All records.
    #[must_use]
    pub fn total(&self) -> u64 {
        Kind::ALL.iter().map(|kind| self.of(*kind)).sum()
    }

    /// Those of one kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> u64 {
        let mut counts = *self;
        *counts.place(kind)
    }

    /// Counts one more.
    pub(super) fn add(&mut self, kind: Kind) {
        *self.place(kind) += 1;
    }

    pub(super) fn place(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Settings => &mut self.settings,
            Kind::Preset => &mut self.presets,
            Kind::Provider => &mut self.providers,
            Kind::ModelFile => &mut self.model_files,
            Kind::Revision => &mut self.revisions,
            Kind::Context => &mut self.contexts,
            Kind::FormerContext => &mut self.former_contexts,
            Kind::Conversation => &mut self.conversations,
            Kind::Message => &mut self.messages,
            Kind::Receipt => &mut self.receipts,
            Kind::Summary => &mut self.summaries,
            Kind::StateValue => &mut self.state_values,
        }
    }
}

/// The kinds of records, in the order in which they may follow each other; those of a conversation follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each is named and described in `Counts`")]
pub enum Kind {
    Settings,
    Preset,
    Provider,
    ModelFile,
    Revision,
    Context,
    FormerContext,
    Conversation,
    Message,
    Receipt,
    Summary,
    StateValue,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Settings,
        Self::Preset,
        Self::Provider,
        Self::ModelFile,
        Self::Revision,
        Self::Context,
        Self::FormerContext,
        Self::Conversation,
        Self::Message,
        Self::Receipt,
        Self::Summary,
        Self::StateValue,
    ];

    /// The name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Preset => "preset",
            Self::Provider => "provider",
            Self::ModelFile => "modelFile",
            Self::Revision => "revision",
            Self::Context => "context",
            Self::FormerContext => "formerContext",
            Self::Conversation => "conversation",
            Self::Message => "message",
            Self::Receipt => "receipt",
            Self::Summary => "summary",
            Self::StateValue => "stateValue",
        }
    }

    /// Whether it is a part of the conversation before it.
    pub(super) fn is_part(self) -> bool {
        self > Self::Conversation
    }
}

/// A plug-in that was installed. Only its name goes along: whoever imports installs it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginReference {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    /// `evenkeel-archive`.
    pub format: String,
    /// Of the format: 1.
    pub version: u32,
    /// Of the app that wrote it.
    pub app_version: String,
    /// When it was written.
    pub exported_at: DateTime<Utc>,
    /// What follows.
    pub counts: Counts,
    /// Plug-ins that were installed.
    pub plugins: Vec<PluginReference>,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct End {
    /// Lines between the first and this one.
    pub records: u64,
    /// Over those lines, each with its line end; in hexadecimal.
    pub sha256: String,
}

/// A line that is a record. Each is an object with one field, the kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Record {
    Settings(Json),
    Preset(PresetRecord),
    Provider(ProviderRecord),
    ModelFile(ModelFileRecord),
    Revision(RevisionRecord),
    Context(Box<ContextRecord>),
    FormerContext(FormerContextRecord),
    Conversation(ConversationRecord),
    Message(Box<MessageRecord>),
    Receipt(ReceiptRecord),
    Summary(Box<SummaryRecord>),
    StateValue(StateValueRecord),
    End(End),
}

impl Record {
    /// Its kind; `None` of the last line.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Settings(_) => Kind::Settings,
            Self::Preset(_) => Kind::Preset,
            Self::Provider(_) => Kind::Provider,
            Self::ModelFile(_) => Kind::ModelFile,
            Self::Revision(_) => Kind::Revision,
            Self::Context(_) => Kind::Context,
            Self::FormerContext(_) => Kind::FormerContext,
            Self::Conversation(_) => Kind::Conversation,
            Self::Message(_) => Kind::Message,
            Self::Receipt(_) => Kind::Receipt,
            Self::Summary(_) => Kind::Summary,
            Self::StateValue(_) => Kind::StateValue,
            Self::End(_) => return None,
        })
    }
}

/// JSON text on one line, kept to the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Json(String);

impl Json {
    /// JSON text as it lies in a column; `None` if it is none.
    pub fn new(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        if raw.get().contains(['\n', '\r']) {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            return Some(Self(value.to_string()));
        }
        Some(Self(raw.get().to_owned()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// With an id put in the place of another, wherever it stands.
    pub fn renamed(&self, from: Uuid, to: Uuid) -> Self {
        Self(self.0.replace(&format!("\"{from}\""), &format!("\"{to}\"")))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::new(raw.get()).ok_or_else(|| D::Error::custom("a value is no JSON"))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PresetRecord {
    pub id: PresetId,
    pub name: String,
    pub description: String,
    pub system_prompt: String,
    pub personality: String,
    pub temperature: f32,
    pub max_tokens: u32,
    pub max_history_tokens: u32,
    pub expiry_days: Option<u32>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub is_active: bool,
    /// JSON as the user wrote it, in a string.
    pub metadata: String,
}

/// Without its key, and without its extra headers, which may hold one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderRecord {
    /// Its id; `00000000-0000-8000-8000-656e67696e65` is the built-in one.
    pub id: ProviderId,
    /// The wire format.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// `local` or `remote`.
    pub locality: String,
    /// Models that the user named.
    pub manual_models: Vec<String>,
    /// Tokens of its models' window, where the user set them.
    pub window_override: Option<u32>,
    /// Seconds without an answer after which it counts as gone.
    pub timeout_seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ModelFileRecord {
    pub id: String,
    pub path: String,
    pub name: String,
    pub window: Option<u32>,
    pub size_bytes: u64,
    pub added_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RevisionRecord {
    pub id: RevisionId,
    pub name: String,
    pub system_prompt: String,
    pub personality: String,
    pub anchor: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RevisionUseRecord {
    pub id: RevisionId,
    pub used_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContextRecord {
    pub id: ContextId,
    pub revision_id: RevisionId,
    /// All wordings that it has had, in the order of their first use.
    pub revisions: Vec<RevisionUseRecord>,
    pub temperature: f32,
    pub max_tokens: u32,
    pub max_history_tokens: u32,
    pub expiry_days: Option<u32>,
    pub provider_id: Option<ProviderId>,
    pub model: Option<String>,
    pub local_only: bool,
    pub maintain_personality: bool,
    pub preset_id: Option<PresetId>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_interaction_at: DateTime<Utc>,
    pub expires_at: Option<DateTime<Utc>>,
    pub is_active: bool,
    pub tags: Vec<String>,
    pub strategy: Json,
    pub memory: Json,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FormerContextRecord {
    pub id: ContextId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConversationRecord {
    pub id: ConversationId,
    pub context_id: ContextId,
    pub title: String,
    pub title_source: String,
    /// The last message of the branch that was shown.
    pub shown_message_id: Option<MessageId>,
    pub is_pinned: bool,
    pub is_archived: bool,
    pub tags: Vec<String>,
    pub created_at: DateTime<Utc>,
    pub last_activity_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MessageRecord {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    /// The context that answered, or that was spoken to.
    pub context_id: ContextId,
    pub parent_id: Option<MessageId>,
    pub role: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_id: Option<RevisionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<ProviderId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u32>,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// 1 = liked, -1 = disliked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<i8>,
    /// The preset whose counters the vote went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote_preset_id: Option<PresetId>,
    /// Values of the state were taken from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_read: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReceiptRecord {
    /// The reply.
    pub id: MessageId,
    pub context_id: ContextId,
    pub body: Json,
    /// Base64 of 53 bytes for each message that was sent as it stands: id, SHA-256 of its text, tokens
    /// (little-endian, 4 bytes), and who spoke (0 user, 1 assistant, 2 system).
    pub history: String,
    pub texts: Option<Json>,
    pub is_derived: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SummaryRecord {
    pub id: SummaryId,
    pub conversation_id: ConversationId,
    /// The last message that it covers.
    pub up_to_id: MessageId,
    pub text: String,
    pub pinned: Vec<String>,
    pub tokens: u32,
    pub tokenizer: String,
    pub provider_id: Option<ProviderId>,
    pub model: Option<String>,
    pub round: u32,
    pub is_edited: bool,
    /// `valid` or `replaced`.
    pub state: String,
    pub created_at: DateTime<Utc>,
    /// The messages that it was made from, by the number of their label.
    pub messages: BTreeMap<u32, MessageId>,
    /// The summaries that it rests on.
    pub sources: Vec<SummaryId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StateValueRecord {
    pub id: StateValueId,
    pub context_id: ContextId,
    pub conversation_id: ConversationId,
    pub name: String,
    pub value: Json,
    /// The message that it was taken from.
    pub evidence_id: Option<MessageId>,
    pub valid_from: DateTime<Utc>,
    pub valid_to: Option<DateTime<Utc>>,
    pub is_pinned: bool,
    pub is_edited: bool,
    pub source: String,
    pub conflicts_with_id: Option<StateValueId>,
    pub is_suggestion: bool,
}
