//! Receipts: what was sent for a reply, by reference to what is stored.

use crate::{MessageId, ModelChoice, ProviderKind, RevisionId, Role, SummaryId, TokenMeter, Usage};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The form of receipts that this version writes.
pub const RECEIPT_VERSION: u32 = 1;

/// Where a block stands. The order of the variants is the order in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum BlockKind {
    /// The persona.
    System,
    /// Tool definitions: complete or absent.
    Tools,
    /// Summaries and facts.
    Memory,
    /// Messages of the conversation.
    History,
    /// What the user wrote now.
    User,
    /// Recalled messages, goals, time, anchor: new at every turn and never stored.
    Trailing,
}

impl BlockKind {
    /// Rank when space is short; the lowest number is served first.
    #[must_use]
    pub fn priority(self) -> u8 {
        match self {
            Self::System | Self::User => 0,
            Self::Tools => 1,
            Self::Trailing => 2,
            Self::Memory => 3,
            Self::History => 4,
        }
    }
}

/// What a block's text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "from", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Origin {
    /// A persona revision.
    Revision {
        /// Its id.
        id: RevisionId,
    },
    /// The reminder of a persona revision.
    Anchor {
        /// The revision's id.
        id: RevisionId,
    },
    /// A stored message.
    Message {
        /// Its id.
        id: MessageId,
    },
    /// Messages before the window, named together.
    Earlier {
        /// How many they are.
        messages: u32,
    },
    /// The text being sent; a stored message once it is sent.
    UserText,
    /// The time passed in.
    Clock,
    /// A summary of older messages.
    Summary {
        /// Its id.
        id: SummaryId,
    },
    /// Values taken from what the user said.
    State,
    /// An older message that bears on the question.
    Recalled {
        /// Its id.
        id: MessageId,
    },
    /// The user's goals.
    Goals,
    /// The context provider or strategy of that name.
    Provider {
        /// Its name.
        name: String,
    },
}

/// A replaced part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TextEdit {
    /// First byte of the part in the stored text.
    pub start: u32,
    /// The byte after it.
    pub end: u32,
    /// What was sent instead.
    pub with: String,
}

/// One block of a request, without the text where that is stored elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptBlock {
    /// Where it stood.
    pub kind: BlockKind,
    /// What it came from.
    pub origin: Origin,
    /// Who spoke.
    pub role: Role,
    /// Its tokens as counted then, with the framing of a message.
    pub tokens: u32,
    /// Whether it was sent.
    pub included: bool,
    /// Why it was left out, or why it was sent although space was short.
    pub reason: Option<String>,
    /// The text as sent, where nothing else holds it; `None` where `origin` names what does.
    pub text: Option<String>,
    /// What stood before the stored text, such as the name of another context that wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What was replaced in the stored text before it was sent, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<TextEdit>,
}

/// The strategy that composed a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct StrategyUsed {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Why it is not the one that was chosen; `None` if it is.
    pub instead_of: Option<String>,
}

/// How a prompt is written down for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum PromptForm {
    /// Chat messages, the trailing text last.
    Messages,
    /// Chat messages, the user's text last: for small models, which answer whatever comes last.
    UserLast,
}

/// What was sent for one reply. Immutable, but for what is forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// [`RECEIPT_VERSION`] of the app that wrote it.
    pub version: u32,
    /// The reply.
    pub reply_id: MessageId,
    /// The message that was answered.
    pub user_message_id: MessageId,
    /// When the request was put together; the time that it tells.
    pub created_at: DateTime<Utc>,
    /// The persona revision.
    pub revision_id: RevisionId,
    /// The companion's name.
    pub speaker: String,
    /// The model.
    pub model: ModelChoice,
    /// The provider's name then.
    pub provider_name: String,
    /// Its wire format.
    pub provider_kind: ProviderKind,
    /// Sampling temperature.
    pub temperature: f32,
    /// Most tokens of the reply.
    pub max_tokens: u32,
    /// The strategy.
    pub strategy: StrategyUsed,
    /// How the blocks were written down.
    pub form: PromptForm,
    /// The blocks in order, those left out among them.
    pub blocks: Vec<ReceiptBlock>,
    /// How full the budgets were.
    pub meter: TokenMeter,
    /// SHA-256 of the request's body as sent, in hex; empty where the request never left.
    pub request_hash: String,
    /// Bytes of that body.
    pub request_bytes: u32,
    /// What the provider reported.
    pub usage: Option<Usage>,
}
