//! What a wish for an answer amounts to: who answers, after which message, with which prompt.

use crate::model::Chosen;
use crate::session::{Session, WindowKey};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, ErrorBody, ErrorCode, Message, MessageId, MessageStatus, Revision, Role,
    SendRequest, TitleSource, TokenCount,
};
use evenkeel_prompt::{ANCHOR_FROM_TURN, BuildInput, Builder, Calibrated, HistoryMessage, O200k, Prompt, TokenCounter};
use evenkeel_store::BranchText;

/// Messages read at first; more only while they still fit the budget.
const FIRST_READ: u32 = 256;

/// Everything that is decided before anything is written or sent.
pub(crate) struct Plan {
    pub context: Context,
    pub revision: Revision,
    pub chosen: Chosen,
    pub conversation: Conversation,
    pub is_new_conversation: bool,
    pub user_message: Message,
    pub is_new_message: bool,
    pub prompt: Prompt,
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
    context_id: ContextId,
    conversation: Option<Conversation>,
    parent: Option<MessageId>,
    user: Question,
}

impl Service {
    /// Decides everything; writes nothing.
    pub(crate) async fn plan(&self, request: SendRequest) -> Result<Plan, ServiceError> {
        let place = self.place(request).await?;
        let context = self.context_get(place.context_id).await?;
        self.check_lifetime(&context)?;
        let mut chosen = self.chosen_model(&context).await?;
        let session = self.session()?;
        let revision_id = context.revision_id.clone();
        let revision = session
            .read(move |r| r.revision(&revision_id))
            .await?
            .ok_or_else(|| ErrorBody::new(ErrorCode::Storage, format!("the persona of {} is not in the vault", context.name)))?;
        let is_new_conversation = place.conversation.is_none();
        let text = place.user.text().to_owned();
        let conversation = place.conversation.unwrap_or_else(|| self.begun(context.id, &text));
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
        Ok(Plan { context, revision, chosen, conversation, is_new_conversation, user_message, is_new_message, prompt })
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
            SendRequest::New { context_id, conversation_id, text } => {
                self.limits().check_message(&text)?;
                let conversation = match conversation_id {
                    Some(id) => Some(self.conversation_get(id).await?),
                    None => None,
                };
                let parent = conversation.as_ref().and_then(|c| c.active_leaf_id);
                Ok(Place { context_id, conversation, parent, user: Question::New(text) })
            }
            SendRequest::Edit { message_id, text } => {
                self.limits().check_message(&text)?;
                let message = self.message_get(message_id).await?;
                if message.role != Role::User {
                    return Err(wrong_role(&message, "only your own messages can be edited; regenerate a reply instead"));
                }
                let conversation = Some(self.conversation_get(message.conversation_id).await?);
                Ok(Place { context_id: message.context_id, conversation, parent: message.parent_id, user: Question::New(text) })
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
                Ok(Place {
                    context_id: message.context_id,
                    conversation,
                    parent: message.parent_id,
                    user: Question::Stored(Box::new(message)),
                })
            }
        }
    }

    pub(crate) fn check_lifetime(&self, context: &Context) -> Result<(), ServiceError> {
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
        let (history, earlier) = history(session, parent, start, context.max_history_tokens).await?;
        let factor = if chosen.counts_exactly { 1.0 } else { session.factors.of(&chosen.choice) };
        let counter = Calibrated::new(O200k, factor);
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

fn wrong_role(message: &Message, advice: &str) -> ServiceError {
    ErrorBody::new(ErrorCode::InvalidParameter, advice)
        .with("field", "messageId")
        .with("value", message.id)
        .with("range", advice)
        .into()
}
