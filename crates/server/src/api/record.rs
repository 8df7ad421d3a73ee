//! Sessions, messages and answers as programs see them. Apart from the types of the app, which may change while these stay.

use chrono::{DateTime, SecondsFormat, Utc};
use evenkeel_domain::{Citation, ErrorBody};
use evenkeel_mcp::OperationRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why something was not done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ErrorRecord {
    /// Its stable name.
    pub code: String,
    /// What happened, to what, and what to do.
    pub message: String,
    /// Facts: field, value, range, id, existing, …
    pub details: BTreeMap<String, String>,
}

impl From<ErrorBody> for ErrorRecord {
    fn from(error: ErrorBody) -> Self {
        Self { code: error.code.as_str().to_owned(), message: error.message, details: error.details }
    }
}

/// A session in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedSession {
    /// The name that the program gave it; else its id, a UUID.
    pub session_id: String,
    /// What it began with: 200 characters at most.
    pub query: String,
    pub created_at: String,
    /// When something was last said in it.
    pub last_activity: String,
    pub message_count: u32,
    /// The names of those who replied, as far as they are there for the program.
    pub agents_used: Vec<String>,
}

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionList {
    /// The one in which something was said last comes first.
    pub conversations: Vec<ListedSession>,
    /// How many there are on all pages.
    pub total_sessions: u32,
    pub limit: u32,
    pub offset: u32,
}

/// An older message that a reply had before it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct CitationRecord {
    /// The message.
    pub message_id: String,
    /// Its session, by the name that the program gave it, else by its id.
    pub session_id: String,
    pub created_at: String,
}

impl CitationRecord {
    /// `session_id` is what the program calls its session.
    pub fn of(citation: &Citation, session_id: String) -> Self {
        Self { message_id: citation.message_id.to_string(), session_id, created_at: stamp(citation.created_at) }
    }
}

/// A message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageRecord {
    /// Its id, a UUID.
    pub message_id: String,
    /// user, assistant or system.
    pub role: String,
    pub content: String,
    pub timestamp: String,
    /// Who replied; null where that is the user, or a context that is not there any more.
    pub agent: Option<String>,
    /// Older messages that a reply had before it, as far as they are there for the program.
    pub citations: Vec<CitationRecord>,
}

/// A session with a page of its messages.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionRecord {
    /// The name that the program gave it; else its id, a UUID.
    pub session_id: String,
    /// The context that it was begun with.
    pub context_id: String,
    pub title: String,
    /// On all branches, in the order in which they were stored, or the newest first where that was asked for.
    pub messages: Vec<MessageRecord>,
    /// How many messages there are on all pages.
    pub total: u32,
    pub limit: u32,
    pub offset: u32,
    /// There are more behind this page.
    pub has_more: bool,
    /// The names of those who replied.
    pub agents_used: Vec<String>,
    pub created_at: String,
    pub last_activity: String,
    pub message_count: u32,
}

/// What tools did last in a session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OperationList {
    /// The session, by the name that the program gave it, else by its id.
    pub session_id: String,
    /// The newest first.
    pub operations: Vec<OperationRecord>,
}

/// What was put into the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Deleted {
    pub success: bool,
    /// The session, by the name that the program gave it, else by its id; it can be restored in Evenkeel.
    pub session_id: String,
    /// Its messages.
    pub deleted_count: u32,
}

/// A question for a context.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryWish {
    /// What is said, at most 1 MiB.
    #[schemars(length(min = 1))]
    pub query: String,
    /// The session to go on with: its id, or a name that the program makes up, of 1 to 128 letters, digits and `_-.:`. A name
    /// that is new begins a session, as leaving it out does.
    pub session_id: Option<String>,
    /// The name or id of the context that is to answer in a new session; without it, the one talked to last.
    pub context_id: Option<String>,
    /// A session that begins with this goes to the trash once nothing was said in it for a day.
    #[serde(default)]
    pub transient: bool,
}

/// The answer to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct QueryAnswer {
    /// The reply, or what had come of it.
    pub response: String,
    /// The reply is whole.
    pub success: bool,
    /// The session, by the name that the program gave it, else by its id.
    pub session_id: String,
    /// Who replied.
    pub agent_name: String,
    /// Whom the user may turn to, where the message is a sign of danger: tell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub care: Option<Vec<String>>,
    /// The tool that ran last for it, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Why the reply broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// A question for one of several contexts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentWish {
    /// What is said, at most 1 MiB.
    #[schemars(length(min = 1))]
    pub query: String,
    /// The session to go on with; see `/api/v1/query`.
    pub session_id: Option<String>,
    /// Names or ids of contexts. The first whose name stands in the query answers, else the first; without it, the session's
    /// own, or the context talked to last.
    #[schemars(length(min = 1, max = 20))]
    pub agents: Option<Vec<String>>,
}

