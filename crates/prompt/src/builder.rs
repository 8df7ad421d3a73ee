//! Composing the blocks of a request and fitting them into the budget.

use crate::anchor;
use crate::history::{History, Source};
use crate::persona::system_text;
use crate::render::NOTE_TOKENS;
use crate::{Block, BlockKind, Budget, ComposeRequest, ContextProvider, FRAME_TOKENS, Origin, PromptError};
use crate::{SlidingWindow, Strategy, TokenCounter, Wanted, exchanges};
use chrono::{DateTime, Utc};
use evenkeel_domain::{FollowUp, MessageId, Revision, Role, StrategyUsed, TextEdit, TokenMeter};
use std::collections::HashSet;

/// Per cent of the history budget from which the meter warns.
const WARN_PERCENT: u64 = 80;
/// One stored message of the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryMessage<'a> {
    /// The message's id.
    pub id: MessageId,
    /// Who wrote it.
    pub role: Role,
    /// The text; a blank one is never sent.
    pub content: &'a str,
    /// Its tokens, counted by the request's counter.
    pub tokens: u32,
    /// What `content` begins with and the stored text does not, such as the name of another context.
    pub prefix: &'a str,
    /// What was replaced in the stored text.
    pub edits: &'a [TextEdit],
}

/// Everything a prompt is made of.
#[derive(Clone, Copy)]
pub struct BuildInput<'a> {
    /// The persona that answers.
    pub revision: &'a Revision,
    /// The shown branch before the text being sent, oldest first; may be only its newest part,
    /// best from the previous window's start on.
    pub history: &'a [HistoryMessage<'a>],
    /// Messages of the branch that come before `history`.
    pub earlier: u32,
    /// What the user wrote now.
    pub user_text: &'a str,
    /// What was replaced in it before it came here.
    pub user_edits: &'a [TextEdit],
    /// Whether it goes on with what was said before, as far as that was asked.
    pub follow_up: Option<&'a FollowUp>,
    /// The time to tell the model.
    pub now: DateTime<Utc>,
    /// The user's time zone, such as `Europe/Berlin`; characters that no zone has are dropped.
    pub zone: &'a str,
    /// Whether the anchor is sent.
    pub maintain_personality: bool,
    /// The turn from which it is.
    pub anchor_from_turn: u32,
    /// Number of this user message in the branch; the first is 1.
    pub turn: u32,
    /// The model's window, in tokens.
    pub window: u32,
    /// Tokens reserved for the reply.
    pub max_tokens: u32,
    /// Most tokens of history.
    pub max_history_tokens: u32,
    /// [`Prompt::window_start`] of the previous request of this conversation. Leave it out after a
    /// change of model or of `max_history_tokens`, so that older messages may come back.
    pub evicted_before: Option<MessageId>,
    /// Counts in the tokens of the model.
    pub counter: &'a dyn TokenCounter,
    /// True where the counter is not the model's own, however exact it is for another.
    pub counts_are_estimates: bool,
}

/// A request, ready to be rendered for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Its parts in order, those left out among them.
    pub blocks: Vec<Block>,
    /// The first message of the history that is sent: [`BuildInput::evicted_before`] of the next request.
    pub window_start: Option<MessageId>,
    /// How full the budgets are.
    pub meter: TokenMeter,
    /// Whether token figures are estimates.
    pub estimated: bool,
    /// The companion's name.
    pub speaker: String,
    /// The strategy that composed it.
    pub strategy: StrategyUsed,
    /// The time that it tells.
    pub built_at: DateTime<Utc>,
    /// What was decided of the user's text.
    pub follow_up: Option<FollowUp>,
}

/// Builds one prompt.
///
/// Time and space are linear in the messages from the previous window's start on.
pub struct Builder<'a> {
    input: BuildInput<'a>,
    strategy: &'a dyn Strategy,
    instead_of: Option<String>,
    providers: &'a [&'a dyn ContextProvider],
}

/// The sliding window as designed; used unless another strategy is given.
static STANDARD: SlidingWindow = SlidingWindow { keep_percent: 60, keep_exchanges: 5 };

