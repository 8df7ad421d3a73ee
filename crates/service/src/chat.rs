//! Chat: the user's message is on disk before the model is called, the reply when it ends.

pub(crate) mod found;
mod installed;
pub(crate) mod memory;
pub(crate) mod plan;
mod preview;
pub(crate) mod read_ahead;
mod receipt;
pub(crate) mod replies;
mod reply;
mod strategy;
mod tools;
pub(crate) mod wording;

use crate::recall::{citations, recalled_in};
use crate::session::{Session, private::mirror};
use crate::summary::Talked;
use crate::{Service, ServiceError, model::Ready};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ChatEvent, ContextId, Conversation, ConversationId, DraftKey, ErrorBody, ErrorCode, Message, MessageId, MessageStatus,
    Receipt, ReceiptRound, RequestPurpose, Role, SendRequest, Settings,
};
use evenkeel_prompt::Prompt;
use evenkeel_provider::EventStream;
use evenkeel_store::{StoreError, WriteHandle};
pub(crate) use plan::Manner;
use plan::{Plan, counted};
use receipt::asked;
pub(crate) use receipt::{asked_then, continued};
use replies::Turn;
pub(crate) use reply::Grown;
use reply::{Ending, follow};
use std::sync::{Arc, LazyLock};
use tools::{Hearer, Rounds};

/// The question as it stands in the vault.
struct Stored {
    conversation: Option<Conversation>,
    message: Message,
}

/// What is stored of a plan before the model is called.
struct Question {
    /// A conversation that begins with it.
    conversation: Option<Conversation>,
    conversation_id: ConversationId,
    message: Message,
    is_new: bool,
    typed: Option<(DraftKey, String)>,
}

impl Question {
    fn of(plan: &Plan) -> Self {
        Self {
            conversation: plan.is_new_conversation.then(|| plan.conversation.clone()),
            conversation_id: plan.conversation.id,
            message: plan.user_message.clone(),
            is_new: plan.is_new_message,
            typed: plan.typed.clone(),
        }
    }

    fn store(self, w: &mut WriteHandle<'_>) -> Result<Stored, StoreError> {
        if let Some(conversation) = &self.conversation {
            w.insert_conversation(conversation)?;
        }
        // A regenerated reply takes the place of the shown one only when it is stored: until
        // then, and if nothing comes, the branch stays as it is.
        let message = if self.is_new {
            forget_typed(w, self.typed)?;
            w.insert_message(self.message)?
        } else {
            self.message
        };
        Ok(Stored { conversation: w.conversation(self.conversation_id)?, message })
    }
}

impl Service {
    /// Sends a message and gives the reply to `sink` as it grows; returns when the reply is on disk.
    /// What breaks off after the user's message was stored is told by [`ChatEvent::Ended`]. Of tools, only those run that are
    /// allowed for good: nobody is asked.
    ///
    /// # Errors
    /// The message cannot be sent as it is (text, context, model, size of the prompt, a reply
    /// already under way); nothing has been stored then.
    pub async fn chat_send(
        &self,
        request: SendRequest,
        sink: impl Fn(ChatEvent) + Send + Sync + 'static,
    ) -> Result<(), ServiceError> {
        self.chat_send_as(request, Manner { reminds: true, ..Manner::default() }, sink).await
    }

    /// The same for a window or a terminal, which asks the user whether a tool may run: [`ChatEvent::ToolQuestion`], answered
    /// by [`Service::tool_answer`].
    ///
    /// # Errors
    /// As [`Service::chat_send`].
    pub async fn chat_send_in_window(
        &self,
        request: SendRequest,
        sink: impl Fn(ChatEvent) + Send + Sync + 'static,
    ) -> Result<(), ServiceError> {
        self.chat_send_as(request, Manner { attended: true, reminds: true, ..Manner::default() }, sink).await
    }

