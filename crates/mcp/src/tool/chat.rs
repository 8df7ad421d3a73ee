//! `context-chat`: the reply is told of while it grows, and stopped when nobody waits for it any more.

use crate::caller::Caller;
use crate::companions::Turn;
use crate::record::{ErrorRecord, MessageRecord, stamp};
use crate::sampling;
use evenkeel_domain::{
    CareCard, ChatEvent, Contact, Context, ConversationId, ErrorBody, ErrorCode, Message, MessageStatus, TokenMeter,
};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Progress is told this often at most.
const OFTEN: Duration = Duration::from_millis(100);

/// What `context-chat` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContextChat {
    /// Id of the context that is to answer.
    context_id: String,
    /// What is said to it, at most 1 MiB.
    #[schemars(length(min = 1))]
    message: String,
    /// The conversation to go on with; without it, the context's most recent one.
    session_id: Option<String>,
    /// Reminds the model of the persona near the end of the request, unless the context itself is set not to.
    #[serde(default = "yes")]
    maintain_personality: bool,
}

fn yes() -> bool {
    true
}

/// What `context-chat` gives.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContextChatted {
    success: bool,
    /// The reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    /// The conversation that it was said in.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_name: Option<String>,
    /// The context's personality in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    personality: Option<String>,
    /// The message as it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<MessageRecord>,
    /// The reply as it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    assistant_response: Option<MessageRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Figures>,
    /// Whom the user may turn to, where the message is a sign of danger: tell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    care: Option<Vec<String>>,
    message: String,
    /// Why there is no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
}

/// Figures of one exchange.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Figures {
    /// Tokens of request and reply, as the provider reported them, else as they were counted.
    tokens_used: u32,
    /// Tokens of the history that was sent.
    history_tokens: u32,
    /// Older messages were left out of what was sent.
    history_truncated: bool,
    /// When the context expires; null = never.
    context_expiry: Option<String>,
    is_expired: bool,
}

impl ContextChatted {
    /// The reply alone, and then what goes with it, for who reads no structure.
    pub fn spoken(&self) -> Vec<String> {
        let beside = json!({ "sessionId": self.session_id, "metadata": self.metadata, "care": self.care });
        vec![self.response.clone().unwrap_or_default(), beside.to_string()]
    }
}

/// Who waits for a reply: told of it while it grows, and able to stop it.
pub(crate) struct Watch {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// The call was cancelled.
    cancelled: CancellationToken,
    /// Nobody listens any more.
    closed: CancellationToken,
    /// Characters that have come.
    come: u64,
    unsaid: String,
    said: Option<Instant>,
}

impl Watch {
    pub fn new(
        peer: Peer<RoleServer>,
        token: Option<ProgressToken>,
        cancelled: CancellationToken,
        closed: CancellationToken,
    ) -> Self {
        Self { peer, token, cancelled, closed, come: 0, unsaid: String::new(), said: None }
    }

    async fn given_up(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.closed.cancelled() => {}
        }
    }

    fn is_given_up(&self) -> bool {
        self.cancelled.is_cancelled() || self.closed.is_cancelled()
    }

    async fn text(&mut self, delta: &str) {
        self.come += delta.chars().count() as u64;
        self.unsaid.push_str(delta);
        if self.said.is_none_or(|said| said.elapsed() >= OFTEN) {
            self.tell().await;
        }
    }

    /// Says what has come since the last time. Each one counts more characters than the one before, as the protocol asks.
    async fn tell(&mut self) {
        let Some(token) = self.token.clone().filter(|_| !self.unsaid.is_empty() && !self.is_given_up()) else { return };
        self.said = Some(Instant::now());
        let message = std::mem::take(&mut self.unsaid);
        // A count of characters is far below what a fraction holds exactly.
        let progress = ProgressNotificationParam::new(token, self.come as f64).with_message(message);
        if let Err(error) = self.peer.notify_progress(progress).await {
            tracing::debug!(%error, "progress could not be told");
        }
    }
}

/// What was heard of a reply.
#[derive(Default)]
struct Heard {
    begun: Option<(ConversationId, Message, TokenMeter)>,
    care: Option<CareCard>,
    /// Tools that ran.
    tools: usize,
    ended: Option<(Option<Message>, Option<ErrorBody>)>,
}

/// Sends the message and waits for the reply.
pub(super) async fn chat(caller: &Caller, wish: ContextChat, mut watch: Watch) -> Result<ContextChatted, ErrorBody> {
    let context = caller.context(&wish.context_id).await?;
    caller.check_chat(context.id).await?;
    let lent = sampling::lent(caller, &watch.peer)?;
    let conversation = match &wish.session_id {
        Some(id) => Some(caller.session(&context, id).await?),
        None => caller.newest(context.id).await?,
    };
    let turn = Turn {
        client: caller.name().to_owned(),
        context_id: context.id,
        conversation_id: conversation.map(|conversation| conversation.id),
        text: wish.message,
        maintain_personality: wish.maintain_personality,
        agent_id: None,
    };
    let (send, events) = mpsc::unbounded_channel();
    let companions = caller.companions.clone();
    // A task of its own: dropping it half-way would leave nobody to stop the reply.
    let sending = tokio::spawn(async move { companions.chat(turn, lent, send).await });
    let heard = follow(caller, events, &mut watch).await;
    match sending.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(with_care(error.of_field("text", "message"), &heard)),
        Err(error) => return Err(ErrorBody::new(ErrorCode::Internal, format!("the reply's task failed: {error}"))),
    }
    caller.note_chat(context.id, heard.tools).await;
    told(caller, &context, heard)
}

