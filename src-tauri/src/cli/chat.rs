//! `evenkeel chat`: one message, or a conversation on the terminal.

use super::Caller;
use super::failure::{FAILED, Failure, STOPPED};
use super::print::Printer;
use crate::options::ChatWish;
use evenkeel_domain::{
    CareCard, ChatEvent, Contact, ContextId, Conversation, ConversationId, ErrorBody, Message, MessageStatus, SendRequest,
};
use evenkeel_service::{Service, ServiceError};
use serde::Serialize;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The most that is read from a pipe, in bytes; the service says how long a message may be.
const LONGEST: u64 = 64 << 20;

/// What was said and answered.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Exchange {
    conversation: Option<Conversation>,
    user_message: Option<Message>,
    reply: Option<Message>,
    /// Whom to call, where what was said is a sign of danger.
    care: Option<CareCard>,
    /// Why the reply broke off.
    error: Option<ErrorBody>,
}

pub(super) async fn chat(caller: &Caller, wish: &ChatWish) -> Result<(), Failure> {
    caller.open().await?;
    let context_id = caller.service.context_named(&wish.context).await?.id;
    let conversation_id = match wish.conversation {
        None if wish.new => None,
        None => caller.service.conversation_latest(context_id).await?.map(|latest| latest.id),
        known => known,
    };
    let mut talk = Talk {
        service: caller.service.clone(),
        print: caller.print,
        is_streamed: wish.stream,
        context_id,
        conversation_id,
        interrupts: interrupts().map_err(|error| Failure::internal("listening for Ctrl-C", &error))?,
    };
    match &wish.message {
        Some(message) => talk.once(message.clone()).await,
        None if io::stdin().is_terminal() => talk.on_terminal().await,
        None => {
            let text = tokio::select! {
                text = piped() => text?,
                _ = talk.interrupts.recv() => return Err(Failure::Ended(STOPPED)),
            };
            talk.once(text).await
        }
    }
}

/// A conversation with a context.
struct Talk {
    service: Service,
    print: Printer,
    is_streamed: bool,
    context_id: ContextId,
    conversation_id: Option<ConversationId>,
    interrupts: UnboundedReceiver<()>,
}

impl Talk {
    /// Says one thing; how the process ends tells how the reply ended.
    async fn once(&mut self, text: String) -> Result<(), Failure> {
        let exchange = self.say(text).await?;
        if self.is_whole() {
            self.print.value(&exchange, |_| String::new())?;
        }
        match exchange {
            Exchange { error: Some(error), .. } => {
                self.print.error(&error);
                Err(Failure::Ended(FAILED))
            }
            Exchange { reply, .. } if reply.as_ref().is_none_or(|reply| reply.status == MessageStatus::Stopped) => {
                Err(Failure::Ended(STOPPED))
            }
            _ => Ok(()),
        }
    }

