//! What the vault says of a wish for an answer, read in one go: each read of its own would cost a
//! change of threads, and another state of the vault.

use super::memory::{Branch, Memory};
use super::strategy::worth_reading;
use crate::provider::{KeyedProvider, keyed_provider};
use evenkeel_domain::{
    Context, ContextId, Conversation, Message, MessageId, ModelChoice, Revision, RevisionId, Role, SendRequest, StrategyChoice,
    SummaryId, TextEdit,
};
use evenkeel_store::{BranchText, Noun, ReadHandle, StoreError};
use std::collections::HashMap;

/// Messages read at first; more only while they still fit the budget.
const FIRST_READ: u32 = 256;

/// Who answers, where, after what, and by which provider.
pub(crate) struct Found {
    /// The one that answers; local only where one that spoke or is spoken to is.
    pub context: Context,
    /// The one that the conversation is with.
    pub home: Context,
    /// How many messages there are with `home`.
    pub home_messages: u64,
    pub revision: Revision,
    /// `None` where it is only beginning.
    pub conversation: Option<Conversation>,
    /// The message that is edited, or answered anew.
    pub message: Option<Message>,
    /// What the question follows.
    pub parent: Option<MessageId>,
    /// The context's own model, or the default one.
    pub choice: Option<ModelChoice>,
    /// The provider of `choice`, if it is still there.
    pub provider: Option<KeyedProvider>,
    pub past: Past,
    /// Name of the first context, of those whose words would be sent, that is local only.
    pub kept_here_by: Option<String>,
}

impl Found {
    /// Reads what `request` is about: the parties in the vault, what was said in `r`, which is
    /// another store for a private conversation. `start` is the first message of the last request's window, if
    /// it is remembered; `strategy` is tried in place of the context's own.
    ///
    /// # Errors
    /// `NotFound` with the first thing that is missing, or the vault cannot be read.
    pub fn read(
        vault: &ReadHandle<'_>,
        r: &ReadHandle<'_>,
        request: &SendRequest,
        start: Option<MessageId>,
        default_model: Option<ModelChoice>,
        strategy: Option<StrategyChoice>,
    ) -> Result<Self, StoreError> {
        let place = Place::read(r, request)?;
        let mut context = existing(vault.context(place.context_id)?, Noun::Context, place.context_id)?;
        context.strategy = strategy.unwrap_or(context.strategy);
        let home_id = place.conversation.as_ref().map_or(place.home_id, |conversation| conversation.context_id);
        let home =
            if home_id == context.id { context.clone() } else { existing(vault.context(home_id)?, Noun::Context, home_id)? };
        let conversation = place.conversation.as_ref().map(|conversation| conversation.id);
        let branch = Branch { conversation, parent: place.parent, asked: None };
        let past = Past::read(r, branch, &context, |_| start)?;
        let kept_here_by = kept_here_by(vault, &context, &home, &past)?;
        context.local_only |= kept_here_by.is_some();
        let choice = context.model.clone().or(default_model);
        Ok(Self {
            home_messages: vault.message_count(home.id)?,
            revision: existing(vault.revision(&context.revision_id)?, Noun::Context, context.id)?,
            provider: choice.as_ref().map(|choice| keyed_provider(vault, choice.provider_id)).transpose()?.flatten(),
            past,
            kept_here_by,
            conversation: place.conversation,
            message: place.message,
            parent: place.parent,
            choice,
            context,
            home,
        })
    }
}

/// Where in the tree the answer goes.
struct Place {
    /// The one that is to answer.
    context_id: ContextId,
    /// The one that a new conversation is with.
    home_id: ContextId,
    conversation: Option<Conversation>,
    message: Option<Message>,
    parent: Option<MessageId>,
}

impl Place {
    fn read(r: &ReadHandle<'_>, request: &SendRequest) -> Result<Self, StoreError> {
        let message_id = match request {
            SendRequest::New { context_id, conversation_id, agent_id, .. } => {
                let conversation = conversation_id.map(|id| existing(r.conversation(id)?, Noun::Conversation, id)).transpose()?;
                let parent = conversation.as_ref().and_then(|conversation| conversation.active_leaf_id);
                let (context_id, home_id) = (agent_id.unwrap_or(*context_id), *context_id);
                return Ok(Self { context_id, home_id, conversation, message: None, parent });
            }
            SendRequest::Edit { message_id, .. } | SendRequest::Regenerate { message_id } => *message_id,
        };
        let mut message = existing(r.message(message_id)?, Noun::Message, message_id)?;
        // A reply is answered anew by answering again what it answers.
        if let (SendRequest::Regenerate { .. }, Role::Assistant, Some(parent)) = (request, message.role, message.parent_id) {
            message = existing(r.message(parent)?, Noun::Message, parent)?;
        }
        let conversation = existing(r.conversation(message.conversation_id)?, Noun::Conversation, message.conversation_id)?;
        let (context_id, parent) = (message.context_id, message.parent_id);
        Ok(Self { context_id, home_id: context_id, conversation: Some(conversation), message: Some(message), parent })
    }
}

