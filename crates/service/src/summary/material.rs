//! What a summary is to be made of.

use super::Talked;
use crate::background::is_named;
use crate::chat::found::{Said, name_others};
use crate::model::Chosen;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, ConversationId, MessageId, ModelChoice, Provider, ProviderLocality, Role, StandardStrategy, Summary,
    SummaryId, SummarySettings,
};
use evenkeel_prompt::{
    Calibrated, FRAME_TOKENS, HistoryMessage, Labelled, O200k, Strategy, Summarization, TokenCounter, TurnComplete, Work,
    exchanges, labels_in,
};
use evenkeel_store::{ReadHandle, StoreError, SummarySource};
use std::collections::HashSet;

/// Messages that are looked at, the oldest of those that no summary covers.
const LOOKED_AT: u32 = 4_096;
/// Messages that a summary is made anew from.
const REBUILT_FROM: usize = 400;
/// Tokens of the task's own words, and of the brackets around each message.
const TASK_TOKENS: u32 = 700;
const LINE_TOKENS: u32 = 12;
/// A summary takes at most this part of a request, as its inverse, and never has to do with less tokens than that.
const PART: u32 = 10;
const LEAST_TOKENS: u32 = 100;

/// A message with its place.
struct Line {
    place: u32,
    id: MessageId,
    /// Whom it was said to or by.
    context_id: ContextId,
    role: Role,
    speaker: String,
    text: String,
    tokens: u32,
    /// The model that wrote it.
    model: Option<ModelChoice>,
}

/// What a summary is to be made of.
pub(super) struct Material {
    pub chosen: Chosen,
    /// The user has named the model for this.
    is_named: bool,
    /// The summary that applies now.
    pub previous: Option<Summary>,
    /// The one that the new one is made from; an older one where it is made anew from the messages.
    pub base: Option<Summary>,
    pub pinned: Vec<String>,
    pub sources: Vec<SummarySource>,
    /// Messages after those, from which values come that the user pinned.
    pub beside: Vec<SummarySource>,
    pub round: u32,
    pub max_tokens: u32,
    lines: Vec<Line>,
}

impl Material {
    /// The messages as the task names them; those without words have no line.
    pub fn labelled(&self) -> Vec<Labelled<'_>> {
        let lines = self.lines.iter().filter(|line| !line.text.trim().is_empty());
        lines.map(|line| Labelled { place: line.place, speaker: &line.speaker, text: &line.text }).collect()
    }
}

/// What is read of the branch for it.
struct Waiting {
    previous: Option<Summary>,
    /// The messages after it, oldest first, as far as they are looked at.
    lines: Vec<Line>,
    /// Values that the user pinned, as lines.
    pinned: Vec<String>,
    /// The messages that these come from.
    pinned_from: Vec<SummarySource>,
    /// Whom the summary and the values were said to or by.
    contexts: Vec<ContextId>,
}

impl Service {
    /// What the next summary of a conversation is to be made of; `None` where none is due, or where the
    /// model may not read it.
    pub(super) async fn material(&self, talked: &Talked) -> Result<Option<Material>, ServiceError> {
        let Some(StandardStrategy::Summarization(settings)) = talked.context.strategy.settings()? else { return Ok(None) };
        let chosen = self.work_model(settings.compression_model.as_ref(), &talked.chosen, &talked.context).await?;
        let session = self.session()?;
        let factor = session.factors.counting(&talked.chosen.choice, talked.chosen.counts_exactly).factor;
        let (conversation, leaf, context) = (talked.conversation, talked.reply, talked.context.clone());
        let read = move |r: &ReadHandle<'_>| waiting(r, conversation, leaf, &context);
        let mut waiting = session.records(conversation).read(read).await?;
        let max_tokens = settings.max_tokens.min(talked.chosen.window / PART).max(LEAST_TOKENS);
        let room = room(&chosen, max_tokens, &waiting);
        let going = going(&settings, talked, &waiting.lines, factor, room);
        waiting.lines.truncate(going);
        let is_named = is_named(settings.compression_model.as_ref());
        let is_read = is_named || may_read(&chosen, talked, waiting.previous.as_ref(), &waiting.lines);
        if waiting.lines.is_empty() || !is_read {
            return Ok(None);
        }
        let round = waiting.previous.as_ref().map_or(1, |previous| previous.round.saturating_add(1));
        let mut material = Material {
            chosen,
            is_named,
            base: waiting.previous.clone(),
            previous: waiting.previous,
            pinned: waiting.pinned,
            sources: Vec::new(),
            beside: waiting.pinned_from,
            round,
            max_tokens,
            lines: waiting.lines,
        };
        if round.is_multiple_of(settings.rebuild_every) {
            self.rebuild(talked, &mut material, room).await?;
        }
        let mut contexts = waiting.contexts;
        contexts.extend(material.lines.iter().map(|line| line.context_id));
        contexts.sort_unstable();
        contexts.dedup();
        if let Err(refused) = self.check_kept_here(&session, &material.chosen, contexts).await {
            tracing::info!(conversation = %talked.conversation, %refused, "a conversation gets no summary");
            return Ok(None);
        }
        let source = |line: &Line| SummarySource { place: line.place, message_id: line.id };
        material.sources = material.lines.iter().map(source).collect();
        let end = material.sources.last().map_or(0, |last| last.place);
        material.beside.retain(|source| source.place > end);
        Ok(Some(material))
    }

