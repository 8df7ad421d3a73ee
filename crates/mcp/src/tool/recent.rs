//! `get_recent_context`.

use crate::caller::{Caller, missing};
use crate::record::{ErrorRecord, OperationRecord};
use evenkeel_domain::{AccessKind, Context, Conversation, ErrorBody, OperationQuery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `get_recent_context` takes. Its names are those of the design that it comes from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetRecentContext {
    /// The conversation; without it the one in which something was said last.
    session_id: Option<String>,
    /// Operations at most.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// Only of tools whose name has this in it; with * or ? the whole name has to fit.
    #[schemars(length(max = 120))]
    tool_filter: Option<String>,
}

fn five() -> u32 {
    OperationQuery::DEFAULT_LIMIT
}

/// What `get_recent_context` gives.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct RecentContext {
    success: bool,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// What tools did in it, the newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<OperationRecord>>,
    /// What was found, in a sentence.
    message: String,
    /// Why nothing was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
}

/// Does what was asked for.
pub(super) async fn get(caller: &Caller, wish: GetRecentContext) -> Result<RecentContext, ErrorBody> {
    let Some((context, conversation)) = session(caller, wish.session_id.as_deref()).await? else {
        let message = "nothing was said yet, so no tool did anything".to_owned();
        return Ok(RecentContext { success: true, operations: Some(Vec::new()), message, ..RecentContext::default() });
    };
    let query = OperationQuery { conversation_id: conversation.id, limit: wish.limit, tool_filter: wish.tool_filter };
    let operations = caller.companions.operations(query).await?;
    caller.note(AccessKind::ReadOperations, Some(context.id), operations.len()).await;
    Ok(RecentContext {
        success: true,
        session_id: Some(conversation.id.to_string()),
        message: format!("{} operations of tools in a conversation with {}", operations.len(), context.name),
        operations: Some(operations.iter().map(OperationRecord::of).collect()),
        error: None,
    })
}

/// The conversation of that id with its context, where both are there for the program; without an id the newest.
async fn session(caller: &Caller, id: Option<&str>) -> Result<Option<(Context, Conversation)>, ErrorBody> {
    for context in caller.contexts(true).await? {
        let found = match id {
            Some(id) => caller.session_there(&context, id).await?,
            None => caller.newest(context.id).await?,
        };
        if let Some(conversation) = found {
            return Ok(Some((context, conversation)));
        }
    }
    match id {
        Some(id) => Err(missing("session", id, std::iter::empty())),
        None => Ok(None),
    }
}
