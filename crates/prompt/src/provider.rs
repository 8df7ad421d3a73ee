//! Context providers: text beside persona, history and user text.

use crate::{Block, HistoryMessage, TokenCounter};

/// What a provider may look at.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The text being sent.
    pub user_text: &'a str,
    /// The loaded messages of the branch, oldest first.
    pub history: &'a [HistoryMessage<'a>],
    /// Tokens that the request has left for this provider and everything after it.
    pub room: u32,
    /// Counts in the tokens of this request.
    pub counter: &'a dyn TokenCounter,
}

/// Adds blocks of the kinds tools, memory and trailing: tool definitions, a summary, facts,
/// recalled messages, goals. Whatever it needs is put into it before; composing is pure.
///
/// Providers are asked in their order; blocks of one kind stay in it. A block that does not fit
/// is left out whole, those of a higher priority are served first. Blocks of other kinds are
/// left out with a reason.
pub trait ContextProvider {
    /// The blocks for this request.
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block>;
}