    /// The same in any manner; without [`Manner::reminds`], the persona is not called to mind near the end of the request,
    /// whatever the context is set to.
    pub(crate) async fn chat_send_as(
        &self,
        request: SendRequest,
        manner: Manner,
        sink: impl Fn(ChatEvent) + Send + Sync + 'static,
    ) -> Result<(), ServiceError> {
        // The turn is taken before anything is read: what is read must not change under the plan.
        let known = self.conversation_of(&request).await;
        let typed = match &request {
            SendRequest::New { text, .. } | SendRequest::Edit { text, .. } => Some(text.clone()),
            SendRequest::Regenerate { .. } => None,
        };
        let begun = known.and_then(|known| Ok((known, known.map(|id| self.replies().begin(id)).transpose()?)));
        let planned = async {
            let (known, turn) = begun?;
            let (size, plan) = tokio::join!(self.check_vault_size(), self.plan(request, known, manner));
            size?;
            Ok::<_, ServiceError>((plan?, turn))
        };
        // Whoever is in danger is told whom to call, also where the message cannot be sent.
        let ((), planned) = tokio::join!(self.care_for(typed, &sink), planned);
        let (plan, turn) = planned?;
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

    async fn conversation_of(&self, request: &SendRequest) -> Result<Option<ConversationId>, ServiceError> {
        Ok(match request {
            SendRequest::New { conversation_id, .. } => *conversation_id,
            SendRequest::Edit { message_id, .. } | SendRequest::Regenerate { message_id } => {
                Some(self.message_get(*message_id).await?.conversation_id)
            }
        })
    }

    async fn answer(&self, mut plan: Plan, turn: Turn, sink: &(dyn Fn(ChatEvent) + Send + Sync)) -> Result<(), ServiceError> {
        let session = self.session()?;
        let stops = self.replies().stops();
        let reply_id = MessageId::from_parts(self.now(), self.random());
        let stored = self.commit_question(&session, &plan).await?;
        sink(ChatEvent::Started {
            conversation: stored.conversation.unwrap_or_else(|| plan.conversation.clone()),
            user_message: stored.message,
            reply_id,
            meter: plan.prompt.meter.clone(),
        });
        // The message is stored: from here on the network may be waited for.
        let ready = tokio::select! {
            ready = self.prepare(&session, &mut plan) => Some(ready),
            () = turn.stop.cancelled() => None,
        };
        let ending = match ready {
            Some(Ok(ready)) => {
                session.set_window_start(plan.conversation.id, plan.window_key(), plan.prompt.window_start);
                self.stream(&session, &plan, reply_id, ready, &turn, sink).await
            }
            Some(Err(error)) => broken(error.to_body()),
            None => Ending::new(Grown::default(), MessageStatus::Stopped, None),
        };
        let error = ending.error.clone();
        let message = self.commit_reply(&session, &plan, reply_id, ending).await?;
        // The turn ends before the window hears of it, so that it can send at once.
        drop(turn);
        sink(ChatEvent::Ended { message: message.clone(), error });
        if let Some(reply) = message {
            self.turn_ended(plan, reply, stops);
        }
        Ok(())
    }

    /// What a turn leaves to be done, one after the other; nobody waits for it. What is read ahead is built from all of
    /// that, and comes last.
    fn turn_ended(&self, plan: Plan, reply: Message, stops: u64) {
        let is_whole = reply.status == MessageStatus::Complete;
        // A reply that its limit cut is answered like a whole one, and its turn is over.
        if !is_whole && reply.status != MessageStatus::Truncated {
            return;
        }
        if is_whole {
            self.compare_later(plan.home.id);
        }
        let (service, reading) = (self.clone(), self.reading().begin());
        tokio::spawn(async move {
            if is_whole {
                service.tell_strategy(&plan, &reply).await;
            }
            // A program lends its model for the reply alone, and no other one was sent what was said.
            if plan.chosen.lent.is_some() {
                return;
            }
            if is_whole {
                service.give_title(plan.conversation.id).await;
            }
            let talked = Talked::of(plan, &reply, stops);
            service.summarise_all(&talked).await;
            service.read_ahead(&talked).await;
            drop(reading);
        });
    }

    /// Settles the size of the prompt and makes the model ready.
    async fn prepare(&self, session: &Session, plan: &mut Plan) -> Result<Ready, ServiceError> {
        self.refit(session, plan).await?;
        let ready = self.ready(&plan.chosen, &plan.context, RequestPurpose::Chat).await?;
        // What is told with this message belongs to its answer.
        if self.extract(session, plan).await {
            plan.prompt = self.replanned(session, plan).await?;
        }
        Ok(ready)
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
        let opened = tokio::select! {
            opened = self.opened_stream(session, plan, &ready) => opened,
            () = turn.stop.cancelled() => {
                return Ending::new(Grown::default(), MessageStatus::Stopped, None);
            }
        };
        let mut ending = match opened {
            Ok((stream, prompt)) => {
                let skeleton = self.reply_message(plan, reply_id, MessageStatus::Interrupted, Grown::default());
                // Put together once text has come: the first is not kept waiting for it.
                let sent = LazyLock::new(|| receipt_of(plan, &ready, &prompt, reply_id));
                let mut kept = None;
                let mut draft = |grown: Grown, rounds: &[ReceiptRound]| {
                    let is_new = kept.replace(rounds.len()) != Some(rounds.len());
                    let receipt = is_new.then(|| with_rounds(sent.as_ref(), rounds)).flatten();
                    session.keep_draft(&skeleton, grown, receipt, self.now());
                };
                let mut ending = follow(stream, Grown::default(), &turn.stop, sink, |grown| draft(grown, &[])).await;
                // An exact count has nothing to learn from a report, which may frame messages, and tools, otherwise.
                let is_plain = prompt.estimated && prompt.tools().is_empty();
                if let Some(usage) = ending.grown.usage.filter(|_| is_plain) {
                    session.factors.report(&plan.chosen.choice, prompt.meter.request_tokens, usage.prompt_tokens);
                }
                let hearer = Hearer { reply: reply_id, stop: &turn.stop, sink };
                let rounds = self.further_rounds((session, plan, &ready), &prompt, hearer, &mut ending, &mut draft).await;
                ending.receipt =
                    with_rounds(sent.as_ref(), &rounds).map(|receipt| Receipt { usage: ending.grown.usage, ..receipt });
                ending
            }
            Err(error) => broken(error),
        };
        ending.error = ending.error.map(|error| ready.explain(error));
        ending
    }

    /// Goes on with a reply for as long as the model asks for tools: they are run, and it is told what they gave. Gives what
    /// each request after the first has added.
    async fn further_rounds(
        &self,
        (session, plan, ready): (&Session, &Plan, &Ready),
        prompt: &Prompt,
        hearer: Hearer<'_>,
        ending: &mut Ending,
        draft: &mut impl FnMut(Grown, &[ReceiptRound]),
    ) -> Vec<ReceiptRound> {
        if ending.calls.is_empty() {
            return Vec::new();
        }
        let (stop, sink) = (hearer.stop, hearer.sink);
        let mut rounds = Rounds::new(session, (plan, prompt.clone()), ready, hearer);
        while let Some(request) = self.next_round(&mut rounds, ending).await {
            let opened = tokio::select! {
                opened = ready.model.stream(request) => Some(opened),
                () = stop.cancelled() => None,
            };
            let grown = std::mem::take(&mut ending.grown);
            *ending = match opened {
                Some(Ok(stream)) => follow(stream, grown, stop, sink, |grown| draft(grown, rounds.sent())).await,
                Some(Err(error)) => Ending::new(grown, MessageStatus::Interrupted, Some(error.to_body())),
                None => Ending::new(grown, MessageStatus::Stopped, None),
            };
        }
        rounds.sent().to_vec()
    }

    /// Opens the reply's stream, with the prompt that was accepted. A model that counts more refuses the
    /// prompt: it is sent once more with less history, never as it was.
    async fn opened_stream(&self, session: &Session, plan: &Plan, ready: &Ready) -> Result<(EventStream, Prompt), ErrorBody> {
        let mut prompt = plan.prompt.clone();
        loop {
            let request = asked(&plan.context, &plan.chosen, &ready.model_name, &prompt);
            let refused = match ready.model.stream(request).await {
                Ok(stream) => return Ok((stream, prompt)),
                Err(error) => error.to_body(),
            };
            if refused.code != ErrorCode::PromptTooLarge {
                return Err(refused);
            }
            let shrunk = self.shrunk(session, plan, &prompt).await.map_err(|error| error.to_body())?;
            prompt = shrunk.ok_or(refused)?;
            session.set_window_start(plan.conversation.id, plan.window_key(), prompt.window_start);
        }
    }

    async fn commit_question(&self, session: &Session, plan: &Plan) -> Result<Stored, ServiceError> {
        let (now, home, talked_to) = (self.now(), plan.home.id, plan.talked_to());
        let question = Question::of(plan);
        let note = move |w: &mut WriteHandle<'_>| note_use(w, home, &talked_to, now);
        let (settings, stored) = if session.is_private(plan.conversation.id) {
            let party = (plan.context.clone(), plan.revision.clone());
            let stored = session.records(plan.conversation.id).write(move |w| {
                mirror(w, &party.0, &party.1)?;
                question.store(w)
            });
            let stored = stored.await?;
            (session.write(note).await?, stored)
        } else {
            session
                .write(move |w| {
                    let stored = question.store(w)?;
                    Ok((note(w)?, stored))
                })
                .await?
        };
        session.set_settings(settings);
        Ok(stored)
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
        let mut message = self.reply_message(plan, reply_id, ending.status, ending.grown);
        let recalled = recalled_in(&plan.prompt);
        let (talked_to, receipt) = (plan.talked_to(), ending.receipt);
        let stored = if session.is_private(plan.conversation.id) {
            session.write(move |w| touch(w, &talked_to, now)).await?;
            session.records(plan.conversation.id).write(move |w| store_reply(w, message, receipt)).await?
        } else {
            session
                .write(move |w| {
                    w.delete_draft(reply_id)?;
                    // A finished reply is worth more than what it cites.
                    message.citations = citations(w, &recalled).unwrap_or_else(|error| {
                        tracing::error!(code = error.code().as_str(), %error, "a reply cites nothing");
                        Vec::new()
                    });
                    let stored = store_reply(w, message, receipt)?;
                    touch(w, &talked_to, now)?;
                    Ok(stored)
                })
                .await?
        };
        Ok(Some(stored))
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
            model: Some(plan.chosen.answering()),
            usage: grown.usage,
            created_at: self.now(),
            sibling_ids: vec![id],
            vote: None,
            citations: Vec::new(),
            source: None,
        }
    }
}

