//! The parts of a prompt, each with its origin and its price.

use crate::{FRAME_TOKENS, TokenCounter};
use evenkeel_domain::{MessageId, RevisionId, Role};

/// Where a block stands. The order of the variants is the order in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Time, anchor and other text that is new at every turn and never stored.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A persona revision.
    Revision(RevisionId),
    /// A stored message.
    Message(MessageId),
    /// Messages before the window, named together.
    Earlier {
        /// How many they are.
        messages: u32,
    },
    /// The text being sent.
    UserText,
    /// The time passed in.
    Clock,
    /// The context provider of that name.
    Provider(String),
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it stands.
    pub kind: BlockKind,
    /// What it comes from.
    pub origin: Origin,
    /// Who speaks.
    pub role: Role,
    /// The text as sent; empty for [`Origin::Earlier`].
    pub text: String,
    /// Tokens of the text with the framing of a message.
    pub tokens: u32,
    /// Whether it is sent.
    pub included: bool,
    /// Why it was left out, or why it is here although space was short.
    pub reason: Option<String>,
}

impl Block {
    /// A block that is sent, its text counted by `counter`.
    pub fn new(kind: BlockKind, origin: Origin, role: Role, text: String, counter: &dyn TokenCounter) -> Self {
        let tokens = counter.count(&text).saturating_add(FRAME_TOKENS);
        Self { kind, origin, role, text, tokens, included: true, reason: None }
    }
}