/// The answer of one of them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct AgentAnswer {
    /// The reply is whole.
    pub success: bool,
    /// The session, by the name that the program gave it, else by its id.
    pub session_id: String,
    /// The reply, or what had come of it.
    pub content: String,
    /// Who replied.
    pub agent_name: String,
    /// Whom the user may turn to, where the message is a sign of danger: tell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub care: Option<Vec<String>>,
    /// The tool that ran last for it, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Older messages that the reply had before it.
    pub citations: Vec<CitationRecord>,
    /// Why the reply broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// What is told by WebSocket. Of what a program may not read nothing is told.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub(super) enum EventRecord {
    /// From here on, what happens is told.
    #[serde(rename = "ready")]
    Ready,
    /// As many programs listen as may; the connection ends.
    #[serde(rename = "full")]
    Full,
    /// The program was too slow: so much that happened, of whatever kind, it is not told.
    #[serde(rename = "missed")]
    Missed { count: u64 },
    /// More changed at once than is told one by one, or another process wrote: read again what is shown.
    #[serde(rename = "changed")]
    Changed,
    /// Something was said in a session, or it began or changed.
    #[serde(rename = "session.changed")]
    SessionChanged(SessionEvent),
    /// A session was put into the trash.
    #[serde(rename = "session.deleted")]
    SessionDeleted {
        /// Its id, a UUID.
        session_id: String,
        /// The context that it was begun with.
        context_id: String,
    },
    /// A message was stored, or brought back.
    #[serde(rename = "message.created")]
    MessageCreated(MessageEvent),
    /// What belongs to a message is another, such as the user's judgement; its text never is.
    #[serde(rename = "message.changed")]
    MessageChanged(MessageEvent),
    /// A message was deleted.
    #[serde(rename = "message.deleted")]
    MessageDeleted {
        /// Its session, by the name that the program gave it, else by its id.
        session_id: String,
        /// The context that the session was begun with.
        context_id: String,
        /// The message.
        message_id: String,
    },
    /// A tool ran.
    #[serde(rename = "operation.created")]
    OperationCreated(OperationEvent),
}

impl EventRecord {
    /// The session that is told of, where it is one.
    pub fn session_id(&mut self) -> Option<&mut String> {
        match self {
            Self::Ready | Self::Full | Self::Missed { .. } | Self::Changed => None,
            Self::SessionChanged(event) => Some(&mut event.session_id),
            Self::MessageCreated(event) | Self::MessageChanged(event) => Some(&mut event.session_id),
            Self::MessageDeleted { session_id, .. } | Self::SessionDeleted { session_id, .. } => Some(session_id),
            Self::OperationCreated(event) => Some(&mut event.session_id),
        }
    }
}

/// What is told of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionEvent {
    /// The name that the program gave it; else its id, a UUID.
    pub session_id: String,
    /// The context that it was begun with.
    pub context_id: String,
    /// The name of that context.
    pub agent_name: String,
    pub message_count: u32,
    pub last_activity: String,
}

/// What is told of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageEvent {
    /// Its session, by the name that the program gave it, else by its id.
    pub session_id: String,
    /// The context that the session was begun with.
    pub context_id: String,
    /// Its id, a UUID.
    pub message_id: String,
    /// user, assistant or system.
    pub role: String,
    /// complete, stopped, interrupted or truncated.
    pub status: String,
    /// Who replied; null where that is the user.
    pub agent: Option<String>,
    pub timestamp: String,
    /// The text.
    pub content: String,
}

/// What is told of an operation; arguments and result are read at `/api/v1/sessions/{session_id}/context`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OperationEvent {
    /// Its session, by the name that the program gave it, else by its id.
    pub session_id: String,
    /// The context that the session was begun with.
    pub context_id: String,
    /// Its id, a UUID.
    pub operation_id: String,
    pub tool_name: String,
    pub success: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    pub timestamp: String,
}

/// Whether the app is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Health {
    /// Always `ok`.
    pub status: String,
    /// Of the app.
    pub version: String,
    /// `open` or `locked`.
    pub vault: String,
}

/// Figures of what is there for the program.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Statistics {
    pub contexts: u32,
    pub sessions: u32,
    pub messages: u64,
    /// Messages a session.
    pub average_messages: f64,
}

/// A time as text.
pub(super) fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
