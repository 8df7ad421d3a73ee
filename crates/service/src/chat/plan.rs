//! What a wish for an answer amounts to: who answers, after which message, with which prompt.

use crate::missing::in_trash;
use crate::model::Chosen;
use crate::session::{Session, WindowKey};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, DraftKey, ErrorBody, ErrorCode, Message, MessageId, MessageStatus,
    Revision, RevisionId, Role, SendRequest, TitleSource, TokenCount,
};
use evenkeel_prompt::{ANCHOR_FROM_TURN, BuildInput, Builder, Calibrated, HistoryMessage, O200k, Prompt, TokenCounter};
use evenkeel_store::{BranchText, ReadHandle};
use std::collections::HashMap;

/// Messages read at first; more only while they still fit the budget.
const FIRST_READ: u32 = 256;

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

/// What is to be answered.
enum Question {
    /// A message that is stored already.
    Stored(Box<Message>),
    /// The text of a new one.
    New(String),
}

impl Question {
    fn text(&self) -> &str {
        match self {
            Self::Stored(message) => &message.content,
            Self::New(text) => text,
        }
    }
}

/// Where in the tree the answer goes.
struct Place {
    /// The one that is to answer.
    context_id: ContextId,
    /// The one that a new conversation is with.
    home_id: ContextId,
    conversation: Option<Conversation>,
    parent: Option<MessageId>,
    user: Question,
    draft: Option<DraftKey>,
}

impl Service {
    /// Decides everything; writes nothing.
    pub(crate) async fn plan(&self, request: SendRequest) -> Result<Plan, ServiceError> {
        let place = self.place(request).await?;
        let (context, home) = self.parties(&place).await?;
        let mut chosen = self.chosen_model(&context).await?;
        let session = self.session()?;
        let revision_id = context.revision_id.clone();
        let revision = session
            .read(move |r| r.revision(&revision_id))
            .await?
            .ok_or_else(|| ErrorBody::new(ErrorCode::Storage, format!("the persona of {} is not in the vault", context.name)))?;
        let is_new_conversation = place.conversation.is_none();
        let text = place.user.text().to_owned();
        let conversation = place.conversation.unwrap_or_else(|| self.begun(home.id, &text));
        let mut prompt = self.prompt(&session, &context, &revision, &chosen, conversation.id, place.parent, &text).await;
        // Only here is the provider waited for before the message is stored: a refusal for a guess would be worse.
        if refused_for_size(&prompt) && self.window_told(&mut chosen).await {
            prompt = self.prompt(&session, &context, &revision, &chosen, conversation.id, place.parent, &text).await;
        }
        let prompt = prompt?;
        let is_new_message = matches!(place.user, Question::New(_));
        let user_message = match place.user {
            Question::Stored(message) => *message,
            Question::New(text) => self.written(&conversation, &context, place.parent, text),
        };
        let draft = place.draft;
        Ok(Plan {
            context,
            home,
            revision,
            chosen,
            conversation,
            is_new_conversation,
            user_message,
            is_new_message,
            prompt,
            draft,
        })
    }

    /// Who answers, and who the conversation is with; both have to be alive, and neither may be
    /// talked to elsewhere where one of them is local only.
    async fn parties(&self, place: &Place) -> Result<(Context, Context), ServiceError> {
        if let Some(conversation) = place.conversation.as_ref().filter(|conversation| conversation.deleted_at.is_some()) {
            return Err(in_trash(&conversation.title, conversation.id));
        }
        let mut context = self.context_get(place.context_id).await?;
        self.check_lifetime(&context)?;
        let home_id = place.conversation.as_ref().map_or(place.home_id, |conversation| conversation.context_id);
        let home = if home_id == context.id { context.clone() } else { self.context_get(home_id).await? };
        self.check_lifetime(&home)?;
        let more = if matches!(place.user, Question::New(_)) { 2 } else { 1 };
        self.check_room(&home, more).await?;
        context.local_only |= home.local_only;
        Ok((context, home))
    }

    /// Builds the prompt anew where the window was a guess and its real size has been told meanwhile.
    pub(crate) async fn refit(&self, session: &Session, plan: &mut Plan) -> Result<(), ServiceError> {
        if !self.window_told(&mut plan.chosen).await {
            return Ok(());
        }
        plan.prompt = self.replanned(session, plan).await?;
        Ok(())
    }

