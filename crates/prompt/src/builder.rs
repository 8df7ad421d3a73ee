//! Composing the blocks of a request and fitting them into the budget.

use crate::anchor::{self, ANCHOR_FROM_TURN};
use crate::exchange::{exchanges, is_blank, tail_within};
use crate::render::NOTE_TOKENS;
use crate::{Block, BlockKind, Budget, ContextProvider, Exchange, FRAME_TOKENS, Origin, PromptError, SlidingWindow};
use crate::{Strategy, TokenCounter, Wanted, Window, WindowRequest};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Leaving, MessageId, Revision, Role, TokenMeter};

/// Per cent of the history budget from which the meter warns.
const WARN_PERCENT: u64 = 80;
/// Most characters of a message that is to leave.
const BEGINNING: usize = 80;

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
    /// The time to tell the model.
    pub now: DateTime<Utc>,
    /// The user's time zone, such as `Europe/Berlin`; characters that no zone has are dropped.
    pub zone: &'a str,
    /// Whether the anchor is sent.
    pub maintain_personality: bool,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

/// Builds one prompt.
///
/// Time and space are linear in the messages from the previous window's start on.
pub struct Builder<'a> {
    input: BuildInput<'a>,
    strategy: &'a dyn Strategy,
    providers: &'a [&'a dyn ContextProvider],
}

/// The sliding window as designed; used unless another strategy is given.
static STANDARD: SlidingWindow = SlidingWindow { keep_percent: 60, keep_exchanges: 5 };

impl<'a> Builder<'a> {
    /// A builder with the standard strategy and no context providers.
    #[must_use]
    pub fn new(input: BuildInput<'a>) -> Self {
        Self { input, strategy: &STANDARD, providers: &[] }
    }

    /// Chooses history by another strategy.
    #[must_use]
    pub fn strategy(mut self, strategy: &'a dyn Strategy) -> Self {
        self.strategy = strategy;
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
    pub fn build(self) -> Result<Prompt, PromptError> {
        let input = &self.input;
        let estimated = input.counts_are_estimates || input.counter.is_estimate();
        let budget = Budget::new(input.window, input.max_tokens, estimated)?;
        let mut blocks = self.fixed_blocks(&budget)?;
        self.compose(&mut blocks, &budget);
        let ceiling = budget.request - request_tokens(&blocks);
        let history_budget = input.max_history_tokens.min(ceiling);
        let History { blocks: history, left_out, leaving } = self.history(history_budget, ceiling);
        let history_tokens = history.iter().filter(|block| block.included).map(|block| block.tokens).sum();
        let window_start = history.iter().find(|block| block.included).and_then(|block| match block.origin {
            Origin::Message(id) => Some(id),
            _ => None,
        });
        blocks.extend(history);
        // Stable: blocks of one kind stay in the order they were given.
        blocks.sort_by_key(|block| block.kind);
        let warning = u64::from(history_tokens) * 100 >= u64::from(history_budget) * WARN_PERCENT && history_tokens > 0;
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
        Ok(Prompt { blocks, window_start, meter, estimated, speaker: input.revision.name.trim().to_owned() })
    }

    /// Persona, user text, time and anchor: whole, or the request is refused.
    fn fixed_blocks(&self, budget: &Budget) -> Result<Vec<Block>, PromptError> {
        let input = &self.input;
        let origin = || Origin::Revision(input.revision.id.clone());
        let block = |kind, origin, role, text| Block::new(kind, origin, role, text, input.counter);
        let system = block(BlockKind::System, origin(), Role::System, system_text(input.revision));
        let user = block(BlockKind::User, Origin::UserText, Role::User, input.user_text.to_owned());
        let mut time = block(BlockKind::Trailing, Origin::Clock, Role::System, anchor::time_line(input.now, input.zone));
        time.tokens = time.tokens.saturating_add(NOTE_TOKENS);
        let (system_tokens, user_tokens) = (system.tokens, user.tokens);
        let mut blocks = vec![system, user, time];
        if input.maintain_personality && input.turn >= ANCHOR_FROM_TURN {
            let text = anchor::anchor(input.revision, input.counter);
            blocks.push(block(BlockKind::Trailing, origin(), Role::System, text));
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
                block.included = false;
                block.reason = Some("providers give tools, memory and trailing text only".into());
            } else if block.included && block.tokens > room {
                block.included = false;
                block.reason = Some(format!("{} tokens do not fit the {room} that are left", block.tokens));
            } else if block.included {
                used += block.tokens;
            }
        }
    }

