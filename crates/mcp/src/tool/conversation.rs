//! `conversation-manage`.

use super::context::first;
use crate::caller::Caller;
use crate::record::{ErrorRecord, MessageRecord};
use crate::schema::misfit;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use evenkeel_domain::{
    AccessKind, Context, ConversationId, ConversationsShown, ErrorBody, MessageId, MessageQuery, MessageSelection,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Messages that one call may name.
const MOST_IDS: usize = 1_000;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    List,
    Delete,
    Clear,
}

/// What `conversation-manage` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConversationManage {
    /// What to do. list gives messages; delete takes conversationIds, olderThan or both; clear puts all conversations of
    /// the context, or the one of sessionId, into the trash.
    action: Action,
    /// Id of the context.
    context_id: String,
    /// One conversation of the context; without it all of them are meant.
    session_id: Option<String>,
    /// Page of the list, from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 1_000_000))]
    page: u32,
    /// Messages a page.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 500))]
    page_size: u32,
    /// Lists the newest first.
    #[serde(default = "yes")]
    reverse: bool,
    /// Ids of messages to delete.
    #[schemars(length(min = 1, max = 1_000))]
    conversation_ids: Option<Vec<String>>,
    /// Deletes messages from before this time, such as 2026-07-28T14:00:00Z, or before this day. With conversationIds:
    /// those of them that are older.
    older_than: Option<String>,
}

fn twenty() -> u32 {
    20
}

fn yes() -> bool {
    true
}

/// What `conversation-manage` gives.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConversationManaged {
    success: bool,
    /// The page of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversations: Option<Vec<MessageRecord>>,
    /// Messages on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<u32>,
    /// Messages that were deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_count: Option<u32>,
    /// What was done, in a sentence.
    message: String,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
}

/// Does what was asked for.
pub(super) async fn manage(caller: &Caller, wish: ConversationManage) -> Result<ConversationManaged, ErrorBody> {
    let context = caller.context(&wish.context_id).await?;
    let session = match &wish.session_id {
        Some(id) => Some(caller.session(&context, id).await?.id),
        None => None,
    };
    match wish.action {
        Action::List => list(caller, &context, session, &wish).await,
        Action::Delete => {
            let selection = selection(caller, &context, session, &wish)?;
            caller.check_change(AccessKind::DeleteMessages, Some(context.id)).await?;
            let (gone, left) = caller.companions.delete_messages(selection).await?;
            let more = if left > 0 { format!("; {left} more are left, call again") } else { String::new() };
            Ok(deleted(caller, &context, gone, format!("{gone} messages of {} were deleted{more}", context.name)).await)
        }
        Action::Clear => {
            caller.check_change(AccessKind::DeleteMessages, Some(context.id)).await?;
            let sight = ConversationsShown { only: session, ..caller.sight(context.id, u32::MAX) };
            let gone = caller.companions.clear(sight).await?;
            let message = format!("{gone} messages of {} are in the trash of Evenkeel with their conversations", context.name);
            Ok(deleted(caller, &context, gone, message).await)
        }
    }
}

async fn list(
    caller: &Caller,
    context: &Context,
    conversation_id: Option<ConversationId>,
    wish: &ConversationManage,
) -> Result<ConversationManaged, ErrorBody> {
    let query = MessageQuery {
        context_id: context.id,
        conversation_id,
        among: caller.among(),
        newest_first: wish.reverse,
        page: wish.page,
        page_size: wish.page_size,
    };
    let (page, total) = caller.companions.messages(query).await?;
    caller.note(AccessKind::ReadMessages, Some(context.id), page.len()).await;
    Ok(ConversationManaged {
        success: true,
        message: format!("{} of {total} messages of {}", page.len(), context.name),
        total_count: Some(total),
        conversations: Some(page.iter().map(MessageRecord::of).collect()),
        ..ConversationManaged::default()
    })
}

async fn deleted(caller: &Caller, context: &Context, count: u32, message: String) -> ConversationManaged {
    caller.note(AccessKind::DeleteMessages, Some(context.id), count as usize).await;
    ConversationManaged { success: true, deleted_count: Some(count), message, ..ConversationManaged::default() }
}

fn selection(
    caller: &Caller,
    context: &Context,
    conversation_id: Option<ConversationId>,
    wish: &ConversationManage,
) -> Result<MessageSelection, ErrorBody> {
    if wish.conversation_ids.is_none() && wish.older_than.is_none() {
        return Err(misfit("conversationIds", &Value::Null, "given, or olderThan; clear deletes everything"));
    }
    if let Some(count) = wish.conversation_ids.as_ref().map(Vec::len).filter(|count| !(1..=MOST_IDS).contains(count)) {
        return Err(misfit("conversationIds", &Value::from(count), "1 to 1,000 ids in one call"));
    }
    let ids = wish
        .conversation_ids
        .as_ref()
        .map(|ids| ids.iter().map(|id| message_id(id)).collect::<Result<Vec<_>, _>>())
        .transpose()?;
    let older_than = wish.older_than.as_deref().map(time).transpose()?;
    Ok(MessageSelection { context_id: context.id, conversation_id, among: caller.among(), ids, older_than })
}

fn message_id(text: &str) -> Result<MessageId, ErrorBody> {
    let invalid = |_| misfit("conversationIds", &Value::from(text), "ids of messages, as action list gives them");
    text.trim().parse().map_err(invalid)
}

/// A time, or the beginning of a day.
fn time(text: &str) -> Result<DateTime<Utc>, ErrorBody> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    let day = text.parse::<NaiveDate>().map(|day| day.and_time(NaiveTime::MIN).and_utc());
    day.map_err(|_| misfit("olderThan", &Value::from(text), "a time such as 2026-07-28T14:00:00Z, or a day such as 2026-07-28"))
}
