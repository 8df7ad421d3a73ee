//! `evenkeel chat`: one message, or a conversation on the terminal.

use super::Caller;
use super::failure::{FAILED, Failure, STOPPED};
use super::print::Printer;
use super::tool_call::{Called, ended, question};
use crate::options::ChatWish;
use evenkeel_domain::{
    CareCard, ChatEvent, Contact, ContextId, Conversation, ConversationId, ErrorBody, Message, MessageStatus, SendRequest,
    ToolAnswer,
};
use evenkeel_service::{Service, ServiceError};
use serde::Serialize;
use std::collections::VecDeque;
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
    /// The tools that were called for it, in order.
    tools: Vec<Called>,
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
        is_asked: !wish.stream && !caller.print.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal(),
        lines: None,
        ahead: VecDeque::new(),
        is_mid_line: false,
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
    /// Somebody is there to be asked whether a tool may run.
    is_asked: bool,
    /// What is typed, once something is waited for.
    lines: Option<UnboundedReceiver<String>>,
    /// What was typed before a question, and so is no answer to it.
    ahead: VecDeque<String>,
    /// The reply's last piece ended within a line.
    is_mid_line: bool,
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
        loop {
            prompt();
            let line = match self.ahead.pop_front() {
                Some(line) => Some(line),
                None => tokio::select! {
                    line = self.lines.get_or_insert_with(lines).recv() => line,
                    _ = self.interrupts.recv() => return Err(Failure::Ended(STOPPED)),
                },
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
        let sending = self.sending(request, move |event| drop(heard.send(event)));
        let (mut exchange, mut is_stopped, mut open) = (Exchange::default(), false, None);
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                line = typed(&mut self.lines), if open.is_some() => {
                    self.answer(open.take(), line).await;
                    continue;
                }
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
            if matches!(&event, ChatEvent::ToolEnded { call, .. } if Some(&call.id) == open.as_ref()) {
                open = None;
            }
            open = self.asked(&event).or(open);
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

    fn sending(
        &self,
        request: SendRequest,
        sink: impl Fn(ChatEvent) + Send + Sync + 'static,
    ) -> JoinHandle<Result<(), ServiceError>> {
        let (service, is_asked) = (self.service.clone(), self.is_asked);
        tokio::spawn(async move {
            if is_asked { service.chat_send_in_window(request, sink).await } else { service.chat_send(request, sink).await }
        })
    }

    /// Asks whether a tool may run; the id of the question, where there is one.
    fn asked(&mut self, event: &ChatEvent) -> Option<String> {
        let ChatEvent::ToolQuestion { call, description, place, .. } = event else { return None };
        let lines = self.lines.get_or_insert_with(lines);
        while let Ok(line) = lines.try_recv() {
            // An answer that came twice is no message.
            if !is_answer(&line) {
                self.ahead.push_back(line);
            }
        }
        self.end_piece();
        self.print.question(&question(call, description, place));
        Some(call.id.clone())
    }

    /// Only a clear yes allows; one that comes too late answers nothing any more.
    async fn answer(&self, id: Option<String>, line: Option<String>) {
        let said = line.unwrap_or_default().trim().to_lowercase();
        let answer = if ["y", "yes"].contains(&said.as_str()) { ToolAnswer::Once } else { ToolAnswer::Deny };
        if let Some(id) = id {
            let _ = self.service.tool_answer(id, answer).await;
        }
    }

    /// What stands on standard error begins a line of its own.
    fn end_piece(&mut self) {
        if std::mem::take(&mut self.is_mid_line) {
            self.print.note("");
        }
    }

    async fn stop(&self) -> Result<(), Failure> {
        match self.conversation_id {
            Some(id) => Ok(self.service.chat_stop(id).await?),
            None => Ok(()),
        }
    }

    fn hear(&mut self, event: ChatEvent, exchange: &mut Exchange) -> Result<(), Failure> {
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
            ChatEvent::Text { delta } if is_read => {
                self.is_mid_line = !delta.ends_with('\n');
                self.print.piece(&delta)?;
            }
            ChatEvent::ToolEnded { call, end, result } => {
                if is_read {
                    self.end_piece();
                    self.print.note(&ended(&call, end, &result));
                }
                exchange.tools.push(Called { call, end });
            }
            ChatEvent::Notice { error } if is_read => self.print.note(&error.message),
            ChatEvent::Ended { message, error } => {
                if is_read {
                    self.end_line(message.as_ref())?;
                    self.is_mid_line = false;
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

fn is_answer(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes" | "n" | "no")
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

/// The next line that is typed, for as long as one is waited for.
async fn typed(lines: &mut Option<UnboundedReceiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => None,
    }
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
