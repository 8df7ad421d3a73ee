//! The history of a request: which messages are sent, and what stands for those that are not.

use crate::exchange::{is_blank, tail_within};
use crate::{Block, BlockKind, Composition, Exchange, FRAME_TOKENS, HistoryMessage, Origin, Strategy, Window};
use evenkeel_domain::{Leaving, MessageId, Role, beginning};

/// Most characters of a message that is to leave.
const BEGINNING: usize = 80;

/// What a request says of the history.
pub(crate) struct History {
    /// One block for all messages that are left out first.
    pub blocks: Vec<Block>,
    /// Their number.
    pub left_out: u32,
    /// What goes when the window next moves.
    pub leaving: Option<Leaving>,
    /// The first message that is sent.
    pub start: Option<MessageId>,
    /// Tokens of what is sent.
    pub tokens: u32,
}

/// The messages that history is taken from.
pub(crate) struct Source<'a> {
    pub messages: &'a [HistoryMessage<'a>],
    /// Messages of the branch before them.
    pub earlier: u32,
    /// Position of the first that the last request still sent.
    pub from: usize,
    pub exchanges: &'a [Exchange],
}

impl Source<'_> {
    /// Writes down what a strategy composed, held to what the request can take.
    pub fn history(&self, strategy: &dyn Strategy, composed: Composition, ceiling: u32) -> History {
        let (messages, groups) = (self.messages, self.exchanges);
        let window = within_ceiling(composed.window, groups, ceiling);
        let start = groups.get(window.first).map_or(messages.len(), |first| first.messages.start);
        let left_out = self.earlier.saturating_add(u32::try_from(start).unwrap_or(u32::MAX));
        let mut blocks = Vec::with_capacity(messages.len() - start + 1);
        if left_out > 0 {
            blocks.push(earlier_block(messages.get(self.from..start).unwrap_or_default(), left_out, window.reason));
        }
        blocks.extend(messages[start..].iter().filter(|message| !is_blank(message)).map(message_block));
        let sent = groups.get(window.first..).unwrap_or_default();
        let included = || blocks.iter().filter(|block| block.included);
        let first = included().find_map(|block| match block.origin {
            Origin::Message { id } => Some(id),
            _ => None,
        });
        let tokens = included().fold(0u32, |sum, block| sum.saturating_add(block.tokens));
        History { start: first, tokens, left_out, leaving: self.leaving(strategy, sent), blocks }
    }

    fn leaving(&self, strategy: &dyn Strategy, sent: &[Exchange]) -> Option<Leaving> {
        let going = sent.get(..strategy.leaving(sent))?;
        let messages = going.first()?.messages.start..going.last()?.messages.end;
        let messages = self.messages[messages].iter().filter(|message| !is_blank(message));
        let first = messages.clone().next()?;
        let count = u32::try_from(messages.count()).unwrap_or(u32::MAX);
        Some(Leaving { messages: count, first_id: first.id, beginning: beginning(first.content, BEGINNING) })
    }
}

/// Holds any strategy's choice to what the request can take.
fn within_ceiling(window: Window, groups: &[Exchange], ceiling: u32) -> Window {
    let fitting = tail_within(groups, ceiling);
    if window.first >= fitting {
        return window;
    }
    let reason = format!("the strategy's choice was over the {ceiling} tokens that the request leaves");
    Window { first: fitting, reason: Some(reason) }
}

/// Stands for all messages before the window; its tokens are those of the messages that left now.
fn earlier_block(leaving: &[HistoryMessage<'_>], messages: u32, reason: Option<String>) -> Block {
    let tokens = leaving.iter().fold(0u32, |sum, message| sum.saturating_add(message.tokens).saturating_add(FRAME_TOKENS));
    let standing = || "before the start of the window, which stays until history is over its budget".into();
    Block {
        kind: BlockKind::History,
        origin: Origin::Earlier { messages },
        role: Role::User,
        text: String::new(),
        tokens,
        included: false,
        reason: Some(reason.unwrap_or_else(standing)),
        prefix: String::new(),
        edits: Vec::new(),
    }
}

fn message_block(message: &HistoryMessage<'_>) -> Block {
    Block {
        kind: BlockKind::History,
        origin: Origin::Message { id: message.id },
        role: message.role,
        text: message.content.to_owned(),
        tokens: message.tokens.saturating_add(FRAME_TOKENS),
        included: true,
        reason: None,
        prefix: message.prefix.to_owned(),
        edits: message.edits.to_vec(),
    }
}
