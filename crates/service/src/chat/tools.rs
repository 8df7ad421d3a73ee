//! Tools in a conversation: what a model's calls come to.

mod offered;
mod rounds;

pub(super) use offered::Offered;
pub(super) use rounds::{Hearer, Rounds};

use super::reply::Ending;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    ChatEvent, ErrorBody, ErrorCode, MessageId, MessageStatus, OperationDraft, OperationQuery, ProviderLocality, RoundCall, Tool,
    ToolAnswer, ToolChoice, ToolEnd, ToolPermit, ToolRefusal, ToolRule, ToolServer, ToolUse, ToolVerdict,
};
use evenkeel_provider::{ChatRequest, ToolCall};
use offered::Behind;
use serde_json::{Map, Value};
use std::time::{Duration, Instant};

/// Time that a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(300);
/// Most calls that are run of one answer.
const MOST_CALLS: usize = 16;
/// Most calls of one answer that are answered at all. A model that asks for more has lost its way, and is not reminded of those.
const MOST_ANSWERED: usize = 64;
/// Most tokens that are kept free for calls and results.
const MOST_SPARE: u32 = 24_000;
/// Most characters of a result that the window is told at once.
const MOST_SHOWN: usize = 100_000;
/// Most characters of what is told of earlier operations.
const MOST_RECENT: usize = 16_000;
/// Said of a tool that changed while its question stood open.
const CHANGED: &str =
    "The tool, or what is allowed of it, has changed since the user was asked. It was not run; ask for it again.";
/// What is recorded of a tool whose reply was stopped.
const CUT_OFF: &str = "the reply was stopped while the tool ran; whether it did its work is not known";

/// What a call came to: how it ended, and what the model is told.
struct Told(ToolEnd, String);

impl Told {
    fn failed(error: &ServiceError) -> Self {
        Self(ToolEnd::Failed, error.to_body().message)
    }

    fn gone(server: &ToolServer, tool: &str) -> Self {
        Self(ToolEnd::Failed, format!("{} has no tool {tool} here any more. It was not run.", server.name))
    }
}

impl From<ServiceError> for Told {
    fn from(error: ServiceError) -> Self {
        Self::failed(&error)
    }
}

impl From<ToolRefusal> for Told {
    fn from(refusal: ToolRefusal) -> Self {
        Self(ToolEnd::Refused, refusal.reason().to_owned())
    }
}

/// Tokens of a window that are kept free for calls and results.
pub(super) fn spare(window: u32) -> u32 {
    (window / 5).min(MOST_SPARE)
}

impl Service {
    /// Runs what a model has asked for; the request that tells it of the results. `None` where the reply is over.
    pub(super) async fn next_round(&self, rounds: &mut Rounds<'_>, ending: &mut Ending) -> Option<ChatRequest> {
        let mut calls = std::mem::take(&mut ending.calls);
        if calls.is_empty() || ending.status != MessageStatus::Complete {
            return None;
        }
        if rounds.are_over {
            ending.status = MessageStatus::Interrupted;
            ending.error = Some(only_tools(rounds.sent().len()));
            return None;
        }
        if !rounds.has_tools() {
            rounds.begin(ending, &[]);
            return self.next_request(rounds, ending).await;
        }
        calls.truncate(MOST_ANSWERED);
        rounds.begin(ending, &calls);
        let surplus = calls.split_off(calls.len().min(MOST_CALLS));
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        for (call, number) in calls.into_iter().zip(1..) {
            rounds.now = (number, count);
            let told = tokio::select! {
                told = self.called(rounds, &call) => told,
                () = rounds.stop.cancelled() => {
                    ending.status = MessageStatus::Stopped;
                    self.record_cut_off(rounds).await;
                    return None;
                }
            };
            rounds.answer(call, told).await;
        }
        self.refuse_surplus(rounds, surplus).await;
        self.next_request(rounds, ending).await
    }

