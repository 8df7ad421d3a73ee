//! Summaries that models make in the background.
//!
//! They are begun with after a whole reply, and give way to every other one. What is to be summarised
//! goes to no provider elsewhere that has not been sent it already, unless the user has named it for this,
//! and what comes back is checked: else the summary before stays.

mod material;

use crate::background::{Wish, answer_of};
use crate::chat::memory::summary_of;
use crate::chat::plan::{Plan, counted};
use crate::model::Chosen;
use crate::{Service, ServiceError};
use evenkeel_domain::{Context, ConversationId, Message, MessageId, RequestPurpose, Revision, SUMMARIZATION, Summary, SummaryId};
use evenkeel_prompt::{NotesCheck, NotesTask, O200k, Origin};
use evenkeel_store::NewSummary;
use material::Material;
use std::collections::HashSet;
use std::time::Duration;

/// Time for the answer.
const PATIENCE: Duration = Duration::from_secs(180);
/// Summaries that are made after one reply, where there is much to catch up with.
const ROUNDS: usize = 4;

/// A turn that has ended.
#[derive(Clone)]
pub(crate) struct Talked {
    /// The one that answered; local only where anybody is whose words were sent.
    pub context: Context,
    pub revision: Revision,
    pub chosen: Chosen,
    pub conversation: ConversationId,
    pub reply: MessageId,
    /// The messages that the model was sent, and its reply.
    pub sent: HashSet<MessageId>,
    /// The summary that it was sent.
    pub sent_summary: Option<SummaryId>,
    /// Tokens that the history had.
    pub budget: u32,
    /// Every reply was told to stop so often when this one began.
    pub stops: u64,
    /// Whether what the model had read before served it: some cannot go back in what they have read.
    pub reuses: bool,
}

impl Talked {
    pub fn of(plan: Plan, reply: &Message, stops: u64) -> Self {
        let of_history = plan.prompt.blocks.iter().filter(|block| block.included).filter_map(|block| match block.origin {
            Origin::Message { id } => Some(id),
            _ => None,
        });
        let sent: HashSet<MessageId> = of_history.chain([plan.user_message.id, reply.id]).collect();
        let reused = reply.usage.and_then(|usage| usage.cached_tokens).is_some_and(|tokens| tokens > 0);
        Self {
            stops,
            reuses: reused || sent.len() == 2,
            sent,
            sent_summary: summary_of(&plan.prompt),
            budget: plan.prompt.meter.budget_tokens,
            conversation: plan.conversation.id,
            context: plan.context,
            revision: plan.revision,
            chosen: plan.chosen,
            reply: reply.id,
        }
    }
}

/// What became of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summarised {
    Made,
    /// The model's answer was none.
    Rejected,
    /// A reply began, or the app closes.
    GaveWay,
    /// None is due, or it may not be made.
    NotDue,
}

