//! The parts of a prompt, each with its origin and its price.

use crate::{FRAME_TOKENS, TokenCounter};
pub use evenkeel_domain::{BlockKind, Origin};
use evenkeel_domain::{ReceiptBlock, Role, TextEdit, sha256_hex};

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
    /// What stands before the stored text that `origin` names.
    pub prefix: String,
    /// What was replaced in that stored text.
    pub edits: Vec<TextEdit>,
}

impl Block {
    /// A block that is sent, its text counted by `counter`.
    pub fn new(kind: BlockKind, origin: Origin, role: Role, text: String, counter: &dyn TokenCounter) -> Self {
        let tokens = counter.count(&text).saturating_add(FRAME_TOKENS);
        Self { kind, origin, role, text, tokens, included: true, reason: None, prefix: String::new(), edits: Vec::new() }
    }

    /// The block as its receipt keeps it: with the text only where nothing else holds that. Where something
    /// else does, [`Block::text`] is its stored text with [`Block::edits`] made and [`Block::prefix`] before it.
    #[must_use]
    pub fn for_receipt(&self) -> ReceiptBlock {
        let text = (!is_stored(&self.origin) && !self.text.is_empty()).then(|| self.text.clone());
        let date = match self.origin {
            Origin::Message { id } | Origin::Recalled { id } => id.born_at(),
            _ => None,
        };
        ReceiptBlock {
            kind: self.kind,
            origin: self.origin.clone(),
            role: self.role,
            tokens: self.tokens,
            included: self.included,
            reason: self.reason.clone(),
            text,
            prefix: self.prefix.clone(),
            edits: self.edits.clone(),
            hash: if self.text.is_empty() { String::new() } else { sha256_hex(self.text.as_bytes()) },
            date,
            forgotten: false,
        }
    }

    /// Leaves it out.
    pub(crate) fn leave_out(&mut self, reason: impl Into<String>) {
        self.included = false;
        self.reason = Some(reason.into());
    }
}

/// Whether the vault holds the text that an origin names, so that no receipt repeats it.
fn is_stored(origin: &Origin) -> bool {
    match origin {
        Origin::Revision { .. }
        | Origin::Anchor { .. }
        | Origin::Message { .. }
        | Origin::Recalled { .. }
        | Origin::Summary { .. }
        | Origin::UserText => true,
        Origin::Earlier { .. } | Origin::Clock | Origin::State | Origin::Goals | Origin::Tools | Origin::Provider { .. } => false,
    }
}