    /// Puts the messages themselves in the place of summaries, as many as the model can take at once:
    /// what one summary got wrong, the next would repeat.
    async fn rebuild(&self, talked: &Talked, material: &mut Material, room: u32) -> Result<(), ServiceError> {
        let Some(previous) = material.previous.clone() else { return Ok(()) };
        let (conversation, context) = (talked.conversation, talked.context.clone());
        let mut left = room.saturating_sub(material.lines.iter().map(|line| line.tokens).sum());
        let read = move |r: &ReadHandle<'_>| originals(r, &previous, &context, &mut left);
        let (lines, base) = self.session()?.records(conversation).read(read).await?;
        let is_read = material.is_named || may_read(&material.chosen, talked, base.as_ref(), &lines);
        if is_read && !lines.is_empty() {
            material.base = base;
            material.lines.splice(0..0, lines);
        }
        Ok(())
    }
}

fn waiting(r: &ReadHandle<'_>, conversation: ConversationId, leaf: MessageId, context: &Context) -> Result<Waiting, StoreError> {
    let previous = r.applicable_summary(leaf)?;
    let covered = previous.as_ref().map(|previous| r.branch_length(previous.up_to_id)).transpose()?.unwrap_or(0);
    let distance = r.branch_length(leaf)?.saturating_sub(covered);
    let end = if distance > LOOKED_AT { r.ancestor(leaf, distance - LOOKED_AT)? } else { leaf };
    let lines = if distance == 0 { Vec::new() } else { lines(r, end, covered, distance.min(LOOKED_AT), context)? };
    let state: Vec<_> = r.state(conversation, Some(leaf))?.into_iter().filter(|value| value.is_pinned).collect();
    let mut from: Vec<MessageId> = state.iter().filter_map(|value| value.evidence_id).collect();
    from.sort_unstable();
    from.dedup();
    let placed = |message_id| Ok(SummarySource { place: r.branch_length(message_id)?, message_id });
    let mut contexts = previous.as_ref().map(|previous| r.summary_contexts(previous.id)).transpose()?.unwrap_or_default();
    contexts.extend(r.state_contexts(conversation)?);
    contexts.push(context.id);
    let pinned_from = from.into_iter().map(placed).collect::<Result<_, StoreError>>()?;
    let lines_of_user = previous.as_ref().map(|previous| previous.pinned.clone()).unwrap_or_default();
    let of_state = state.iter().map(|value| format!("{}: {}", value.name, value.value.trim_matches('"')));
    Ok(Waiting { lines, pinned: lines_of_user.into_iter().chain(of_state).collect(), pinned_from, contexts, previous })
}

/// The newest `count` messages up to `end`, of which the first stands after `before` others.
fn lines(r: &ReadHandle<'_>, end: MessageId, before: u32, count: u32, context: &Context) -> Result<Vec<Line>, StoreError> {
    let as_stored = |text| Said { text, prefix: String::new(), edits: Vec::new() };
    let mut said: Vec<Said> = r.branch_texts(end, None, count)?.into_iter().map(as_stored).collect();
    name_others(r, context.id, &mut said)?;
    let line = |(place, said): (u32, Said)| -> Result<Line, StoreError> {
        let speaker = match said.text.role {
            Role::User => "User",
            Role::Assistant if said.prefix.is_empty() => context.name.trim(),
            Role::Assistant => said.prefix.trim_end_matches([':', ' ']),
            Role::System => "Note",
        };
        let text = said.text.content.get(said.prefix.len()..).unwrap_or_default().to_owned();
        let tokens = said.text.tokens.unwrap_or_else(|| O200k.count(&text)).saturating_add(LINE_TOKENS);
        let (id, context_id, role) = (said.text.id, said.text.context_id, said.text.role);
        let model = if role == Role::Assistant { r.message(id)?.and_then(|reply| reply.model) } else { None };
        Ok(Line { place, id, context_id, role, speaker: speaker.to_owned(), text, tokens, model })
    };
    (before + 1..).zip(said).map(line).collect()
}

