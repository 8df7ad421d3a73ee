//! Receipts: what was sent for a reply, by reference to what is stored.

use crate::{
    ErrorBody, FollowUp, MessageId, ModelChoice, ProviderKind, RevisionId, Role, StrategyChoice, SummaryId, TokenMeter, Usage,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

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
    /// The tools that the model was told of, as JSON. They stand in a field of their own and not among the messages.
    Tools,
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
    /// SHA-256 in hex of the text as sent, prefix and edits in it; empty where there is no text.
    #[serde(default)]
    pub hash: String,
    /// When the message was begun that it came from; `None` where it came from no message.
    #[serde(default)]
    pub date: Option<DateTime<Utc>>,
    /// What it came from is no longer stored: the text is lost, its hash is not.
    #[serde(default)]
    pub forgotten: bool,
}

impl ReceiptBlock {
    /// The message that holds its text, where `user_message` is the one that was answered.
    #[must_use]
    pub fn message(&self, user_message: MessageId) -> Option<MessageId> {
        match self.origin {
            Origin::Message { id } | Origin::Recalled { id } => Some(id),
            Origin::UserText => Some(user_message),
            _ => None,
        }
    }
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
    /// Its name as the provider was asked for it.
    #[serde(default)]
    pub model_name: String,
    /// The provider's name then.
    pub provider_name: String,
    /// Its wire format.
    pub provider_kind: ProviderKind,
    /// Where the request went: origin and path, without what may hold a key.
    #[serde(default)]
    pub address: String,
    /// Sampling temperature.
    pub temperature: f32,
    /// Most tokens of the reply.
    pub max_tokens: u32,
    /// The model's window in tokens, as it was asked for.
    #[serde(default)]
    pub window: u32,
    /// The strategy.
    pub strategy: StrategyUsed,
    /// How the blocks were written down.
    pub form: PromptForm,
    /// The blocks in order, those left out among them.
    pub blocks: Vec<ReceiptBlock>,
    /// How full the budgets were; what was to leave next is not kept.
    pub meter: TokenMeter,
    /// Whether the message went on with what was said before it, where that was asked.
    #[serde(default)]
    pub follow_up: Option<FollowUp>,
    /// SHA-256 of the request's body as sent, in hex; empty where the request never left.
    pub request_hash: String,
    /// Bytes of that body.
    pub request_bytes: u32,
    /// What the provider reported.
    pub usage: Option<Usage>,
    /// The requests after the first, where the model asked for tools.
    #[serde(default)]
    pub rounds: Vec<ReceiptRound>,
}

/// A further request for the same reply: the one before it, and what was said since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptRound {
    /// What was added, in order; empty where it is forgotten.
    pub messages: Vec<RoundMessage>,
    /// Tokens of what was added, as counted then.
    pub tokens: u32,
    /// Whether no tool could be asked for any more.
    pub tools_are_over: bool,
    /// SHA-256 of the request's body as sent, in hex.
    pub request_hash: String,
    /// Bytes of that body.
    pub request_bytes: u32,
    /// What was added is no longer stored.
    pub forgotten: bool,
}

/// What was added to a request between two rounds, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "from", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RoundMessage {
    /// The model, which asked for tools.
    Model {
        /// What it said with it.
        text: String,
        /// What it asked for, in order.
        calls: Vec<RoundCall>,
        /// Tokens of all of that.
        tokens: u32,
    },
    /// What one of those calls came to.
    Tool {
        /// The call.
        call: RoundCall,
        /// What the model was told, shortened and without what is not to be sent.
        text: String,
        /// Its tokens.
        tokens: u32,
    },
    /// A word of the app.
    App {
        /// What it says.
        text: String,
        /// Its tokens.
        tokens: u32,
    },
}

impl RoundMessage {
    /// Its tokens.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        match self {
            Self::Model { tokens, .. } | Self::Tool { tokens, .. } | Self::App { tokens, .. } => *tokens,
        }
    }
}

/// A call of a tool in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RoundCall {
    /// The provider's id of the call.
    pub id: String,
    /// The tool's name as the model knows it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// The server's name; empty for a tool of the app itself, and for one that there is not.
    pub server: String,
    /// The tool's name at the server.
    pub tool: String,
}

/// The request of a receipt, put together again from what is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RequestText {
    /// The body, byte for byte, on one line; empty where texts of it are missing.
    pub body: String,
    /// The same as a command for a shell, with `$API_KEY` in place of the key; empty like the body.
    pub curl: String,
    /// Where it went.
    pub address: String,
    /// Whether its hash is that of what was sent.
    pub matches: bool,
    /// Blocks that were sent and whose text is forgotten.
    pub missing: Vec<ReceiptBlock>,
    /// The text of each block of the receipt as sent, in order; empty where it was left out or is forgotten.
    pub texts: Vec<String>,
    /// The requests after the first, in order.
    pub rounds: Vec<RoundText>,
}

/// A further request of a receipt, put together again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RoundText {
    /// The body, byte for byte, on one line; empty where texts of it, or of a request before it, are missing.
    pub body: String,
    /// The same as a command for a shell; empty like the body.
    pub curl: String,
    /// Whether its hash is that of what was sent.
    pub matches: bool,
}

/// What would be sent for a wish to have an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The strategy.
    pub strategy: StrategyUsed,
    /// The blocks in order, those left out among them.
    pub blocks: Vec<ReceiptBlock>,
    /// The text of each of them; empty where it is left out.
    pub texts: Vec<String>,
    /// How full the budgets would be.
    pub meter: TokenMeter,
    /// The model.
    pub model: ModelChoice,
    /// The provider's name.
    pub provider_name: String,
    /// The body, byte for byte but for the time.
    pub body: String,
}

/// What one strategy would make of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// The strategy.
    pub strategy: StrategyChoice,
    /// What would be sent; `None` where it cannot be.
    pub preview: Option<Preview>,
    /// Why not.
    pub error: Option<ErrorBody>,
}

/// SHA-256 in lowercase hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