    /// The request of the next round. A question may have waited for long: the companion may stay on this machine by now.
    async fn next_request(&self, rounds: &mut Rounds<'_>, ending: &mut Ending) -> Option<ChatRequest> {
        let (chosen, context) = (&rounds.plan.chosen, rounds.plan.context.id);
        match self.check_kept_here(rounds.session, chosen, vec![context]).await {
            Ok(()) => Some(rounds.request()),
            Err(error) => {
                (ending.status, ending.error) = (MessageStatus::Interrupted, Some(error.to_body()));
                None
            }
        }
    }

    /// Tells of the calls that are too many. One record stands for all of them: each with its own, they would take the
    /// place of what tools did.
    async fn refuse_surplus(&self, rounds: &mut Rounds<'_>, surplus: Vec<ToolCall>) {
        let count = surplus.len();
        let reason = format!("too many calls at once: {MOST_CALLS} of one answer are run, and the {count} after those were not");
        for (at, call) in surplus.into_iter().enumerate() {
            let shown = self.call_shown(rounds, &call);
            if at == 0 {
                let arguments = arguments(&call.arguments).map_or(Value::Null, Value::Object);
                let error = ErrorBody::new(ErrorCode::LimitReached, &reason).with("limit", MOST_CALLS);
                self.record(rounds, &shown, (arguments, Value::Null), (0, Some(error))).await;
            }
            (rounds.sink)(ChatEvent::ToolEnded { call: shown, end: ToolEnd::Failed, result: reason.clone() });
            rounds.answer(call, Told(ToolEnd::Failed, reason.clone())).await;
        }
    }

    /// A call as the window shows it.
    fn call_shown(&self, rounds: &Rounds<'_>, call: &ToolCall) -> ToolUse {
        let RoundCall { server, tool, arguments, .. } = rounds.plan.offered.called(call);
        let id = MessageId::from_parts(self.now(), self.random()).to_string();
        ToolUse { id, server, tool, arguments }
    }

    /// One call, from its question to its record.
    async fn called(&self, rounds: &Rounds<'_>, call: &ToolCall) -> Told {
        let (offered, shown) = (&rounds.plan.offered, self.call_shown(rounds, call));
        let told = match (offered.behind(&call.name), arguments(&call.arguments)) {
            (None, _) => Told(ToolEnd::Failed, offered.no_such(&call.name)),
            (_, Err(error)) => Told(ToolEnd::Failed, format!("The arguments are no JSON object: {error}. The tool was not run.")),
            (Some(Behind::Recent), Ok(arguments)) => self.recent(rounds, &shown, &arguments).await,
            (Some(Behind::Server(server, _)), Ok(arguments)) => match self.permitted(rounds, server, &shown).await {
                Ok(()) => {
                    (rounds.sink)(ChatEvent::ToolBegan { call: shown.clone() });
                    self.run(rounds, server, &shown, arguments).await
                }
                Err(told) => told,
            },
        };
        let result = told.1.chars().take(MOST_SHOWN).collect();
        (rounds.sink)(ChatEvent::ToolEnded { call: shown, end: told.0, result });
        told
    }

    /// Whether a tool of a server may run; what it came to where not. A question ends with the server that it is about.
    async fn permitted(&self, rounds: &Rounds<'_>, server: &ToolServer, shown: &ToolUse) -> Result<(), Told> {
        let stopped = self.tool_room().stopping(server.id);
        tokio::select! {
            biased;
            () = stopped.cancelled() => Err(Told::gone(server, &shown.tool)),
            permitted = self.asked_about(rounds, server, shown) => permitted,
        }
    }

