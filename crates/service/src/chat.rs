//! Chat: the user's message is on disk before the model is called, the reply when it ends.

mod plan;
pub(crate) mod replies;
mod reply;

use crate::{Service, ServiceError, model::Ready, session::Session};
use evenkeel_domain::{
    ChatEvent, Context, ContextId, ConversationId, ErrorBody, Message, MessageId, MessageStatus, Role, SendRequest, TokenMeter,
};
use evenkeel_provider::{ChatMessage, ChatRequest};
use plan::{Plan, counted};
use replies::Turn;
use reply::{Ending, Grown, follow};
use std::sync::Arc;

impl Service {
    /// Sends a message and gives the reply to `sink` as it grows; returns when the reply is on disk.
    /// What breaks off after the user's message was stored is told by [`ChatEvent::Ended`].
    ///
    /// # Errors
    /// The message cannot be sent as it is (text, context, model, size of the prompt, a reply
    /// already under way); nothing has been stored then.
    pub async fn chat_send(
        &self,
        request: SendRequest,
        sink: impl Fn(ChatEvent) + Send + Sync + 'static,
    ) -> Result<(), ServiceError> {
        // The turn is taken before anything is read: what is read must not change under the plan.
        let known = self.conversation_of(&request).await?;
        let turn = known.map(|id| self.replies().begin(id)).transpose()?;
        let plan = self.plan(request).await?;
        let turn = match turn {
            Some(turn) => turn,
            None => self.replies().begin(plan.conversation.id)?,
        };
        let service = self.clone();
        // A task of its own: a window that closes or a caller that gives up does not cut the reply.
        let task = tokio::spawn(async move { service.answer(plan, turn, &sink).await });
        task.await.map_err(|error| ServiceError::internal("the reply's task", &error))?
    }

