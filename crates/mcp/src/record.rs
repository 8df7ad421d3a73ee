//! Contexts, presets and messages as other programs see them. Apart from the types of the app, which may change while these
//! stay.

use chrono::{DateTime, SecondsFormat, Utc};
use evenkeel_domain::{Context, ErrorBody, Message, MessageStatus, Operation, Preset, Role};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A context.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextRecord {
    /// Its id, a UUID.
    id: String,
    name: String,
    /// Instructions to the model.
    system_prompt: String,
    /// The personality in words.
    personality: String,
    temperature: f64,
    /// Longest reply, in tokens.
    max_tokens: u32,
    /// History that is sent with a message, in tokens at most.
    max_history_tokens: u32,
    /// Days after the last interaction until it expires; null = never.
    expiry_days: Option<u32>,
    created_at: String,
    updated_at: String,
    last_interaction_at: String,
    /// When it expires; null = never.
    expires_at: Option<String>,
    /// False once it has expired.
    is_active: bool,
    /// Only models on this machine may answer.
    local_only: bool,
    /// The preset that it was made from.
    preset_id: Option<String>,
    tags: Vec<String>,
}

impl ContextRecord {
    pub fn of(context: &Context, now: DateTime<Utc>) -> Self {
        Self {
            id: context.id.to_string(),
            name: context.name.clone(),
            system_prompt: context.system_prompt.clone(),
            personality: context.personality.clone(),
            temperature: decimal(context.temperature),
            max_tokens: context.max_tokens,
            max_history_tokens: context.max_history_tokens,
            expiry_days: context.expiry_days,
            created_at: stamp(context.created_at),
            updated_at: stamp(context.updated_at),
            last_interaction_at: stamp(context.last_interaction_at),
            expires_at: context.expires_at.map(stamp),
            is_active: context.is_active && !context.is_expired(now),
            local_only: context.local_only,
            preset_id: context.preset_id.as_ref().map(ToString::to_string),
            tags: context.tags.clone(),
        }
    }
}

/// Settings that a context made from a preset begins with.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingsRecord {
    temperature: f64,
    max_tokens: u32,
    max_history_tokens: u32,
    /// null = never.
    expiry_days: Option<u32>,
}

/// A preset.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PresetRecord {
    id: String,
    name: String,
    description: String,
    system_prompt: String,
    default_personality: String,
    default_settings: SettingsRecord,
    created_at: String,
    updated_at: String,
    /// False hides it from lists.
    is_active: bool,
    /// Any JSON.
    metadata: Value,
}

impl PresetRecord {
    pub fn of(preset: &Preset) -> Self {
        let settings = preset.default_settings;
        Self {
            id: preset.id.to_string(),
            name: preset.name.clone(),
            description: preset.description.clone(),
            system_prompt: preset.system_prompt.clone(),
            default_personality: preset.default_personality.clone(),
            default_settings: SettingsRecord {
                temperature: decimal(settings.temperature),
                max_tokens: settings.max_tokens,
                max_history_tokens: settings.max_history_tokens,
                expiry_days: settings.expiry_days,
            },
            created_at: stamp(preset.created_at),
            updated_at: stamp(preset.updated_at),
            is_active: preset.is_active,
            metadata: serde_json::from_str(&preset.metadata).unwrap_or_default(),
        }
    }
}

/// A message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageRecord {
    /// Its id, a UUID; conversation-manage calls it a conversation id.
    id: String,
    /// The context that it was written to or by.
    context_id: String,
    /// The conversation that it belongs to.
    session_id: String,
    /// The message that it follows.
    parent_id: Option<String>,
    /// user, assistant or system.
    role: String,
    content: String,
    /// Tokens of the content, where they were counted.
    token_count: Option<u32>,
    /// complete, stopped, interrupted or truncated.
    status: String,
    created_at: String,
}

impl MessageRecord {
    pub fn of(message: &Message) -> Self {
        Self {
            id: message.id.to_string(),
            context_id: message.context_id.to_string(),
            session_id: message.conversation_id.to_string(),
            parent_id: message.parent_id.map(|parent| parent.to_string()),
            role: Role::as_str(message.role).to_owned(),
            content: message.content.clone(),
            token_count: message.token_count.as_ref().map(|count| count.tokens),
            status: MessageStatus::as_str(message.status).to_owned(),
            created_at: stamp(message.created_at),
        }
    }
}

/// What a tool did. Its names are those of the design that operations come from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperationRecord {
    /// Its id, a UUID.
    id: String,
    session_id: String,
    /// When it ended.
    timestamp: String,
    /// What the user had asked.
    query: String,
    /// The server that the tool is of.
    source: String,
    tool_name: String,
    /// What it was called with.
    arguments: Value,
    /// What it answered.
    result: Value,
    /// What matters of it: ids, status changes, counts, answers, files, values of the user's own rules.
    metadata: Value,
    /// How long it took, in milliseconds.
    duration_ms: u32,
    /// Why it failed; null where it did not.
    error: Option<ErrorRecord>,
}

impl OperationRecord {
    /// The record of an operation.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        Self {
            id: operation.id.to_string(),
            session_id: operation.conversation_id.to_string(),
            timestamp: stamp(operation.at),
            query: operation.query.clone(),
            source: operation.source.clone(),
            tool_name: operation.tool_name.clone(),
            arguments: operation.arguments.clone(),
            result: operation.result.clone(),
            metadata: serde_json::to_value(&operation.metadata).unwrap_or_default(),
            duration_ms: operation.duration_ms,
            error: operation.error.clone().map(ErrorRecord::from),
        }
    }

    /// The same, with its session as the program calls it.
    #[must_use]
    pub fn within(self, session_id: String) -> Self {
        Self { session_id, ..self }
    }
}

/// Why something was not done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorRecord {
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

/// A time as text.
pub(crate) fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// 0.7 and not 0.699999988079071.
pub(crate) fn decimal(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}