fn existing<T>(found: Option<T>, noun: Noun, id: impl ToString) -> Result<T, StoreError> {
    found.ok_or_else(|| StoreError::NotFound { noun, id: id.to_string() })
}

/// A message of the branch as it is sent.
pub(crate) struct Said {
    /// The message; its content is what is sent.
    pub text: BranchText,
    /// What was put before the stored text.
    pub prefix: String,
    /// What was replaced in the stored text.
    pub edits: Vec<TextEdit>,
}

/// What was said before a question, as far as its prompt may need it.
pub(crate) struct Past {
    /// The newest messages of the branch, oldest first: from `start` on, or enough to fill the
    /// budget and a little more.
    pub texts: Vec<Said>,
    /// How many stand before them.
    pub earlier: u32,
    /// Where the last request's window began.
    pub start: Option<MessageId>,
    /// What is remembered beside them.
    pub memory: Memory,
}

impl Past {
    /// Reads what stands before a question, for an answer of `context`. `window` gives where the last
    /// request's window began, by the summary that applies.
    ///
    /// # Errors
    /// The vault cannot be read.
    pub fn read(
        r: &ReadHandle<'_>,
        branch: Branch,
        context: &Context,
        window: impl FnOnce(Option<SummaryId>) -> Option<MessageId>,
    ) -> Result<Self, StoreError> {
        let memory = Memory::read(r, branch, context)?;
        let start = window(memory.summary_id());
        let Some(leaf) = branch.parent else { return Ok(Self { texts: Vec::new(), earlier: 0, start, memory }) };
        let depth = r.branch_length(leaf)?;
        // What a summary covers is not read.
        let from = start.or(memory.summary.as_ref().map(|summary| summary.up_to_id));
        let mut limit = FIRST_READ;
        loop {
            let texts = r.branch_texts(leaf, from, limit)?;
            let tokens: u64 = texts.iter().filter_map(|text| text.tokens).map(u64::from).sum();
            let read = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            if read < limit || tokens > worth_reading(context) {
                let as_stored = |text| Said { text, prefix: String::new(), edits: Vec::new() };
                let mut texts: Vec<Said> = texts.into_iter().map(as_stored).collect();
                name_others(r, context.id, &mut texts)?;
                return Ok(Self { texts, earlier: depth.saturating_sub(read), start, memory });
            }
            limit = limit.saturating_mul(4);
        }
    }

    /// The other contexts whose words are there, each once.
    pub fn contexts_beside(&self, known: &[ContextId]) -> Vec<ContextId> {
        let mut others: Vec<ContextId> = self.texts.iter().map(|said| said.text.context_id).collect();
        others.extend(&self.memory.contexts);
        others.sort_unstable();
        others.dedup();
        others.retain(|id| !known.contains(id));
        others
    }
}

/// What was said to a context that is local only stays here, whoever answers next.
fn kept_here_by(r: &ReadHandle<'_>, context: &Context, home: &Context, past: &Past) -> Result<Option<String>, StoreError> {
    if let Some(local) = [context, home].into_iter().find(|party| party.local_only) {
        return Ok(Some(local.name.clone()));
    }
    first_local_only(r, past.contexts_beside(&[context.id, home.id]))
}

/// Name of the first of some contexts that is local only.
pub(crate) fn first_local_only(r: &ReadHandle<'_>, contexts: Vec<ContextId>) -> Result<Option<String>, StoreError> {
    for id in contexts {
        if let Some(local) = r.context(id)?.filter(|context| context.local_only) {
            return Ok(Some(local.name));
        }
    }
    Ok(None)
}

/// Puts the names of other contexts before what they said, so that the one that answers does not
/// take their words for its own. A name is the one that was answered under.
pub(crate) fn name_others(r: &ReadHandle<'_>, own: ContextId, texts: &mut [Said]) -> Result<(), StoreError> {
    let is_others = |said: &Said| said.text.role == Role::Assistant && said.text.context_id != own;
    let mut names: HashMap<RevisionId, Option<String>> = HashMap::new();
    for said in texts.iter_mut().filter(|said| is_others(said) && !said.text.content.trim().is_empty()) {
        let Some(id) = &said.text.revision_id else { continue };
        if !names.contains_key(id) {
            names.insert(id.clone(), r.revision(id)?.map(|revision| revision.name));
        }
        if let Some(Some(name)) = names.get(id) {
            said.prefix = format!("{}: ", name.trim());
            said.text.content.insert_str(0, &said.prefix);
            said.text.tokens = None;
        }
    }
    Ok(())
}