impl Service {
    /// Makes the summaries that a turn has made due.
    pub(crate) async fn summarise_all(&self, talked: &Talked) {
        if talked.context.strategy.plugin_id != SUMMARIZATION {
            return;
        }
        for _ in 0..ROUNDS {
            match self.summarise(talked).await {
                Ok(Summarised::Made) => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::info!(conversation = %talked.conversation, code = error.code().as_str(), "a conversation got no summary");
                    break;
                }
            }
        }
    }

    async fn summarise(&self, talked: &Talked) -> Result<Summarised, ServiceError> {
        let Some(mut attempt) = self.summaries().begin(talked.conversation) else { return Ok(Summarised::NotDue) };
        let summarised = self.make_summary(talked).await;
        attempt.has_failed = matches!(summarised, Err(_) | Ok(Summarised::Rejected));
        summarised
    }

    async fn make_summary(&self, talked: &Talked) -> Result<Summarised, ServiceError> {
        let give_way = self.replies().give_way();
        tokio::pin!(give_way);
        // What is told from here on is heard, also before it is waited for.
        give_way.as_mut().enable();
        if !self.replies().is_empty() {
            return Ok(Summarised::GaveWay);
        }
        // What the user has changed since the turn counts.
        let context = self.context_get(talked.context.id).await?;
        if context.strategy != talked.context.strategy {
            return Ok(Summarised::NotDue);
        }
        let local_only = context.local_only || talked.context.local_only;
        let talked = &Talked { context: Context { local_only, ..context }, ..talked.clone() };
        let Some(material) = self.material(talked).await? else { return Ok(Summarised::NotDue) };
        let asking = tokio::time::timeout(PATIENCE, self.notes(talked, &material));
        let notes = tokio::select! {
            notes = asking => notes.unwrap_or(Ok(None))?,
            () = give_way => return Ok(Summarised::GaveWay),
        };
        match notes {
            Some(text) => self.keep_summary(talked, material, text).await,
            None => Ok(Summarised::Rejected),
        }
    }

    /// The notes that a model makes of the material; `None` if its answer is not taken for some.
    async fn notes(&self, talked: &Talked, material: &Material) -> Result<Option<String>, ServiceError> {
        let ready = self.ready_beside(&material.chosen, &talked.context, RequestPurpose::Summary).await?;
        let labelled = material.labelled();
        let task = NotesTask {
            name: &talked.context.name,
            previous: material.base.as_ref().map(|base| base.text.as_str()),
            pinned: &material.pinned,
            messages: &labelled,
            max_tokens: material.max_tokens,
        };
        // Longer answers are rejected as such, not cut in the middle of a line.
        let max_tokens = material.max_tokens * 3 / 2;
        let wish = Wish { messages: task.messages(), temperature: 0.2, max_tokens, response_schema: None };
        let answer = answer_of(&ready, &material.chosen, wish).await?;
        let places: Vec<u32> = labelled.iter().map(|message| message.place).collect();
        let check = NotesCheck {
            places: &places,
            previous: material.previous.as_ref().map(|previous| previous.text.as_str()),
            pinned: &material.pinned,
            max_tokens: material.max_tokens,
            counter: &O200k,
        };
        match check.accept(&answer.text) {
            Ok(text) if answer.is_whole => Ok(Some(text)),
            Ok(_) => {
                tracing::info!(conversation = %talked.conversation, "a summary was rejected: it had no end; the one before stays");
                Ok(None)
            }
            Err(rejection) => {
                tracing::info!(conversation = %talked.conversation, %rejection, "a summary was rejected; the one before stays");
                Ok(None)
            }
        }
    }

    /// Stores the notes, unless the branch has got another summary meanwhile.
    async fn keep_summary(&self, talked: &Talked, material: Material, text: String) -> Result<Summarised, ServiceError> {
        let now = self.now();
        let before = material.previous.as_ref().map(|previous| previous.id);
        let Some(end) = material.sources.last() else { return Ok(Summarised::NotDue) };
        let summary = Summary {
            id: SummaryId::from_parts(now, self.random()),
            conversation_id: talked.conversation,
            up_to_id: end.message_id,
            message_ids: Vec::new(),
            evidence: Vec::new(),
            tokens: counted(&text),
            text,
            pinned: material.previous.map(|previous| previous.pinned).unwrap_or_default(),
            model: Some(material.chosen.choice),
            round: material.round,
            created_at: now,
            is_edited: false,
            is_stale: false,
        };
        let previous = material.base.map(|base| base.id);
        let new = NewSummary { summary, messages: material.sources, beside: material.beside, previous };
        let reply = talked.reply;
        let write = move |w: &mut evenkeel_store::WriteHandle<'_>| {
            let is_as_before = w.applicable_summary(reply)?.map(|summary| summary.id) == before;
            Ok(is_as_before && w.insert_summary(&new)?)
        };
        let is_stored = self.session()?.records(talked.conversation).write(write).await?;
        Ok(if is_stored { Summarised::Made } else { Summarised::NotDue })
    }
}
