//! A conversation with all that is known of it, as JSON. The types are this format's own: what the
//! app changes inside does not change what it wrote.

use super::Record;
use chrono::{DateTime, Utc};
use evenkeel_domain::{ErrorBody, Message, MessageStatus, Operation, Role, Vote};
use serde::Serialize;
use serde_json::Value;

/// What the file says it is.
const FORMAT: &str = "evenkeel-conversation";
/// Raised when a reader of the version before would misread it.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    format: &'static str,
    version: u32,
    exported_at: DateTime<Utc>,
    conversation: Head<'a>,
    personas: Vec<Persona<'a>>,
    messages: Vec<Line<'a>>,
    operations: Vec<Done<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    id: String,
    title: &'a str,
    companion: Option<&'a str>,
    companion_id: String,
    tags: &'a [String],
    is_pinned: bool,
    is_archived: bool,
    created_at: DateTime<Utc>,
    last_activity_at: DateTime<Utc>,
    /// The last message of the branch that was shown.
    shown_message_id: Option<String>,
}

/// A persona that replies were given under.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Persona<'a> {
    id: &'a str,
    name: &'a str,
    system_prompt: &'a str,
    personality: &'a str,
    anchor: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    id: String,
    parent_id: Option<String>,
    role: &'static str,
    /// The name of the companion that answered.
    agent: Option<&'a str>,
    agent_id: String,
    persona_id: Option<&'a str>,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    status: &'static str,
    created_at: DateTime<Utc>,
    model: Option<&'a str>,
    tokens: Option<u32>,
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
    vote: Option<&'static str>,
}

/// What a tool did.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    id: String,
    /// The reply that it was done for.
    message_id: Option<String>,
    agent_id: String,
    /// The server that the tool is of.
    source: &'a str,
    tool: &'a str,
    arguments: &'a Value,
    result: &'a Value,
    error: Option<&'a ErrorBody>,
    ended_at: DateTime<Utc>,
    duration_ms: u32,
}

/// The whole text.
pub(super) fn written(record: &Record) -> Result<String, serde_json::Error> {
    let conversation = &record.conversation;
    let personas = record.revisions.values().map(|revision| Persona {
        id: revision.id.as_str(),
        name: &revision.name,
        system_prompt: &revision.system_prompt,
        personality: &revision.personality,
        anchor: revision.anchor.as_deref(),
    });
    let mut text = serde_json::to_string_pretty(&File {
        format: FORMAT,
        version: VERSION,
        exported_at: record.exported_at,
        conversation: Head {
            id: conversation.id.to_string(),
            title: &conversation.title,
            companion: record.companion.as_deref(),
            companion_id: conversation.context_id.to_string(),
            tags: &conversation.tags,
            is_pinned: conversation.is_pinned,
            is_archived: conversation.is_archived,
            created_at: conversation.created_at,
            last_activity_at: conversation.last_activity_at,
            shown_message_id: conversation.active_leaf_id.map(|id| id.to_string()),
        },
        personas: personas.collect(),
        messages: record.messages.iter().map(|message| line(record, message)).collect(),
        operations: record.operations.iter().map(done).collect(),
    })?;
    text.push('\n');
    Ok(text)
}

fn line<'a>(record: &'a Record, message: &'a Message) -> Line<'a> {
    Line {
        id: message.id.to_string(),
        parent_id: message.parent_id.map(|id| id.to_string()),
        role: role(message.role),
        agent: record.agent(message),
        agent_id: message.context_id.to_string(),
        persona_id: message.revision_id.as_ref().map(|id| id.as_str()),
        content: &message.content,
        reasoning: message.reasoning.as_deref(),
        status: status(message.status),
        created_at: message.created_at,
        model: message.model.as_ref().map(|model| model.model.as_str()),
        tokens: message.token_count.as_ref().map(|count| count.tokens),
        prompt_tokens: message.usage.map(|usage| usage.prompt_tokens),
        completion_tokens: message.usage.map(|usage| usage.completion_tokens),
        vote: message.vote.map(vote),
    }
}

fn done(operation: &Operation) -> Done<'_> {
    Done {
        id: operation.id.to_string(),
        message_id: operation.message_id.map(|id| id.to_string()),
        agent_id: operation.context_id.to_string(),
        source: &operation.source,
        tool: &operation.tool_name,
        arguments: &operation.arguments,
        result: &operation.result,
        error: operation.error.as_ref(),
        ended_at: operation.at,
        duration_ms: operation.duration_ms,
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    }
}

fn status(status: MessageStatus) -> &'static str {
    match status {
        MessageStatus::Complete => "complete",
        MessageStatus::Stopped => "stopped",
        MessageStatus::Interrupted => "interrupted",
        MessageStatus::Truncated => "truncated",
    }
}

fn vote(vote: Vote) -> &'static str {
    match vote {
        Vote::Up => "up",
        Vote::Down => "down",
    }
}