/// Hears of the reply until its end, tells its progress, and stops it once nobody waits for it.
async fn follow(caller: &Caller, mut events: mpsc::UnboundedReceiver<ChatEvent>, watch: &mut Watch) -> Heard {
    let mut heard = Heard::default();
    let mut is_stopping = false;
    loop {
        let event = tokio::select! {
            () = watch.given_up(), if !is_stopping => {
                is_stopping = true;
                if let Some((conversation, ..)) = &heard.begun {
                    caller.companions.stop(*conversation).await;
                }
                continue;
            }
            event = events.recv() => event,
        };
        match event {
            Some(ChatEvent::Started { conversation, user_message, meter, .. }) => {
                if is_stopping {
                    caller.companions.stop(conversation.id).await;
                }
                heard.begun = Some((conversation.id, user_message, meter));
            }
            Some(ChatEvent::Text { delta }) => watch.text(&delta).await,
            Some(ChatEvent::Care { card }) => heard.care = Some(card),
            Some(ChatEvent::ToolBegan { .. }) => heard.tools += 1,
            Some(ChatEvent::Ended { message, error }) => {
                watch.tell().await;
                heard.ended = Some((message, error));
            }
            Some(
                ChatEvent::Reasoning { .. }
                | ChatEvent::Notice { .. }
                | ChatEvent::ToolQuestion { .. }
                | ChatEvent::ToolEnded { .. },
            ) => {}
            None => return heard,
        }
    }
}

/// Whoever is in danger is told whom to turn to, also where the message could not be sent.
fn with_care(error: ErrorBody, heard: &Heard) -> ErrorBody {
    match &heard.care {
        Some(card) => error.with("care", places(card).join("; ")),
        None => error,
    }
}

fn told(caller: &Caller, context: &Context, heard: Heard) -> Result<ContextChatted, ErrorBody> {
    let Some((conversation, user_message, meter)) = heard.begun else {
        return Err(ErrorBody::new(ErrorCode::Internal, "the reply ended without a beginning; try again"));
    };
    let (reply, error) = heard.ended.unwrap_or_default();
    let placed = |error: ErrorBody| {
        let error = error.with("sessionId", conversation).with("userMessageId", user_message.id);
        match &reply {
            Some(reply) => error.with("assistantMessageId", reply.id).with("partialResponse", &reply.content),
            None => error,
        }
    };
    if let Some(error) = error {
        return Err(placed(error));
    }
    let Some(reply) = &reply else {
        let message =
            "the reply was stopped before anything of it had come; the message is stored, regenerate the reply in Evenkeel";
        return Err(placed(ErrorBody::new(ErrorCode::ProviderBrokenOff, message)));
    };
    let counted = || meter.request_tokens.saturating_add(reply.token_count.as_ref().map_or(0, |count| count.tokens));
    let expires_at = Context::expiry(caller.companions.now(), context.expiry_days);
    let figures = Figures {
        tokens_used: reply.usage.map_or_else(counted, |usage| usage.prompt_tokens.saturating_add(usage.completion_tokens)),
        history_tokens: meter.history_tokens,
        history_truncated: meter.left_out > 0,
        context_expiry: expires_at.map(stamp),
        is_expired: false,
    };
    let message = match reply.status {
        MessageStatus::Truncated => "the reply reached its longest length and was cut",
        MessageStatus::Stopped => "the reply was stopped; what had come is kept",
        _ => "the reply is whole",
    };
    Ok(ContextChatted {
        success: true,
        response: Some(reply.content.clone()),
        session_id: Some(conversation.to_string()),
        context_name: Some(context.name.clone()),
        personality: Some(context.personality.clone()),
        user_message: Some(MessageRecord::of(&user_message)),
        assistant_response: Some(MessageRecord::of(reply)),
        metadata: Some(figures),
        care: heard.care.as_ref().map(places),
        message: message.to_owned(),
        error: None,
    })
}

/// Where help is, a line each: whoever is in danger is told whom to turn to, by every face.
#[must_use]
pub fn places(card: &CareCard) -> Vec<String> {
    let place = |contact: &Contact| match contact {
        Contact::Call { number } => format!("call {number}"),
        Contact::CallOrText { number } => format!("call or text {number}"),
        Contact::Text { number, keyword } => format!("text {keyword} to {number}"),
        Contact::Web { address } => (*address).to_owned(),
    };
    card.helplines.iter().map(|line| format!("{}: {}", line.name, place(&line.contact))).collect()
}
