//! What a wish for an answer amounts to: who answers, after which message, with which prompt.

use super::found::{Found, Past};
use super::memory::{Branch, summary_of};
use super::strategy::Wished;
use super::tools::{Offered, spare};
use super::wording::{self, Worded};
use crate::connection::Lent;
use crate::missing::{full, in_trash};
use crate::model::Chosen;
use crate::recall::{Asked, Recalled, sent};
use crate::session::private::Item;
use crate::session::{Session, WindowKey};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, DraftKey, ErrorBody, ErrorCode, FollowUp, Message, MessageId,
    MessageStatus, Revision, Role, SendRequest, StrategyChoice, SummaryId, TokenCount, TokenMeter, ToolSchema,
};
use evenkeel_prompt::{
    BuildInput, Builder, Calibrated, ContextProvider, Goals, HistoryMessage, O200k, Prompt, Redactor, TokenCounter,
    ToolDefinitions,
};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

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
    /// Whether a model that compares meanings may be asked; nothing leaves for a trial.
    asks_embedder: bool,
    /// Whether somebody is there to be asked.
    pub is_attended: bool,
    /// The tools of the prompt: what their names mean stays the same until the turn ends.
    pub(super) offered: Offered,
    pub prompt: Prompt,
    /// Where the text was typed, and the text as it was typed.
    pub typed: Option<(DraftKey, String)>,
}

/// What a prompt is made for.
pub(crate) struct Question<'a> {
    context: &'a Context,
    revision: &'a Revision,
    chosen: &'a Chosen,
    conversation: ConversationId,
    /// What it follows.
    parent: Option<MessageId>,
    /// The question itself, once values may have been taken from it.
    asked: Option<MessageId>,
    text: &'a str,
    /// Whether older messages are looked for, which takes its time.
    recalls: bool,
    /// Whether a model that compares meanings may be asked for that.
    asks_embedder: bool,
    /// The tools that the model is told of; `None` = those that it has now.
    offered: Option<&'a Offered>,
}

/// A message that is only looked at: nothing is stored, and no model is called.
pub(crate) struct Trial {
    /// Tried in place of the context's own.
    pub strategy: Option<StrategyChoice>,
}

/// How an answer is wished for.
#[derive(Default)]
pub(crate) struct Manner {
    /// A window waits for it, and can ask the user something.
    pub attended: bool,
    /// The persona may be called to mind near the end of the request.
    pub reminds: bool,
    /// It is only looked at.
    pub trial: Option<Trial>,
    /// A model that answers in place of the context's own.
    pub lent: Option<Arc<Lent>>,
    /// The program that says it, where it is not the user.
    pub source: Option<String>,
}

/// What a prompt is built from.
struct Material<'a> {
    past: &'a Past,
    wished: &'a Wished,
    worded: &'a Worded,
    follow_up: &'a FollowUp,
    unwanted: Option<&'a Redactor>,
    recalled: Recalled,
    tools: Vec<ToolSchema>,
}

impl<'a> Question<'a> {
    /// `place` is the conversation, and the message in it that the question follows.
    fn new(
        parties: (&'a Context, &'a Revision),
        chosen: &'a Chosen,
        place: (ConversationId, Option<MessageId>),
        text: &'a str,
    ) -> Self {
        let ((context, revision), (conversation, parent)) = (parties, place);
        let (asked, offered) = (None, None);
        Self { context, revision, chosen, conversation, parent, asked, text, recalls: true, asks_embedder: true, offered }
    }

    /// One that nothing is said in yet, and nothing is looked for.
    pub fn empty(parties: (&'a Context, &'a Revision), chosen: &'a Chosen, place: (ConversationId, Option<MessageId>)) -> Self {
        Self { recalls: false, asks_embedder: false, ..Self::new(parties, chosen, place, "") }
    }

    fn window_key(&self, summary: Option<SummaryId>) -> WindowKey {
        window_key(self.context, self.chosen, summary)
    }
}

