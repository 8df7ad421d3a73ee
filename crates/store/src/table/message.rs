//! Messages: the rows of the tree. How they hang together is in `tree`.

use super::feedback::vote;
use crate::column::{bytes, id, json, maybe_id, maybe_revision, model, of_model, time, variant};
use crate::{Deed, Noun, ReadHandle, StoreError, WriteHandle};
use chrono::DateTime;
use evenkeel_domain::{Citation, ConversationId, Message, MessageId, MessageStatus, Role, TokenCount, Usage};
use rusqlite::types::ValueRef;
use rusqlite::{Row, params};
use serde::Deserialize;
use std::collections::HashMap;
use uuid::Uuid;

pub(super) const ROLES: [Role; 3] = [Role::User, Role::Assistant, Role::System];
const STATUSES: [MessageStatus; 4] =
    [MessageStatus::Complete, MessageStatus::Stopped, MessageStatus::Interrupted, MessageStatus::Truncated];

/// The columns that `message` reads, of a table named `m`.
macro_rules! message_columns {
    () => {
        "m.id, m.conversation_id, m.context_id, m.parent_id, m.role, m.content, m.reasoning, m.status, m.tokens, m.tokenizer, \
         m.revision_id, m.provider_id, m.model, m.prompt_tokens, m.completion_tokens, m.cached_tokens, m.created_at, \
         (SELECT f.vote FROM feedback f WHERE f.message_id = m.id), \
         CASE WHEN m.metadata IS NOT NULL THEN ( \
             SELECT json_group_array (json_object ('messageId', lower (hex (s.id)), 'conversationId', lower (hex (s.conversation_id)), \
                        'beginning', substr (s.content, 1, 400), 'createdAt', s.created_at) ORDER BY q.key) \
             FROM json_each (m.metadata, '$.citations') q \
             CROSS JOIN messages s ON s.id = unhex (json_extract (q.value, '$.messageId'), '-') \
             CROSS JOIN conversations sv ON sv.id = s.conversation_id \
             CROSS JOIN contexts sc ON sc.id = sv.context_id \
             WHERE sv.deleted_at IS NULL AND sc.deleted_at IS NULL) END, \
         json_extract (m.metadata, '$.source')"
    };
}
pub(super) use message_columns;

/// Reads a row; the siblings are filled in by the caller.
pub(super) fn message(row: &Row<'_>) -> Result<Message, StoreError> {
    let tokens: Option<u32> = row.get(8)?;
    let tokenizer: Option<String> = row.get(9)?;
    let prompt_tokens: Option<u32> = row.get(13)?;
    let completion_tokens: Option<u32> = row.get(14)?;
    let cached_tokens: Option<u32> = row.get(15)?;
    Ok(Message {
        id: id(row, 0)?,
        conversation_id: id(row, 1)?,
        context_id: id(row, 2)?,
        parent_id: maybe_id(row, 3)?,
        role: variant(row, 4, &ROLES, Role::as_str)?,
        content: row.get(5)?,
        reasoning: row.get(6)?,
        status: variant(row, 7, &STATUSES, MessageStatus::as_str)?,
        token_count: tokens.zip(tokenizer).map(|(tokens, tokenizer)| TokenCount { tokens, tokenizer }),
        revision_id: maybe_revision(row, 10)?,
        model: model(row, 11)?,
        usage: prompt_tokens.zip(completion_tokens).map(|(prompt_tokens, completion_tokens)| Usage {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
        }),
        created_at: time(row, 16)?,
        sibling_ids: Vec::new(),
        vote: vote(row, 17)?,
        citations: citations(row, 18)?,
        // An archive of somebody else may hold anything there.
        source: row.get_ref(19)?.as_str().ok().map(str::to_owned),
    })
}

/// A citation as the query above writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cited {
    message_id: Uuid,
    conversation_id: Uuid,
    beginning: String,
    created_at: i64,
}

/// Older messages that were sent for a reply: those that are neither deleted nor in the trash.
fn citations(row: &Row<'_>, column: usize) -> Result<Vec<Citation>, StoreError> {
    if row.get_ref(column)? == ValueRef::Null {
        return Ok(Vec::new());
    }
    let cited = json::<Vec<Cited>>(row, column)?;
    let citation = |one: Cited| {
        let time = DateTime::from_timestamp_millis(one.created_at).unwrap_or_default();
        Citation::of(one.message_id.into(), one.conversation_id.into(), &one.beginning, time)
    };
    Ok(cited.into_iter().map(citation).collect())
}

/// The facts that are kept with a message from its birth, as JSON.
fn metadata(message: &Message) -> Option<String> {
    let mut facts = serde_json::Map::new();
    if let Some(source) = &message.source {
        facts.insert("source".to_owned(), source.as_str().into());
    }
    if !message.citations.is_empty() {
        let cited = message.citations.iter().map(|one| {
            serde_json::json!({ "messageId": one.message_id.to_string(), "conversationId": one.conversation_id.to_string() })
        });
        facts.insert("citations".to_owned(), cited.collect());
    }
    (!facts.is_empty()).then(|| serde_json::Value::Object(facts).to_string())
}