/// The messages that a summary and those before it were made from, as many as fit in whole summaries, and
/// the summary that stands for the rest.
fn originals(
    r: &ReadHandle<'_>,
    previous: &Summary,
    context: &Context,
    left: &mut u32,
) -> Result<(Vec<Line>, Option<Summary>), StoreError> {
    let mut found: Vec<Line> = Vec::new();
    for summary in r.summary_chain(previous.id, labels_in)? {
        let count = u32::try_from(summary.message_ids.len()).unwrap_or(u32::MAX);
        let before = r.branch_length(summary.up_to_id)?.saturating_sub(count);
        let lines = lines(r, summary.up_to_id, before, count, context)?;
        let tokens: u32 = lines.iter().map(|line| line.tokens).fold(0, u32::saturating_add);
        if tokens > *left || found.len() + lines.len() > REBUILT_FROM {
            return Ok((found, Some(summary)));
        }
        *left -= tokens;
        found.splice(0..0, lines);
    }
    Ok((found, None))
}

/// Tokens of messages that the model can be given.
fn room(chosen: &Chosen, max_tokens: u32, waiting: &Waiting) -> u32 {
    let notes = waiting.previous.as_ref().map_or(0, |previous| previous.tokens.tokens);
    // A fifth is kept free: this counts by o200k, whatever the model is.
    (chosen.window - chosen.window / 5).saturating_sub(max_tokens * 3 / 2).saturating_sub(notes * 2).saturating_sub(TASK_TOKENS)
}

/// How many messages go into the summary now: whole exchanges, as many as are due and as the model can take.
fn going(settings: &SummarySettings, talked: &Talked, lines: &[Line], factor: f64, room: u32) -> usize {
    let counter = Calibrated::new(O200k, factor);
    let message = |line: &Line| (line.id, line.role, counter.scaled(line.tokens.saturating_sub(LINE_TOKENS)));
    let counted: Vec<_> = lines.iter().map(message).collect();
    let history: Vec<HistoryMessage<'_>> = lines
        .iter()
        .zip(&counted)
        .map(|(line, (id, role, tokens))| HistoryMessage {
            id: *id,
            role: *role,
            content: &line.text,
            tokens: *tokens,
            prefix: "",
            edits: &[],
        })
        .collect();
    let groups = exchanges(&history, 0);
    let turn = TurnComplete { history: &history, exchanges: &groups, max_history_tokens: talked.budget };
    // What a summary covers is not among these.
    let Some(Work::Summarise { exchanges: due }) = Summarization::new(settings, None).on_turn_complete(&turn) else { return 0 };
    let mut taken = 0;
    let mut end = 0;
    for group in &groups[due] {
        let tokens: u32 = lines[end..group.messages.end].iter().map(|line| line.tokens + FRAME_TOKENS).sum();
        taken += tokens;
        if taken > room && end > 0 {
            break;
        }
        end = group.messages.end;
    }
    end
}

/// A model elsewhere that nobody has named may read only what its provider was sent: what went with the
/// last request, and each exchange that it answered itself.
fn may_read(chosen: &Chosen, talked: &Talked, base: Option<&Summary>, lines: &[Line]) -> bool {
    chosen.is_local() || {
        let last = Last { model: &talked.chosen.choice, messages: &talked.sent, summary: talked.sent_summary };
        has_seen(&chosen.provider, &last, base, lines)
    }
}

/// What the last request sent, and to whom.
struct Last<'a> {
    model: &'a ModelChoice,
    messages: &'a HashSet<MessageId>,
    summary: Option<SummaryId>,
}

fn has_seen(provider: &Provider, last: &Last<'_>, base: Option<&Summary>, lines: &[Line]) -> bool {
    let is_there =
        |model: &ModelChoice| model.provider_id == provider.id && provider.locality_of(&model.model) == ProviderLocality::Remote;
    let was_sent = is_there(last.model);
    let knows_base =
        base.is_none_or(|base| base.model.as_ref().is_some_and(is_there) || (was_sent && last.summary == Some(base.id)));
    let answered = |at: usize| {
        let reply = lines[at..].iter().find(|line| line.role == Role::Assistant);
        reply.and_then(|reply| reply.model.as_ref()).is_some_and(is_there)
    };
    knows_base && lines.iter().enumerate().all(|(at, line)| (was_sent && last.messages.contains(&line.id)) || answered(at))
}

#[cfg(test)]
mod tests;
