//! A message and its reply: told while it grows, and stopped once nobody waits for it any more.

use super::asker::{Asker, is_called};
use super::record::ErrorRecord;
use super::session;
use evenkeel_domain::{
    ChatEvent, Citation, Context, ContextId, ConversationId, ErrorBody, ErrorCode, Message, MessageStatus, NamedSession,
};
use evenkeel_mcp::{Turn, care_places};
use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, mpsc};

/// What is said, to whom, and where.
pub(super) struct Exchange {
    pub asker: Asker,
    context: Context,
    agent: Option<Context>,
    conversation: Option<ConversationId>,
    /// The session as the program calls it.
    called: Option<String>,
    is_transient: bool,
    text: String,
}

/// What a program asks for, as far as it is about the place.
pub(super) struct Place<'a> {
    pub session: Option<&'a str>,
    pub context: Option<&'a str>,
    pub agent: Option<Context>,
    pub is_transient: bool,
}

/// What came of it.
pub(super) struct Reply {
    pub text: String,
    /// The session as the program calls it; else its id.
    pub session_id: String,
    pub agent_name: String,
    /// The tool that ran last for it.
    pub tool_name: Option<String>,
    pub citations: Vec<Citation>,
    /// Whom the user may turn to, where the message is a sign of danger.
    pub care: Option<Vec<String>>,
    /// Why it is not whole.
    pub error: Option<ErrorRecord>,
}

impl Exchange {
    /// Finds the place and asks whether the program may talk there.
    pub async fn prepared(asker: Asker, place: Place<'_>, text: String) -> Result<Self, ErrorBody> {
        let known = match place.session {
            Some(session) => session::id_of(&asker, session).await?,
            None => None,
        };
        let is_id = place.session.is_some_and(|session| session.parse::<ConversationId>().is_ok());
        let seen = match known {
            Some(id) => asker.seen(id).await?,
            None => None,
        };
        // A name whose session has gone begins another one; an id cannot.
        if seen.is_none() && is_id {
            return Err(session::missing(place.session.unwrap_or_default()));
        }
        let (context, conversation) = match seen {
            Some((context, conversation)) => {
                check_context(&context, place.context)?;
                (context, Some(conversation.id))
            }
            None => (first(&asker, place.context, place.agent.as_ref()).await?, None),
        };
        asker.caller.check_chat(context.id).await?;
        let agent = place.agent.filter(|agent| agent.id != context.id);
        if let Some(agent) = &agent {
            asker.caller.check_chat(agent.id).await?;
        }
        let called = match conversation {
            Some(id) => Some(asker.session_names().await?.of(id)),
            None => place.session.map(str::to_owned),
        };
        Ok(Self { asker, context, agent, conversation, called, is_transient: place.is_transient, text })
    }

    /// Sends the message and waits for the reply. Dropping it stops the reply, however early.
    pub async fn held(self, told: impl FnMut(&str)) -> Result<Reply, ErrorBody> {
        let exchange = Arc::new(self);
        let (send, events) = mpsc::unbounded_channel();
        let (companions, turn) = (exchange.asker.desk.companions.clone(), exchange.turn());
        let naming = exchange.naming().await;
        let sending = tokio::spawn(async move { companions.chat(turn, None, send).await });
        let mut waiting =
            Waiting { exchange: exchange.clone(), events: Some(events), begun: None, is_named: false, tools: 0, naming };
        let heard = waiting.heard(told).await?;
        let begun = waiting.begun;
        match sending.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let error = error.of_field("text", "query");
                return Err(heard.care.iter().fold(error, |error, places| error.with("care", places.join("; "))));
            }
            Err(error) => return Err(ErrorBody::new(ErrorCode::Internal, format!("the reply's task failed: {error}"))),
        }
        exchange.told(begun, heard).await
    }

    /// Where a session begins that the program named: nothing of it is told before it has its name.
    async fn naming(&self) -> Option<OwnedRwLockReadGuard<()>> {
        match (&self.called, self.conversation) {
            (Some(_), None) => Some(self.asker.desk.naming.clone().read_owned().await),
            _ => None,
        }
    }

    fn turn(&self) -> Turn {
        Turn {
            client: self.asker.caller.name().to_owned(),
            context_id: self.context.id,
            conversation_id: self.conversation,
            text: self.text.clone(),
            maintain_personality: true,
            agent_id: self.agent.as_ref().map(|agent| agent.id),
        }
    }

    /// What came of it, once it is over.
    async fn told(&self, begun: Option<ConversationId>, heard: Heard) -> Result<Reply, ErrorBody> {
        let spoken_to = self.spoken_to();
        self.note(heard.tools).await;
        let Heard { care, tool_name, ended, .. } = heard;
        let Some((begun, (message, error))) = begun.zip(ended) else {
            return Err(ErrorBody::new(ErrorCode::Internal, "the reply ended without a beginning; try again"));
        };
        let is_whole = message.as_ref().is_some_and(|it| matches!(it.status, MessageStatus::Complete | MessageStatus::Truncated));
        let error = error.or_else(|| (!is_whole).then(stopped));
        Ok(Reply {
            session_id: self.called.clone().unwrap_or_else(|| begun.to_string()),
            agent_name: spoken_to.name.clone(),
            error: error.map(ErrorRecord::from),
            tool_name,
            care,
            citations: message.as_ref().map(|message| message.citations.clone()).unwrap_or_default(),
            text: message.map(|message| message.content).unwrap_or_default(),
        })
    }

    fn spoken_to(&self) -> &Context {
        self.agent.as_ref().unwrap_or(&self.context)
    }

    /// Writes into the log of programs that somebody was talked to, and how many tools ran for that.
    async fn note(&self, tools: usize) {
        self.asker.caller.note_chat(self.spoken_to().id, tools).await;
    }

    /// Keeps what the program calls a session that has just begun, and that it is transient.
    async fn name(&self, conversation: ConversationId) -> Result<(), ErrorBody> {
        if self.conversation.is_some() || (self.called.is_none() && !self.is_transient) {
            return Ok(());
        }
        let named = NamedSession {
            name: self.called.clone().unwrap_or_else(|| conversation.to_string()),
            client: self.asker.caller.name().to_owned(),
            conversation_id: conversation,
            is_transient: self.is_transient,
            since: self.asker.desk.companions.now(),
        };
        self.asker.desk.app.name_session(named).await
    }
}