    async fn asked_about(&self, rounds: &Rounds<'_>, server: &ToolServer, shown: &ToolUse) -> Result<(), Told> {
        let Some(tool) = self.live_tool(rounds, server, &shown.tool).await? else {
            return Err(Told::gone(server, &shown.tool));
        };
        let fingerprint = server.fingerprint(&tool);
        match self.verdict(rounds, &fingerprint).await? {
            ToolVerdict::Run => Ok(()),
            ToolVerdict::Refuse(refusal) => Err(refusal.into()),
            ToolVerdict::Ask => {
                let question = self.questions().open(&shown.id);
                (rounds.sink)(ChatEvent::ToolQuestion {
                    call: shown.clone(),
                    description: tool.description.clone(),
                    place: server.transport.shown(),
                    number: rounds.now.0,
                    count: rounds.now.1,
                });
                let answer = question.answered().await;
                self.remember(rounds, (server, &tool), fingerprint, answer).await?;
                match self.is_still(rounds, (server, &tool)).await {
                    _ if answer == ToolAnswer::Deny => Err(ToolRefusal::NotNow.into()),
                    Ok(true) => Ok(()),
                    Ok(false) => Err(Told(ToolEnd::Refused, CHANGED.to_owned())),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// The tool as its server describes it now; what was approved is one wording of it. `None` where the server is no
    /// longer the one that the model was told of, or may not be asked any more.
    async fn live_tool(&self, rounds: &Rounds<'_>, server: &ToolServer, tool: &str) -> Result<Option<Tool>, ServiceError> {
        let (id, context_id) = (server.id, rounds.plan.context.id);
        let read = rounds.session.read(move |r| Ok((r.tool_server(id)?, r.context(context_id)?)));
        let (now, context) = read.await?;
        let stays_here = context.is_none_or(|context| context.local_only);
        let now = now.filter(|now| now.transport == server.transport);
        let Some(now) = now.filter(|now| !stays_here || now.locality == ProviderLocality::Local) else { return Ok(None) };
        let listing = self.tools_listed(&now, Some(context_id)).await?;
        Ok(listing.tools.into_iter().find(|live| live.name == tool))
    }

    /// Whether a tool is what it was when the question was asked: that may have stood open for long.
    async fn is_still(&self, rounds: &Rounds<'_>, (server, tool): (&ToolServer, &Tool)) -> Result<bool, ServiceError> {
        let live = self.live_tool(rounds, server, &tool.name).await?;
        let fingerprint = server.fingerprint(tool);
        let verdict = self.verdict(rounds, &fingerprint).await?;
        Ok(live.is_some_and(|live| server.fingerprint(&live) == fingerprint) && !matches!(verdict, ToolVerdict::Refuse(_)))
    }

    async fn verdict(&self, rounds: &Rounds<'_>, fingerprint: &str) -> Result<ToolVerdict, ServiceError> {
        let (conversation, fingerprint) = (rounds.plan.conversation.id, fingerprint.to_owned());
        let records = rounds.session.records(conversation);
        let read = records.read_beside(move |vault, r| {
            let in_conversation = r.is_tool_permitted(conversation, &fingerprint)?;
            Ok(ToolPermit { rule: vault.tool_rule(&fingerprint)?, in_conversation })
        });
        Ok(read.await?.verdict(rounds.plan.is_attended))
    }

    /// Keeps what an answer decides beyond its call.
    async fn remember(
        &self,
        rounds: &Rounds<'_>,
        (server, tool): (&ToolServer, &Tool),
        fingerprint: String,
        answer: ToolAnswer,
    ) -> Result<(), ServiceError> {
        let (session, conversation, now) = (rounds.session, rounds.plan.conversation.id, self.now());
        match answer {
            ToolAnswer::Once | ToolAnswer::Deny => Ok(()),
            ToolAnswer::Conversation => {
                session.records(conversation).write(move |w| w.permit_tool(conversation, &fingerprint)).await
            }
            ToolAnswer::Always => {
                let choice = ToolChoice { server_id: server.id, tool: tool.name.clone() };
                session.write(move |w| w.put_tool_rule(&choice, &fingerprint, ToolRule::Allowed, now)).await
            }
        }
    }

    /// Runs a tool that may, and records it.
    async fn run(&self, rounds: &Rounds<'_>, server: &ToolServer, shown: &ToolUse, arguments: Map<String, Value>) -> Told {
        let began = Instant::now();
        rounds.set_running(Some((shown.clone(), arguments.clone(), began)));
        let outcome = async {
            let reached = self.tool_server_reached(server, Some(rounds.plan.context.id)).await?;
            Ok::<_, ServiceError>(self.tool_room().call(&reached, &shown.tool, arguments.clone(), CALL_LIMIT).await?)
        };
        let (told, result, error) = match outcome.await {
            Ok(outcome) => {
                let end = if outcome.is_error { ToolEnd::Failed } else { ToolEnd::Done };
                (Told(end, outcome.text), outcome.result, None)
            }
            Err(error) => (Told::failed(&error), Value::Null, Some(error.to_body())),
        };
        self.record(rounds, shown, (Value::Object(arguments), result), (millis(began), error)).await;
        rounds.set_running(None);
        told
    }

    /// A tool that was stopped with its reply may have done its work all the same: the record says that it ran.
    async fn record_cut_off(&self, rounds: &Rounds<'_>) {
        let Some((shown, arguments, began)) = rounds.set_running(None) else { return };
        let error = ErrorBody::new(ErrorCode::ToolFailed, CUT_OFF);
        self.record(rounds, &shown, (Value::Object(arguments), Value::Null), (millis(began), Some(error))).await;
        (rounds.sink)(ChatEvent::ToolEnded { call: shown, end: ToolEnd::Failed, result: CUT_OFF.to_owned() });
    }

    /// A reply is worth more than the record of what was done for it, and goes on without.
    async fn record(
        &self,
        rounds: &Rounds<'_>,
        shown: &ToolUse,
        (arguments, result): (Value, Value),
        (duration_ms, error): (u32, Option<ErrorBody>),
    ) {
        let draft = OperationDraft {
            conversation_id: rounds.plan.conversation.id,
            context_id: rounds.plan.context.id,
            message_id: Some(rounds.reply),
            query: rounds.plan.user_message.content.clone(),
            source: shown.server.clone(),
            tool_name: shown.tool.clone(),
            arguments,
            result,
            duration_ms,
            error,
        };
        if let Err(error) = self.operation_record(draft).await {
            tracing::error!(code = error.code().as_str(), %error, "what a tool did is not in the record");
        }
    }

    /// What tools did last in this conversation, and in no other.
    async fn recent(&self, rounds: &Rounds<'_>, shown: &ToolUse, arguments: &Map<String, Value>) -> Told {
        (rounds.sink)(ChatEvent::ToolBegan { call: shown.clone() });
        let mut query = OperationQuery::new(rounds.plan.conversation.id);
        if let Some(limit) = arguments.get("limit").and_then(Value::as_u64) {
            query.limit = u32::try_from(limit).unwrap_or(u32::MAX).clamp(1, OperationQuery::MOST);
        }
        query.tool_filter = arguments.get("tool_filter").and_then(Value::as_str).map(str::to_owned);
        // Other companions of the conversation may be for this machine only.
        let elsewhere = !rounds.plan.chosen.is_local();
        match self.operation_words(query, MOST_RECENT, elsewhere).await {
            Ok(text) if text.is_empty() => Told(ToolEnd::Done, "No tool has done anything that fits.".to_owned()),
            Ok(text) => Told(ToolEnd::Done, text),
            Err(error) => Told::failed(&error),
        }
    }
}

/// A model that asks for tools where it may not has given no answer, whatever it said with it.
fn only_tools(rounds: usize) -> ErrorBody {
    let message = "the model asked for tools again instead of answering, although it was told that there are no more for this \
         message; regenerate the reply, allow more rounds in Settings, Tools, or choose another model";
    ErrorBody::new(ErrorCode::LimitReached, message).with("rounds", rounds)
}

fn millis(began: Instant) -> u32 {
    u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX)
}

fn arguments(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    if text.trim().is_empty() { Ok(Map::new()) } else { serde_json::from_str(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_nothing() {
        assert!(arguments("").is_ok_and(|map| map.is_empty()));
        assert!(arguments(r#"{"a":1}"#).is_ok_and(|map| map.len() == 1));
        assert!(arguments("[1]").is_err() && arguments("{\"a\":").is_err());
    }
}