    fn history(&self, budget: u32, ceiling: u32) -> History {
        let history = self.input.history;
        let from =
            self.input.evicted_before.and_then(|start| history.iter().rposition(|message| message.id == start)).unwrap_or(0);
        let groups = exchanges(history, from);
        let window = self.strategy.window(&WindowRequest { exchanges: &groups, budget, ceiling });
        let window = within_ceiling(window, &groups, ceiling);
        let start = groups.get(window.first).map_or(history.len(), |first| first.messages.start);
        let loaded = u32::try_from(start).unwrap_or(u32::MAX);
        let left_out = self.input.earlier.saturating_add(loaded);
        let mut blocks = Vec::with_capacity(history.len() - start + 1);
        if left_out > 0 {
            blocks.push(earlier_block(&history[from..start], left_out, window.reason));
        }
        blocks.extend(history[start..].iter().filter(|message| !is_blank(message)).map(message_block));
        let sent = groups.get(window.first..).unwrap_or_default();
        History { blocks, left_out, leaving: self.leaving(sent) }
    }

    /// What goes when the window next moves.
    fn leaving(&self, sent: &[Exchange]) -> Option<Leaving> {
        let going = sent.get(..self.strategy.leaving(sent))?;
        let messages = going.first()?.messages.start..going.last()?.messages.end;
        let messages = self.input.history[messages].iter().filter(|message| !is_blank(message));
        let first = messages.clone().next()?;
        let count = u32::try_from(messages.count()).unwrap_or(u32::MAX);
        Some(Leaving { messages: count, first_id: first.id, beginning: beginning(first.content) })
    }
}

/// What a request says of the history.
struct History {
    /// One block for all messages that are left out first.
    blocks: Vec<Block>,
    /// Their number.
    left_out: u32,
    leaving: Option<Leaving>,
}

/// How a text begins, on one line.
fn beginning(text: &str) -> String {
    let line = |character: char| if character.is_whitespace() || character.is_control() { ' ' } else { character };
    let mut characters = text.trim().chars().map(line);
    let mut begun: String = characters.by_ref().take(BEGINNING - 1).collect();
    match (characters.next(), characters.next()) {
        (Some(last), None) => begun.push(last),
        (Some(_), Some(_)) => begun = format!("{}…", begun.trim_end()),
        _ => {}
    }
    begun
}

/// The system text of a revision: instructions, then the personality by name.
fn system_text(revision: &Revision) -> String {
    let mut text = revision.system_prompt.trim().to_owned();
    let name = revision.name.trim();
    // A context made from a preset may bear another name than the one its prompt speaks of.
    if !text.contains(name) {
        text.push_str(&format!("\n\nIn this conversation the assistant described above is called {name}."));
    }
    let personality = revision.personality.trim();
    if !personality.is_empty() {
        text.push_str(&format!("\n\n{name}'s personality: {personality}"));
    }
    text
}

/// Tokens of what is sent, with the opening of the reply.
fn request_tokens(blocks: &[Block]) -> u32 {
    blocks.iter().filter(|block| block.included).fold(FRAME_TOKENS, |sum, block| sum.saturating_add(block.tokens))
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
    Block {
        kind: BlockKind::History,
        origin: Origin::Earlier { messages },
        role: Role::User,
        text: String::new(),
        tokens,
        included: false,
        reason: Some(
            reason.unwrap_or_else(|| "before the start of the window, which stays until history is over its budget".into()),
        ),
    }
}

fn message_block(message: &HistoryMessage<'_>) -> Block {
    Block {
        kind: BlockKind::History,
        origin: Origin::Message(message.id),
        role: message.role,
        text: message.content.to_owned(),
        tokens: message.tokens.saturating_add(FRAME_TOKENS),
        included: true,
        reason: None,
    }
}