impl<'a> Builder<'a> {
    /// A builder with the standard strategy and no context providers.
    #[must_use]
    pub fn new(input: BuildInput<'a>) -> Self {
        Self { input, strategy: &STANDARD, instead_of: None, providers: &[] }
    }

    /// Chooses history by another strategy.
    #[must_use]
    pub fn strategy(mut self, strategy: &'a dyn Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Notes why the strategy is not the one that was chosen.
    #[must_use]
    pub fn instead_of(mut self, reason: Option<String>) -> Self {
        self.instead_of = reason;
        self
    }

    /// Asks these providers, in this order, for tools, memory and trailing blocks.
    #[must_use]
    pub fn providers(mut self, providers: &'a [&'a dyn ContextProvider]) -> Self {
        self.providers = providers;
        self
    }

    /// Puts the prompt together. It is never over the budget of the request.
    ///
    /// # Errors
    /// [`PromptError::ReplyFillsWindow`] if `max_tokens` leaves no room for a request, and
    /// [`PromptError::TooLarge`] if persona, user text, time and anchor alone are over its budget.
    pub fn build(mut self) -> Result<Prompt, PromptError> {
        let instead_of = self.instead_of.take();
        let input = &self.input;
        let estimated = input.counts_are_estimates || input.counter.is_estimate();
        let budget = Budget::new(input.window, input.max_tokens, estimated)?;
        let mut blocks = self.fixed_blocks(&budget)?;
        self.compose(&mut blocks, &budget);
        let room = budget.request - request_tokens(&blocks);
        let (memory, history, history_budget) = self.past(room);
        leave_out_repetitions(&mut blocks, &history);
        blocks.extend(memory);
        let warning = u64::from(history.tokens) * 100 >= u64::from(history_budget) * WARN_PERCENT && history.tokens > 0;
        let (history_tokens, left_out, leaving) = (history.tokens, history.left_out, history.leaving);
        blocks.extend(history.blocks);
        // Stable: blocks of one kind stay in the order they were given, before time and anchor.
        blocks.sort_by_key(|block| (block.kind, matches!(block.origin, Origin::Clock | Origin::Anchor { .. })));
        let meter = TokenMeter {
            history_tokens,
            budget_tokens: history_budget,
            request_tokens: request_tokens(&blocks),
            window_tokens: input.window,
            left_out,
            warning,
            estimated,
            leaving,
        };
        let strategy = &self.strategy;
        let instead_of = instead_of.or_else(|| strategy.fault().map(str::to_owned));
        let strategy = StrategyUsed { id: strategy.id().into(), version: strategy.version().into(), instead_of };
        let speaker = input.revision.name.trim().to_owned();
        let (window_start, follow_up) = (history.start, input.follow_up.cloned());
        Ok(Prompt { blocks, window_start, meter, estimated, speaker, strategy, built_at: input.now, follow_up })
    }

    /// Memory and history in what is left of the request, and the history's budget.
    fn past(&self, room: u32) -> (Vec<Block>, History, u32) {
        let input = &self.input;
        let messages = input.history;
        let from = input.evicted_before.and_then(|start| messages.iter().rposition(|message| message.id == start)).unwrap_or(0);
        let groups = exchanges(messages, from);
        let request = ComposeRequest {
            history: messages,
            exchanges: &groups,
            earlier: input.earlier,
            user_text: input.user_text,
            max_history_tokens: input.max_history_tokens,
            room,
            counter: input.counter,
        };
        let mut composed = self.strategy.compose(&request);
        let memory = fitted(std::mem::take(&mut composed.memory), room);
        let ceiling = request.beside(&memory).ceiling;
        let budget = composed.budget.min(ceiling);
        let source = Source { messages, earlier: input.earlier, from, exchanges: &groups };
        (memory, source.history(self.strategy, composed, ceiling), budget)
    }