impl ReadHandle<'_> {
    /// One message with its siblings.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn message(&self, message_id: MessageId) -> Result<Option<Message>, StoreError> {
        let sql = concat!("SELECT ", message_columns!(), " FROM messages m WHERE m.id = ?1");
        let Some(mut found) = self.one(sql, [bytes(message_id.uuid())], message)? else { return Ok(None) };
        found.sibling_ids = self.children(found.conversation_id, found.parent_id)?;
        Ok(Some(found))
    }

    /// All messages of a conversation, on every branch, in order of birth: a parent stands before its
    /// children. Costs time and memory in proportion to their number.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn messages(&self, conversation_id: ConversationId) -> Result<Vec<Message>, StoreError> {
        let sql = concat!("SELECT ", message_columns!(), " FROM messages m WHERE m.conversation_id = ?1 ORDER BY m.key");
        let mut all = self.all(sql, [bytes(conversation_id.uuid())], message)?;
        let mut families: HashMap<Option<MessageId>, Vec<MessageId>> = HashMap::new();
        for message in &all {
            families.entry(message.parent_id).or_default().push(message.id);
        }
        for message in &mut all {
            message.sibling_ids = families.get(&message.parent_id).cloned().unwrap_or_default();
        }
        Ok(all)
    }

    /// Facts about a message that others keep with it, as JSON text; `None` if there are none.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn message_metadata(&self, id: MessageId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT metadata FROM messages WHERE id = ?1";
        Ok(self.one(sql, [bytes(id.uuid())], |row| Ok(row.get::<_, Option<String>>(0)?))?.flatten())
    }
}

impl WriteHandle<'_> {
    /// Stores a message as the newest child of its parent and shows its branch; the conversation's
    /// count and activity follow, and a draft of the same id is done with. Costs the same however
    /// long the history is. Returns the message as it is stored, with its siblings; a vote is not
    /// stored with it.
    ///
    /// # Errors
    /// `NotFound` if its conversation, its context or, in that conversation, its parent does not
    /// exist; `Defect` if the id is taken; `Storage`, `DiskFull`.
    pub fn insert_message(&mut self, message: Message) -> Result<Message, StoreError> {
        let stored = self.add_message(message)?;
        self.execute(
            "UPDATE conversations SET message_count = message_count + 1, last_activity_at = ?2, active_leaf_id = ?3 WHERE id = ?1",
            (bytes(stored.conversation_id.uuid()), stored.created_at.timestamp_millis(), bytes(stored.id.uuid())),
        )?;
        Ok(stored)
    }

    /// Keeps facts with a message, as JSON text; `None` removes them.
    ///
    /// # Errors
    /// `NotFound`; `Defect` if it is no JSON; `Storage`, `DiskFull`.
    pub fn set_message_metadata(&mut self, id: MessageId, json: Option<&str>) -> Result<(), StoreError> {
        self.execute_on(Noun::Message, &id, "UPDATE messages SET metadata = ?2 WHERE id = ?1", (bytes(id.uuid()), json))
    }

    /// Stores the row alone, without the conversation's count, activity and shown branch.
    pub(super) fn add_message(&mut self, mut message: Message) -> Result<Message, StoreError> {
        let (provider, model) = of_model(message.model.as_ref());
        let (tokens, tokenizer) = message.token_count.as_ref().map(|count| (count.tokens, count.tokenizer.as_str())).unzip();
        let inserted = self.try_execute(
            "INSERT INTO messages (key, id, conversation_id, context_id, parent_id, depth, role, content, reasoning, status, tokens,
                 tokenizer, revision_id, provider_id, model, prompt_tokens, completion_tokens, cached_tokens, created_at, metadata)
             VALUES (
                 max (coalesce((SELECT max (key) FROM messages), 0), coalesce((SELECT max (key) FROM deleted_messages), 0)) + 1,
                 ?1, ?2, ?3, ?4,
                 coalesce((SELECT depth + 1 FROM messages WHERE conversation_id = ?2 AND id = ?4), 0),
                 ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            params![
                bytes(message.id.uuid()),
                bytes(message.conversation_id.uuid()),
                bytes(message.context_id.uuid()),
                message.parent_id.map(|parent| bytes(parent.uuid())),
                message.role.as_str(),
                message.content,
                message.reasoning,
                message.status.as_str(),
                tokens,
                tokenizer,
                message.revision_id.as_ref().map(|revision| revision.as_str()),
                provider,
                model,
                message.usage.map(|usage| usage.prompt_tokens),
                message.usage.map(|usage| usage.completion_tokens),
                message.usage.and_then(|usage| usage.cached_tokens),
                message.created_at.timestamp_millis(),
                metadata(&message),
            ],
        );
        if let Err(error) = inserted {
            return Err(self.explain_refusal(error, &message)?);
        }
        self.delete_draft(message.id)?;
        self.became(Noun::Message, message.id, Deed::Made);
        self.changed(Noun::Conversation, message.conversation_id);
        message.sibling_ids = self.children(message.conversation_id, message.parent_id)?;
        message.vote = None;
        let millis = message.created_at.timestamp_millis();
        message.created_at = chrono::DateTime::from_timestamp_millis(millis).unwrap_or(message.created_at);
        Ok(message)
    }

    /// Which of the things that a message refers to is missing, once a row was refused. The look
    /// is taken afterwards, since nearly every insertion goes well.
    fn explain_refusal(&self, error: rusqlite::Error, message: &Message) -> Result<StoreError, StoreError> {
        if !StoreError::is_constraint(&error) {
            return Ok(error.into());
        }
        self.explain_missing(error, message.conversation_id, message.context_id, message.parent_id)
    }
}
