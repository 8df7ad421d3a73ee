#![allow(clippy::unwrap_used, clippy::expect_used)]

mod blocks;
mod counting;
mod invariants;
mod memory;
mod recall;
mod receipts;
mod reuse;
mod snapshots;
mod window;

use crate::{Block, BlockKind, BuildInput, Builder, HistoryMessage, Origin, Prompt, PromptError, TokenCounter};
use chrono::{DateTime, TimeZone, Utc};
use evenkeel_domain::{MessageId, Revision, Role};

/// Counts words: figures in tests can be read off the texts.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.split_whitespace().count()).unwrap()
    }

    fn name(&self) -> &str {
        "words"
    }

    fn is_estimate(&self) -> bool {
        false
    }
}

pub(crate) fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

pub(crate) fn id(number: u32) -> MessageId {
    let mut random = [0; 10];
    random[6..].copy_from_slice(&number.to_be_bytes());
    MessageId::from_parts(DateTime::UNIX_EPOCH, random)
}

pub(crate) fn anna() -> Revision {
    Revision::new("Anna", "Anna is a patient companion.", "Dry and precise. Collects stamps.", None, noon())
}

/// Owned messages from letters (`u` user, `a` assistant, `s` system, `_` blank user) of `words` words each.
pub(crate) fn branch(roles: &str, words: usize) -> Vec<(MessageId, Role, String)> {
    let message = |(at, role): (usize, char)| {
        let text = if role == '_' { " \n".to_owned() } else { format!("{role}{at}{}", " w".repeat(words - 1)) };
        let role = match role {
            'a' => Role::Assistant,
            's' => Role::System,
            _ => Role::User,
        };
        (id(u32::try_from(at).unwrap()), role, text)
    };
    roles.chars().enumerate().map(message).collect()
}

pub(crate) fn counted<'a>(branch: &'a [(MessageId, Role, String)], counter: &dyn TokenCounter) -> Vec<HistoryMessage<'a>> {
    let message = |(id, role, content): &'a (MessageId, Role, String)| HistoryMessage {
        id: *id,
        role: *role,
        content,
        tokens: counter.count(content),
        prefix: "",
        edits: &[],
    };
    branch.iter().map(message).collect()
}

pub(crate) fn input<'a>(revision: &'a Revision, history: &'a [HistoryMessage<'a>]) -> BuildInput<'a> {
    BuildInput {
        revision,
        history,
        earlier: 0,
        user_text: "And now?",
        user_edits: &[],
        follow_up: None,
        now: noon(),
        zone: "Europe/Berlin",
        maintain_personality: true,
        anchor_from_turn: 3,
        turn: 3,
        window: 10_000,
        max_tokens: 500,
        max_history_tokens: 5_000,
        evicted_before: None,
        counter: &Words,
        counts_are_estimates: false,
    }
}

pub(crate) fn sent(prompt: &Prompt) -> Vec<MessageId> {
    let message = |block: &Block| match block.origin {
        Origin::Message { id } if block.included => Some(id),
        _ => None,
    };
    prompt.blocks.iter().filter_map(message).collect()
}

pub(crate) fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<MessageId> {
    numbers.into_iter().map(id).collect()
}

pub(crate) fn left_out(prompt: &Prompt) -> &Block {
    prompt.blocks.iter().find(|block| matches!(block.origin, Origin::Earlier { .. })).expect("a block for what was left out")
}

pub(crate) fn of_kind(prompt: &Prompt, kind: BlockKind) -> Vec<&Block> {
    prompt.blocks.iter().filter(|block| block.kind == kind).collect()
}

pub(crate) fn build(input: BuildInput<'_>) -> Result<Prompt, PromptError> {
    Builder::new(input).build()
}