    /// Asks for one message after the other until the input ends.
    async fn on_terminal(&mut self) -> Result<(), Failure> {
        self.print.note("Ctrl-C stops a reply, Ctrl-D ends.");
        let mut lines = lines();
        loop {
            prompt();
            let line = tokio::select! {
                line = lines.recv() => line,
                _ = self.interrupts.recv() => return Err(Failure::Ended(STOPPED)),
            };
            let Some(line) = line else { return Ok(()) };
            if line.trim().is_empty() {
                continue;
            }
            match self.say(line).await {
                Ok(Exchange { error: Some(error), .. }) | Err(Failure::Refused(error)) => self.print.error(&error),
                Ok(exchange) if self.is_whole() => self.print.line(&exchange)?,
                Ok(_) => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Says something and prints the reply as it comes.
    async fn say(&mut self, text: String) -> Result<Exchange, Failure> {
        let (heard, mut events) = unbounded_channel();
        let request =
            SendRequest::New { context_id: self.context_id, conversation_id: self.conversation_id, text, agent_id: None };
        let service = self.service.clone();
        let sending: JoinHandle<Result<(), ServiceError>> =
            tokio::spawn(async move { service.chat_send(request, move |event| drop(heard.send(event))).await });
        let (mut exchange, mut is_stopped) = (Exchange::default(), false);
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                Some(()) = self.interrupts.recv() => {
                    if is_stopped {
                        return Err(Failure::Ended(STOPPED));
                    }
                    is_stopped = true;
                    self.stop().await?;
                    continue;
                }
            };
            let Some(event) = event else { break };
            if let ChatEvent::Started { conversation, .. } = &event {
                self.conversation_id = Some(conversation.id);
                // What was stopped before it had begun.
                if is_stopped {
                    self.stop().await?;
                }
            }
            self.hear(event, &mut exchange)?;
        }
        let sent = sending.await.map_err(|error| Failure::internal("sending the message", &error))?;
        sent.map_err(|error| error.to_body().of_field("text", "message"))?;
        if let Some(conversation) = exchange.conversation.as_mut().filter(|_| self.is_whole()) {
            // The reply has changed it since it was told of.
            *conversation = self.service.conversation_get(conversation.id).await?;
        }
        Ok(exchange)
    }

    /// Whether an exchange is printed as one object.
    fn is_whole(&self) -> bool {
        self.print.is_json() && !self.is_streamed
    }

    async fn stop(&self) -> Result<(), Failure> {
        match self.conversation_id {
            Some(id) => Ok(self.service.chat_stop(id).await?),
            None => Ok(()),
        }
    }

    fn hear(&self, event: ChatEvent, exchange: &mut Exchange) -> Result<(), Failure> {
        if self.is_streamed {
            self.print.line(&event)?;
        }
        let is_read = !self.is_streamed && !self.print.is_json();
        match event {
            ChatEvent::Started { conversation, user_message, .. } => {
                (exchange.conversation, exchange.user_message) = (Some(conversation), Some(user_message));
            }
            ChatEvent::Care { card } => {
                if is_read {
                    self.print.note(&care(&card));
                }
                exchange.care = Some(card);
            }
            ChatEvent::Text { delta } if is_read => self.print.piece(&delta)?,
            ChatEvent::Notice { error } if is_read => self.print.note(&error.message),
            ChatEvent::Ended { message, error } => {
                if is_read {
                    self.end_line(message.as_ref())?;
                }
                (exchange.reply, exchange.error) = (message, error);
            }
            // Read as JSON or not at all.
            _ => {}
        }
        Ok(())
    }

    fn end_line(&self, message: Option<&Message>) -> Result<(), Failure> {
        let Some(message) = message else { return Ok(()) };
        if !message.content.ends_with('\n') {
            self.print.piece("\n")?;
        }
        if message.status == MessageStatus::Truncated {
            self.print.note("The reply was cut by the limit of its length.");
        }
        Ok(())
    }
}

/// Whom to call, as it is read.
fn care(card: &CareCard) -> String {
    let reached = |contact: &Contact| match contact {
        Contact::Call { number } => (*number).to_owned(),
        Contact::CallOrText { number } => format!("{number} (call or text)"),
        Contact::Text { number, keyword } => format!("{keyword} by text message to {number}"),
        Contact::Web { address } => (*address).to_owned(),
    };
    let line = |line: &evenkeel_domain::Helpline| format!("  {}: {} {}", line.name, reached(&line.contact), line.hours);
    let lines: Vec<String> = card.helplines.iter().map(|one| line(one).trim_end().to_owned()).collect();
    format!("If you or somebody else is in danger, people are there for you now:\n{}\n", lines.join("\n"))
}

/// Each Ctrl-C from now on, which no longer ends the process by itself. None is missed between two.
fn interrupts() -> io::Result<UnboundedReceiver<()>> {
    #[cfg(unix)]
    let mut heard = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    #[cfg(windows)]
    let mut heard = tokio::signal::windows::ctrl_c()?;
    let (told, interrupts) = unbounded_channel();
    tokio::spawn(async move { while heard.recv().await.is_some() && told.send(()).is_ok() {} });
    Ok(interrupts)
}

/// Everything that comes by a pipe. A thread of its own reads it: nobody waits for it at the end.
async fn piped() -> Result<String, Failure> {
    let (told, read) = oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = told.send(io::stdin().take(LONGEST).read_to_string(&mut text).map(|_| text.trim_end().to_owned()));
    });
    let read = read.await.map_err(|error| Failure::internal("reading standard input", &error))?;
    read.map_err(|error| Failure::internal("reading standard input", &error))
}

/// The lines of the terminal. A thread waits for them, since no system lets every terminal be waited for otherwise.
fn lines() -> UnboundedReceiver<String> {
    let (told, lines) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if told.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn prompt() {
    let mut stderr = io::stderr().lock();
    // Where nobody looks, nobody has to be asked.
    let _ = write!(stderr, "> ").and_then(|()| stderr.flush());
}
