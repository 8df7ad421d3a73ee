//! What a wish for an answer amounts to: who answers, after which message, with which prompt.

use super::found::{Found, Past};
use super::memory::{Branch, summary_of};
use super::strategy::strategy_of;
use crate::missing::{full, in_trash};
use crate::model::Chosen;
use crate::session::private::Item;
use crate::session::{Session, WindowKey};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, DraftKey, ErrorBody, ErrorCode, Message, MessageId, MessageStatus,
    Revision, Role, SendRequest, SummaryId, TokenCount, TokenMeter,
};
use evenkeel_prompt::{BuildInput, Builder, Calibrated, ContextProvider, Goals, HistoryMessage, O200k, Prompt, TokenCounter};

/// Everything that is decided before anything is written or sent.
pub(crate) struct Plan {
    /// The one that answers.
    pub context: Context,
    /// The one that the conversation is with.
    pub home: Context,
    pub revision: Revision,
    pub chosen: Chosen,
    pub conversation: Conversation,
    pub is_new_conversation: bool,
    pub user_message: Message,
    pub is_new_message: bool,
    pub prompt: Prompt,
    /// Where the text was typed.
    pub draft: Option<DraftKey>,
}

/// What a prompt is made for.
struct Question<'a> {
    context: &'a Context,
    revision: &'a Revision,
    chosen: &'a Chosen,
    conversation: ConversationId,
    /// What it follows.
    parent: Option<MessageId>,
    /// The question itself, once values may have been taken from it.
    asked: Option<MessageId>,
    text: &'a str,
}

impl Question<'_> {
    fn window_key(&self, summary: Option<SummaryId>) -> WindowKey {
        window_key(self.context, self.chosen, summary)
    }
}

impl Service {
    /// Decides everything; writes nothing. `known` is the conversation, where there is one.
    pub(crate) async fn plan(&self, request: SendRequest, known: Option<ConversationId>) -> Result<Plan, ServiceError> {
        if let SendRequest::New { text, .. } | SendRequest::Edit { text, .. } = &request {
            self.check_text(text)?;
        }
        let session = self.session()?;
        let found = self.found(&session, &request, known).await?;
        self.check_found(&request, &found)?;
        let mut chosen = self.chosen_from(found.kept_here_by.as_deref(), found.choice, found.provider).await?;
        let (new_text, draft) = match request {
            SendRequest::New { context_id, conversation_id, text, .. } => {
                (Some(text), Some(conversation_id.map_or(DraftKey::Context(context_id), DraftKey::Conversation)))
            }
            SendRequest::Edit { text, .. } => (Some(text), None),
            SendRequest::Regenerate { .. } => (None, None),
        };
        let is_new_message = new_text.is_some();
        let stored = found.message.filter(|_| !is_new_message);
        let text = new_text.or_else(|| stored.as_ref().map(|message| message.content.clone())).unwrap_or_default();
        let is_new_conversation = found.conversation.is_none();
        let conversation = found.conversation.unwrap_or_else(|| self.begun(found.home.id, &text));
        let (id, parent) = (conversation.id, found.parent);
        let question = Question {
            context: &found.context,
            revision: &found.revision,
            chosen: &chosen,
            conversation: id,
            parent,
            asked: None,
            text: &text,
        };
        let mut prompt = self.prompt_after(&session, &question, found.past).await;
        // Only here is the provider waited for before the message is stored: a refusal for a guess would be worse.
        if refused_for_size(&prompt) && self.window_told(&mut chosen).await {
            let question = Question {
                context: &found.context,
                revision: &found.revision,
                chosen: &chosen,
                conversation: id,
                parent,
                asked: None,
                text: &text,
            };
            prompt = self.prompt(&session, &question).await;
        }
        let prompt = prompt?;
        let user_message = stored.unwrap_or_else(|| self.written(&conversation, &found.context, parent, text));
        Ok(Plan {
            context: found.context,
            home: found.home,
            revision: found.revision,
            chosen,
            conversation,
            is_new_conversation,
            user_message,
            is_new_message,
            prompt,
            draft,
        })
    }

    /// How full the history budget would be with this text; an empty text measures what is there.
    ///
    /// # Errors
    /// There is no such context or conversation, or no model is chosen.
    pub async fn chat_meter(
        &self,
        context_id: ContextId,
        conversation_id: Option<ConversationId>,
        text: String,
    ) -> Result<TokenMeter, ServiceError> {
        let session = self.session()?;
        let request = SendRequest::New { context_id, conversation_id, text: String::new(), agent_id: None };
        let found = self.found(&session, &request, conversation_id).await?;
        let chosen = self.chosen_from(found.kept_here_by.as_deref(), found.choice, found.provider).await?;
        let conversation = conversation_id.unwrap_or_else(|| ConversationId::from_parts(self.now(), self.random()));
        let (context, revision, parent) = (&found.context, &found.revision, found.parent);
        let question = Question { context, revision, chosen: &chosen, conversation, parent, asked: None, text: &text };
        Ok(self.prompt_after(&session, &question, found.past).await?.meter)
    }