    async fn place(&self, request: SendRequest) -> Result<Place, ServiceError> {
        match request {
            SendRequest::New { context_id, conversation_id, text, agent_id } => {
                self.check_text(&text)?;
                let conversation = match conversation_id {
                    Some(id) => Some(self.conversation_get(id).await?),
                    None => None,
                };
                let parent = conversation.as_ref().and_then(|c| c.active_leaf_id);
                let draft = Some(conversation_id.map_or(DraftKey::Context(context_id), DraftKey::Conversation));
                let (home_id, user) = (context_id, Question::New(text));
                Ok(Place { context_id: agent_id.unwrap_or(context_id), home_id, conversation, parent, user, draft })
            }
            SendRequest::Edit { message_id, text } => {
                self.check_text(&text)?;
                let message = self.message_get(message_id).await?;
                if message.role != Role::User {
                    return Err(wrong_role(&message, "only your own messages can be edited; regenerate a reply instead"));
                }
                let conversation = Some(self.conversation_get(message.conversation_id).await?);
                let (context_id, user) = (message.context_id, Question::New(text));
                Ok(Place { context_id, home_id: context_id, conversation, parent: message.parent_id, user, draft: None })
            }
            SendRequest::Regenerate { message_id } => {
                let mut message = self.message_get(message_id).await?;
                if let (Role::Assistant, Some(parent)) = (message.role, message.parent_id) {
                    message = self.message_get(parent).await?;
                }
                if message.role != Role::User {
                    return Err(wrong_role(&message, "there is no message of yours that this reply answers"));
                }
                let conversation = Some(self.conversation_get(message.conversation_id).await?);
                let (context_id, parent) = (message.context_id, message.parent_id);
                let user = Question::Stored(Box::new(message));
                Ok(Place { context_id, home_id: context_id, conversation, parent, user, draft: None })
            }
        }
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

    /// Builds the prompt for a text that follows `parent`.
    #[expect(clippy::too_many_arguments, reason = "each is one thing that the prompt depends on")]
    pub(crate) async fn prompt(
        &self,
        session: &Session,
        context: &Context,
        revision: &Revision,
        chosen: &Chosen,
        conversation: ConversationId,
        parent: Option<MessageId>,
        text: &str,
    ) -> Result<Prompt, ServiceError> {
        let start = session.window_start(conversation, &window_key(context, chosen));
        let (mut history, earlier) = history(session, parent, start, context.max_history_tokens).await?;
        let factor = if chosen.counts_exactly { 1.0 } else { session.factors.of(&chosen.choice) };
        let counter = Calibrated::new(O200k, factor);
        name_others(session, context.id, &mut history).await?;
        let counted = history.iter().map(|message| HistoryMessage {
            id: message.id,
            role: message.role,
            content: &message.content,
            tokens: match message.tokens {
                Some(tokens) => counter.scaled(tokens),
                None => counter.count(&message.content),
            },
        });
        let counted: Vec<_> = counted.collect();
        let asked = counted.iter().filter(|message| message.role == Role::User).count() + 1;
        // Where something is left out, the conversation is long enough for the anchor.
        let turn = if earlier > 0 { asked.max(ANCHOR_FROM_TURN as usize) } else { asked };
        let prompt = Builder::new(BuildInput {
            revision,
            history: &counted,
            earlier,
            user_text: text,
            now: self.now(),
            zone: &self.zone(),
            maintain_personality: context.maintain_personality,
            turn: u32::try_from(turn).unwrap_or(u32::MAX),
            window: chosen.window,
            max_tokens: context.max_tokens.min(chosen.window / 2),
            max_history_tokens: context.max_history_tokens,
            evicted_before: start,
            counter: if chosen.counts_exactly { &O200k } else { &counter },
            counts_are_estimates: !chosen.counts_exactly,
        })
        .build()?;
        Ok(prompt)
    }

    /// The plan's prompt once more, by what has been learnt since of how the model counts.
    pub(crate) async fn replanned(&self, session: &Session, plan: &Plan) -> Result<Prompt, ServiceError> {
        let question = &plan.user_message;
        let (conversation, parent) = (plan.conversation.id, question.parent_id);
        self.prompt(session, &plan.context, &plan.revision, &plan.chosen, conversation, parent, &question.content).await
    }

    fn begun(&self, context_id: ContextId, text: &str) -> Conversation {
        let now = self.now();
        let first_line = text.trim().lines().next().unwrap_or_default();
        Conversation {
            id: ConversationId::from_parts(now, self.random()),
            context_id,
            title: first_line.chars().take(80).collect(),
            title_source: TitleSource::Beginning,
            active_leaf_id: None,
            message_count: 0,
            is_pinned: false,
            is_archived: false,
            tags: Vec::new(),
            created_at: now,
            last_activity_at: now,
            deleted_at: None,
        }
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
    /// The contexts that were talked to, with the days of their lifetimes.
    pub fn talked_to(&self) -> Vec<(ContextId, Option<u32>)> {
        let mut both = vec![(self.context.id, self.context.expiry_days), (self.home.id, self.home.expiry_days)];
        both.dedup();
        both
    }

    /// What the window of history was cut for.
    pub fn window_key(&self) -> WindowKey {
        window_key(&self.context, &self.chosen)
    }
}

fn refused_for_size(prompt: &Result<Prompt, ServiceError>) -> bool {
    prompt.as_ref().is_err_and(|error| error.code() == ErrorCode::PromptTooLarge)
}

fn window_key(context: &Context, chosen: &Chosen) -> WindowKey {
    WindowKey { model: chosen.choice.clone(), window: chosen.window, max_history_tokens: context.max_history_tokens }
}

/// Tokens of a text by the tokenizer that every model is measured with at first.
pub(crate) fn counted(text: &str) -> TokenCount {
    TokenCount { tokens: O200k.count(text), tokenizer: O200k.name().to_owned() }
}

/// The newest messages of a branch, oldest first: from the start of the last request's window on, or
/// enough to fill the budget and a little more; and how many stand before them.
async fn history(
    session: &Session,
    leaf: Option<MessageId>,
    start: Option<MessageId>,
    budget: u32,
) -> Result<(Vec<BranchText>, u32), ServiceError> {
    let Some(leaf) = leaf else { return Ok((Vec::new(), 0)) };
    session
        .read(move |r| {
            let depth = r.branch_length(leaf)?;
            let mut limit = FIRST_READ;
            loop {
                let texts = r.branch_texts(leaf, start, limit)?;
                let tokens: u64 = texts.iter().filter_map(|text| text.tokens).map(u64::from).sum();
                let read = u32::try_from(texts.len()).unwrap_or(u32::MAX);
                if read < limit || tokens > u64::from(budget) * 2 {
                    return Ok((texts, depth.saturating_sub(read)));
                }
                limit = limit.saturating_mul(4);
            }
        })
        .await
}

/// Puts the names of other contexts before what they said, so that the one that answers does not
/// take their words for its own. A name is the one that was answered under.
async fn name_others(session: &Session, own: ContextId, history: &mut [BranchText]) -> Result<(), ServiceError> {
    let is_others = |message: &BranchText| message.role == Role::Assistant && message.context_id != own;
    let mut wanted: Vec<RevisionId> = history.iter().filter(|m| is_others(m)).filter_map(|m| m.revision_id.clone()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    wanted.sort_unstable();
    wanted.dedup();
    let read = move |r: &ReadHandle<'_>| {
        wanted.iter().filter_map(|id| r.revision(id).transpose()).map(|found| found.map(|found| (found.id, found.name))).collect()
    };
    let names: HashMap<RevisionId, String> = session.read(read).await?;
    for message in history.iter_mut().filter(|message| is_others(message) && !message.content.trim().is_empty()) {
        if let Some(name) = message.revision_id.as_ref().and_then(|id| names.get(id)) {
            message.content.insert_str(0, &format!("{}: ", name.trim()));
            message.tokens = None;
        }
    }
    Ok(())
}

fn wrong_role(message: &Message, advice: &str) -> ServiceError {
    ErrorBody::new(ErrorCode::InvalidParameter, advice)
        .with("field", "messageId")
        .with("value", message.id)
        .with("range", advice)
        .into()
}