    /// Stops the reply of a conversation; what has arrived is kept.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn chat_stop(&self, conversation: ConversationId) -> Result<(), ServiceError> {
        self.session()?;
        self.replies().stop(conversation);
        Ok(())
    }

    /// How full the history budget would be with this text; an empty text measures what is there.
    ///
    /// # Errors
    /// There is no such context or conversation, or no model is chosen.
    pub async fn chat_meter(
        &self,
        context: ContextId,
        conversation: Option<ConversationId>,
        text: String,
    ) -> Result<TokenMeter, ServiceError> {
        let context = self.context_get(context).await?;
        let chosen = self.chosen_model(&context).await?;
        let session = self.session()?;
        let revision_id = context.revision_id.clone();
        let Some(revision) = session.read(move |r| r.revision(&revision_id)).await? else {
            return Ok(TokenMeter::default());
        };
        let (id, leaf) = match conversation {
            Some(id) => (id, self.conversation_get(id).await?.active_leaf_id),
            None => (ConversationId::from_parts(self.now(), self.random()), None),
        };
        Ok(self.prompt(&session, &context, &revision, &chosen, id, leaf, &text).await?.meter)
    }

    async fn conversation_of(&self, request: &SendRequest) -> Result<Option<ConversationId>, ServiceError> {
        Ok(match request {
            SendRequest::New { conversation_id, .. } => *conversation_id,
            SendRequest::Edit { message_id, .. } | SendRequest::Regenerate { message_id } => {
                Some(self.message_get(*message_id).await?.conversation_id)
            }
        })
    }

    async fn answer(&self, plan: Plan, turn: Turn, sink: &(dyn Fn(ChatEvent) + Send + Sync)) -> Result<(), ServiceError> {
        let session = self.session()?;
        let reply_id = MessageId::from_parts(self.now(), self.random());
        self.commit_question(&session, &plan).await?;
        session.set_window_start(plan.conversation.id, plan.window_key(), plan.prompt.window_start);
        self.tell_started(&session, &plan, reply_id, sink).await?;
        let ending = tokio::select! {
            ready = self.ready(&plan.chosen, &plan.context) => match ready {
                Ok(ready) => self.stream(&session, &plan, reply_id, ready, &turn, sink).await,
                Err(error) => broken(error.to_body()),
            },
            () = turn.stop.cancelled() => Ending { grown: Grown::default(), status: MessageStatus::Stopped, error: None },
        };
        let error = ending.error.clone();
        let message = self.commit_reply(&session, &plan, reply_id, ending).await?;
        // The turn ends before the window hears of it, so that it can send at once.
        drop(turn);
        sink(ChatEvent::Ended { message, error });
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a reply needs its place, its model, its stop and its listener")]
    async fn stream(
        &self,
        session: &Arc<Session>,
        plan: &Plan,
        reply_id: MessageId,
        ready: Ready,
        turn: &Turn,
        sink: &(dyn Fn(ChatEvent) + Send + Sync),
    ) -> Ending {
        let request = ChatRequest {
            model: ready.model_name.clone(),
            messages: plan.prompt.messages().into_iter().map(|(role, content)| ChatMessage { role, content }).collect(),
            temperature: Some(plan.context.temperature),
            max_tokens: Some(plan.context.max_tokens.min(plan.chosen.window / 2)),
            window: Some(plan.chosen.window),
            tools: Vec::new(),
        };
        let opened = tokio::select! {
            opened = ready.model.stream(request) => opened,
            () = turn.stop.cancelled() => {
                return Ending { grown: Grown::default(), status: MessageStatus::Stopped, error: None };
            }
        };
        let mut ending = match opened {
            Ok(stream) => {
                let skeleton = self.reply_message(plan, reply_id, MessageStatus::Interrupted, Grown::default());
                follow(stream, &turn.stop, sink, |grown| {
                    session.keep_draft(&skeleton, grown.text, grown.reasoning, self.now());
                })
                .await
            }
            Err(error) => broken(error.to_body()),
        };
        ending.error = ending.error.map(|error| ready.explain(error));
        ending
    }

    async fn commit_question(&self, session: &Session, plan: &Plan) -> Result<(), ServiceError> {
        let now = self.now();
        let conversation = plan.is_new_conversation.then(|| plan.conversation.clone());
        let message = plan.user_message.clone();
        let is_new_message = plan.is_new_message;
        let context = plan.context.clone();
        let settings = session
            .write(move |w| {
                if let Some(conversation) = &conversation {
                    w.insert_conversation(conversation)?;
                }
                // A regenerated reply takes the place of the shown one only when it is stored: until
                // then, and if nothing comes, the branch stays as it is.
                if is_new_message {
                    w.insert_message(message)?;
                }
                w.touch_context(context.id, now, Context::expiry(now, context.expiry_days))?;
                let mut settings = w.settings()?;
                settings.last_context_id = Some(context.id);
                w.put_settings(&settings)?;
                Ok(settings)
            })
            .await?;
        session.set_settings(settings);
        Ok(())
    }

    async fn tell_started(
        &self,
        session: &Session,
        plan: &Plan,
        reply_id: MessageId,
        sink: &(dyn Fn(ChatEvent) + Send + Sync),
    ) -> Result<(), ServiceError> {
        let conversation = self.conversation_get(plan.conversation.id).await?;
        let id = plan.user_message.id;
        let user_message = session.read(move |r| r.message(id)).await?.unwrap_or_else(|| plan.user_message.clone());
        sink(ChatEvent::Started { conversation, user_message, reply_id, meter: plan.prompt.meter });
        Ok(())
    }

    async fn commit_reply(
        &self,
        session: &Session,
        plan: &Plan,
        reply_id: MessageId,
        ending: Ending,
    ) -> Result<Option<Message>, ServiceError> {
        let now = self.now();
        let nothing_came = ending.grown.text.is_empty() && ending.grown.reasoning.is_empty();
        if nothing_came && ending.status != MessageStatus::Complete {
            session.write(move |w| w.delete_draft(reply_id)).await?;
            return Ok(None);
        }
        let message = self.reply_message(plan, reply_id, ending.status, ending.grown);
        let context = plan.context.clone();
        session
            .write(move |w| {
                w.delete_draft(reply_id)?;
                w.insert_message(message)?;
                w.touch_context(context.id, now, Context::expiry(now, context.expiry_days))
            })
            .await?;
        session.read(move |r| r.message(reply_id)).await
    }

    fn reply_message(&self, plan: &Plan, id: MessageId, status: MessageStatus, grown: Grown) -> Message {
        Message {
            id,
            conversation_id: plan.conversation.id,
            context_id: plan.context.id,
            parent_id: Some(plan.user_message.id),
            role: Role::Assistant,
            token_count: Some(counted(&grown.text)),
            content: grown.text,
            reasoning: (!grown.reasoning.is_empty()).then_some(grown.reasoning),
            status,
            revision_id: Some(plan.revision.id.clone()),
            model: Some(plan.chosen.choice.clone()),
            usage: grown.usage,
            created_at: self.now(),
            sibling_ids: vec![id],
            vote: None,
        }
    }
}

fn broken(error: ErrorBody) -> Ending {
    Ending { grown: Grown::default(), status: MessageStatus::Interrupted, error: Some(error) }
}