fn stopped() -> ErrorBody {
    ErrorBody::new(ErrorCode::ProviderBrokenOff, "the reply was stopped; what had come is kept")
}

/// A session stays with the context that it was begun with.
fn check_context(context: &Context, wished: Option<&str>) -> Result<(), ErrorBody> {
    match wished {
        Some(wished) if !is_called(context, wished) && wished.trim().parse::<ContextId>().ok() != Some(context.id) => {
            Err(super::input::misfit("context_id", wished, &format!("{}, with which the session was begun", context.id)))
        }
        _ => Ok(()),
    }
}

/// Whom a new session begins with.
async fn first(asker: &Asker, wished: Option<&str>, agent: Option<&Context>) -> Result<Context, ErrorBody> {
    match (wished, agent) {
        (Some(wished), _) => asker.context(wished).await,
        (None, Some(agent)) => Ok(agent.clone()),
        (None, None) => {
            let newest = asker.caller.contexts(false).await?.into_iter().next();
            let message = "there is no companion for this program; make one in Evenkeel, or allow one in Settings, Connections";
            newest.ok_or_else(|| ErrorBody::new(ErrorCode::NotFound, message))
        }
    }
}

/// What was heard of a reply.
#[derive(Default)]
struct Heard {
    care: Option<Vec<String>>,
    tool_name: Option<String>,
    /// Tools that ran.
    tools: usize,
    ended: Option<(Option<Message>, Option<ErrorBody>)>,
}

/// Hears of a reply, and stops it where nobody waits for it any more, also before it is known where it is written.
struct Waiting {
    exchange: Arc<Exchange>,
    /// `None` once the reply is over.
    events: Option<mpsc::UnboundedReceiver<ChatEvent>>,
    begun: Option<ConversationId>,
    is_named: bool,
    /// Tools that ran.
    tools: usize,
    naming: Option<OwnedRwLockReadGuard<()>>,
}

impl Waiting {
    async fn heard(&mut self, mut told: impl FnMut(&str)) -> Result<Heard, ErrorBody> {
        let mut heard = Heard::default();
        while let Some(event) = next(&mut self.events).await {
            match event {
                ChatEvent::Started { conversation, .. } => {
                    self.begun = Some(conversation.id);
                    self.exchange.name(conversation.id).await?;
                    self.is_named = true;
                    self.naming = None;
                }
                ChatEvent::Text { delta } => told(&delta),
                ChatEvent::ToolBegan { call } => {
                    heard.tool_name = Some(call.tool);
                    self.tools += 1;
                }
                ChatEvent::Ended { message, error } => heard.ended = Some((message, error)),
                ChatEvent::Care { card } => heard.care = Some(care_places(&card)),
                // What the window alone shows, such as how the model thinks.
                _ => {}
            }
        }
        self.events = None;
        heard.tools = self.tools;
        Ok(heard)
    }
}

async fn next(events: &mut Option<mpsc::UnboundedReceiver<ChatEvent>>) -> Option<ChatEvent> {
    match events {
        Some(events) => events.recv().await,
        None => None,
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(mut events) = self.events.take() else { return };
        let (exchange, begun, is_named, naming) = (self.exchange.clone(), self.begun, self.is_named, self.naming.take());
        let mut tools = self.tools;
        tokio::spawn(async move {
            let Some(conversation) = beginning(begun, &mut events).await else { return };
            exchange.asker.desk.companions.stop(conversation).await;
            // Who asks again by the name of the session goes on there.
            if !is_named && let Err(error) = exchange.name(conversation).await {
                tracing::warn!(code = error.code.as_str(), "a session that was given up has no name");
            }
            drop(naming);
            while let Some(event) = events.recv().await {
                tools += usize::from(matches!(event, ChatEvent::ToolBegan { .. }));
            }
            exchange.note(tools).await;
        });
    }
}

/// The conversation that a reply is written in, which may become known only later; `None` where none is written.
async fn beginning(begun: Option<ConversationId>, events: &mut mpsc::UnboundedReceiver<ChatEvent>) -> Option<ConversationId> {
    if begun.is_some() {
        return begun;
    }
    while let Some(event) = events.recv().await {
        if let ChatEvent::Started { conversation, .. } = event {
            return Some(conversation.id);
        }
    }
    None
}