    /// Reads what a request is about, in one go.
    async fn found(
        &self,
        session: &Session,
        request: &SendRequest,
        known: Option<ConversationId>,
    ) -> Result<Found, ServiceError> {
        let start = known.and_then(|id| session.last_window_start(id));
        let (wish, default_model) = (request.clone(), session.settings().default_model);
        let records = session.records(known.map_or(Item::Vault, Item::Conversation));
        match records.read_beside(move |vault, r| Found::read(vault, r, &wish, start, default_model)).await {
            Err(error) if error.code() == ErrorCode::NotFound => Err(self.what_is_missing(request).await.err().unwrap_or(error)),
            found => found,
        }
    }

    /// The refusal that lists what exists instead, for a request about something that does not.
    async fn what_is_missing(&self, request: &SendRequest) -> Result<(), ServiceError> {
        match request {
            SendRequest::New { context_id, conversation_id, agent_id, .. } => {
                if let Some(id) = conversation_id {
                    self.conversation_get(*id).await?;
                }
                for id in [Some(*context_id), *agent_id].into_iter().flatten() {
                    self.context_get(id).await?;
                }
            }
            SendRequest::Edit { message_id, .. } | SendRequest::Regenerate { message_id } => {
                self.message_get(*message_id).await?;
            }
        }
        Ok(())
    }

    /// Both parties have to be alive, the message one of the user's, and there has to be room.
    fn check_found(&self, request: &SendRequest, found: &Found) -> Result<(), ServiceError> {
        if let Some(conversation) = found.conversation.as_ref().filter(|conversation| conversation.deleted_at.is_some()) {
            return Err(in_trash(&conversation.title, conversation.id));
        }
        if let Some(message) = found.message.as_ref().filter(|message| message.role != Role::User) {
            return Err(wrong_role(message, request));
        }
        self.check_lifetime(&found.context)?;
        self.check_lifetime(&found.home)?;
        let more = if matches!(request, SendRequest::Regenerate { .. }) { 1 } else { 2 };
        let (count, limit) = (found.home_messages, self.limits().messages_per_context);
        if count.saturating_add(more) > u64::from(limit) {
            return Err(full(&format!("the number of messages of {} is {count} and may be", found.home.name), limit));
        }
        Ok(())
    }

    /// Builds the prompt anew where the window was a guess and its real size has been told meanwhile.
    pub(crate) async fn refit(&self, session: &Session, plan: &mut Plan) -> Result<(), ServiceError> {
        if !self.window_told(&mut plan.chosen).await {
            return Ok(());
        }
        plan.prompt = self.replanned(session, plan).await?;
        Ok(())
    }

    pub(crate) fn check_lifetime(&self, context: &Context) -> Result<(), ServiceError> {
        if context.deleted_at.is_some() {
            return Err(in_trash(&context.name, context.id));
        }
        if context.is_active && !context.is_expired(self.now()) {
            return Ok(());
        }
        let message = format!("{} has expired; extend its lifetime to go on talking", context.name);
        Err(ErrorBody::new(ErrorCode::ContextExpired, message).with("id", context.id).with("name", &context.name).into())
    }

    /// Builds the prompt after what was read already, which is read again where it does not begin
    /// as the window of this model and budget did.
    async fn prompt_after(&self, session: &Session, question: &Question<'_>, past: Past) -> Result<Prompt, ServiceError> {
        let key = question.window_key(past.memory.summary_id());
        if past.start != session.window_start(question.conversation, &key) {
            return self.prompt(session, question).await;
        }
        self.build(session, question, &past)
    }

    /// Builds the prompt.
    async fn prompt(&self, session: &Session, question: &Question<'_>) -> Result<Prompt, ServiceError> {
        let (last, key, context) =
            (session.last_window(question.conversation), question.window_key(None), question.context.clone());
        let branch = Branch { conversation: Some(question.conversation), parent: question.parent, asked: question.asked };
        let start = move |summary| last.filter(|(known, _)| *known == WindowKey { summary, ..key }).map(|(_, start)| start);
        let past = session.records(question.conversation).read(move |r| Past::read(r, branch, &context, start)).await?;
        self.build(session, question, &past)
    }