    /// Persona, user text, time and anchor: whole, or the request is refused.
    fn fixed_blocks(&self, budget: &Budget) -> Result<Vec<Block>, PromptError> {
        let input = &self.input;
        let id = || input.revision.id.clone();
        let block = |kind, origin, role, text| Block::new(kind, origin, role, text, input.counter);
        let system = block(BlockKind::System, Origin::Revision { id: id() }, Role::System, system_text(input.revision));
        let mut user = block(BlockKind::User, Origin::UserText, Role::User, input.user_text.to_owned());
        let mut time = block(BlockKind::Trailing, Origin::Clock, Role::System, anchor::time_line(input.now, input.zone));
        time.tokens = time.tokens.saturating_add(NOTE_TOKENS);
        user.edits = input.user_edits.to_vec();
        let (system_tokens, user_tokens) = (system.tokens, user.tokens);
        let mut blocks = vec![system, user, time];
        if input.maintain_personality && input.turn >= input.anchor_from_turn {
            let anchored = anchor::anchor(input.revision, input.counter);
            let mut anchor = block(BlockKind::Trailing, Origin::Anchor { id: id() }, Role::System, anchored.text);
            anchor.edits = anchored.edits;
            blocks.push(anchor);
        }
        let needed = request_tokens(&blocks);
        if needed <= budget.request {
            return Ok(blocks);
        }
        Err(PromptError::TooLarge {
            system: system_tokens,
            user: user_tokens,
            trailing: needed.saturating_sub(system_tokens).saturating_sub(user_tokens),
            budget: budget.request,
            window: budget.window,
            max_tokens: budget.max_tokens,
        })
    }

    /// Adds the providers' blocks, the ones of higher priority first while there is room.
    fn compose(&self, blocks: &mut Vec<Block>, budget: &Budget) {
        let fixed = blocks.len();
        for provider in self.providers {
            let room = budget.request - request_tokens(blocks).min(budget.request);
            let (user_text, history, counter) = (self.input.user_text, self.input.history, self.input.counter);
            blocks.extend(provider.compose(&Wanted { user_text, history, room, counter }));
        }
        let mut used = request_tokens(&blocks[..fixed]);
        let mut order: Vec<usize> = (fixed..blocks.len()).collect();
        order.sort_by_key(|at| blocks[*at].kind.priority());
        for block in order {
            let block = &mut blocks[block];
            let room = budget.request - used;
            if !matches!(block.kind, BlockKind::Tools | BlockKind::Memory | BlockKind::Trailing) {
                block.leave_out("providers give tools, memory and trailing text only");
            } else if block.included && block.tokens > room {
                block.leave_out(format!("{} tokens do not fit the {room} that are left", block.tokens));
            } else if block.included {
                used += block.tokens;
            }
        }
    }
}

/// Tokens of what is sent, with the opening of the reply.
fn request_tokens(blocks: &[Block]) -> u32 {
    blocks.iter().filter(|block| block.included).fold(FRAME_TOKENS, |sum, block| sum.saturating_add(block.tokens))
}

/// The blocks of a strategy's memory, those that do not fit left out.
fn fitted(mut memory: Vec<Block>, room: u32) -> Vec<Block> {
    let mut left = room;
    for block in &mut memory {
        let tokens = block.tokens;
        if block.kind != BlockKind::Memory {
            block.leave_out("a strategy gives memory only");
        } else if block.included && tokens > left {
            block.leave_out(format!("{tokens} tokens do not fit the {left} that are left"));
        } else if block.included {
            left -= tokens;
        }
    }
    memory
}

/// A recalled message that the window holds anyway is not sent twice.
fn leave_out_repetitions(blocks: &mut [Block], history: &History) {
    let is_recalled = |block: &Block| block.included && matches!(block.origin, Origin::Recalled { .. });
    if !blocks.iter().any(is_recalled) {
        return;
    }
    let sent: HashSet<MessageId> = history
        .blocks
        .iter()
        .filter_map(|block| match block.origin {
            Origin::Message { id } if block.included => Some(id),
            _ => None,
        })
        .collect();
    for block in blocks.iter_mut().filter(|block| block.included) {
        if matches!(&block.origin, Origin::Recalled { id } if sent.contains(id)) {
            block.leave_out("it stands in the history that is sent");
        }
    }
}
