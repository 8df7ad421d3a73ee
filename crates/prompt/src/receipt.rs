//! From a receipt back to its prompt.

use crate::{Block, BlockKind, Prompt};
use evenkeel_domain::{Origin, PromptForm, Receipt, ReceiptBlock, Role, TextEdit};

/// What could be put together again of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuilt {
    /// The text of each block as sent, in order; empty where it was left out or is lost.
    pub texts: Vec<String>,
    /// Positions of the blocks that were sent and whose text is lost.
    pub missing: Vec<usize>,
    /// The prompt, if nothing is missing.
    pub prompt: Option<Prompt>,
}

/// Puts a prompt together again. `stored` has for each block, in order, the text that its origin names: of
/// a message its content, of a revision [`system_text`](crate::system_text), of an anchor
/// [`whole_anchor`](crate::whole_anchor); `None` where it is lost, or the receipt has it.
#[must_use]
pub fn rebuilt(receipt: &Receipt, stored: &[Option<String>]) -> Rebuilt {
    let (mut texts, mut missing) = (Vec::with_capacity(receipt.blocks.len()), Vec::new());
    for (at, block) in receipt.blocks.iter().enumerate() {
        let stored = stored.get(at).and_then(Option::as_deref);
        let text = if block.included { sent_text(block, stored) } else { Some(String::new()) };
        if text.is_none() {
            missing.push(at);
        }
        texts.push(text.unwrap_or_default());
    }
    let prompt = missing.is_empty().then(|| prompt(receipt, &texts));
    Rebuilt { texts, missing, prompt }
}

/// The text of a block as it was sent.
fn sent_text(block: &ReceiptBlock, stored: Option<&str>) -> Option<String> {
    match (&block.text, &block.origin) {
        (Some(text), _) => Some(text.clone()),
        (None, Origin::Earlier { .. }) => Some(String::new()),
        _ => edited(stored?, &block.edits).map(|text| format!("{}{text}", block.prefix)),
    }
}

/// A stored text with its edits made, which stand in order; `None` where they do not fit it.
#[must_use]
pub fn edited(stored: &str, edits: &[TextEdit]) -> Option<String> {
    let mut text = String::with_capacity(stored.len());
    let mut at = 0;
    for edit in edits {
        let (start, end) = (edit.start as usize, edit.end as usize);
        text.push_str(stored.get(at..start)?);
        stored.get(start..end)?;
        text.push_str(&edit.with);
        at = end;
    }
    text.push_str(stored.get(at..)?);
    Some(text)
}

fn prompt(receipt: &Receipt, texts: &[String]) -> Prompt {
    let block = |(block, text): (&ReceiptBlock, &String)| Block {
        kind: block.kind,
        origin: block.origin.clone(),
        role: block.role,
        text: text.clone(),
        tokens: block.tokens,
        included: block.included,
        reason: block.reason.clone(),
        prefix: block.prefix.clone(),
        edits: block.edits.clone(),
    };
    let of_history = |block: &&ReceiptBlock| block.included && block.kind == BlockKind::History;
    let window_start = receipt.blocks.iter().filter(of_history).find_map(|block| match block.origin {
        Origin::Message { id } => Some(id),
        _ => None,
    });
    Prompt {
        blocks: receipt.blocks.iter().zip(texts).map(block).collect(),
        window_start,
        meter: receipt.meter.clone(),
        estimated: receipt.meter.estimated,
        speaker: receipt.speaker.clone(),
        strategy: receipt.strategy.clone(),
        built_at: receipt.created_at,
        follow_up: receipt.follow_up.clone(),
    }
}

impl Prompt {
    /// The chat messages of one form.
    #[must_use]
    pub fn written(&self, form: PromptForm) -> Vec<(Role, String)> {
        match form {
            PromptForm::Messages => self.messages(),
            PromptForm::UserLast => self.user_last(),
        }
    }
}