impl Service {
    /// Decides everything; writes nothing. `known` is the conversation, where there is one.
    pub(crate) async fn plan(
        &self,
        request: SendRequest,
        known: Option<ConversationId>,
        manner: Manner,
    ) -> Result<Plan, ServiceError> {
        if let SendRequest::New { text, .. } | SendRequest::Edit { text, .. } = &request {
            self.check_text(text)?;
        }
        let session = self.session()?;
        let (asks_embedder, is_attended) = (manner.trial.is_none(), manner.attended);
        let mut found = self.found(&session, &request, known, manner.trial.and_then(|trial| trial.strategy)).await?;
        found.context.maintain_personality &= manner.reminds;
        self.check_found(&request, &found)?;
        let mut chosen = match manner.lent {
            Some(lent) => Chosen::lent(found.kept_here_by.as_deref(), &found.context, lent)?,
            None => self.chosen_from(found.kept_here_by.as_deref(), found.choice, found.provider).await?,
        };
        let (new_text, typed) = match request {
            SendRequest::New { context_id, conversation_id, text, .. } => {
                let place = conversation_id.map_or(DraftKey::Context(context_id), DraftKey::Conversation);
                (Some(text.clone()), Some((place, text)))
            }
            SendRequest::Edit { text, .. } => (Some(text), None),
            SendRequest::Regenerate { .. } => (None, None),
        };
        let unwanted = wording::before_storing(&session);
        let new_text = new_text.map(|text| wording::worded(&text, unwanted.as_ref()).text);
        let is_new_message = new_text.is_some();
        let stored = found.message.filter(|_| !is_new_message);
        let text = new_text.or_else(|| stored.as_ref().map(|message| message.content.clone())).unwrap_or_default();
        let is_new_conversation = found.conversation.is_none();
        let conversation = found.conversation.unwrap_or_else(|| self.begun(found.home.id, &text));
        let (id, parent) = (conversation.id, found.parent);
        let (parties, place) = ((&found.context, &found.revision), (id, parent));
        let offered = self.offered(&session, &chosen, &found.context, id).await?;
        let question = Question { asks_embedder, offered: Some(&offered), ..Question::new(parties, &chosen, place, &text) };
        let mut prompt = self.prompt_after(&session, &question, found.past).await;
        // Only here is the provider waited for before the message is stored: a refusal for a guess would be worse.
        if refused_for_size(&prompt) && self.window_told(&mut chosen).await {
            let question = Question { asks_embedder, offered: Some(&offered), ..Question::new(parties, &chosen, place, &text) };
            prompt = self.prompt(&session, &question).await;
        }
        let user_message = stored.unwrap_or_else(|| self.written((&conversation, parent), &found.context, text, manner.source));
        Ok(Plan {
            context: found.context,
            home: found.home,
            revision: found.revision,
            chosen,
            conversation,
            is_new_conversation,
            user_message,
            is_new_message,
            asks_embedder,
            is_attended,
            offered,
            prompt: prompt?,
            typed,
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
        let found = self.found(&session, &request, conversation_id, None).await?;
        let chosen = self.chosen_from(found.kept_here_by.as_deref(), found.choice, found.provider).await?;
        let conversation = conversation_id.unwrap_or_else(|| ConversationId::from_parts(self.now(), self.random()));
        let place = (conversation, found.parent);
        let question = Question { recalls: false, ..Question::new((&found.context, &found.revision), &chosen, place, &text) };
        Ok(self.prompt_after(&session, &question, found.past).await?.meter)
    }

    /// Reads what a request is about, in one go.
    async fn found(
        &self,
        session: &Session,
        request: &SendRequest,
        known: Option<ConversationId>,
        strategy: Option<StrategyChoice>,
    ) -> Result<Found, ServiceError> {
        let start = known.and_then(|id| session.last_window_start(id));
        let (wish, default_model) = (request.clone(), session.settings().default_model);
        let records = session.records(known.map_or(Item::Vault, Item::Conversation));
        match records.read_beside(move |vault, r| Found::read(vault, r, &wish, start, default_model, strategy)).await {
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

    /// Builds the prompt after what was read already, which is read again where it does not begin
    /// as the window of this model and budget did.
    async fn prompt_after(&self, session: &Session, question: &Question<'_>, past: Past) -> Result<Prompt, ServiceError> {
        let key = question.window_key(past.memory.summary_id());
        if past.start != session.window_start(question.conversation, &key) {
            return self.prompt(session, question).await;
        }
        self.build_with_recall(session, question, past).await
    }

    /// Builds the prompt.
    pub(crate) async fn prompt(&self, session: &Session, question: &Question<'_>) -> Result<Prompt, ServiceError> {
        let (last, key, context) =
            (session.last_window(question.conversation), question.window_key(None), question.context.clone());
        let branch = Branch { conversation: Some(question.conversation), parent: question.parent, asked: question.asked };
        let start = move |summary| last.filter(|(known, _)| *known == WindowKey { summary, ..key }).map(|(_, start)| start);
        let past = session.records(question.conversation).read(move |r| Past::read(r, branch, &context, start)).await?;
        self.build_with_recall(session, question, past).await
    }

    /// Builds the prompt, and once more with what is recalled: only the first one says which messages are
    /// sent anyway.
    async fn build_with_recall(
        &self,
        session: &Session,
        question: &Question<'_>,
        mut past: Past,
    ) -> Result<Prompt, ServiceError> {
        let follow_up = wording::followed(&past, question.text, self.now());
        let unwanted = wording::before_sending(session);
        if let Some(unwanted) = &unwanted {
            aside(|| wording::redact(&mut past, unwanted));
        }
        let worded = wording::worded(question.text, unwanted.as_ref());
        // What was read may reach further back than what the model was chosen for.
        self.check_kept_here(session, question.chosen, past.contexts_beside(&[question.context.id])).await?;
        let wished = self.strategy_of(session, question.context, (question.conversation, question.parent), &past.memory).await?;
        let tools = match question.offered {
            Some(offered) => offered.schemas.clone(),
            None => self.offered(session, question.chosen, question.context, question.conversation).await?.schemas,
        };
        let mut material = Material {
            past: &past,
            wished: &wished,
            worded: &worded,
            follow_up: &follow_up,
            unwanted: unwanted.as_ref(),
            recalled: Recalled::default(),
            tools,
        };
        let prompt = self.build(session, question, &material)?;
        // What is recalled may be of companions and conversations that the program that lends its model may not read.
        if !question.recalls || question.chosen.lent.is_some() || !question.context.memory.recall.on {
            return Ok(prompt);
        }
        let newest = past.texts.iter().rfind(|said| said.text.role == Role::User).map(|said| said.text.content.as_str());
        let asked = Asked {
            context: question.context,
            is_local: question.chosen.is_local(),
            conversation: question.conversation,
            parent: question.parent,
            text: question.text,
            before: newest.filter(|_| follow_up.is_follow_up),
            count: wording::recall_count(&follow_up, question.context.memory.recall.count),
            unwanted: unwanted.as_ref(),
            asks_embedder: question.asks_embedder,
            sent: sent(&prompt),
        };
        material.recalled = self.recalled(session, asked).await;
        if material.recalled.is_nothing() { Ok(prompt) } else { self.build(session, question, &material) }
    }

    fn build(&self, session: &Session, question: &Question<'_>, material: &Material<'_>) -> Result<Prompt, ServiceError> {
        let Material { past, wished, worded, follow_up, unwanted, recalled, tools } = material;
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
        let goals = Goals(&context.memory.goals);
        let recall = recalled.provider();
        let definitions = ToolDefinitions(tools);
        let providers: [&dyn ContextProvider; 3] = [&definitions, &recall, &goals];
        let spare = if tools.is_empty() { 0 } else { spare(chosen.window) };
        let input = BuildInput {
            revision: question.revision,
            history: &counted,
            earlier: past.earlier,
            user_text: &worded.text,
            user_edits: &worded.edits,
            follow_up: Some(follow_up),
            now: self.now(),
            zone: &self.zone(),
            maintain_personality: context.maintain_personality,
            anchor_from_turn: context.memory.anchor_from_turn,
            turn,
            window: chosen.window,
            max_tokens: context.max_tokens.min(chosen.window / 2) + spare,
            max_history_tokens: context.max_history_tokens,
            evicted_before: past.start,
            counter: if counting.is_exact { &O200k } else { &counter },
            counts_are_estimates: !counting.is_exact,
        };
        let builder = Builder::new(input).strategy(wished.strategy.as_ref()).instead_of(wished.instead_of.clone());
        // A strategy of other people may take its 200 ms.
        let mut prompt = aside(|| builder.providers(&providers).build())?;
        if let Some(unwanted) = unwanted {
            aside(|| wording::redact_memory(&mut prompt, unwanted));
        }
        Ok(prompt)
    }

    /// The plan's prompt once more, by what has been learnt since of how the model counts.
    pub(crate) async fn replanned(&self, session: &Session, plan: &Plan) -> Result<Prompt, ServiceError> {
        let asked = &plan.user_message;
        let place = (plan.conversation.id, asked.parent_id);
        let parties = (&plan.context, &plan.revision);
        let question = Question {
            asked: Some(asked.id),
            asks_embedder: plan.asks_embedder,
            offered: Some(&plan.offered),
            ..Question::new(parties, &plan.chosen, place, &asked.content)
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

    fn written(
        &self,
        (conversation, parent): (&Conversation, Option<MessageId>),
        context: &Context,
        text: String,
        source: Option<String>,
    ) -> Message {
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
            citations: Vec::new(),
            source,
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

/// Does what takes its time without keeping other tasks waiting, where the runtime has more than one thread.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
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