    fn build(&self, session: &Session, question: &Question<'_>, past: &Past) -> Result<Prompt, ServiceError> {
        let (context, chosen) = (question.context, question.chosen);
        let counting = session.factors.counting(&chosen.choice, chosen.counts_exactly);
        let counter = Calibrated::new(O200k, counting.factor);
        let counted = past.texts.iter().map(|said| HistoryMessage {
            id: said.text.id,
            role: said.text.role,
            content: &said.text.content,
            tokens: match said.text.tokens {
                Some(tokens) => counter.scaled(tokens),
                None => counter.count(&said.text.content),
            },
            prefix: &said.prefix,
            edits: &said.edits,
        });
        let counted: Vec<_> = counted.collect();
        let asked = counted.iter().filter(|message| message.role == Role::User).count() + 1;
        // Of what was not read, every second message counts as one of the user's.
        let turn = u32::try_from(asked).unwrap_or(u32::MAX).saturating_add(past.earlier.div_ceil(2));
        let strategy = strategy_of(context, &past.memory)?;
        let goals = Goals(&context.memory.goals);
        let providers: [&dyn ContextProvider; 1] = [&goals];
        let prompt = Builder::new(BuildInput {
            revision: question.revision,
            history: &counted,
            earlier: past.earlier,
            user_text: question.text,
            user_edits: &[],
            now: self.now(),
            zone: &self.zone(),
            maintain_personality: context.maintain_personality,
            anchor_from_turn: context.memory.anchor_from_turn,
            turn,
            window: chosen.window,
            max_tokens: context.max_tokens.min(chosen.window / 2),
            max_history_tokens: context.max_history_tokens,
            evicted_before: past.start,
            counter: if counting.is_exact { &O200k } else { &counter },
            counts_are_estimates: !counting.is_exact,
        })
        .strategy(strategy.as_ref())
        .providers(&providers)
        .build()?;
        Ok(prompt)
    }

    /// The plan's prompt once more, by what has been learnt since of how the model counts.
    pub(crate) async fn replanned(&self, session: &Session, plan: &Plan) -> Result<Prompt, ServiceError> {
        let asked = &plan.user_message;
        let question = Question {
            context: &plan.context,
            revision: &plan.revision,
            chosen: &plan.chosen,
            conversation: plan.conversation.id,
            parent: asked.parent_id,
            asked: Some(asked.id),
            text: &asked.content,
        };
        self.prompt(session, &question).await
    }

    /// The plan's prompt with less history than one that was refused as too long; `None` where there
    /// is nothing more to leave out: the same prompt would be refused again.
    ///
    /// # Errors
    /// Persona and message alone do not fit, or the vault cannot be read.
    pub(crate) async fn shrunk(&self, session: &Session, plan: &Plan, refused: &Prompt) -> Result<Option<Prompt>, ServiceError> {
        if refused.window_start.is_none() {
            return Ok(None);
        }
        while session.factors.refused(&plan.chosen.choice) {
            let prompt = self.replanned(session, plan).await?;
            if prompt.meter.left_out > refused.meter.left_out {
                return Ok(Some(prompt));
            }
        }
        Ok(None)
    }

    fn begun(&self, context_id: ContextId, text: &str) -> Conversation {
        let first_line = text.trim().lines().next().unwrap_or_default();
        Conversation { title: first_line.chars().take(80).collect(), ..self.blank(context_id) }
    }

    fn written(&self, conversation: &Conversation, context: &Context, parent: Option<MessageId>, text: String) -> Message {
        let now = self.now();
        let id = MessageId::from_parts(now, self.random());
        Message {
            id,
            conversation_id: conversation.id,
            context_id: context.id,
            parent_id: parent,
            role: Role::User,
            token_count: Some(counted(&text)),
            content: text,
            reasoning: None,
            status: MessageStatus::Complete,
            revision_id: None,
            model: None,
            usage: None,
            created_at: now,
            sibling_ids: vec![id],
            vote: None,
        }
    }
}

impl Plan {
    /// The contexts that were talked to.
    pub fn talked_to(&self) -> Vec<ContextId> {
        let mut both = vec![self.context.id, self.home.id];
        both.dedup();
        both
    }

    /// What the window of history was cut for.
    pub fn window_key(&self) -> WindowKey {
        window_key(&self.context, &self.chosen, summary_of(&self.prompt))
    }
}

fn refused_for_size(prompt: &Result<Prompt, ServiceError>) -> bool {
    prompt.as_ref().is_err_and(|error| error.code() == ErrorCode::PromptTooLarge)
}

fn window_key(context: &Context, chosen: &Chosen, summary: Option<SummaryId>) -> WindowKey {
    WindowKey {
        model: chosen.choice.clone(),
        window: chosen.window,
        max_history_tokens: context.max_history_tokens,
        strategy: context.strategy.clone(),
        summary,
    }
}

/// Tokens of a text by the tokenizer that every model is measured with at first.
pub(crate) fn counted(text: &str) -> TokenCount {
    TokenCount { tokens: O200k.count(text), tokenizer: O200k.name().to_owned() }
}

fn wrong_role(message: &Message, request: &SendRequest) -> ServiceError {
    let advice = match request {
        SendRequest::Edit { .. } => "only your own messages can be edited; regenerate a reply instead",
        _ => "there is no message of yours that this reply answers",
    };
    ErrorBody::new(ErrorCode::InvalidParameter, advice)
        .with("field", "messageId")
        .with("value", message.id)
        .with("range", advice)
        .into()
}