/// Stores a reply with the receipt of what was sent for it.
fn store_reply(w: &mut WriteHandle<'_>, message: Message, receipt: Option<Receipt>) -> Result<Message, StoreError> {
    let stored = w.insert_message(message)?;
    if let Some(receipt) = receipt {
        // A finished reply is worth more than its receipt.
        if let Err(error) = w.put_receipt(stored.context_id, &receipt) {
            tracing::error!(code = error.code().as_str(), %error, "a reply got no receipt");
        }
    }
    Ok(stored)
}

/// The receipt of what was sent; a reply does without one rather than fail.
fn receipt_of(plan: &Plan, ready: &Ready, prompt: &Prompt, reply_id: MessageId) -> Option<Receipt> {
    let made = receipt::receipt(plan, ready, prompt, reply_id);
    made.inspect_err(|error| tracing::error!(code = error.code().as_str(), %error, "a reply got no receipt")).ok()
}

/// The receipt of a first request with those that came after it.
fn with_rounds(first: Option<&Receipt>, rounds: &[ReceiptRound]) -> Option<Receipt> {
    first.map(|receipt| Receipt { rounds: rounds.to_vec(), ..receipt.clone() })
}

/// Notes in the vault who was talked to, and gives the settings that say who was last.
fn note_use(
    w: &mut WriteHandle<'_>,
    home: ContextId,
    talked_to: &[ContextId],
    now: DateTime<Utc>,
) -> Result<Settings, StoreError> {
    touch(w, talked_to, now)?;
    let mut settings = w.settings()?;
    if settings.last_context_id != Some(home) {
        settings.last_context_id = Some(home);
        w.put_settings(&settings)?;
    }
    Ok(settings)
}

/// Begins the lifetimes of the contexts anew. One that was deleted for good meanwhile has none.
fn touch(w: &mut WriteHandle<'_>, contexts: &[ContextId], now: DateTime<Utc>) -> Result<(), StoreError> {
    for &id in contexts {
        match w.touch_context(id, now) {
            Err(StoreError::NotFound { .. }) => {}
            touched => touched?,
        }
    }
    Ok(())
}

/// What was typed is forgotten once it is sent; what is typed since then stays.
fn forget_typed(w: &mut WriteHandle<'_>, typed: Option<(DraftKey, String)>) -> Result<(), StoreError> {
    let Some((key, sent)) = typed else { return Ok(()) };
    match w.composer_draft(key)? {
        Some(typed) if typed.text.trim() == sent.trim() => w.clear_composer_draft(key),
        _ => Ok(()),
    }
}

fn broken(error: ErrorBody) -> Ending {
    Ending::new(Grown::default(), MessageStatus::Interrupted, Some(error))
}
