//! Replies in progress: what has arrived is kept here until the reply ends, so that the sudden end
//! of the process costs nothing that was put.

use crate::column::{bytes, id, maybe_id, maybe_revision, model, of_model, time};
use crate::{ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ConversationId, Message, MessageId, MessageStatus, ModelChoice, RevisionId, Role};
use rusqlite::{Row, params};

/// Which process writes a draft.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DraftOwner {
    /// Its process id.
    pub pid: u32,
    /// What tells it from a later process with the same id, such as its start time or a random text.
    pub token: String,
}

/// A reply that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyDraft {
    /// The id the reply will have.
    pub reply_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The message it answers; `None` only if that was deleted meanwhile and was a first message.
    pub parent_id: Option<MessageId>,
    /// The context that answers.
    pub context_id: ContextId,
    /// The persona revision it answers under.
    pub revision_id: Option<RevisionId>,
    /// The model that writes.
    pub model: Option<ModelChoice>,
    /// The text so far.
    pub content: String,
    /// The reasoning so far.
    pub reasoning: Option<String>,
    /// The process that writes it.
    pub owner: DraftOwner,
    /// When this much had arrived.
    pub updated_at: DateTime<Utc>,
}

macro_rules! select_drafts {
    ($rest:literal) => {
        concat!(
            "SELECT reply_id, conversation_id, parent_id, context_id, revision_id, provider_id, model, content, reasoning,
                    owner_pid, owner_token, updated_at
             FROM reply_drafts ",
            $rest
        )
    };
}

fn draft(row: &Row<'_>) -> Result<ReplyDraft, StoreError> {
    Ok(ReplyDraft {
        reply_id: id(row, 0)?,
        conversation_id: id(row, 1)?,
        parent_id: maybe_id(row, 2)?,
        context_id: id(row, 3)?,
        revision_id: maybe_revision(row, 4)?,
        model: model(row, 5)?,
        content: row.get(7)?,
        reasoning: row.get(8)?,
        owner: DraftOwner { pid: row.get(9)?, token: row.get(10)? },
        updated_at: time(row, 11)?,
    })
}

impl ReadHandle<'_> {
    /// One draft.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn draft(&self, reply_id: MessageId) -> Result<Option<ReplyDraft>, StoreError> {
        self.one(select_drafts!("WHERE reply_id = ?1"), [bytes(reply_id.uuid())], draft)
    }

    /// All drafts of all processes, the oldest first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn drafts(&self) -> Result<Vec<ReplyDraft>, StoreError> {
        self.all(select_drafts!("ORDER BY updated_at, reply_id"), [], draft)
    }
}

impl WriteHandle<'_> {
    /// Keeps what has arrived of a reply; for the same reply again, text, reasoning and time are
    /// replaced. Does nothing once the reply itself is stored. Tells nobody: the window that shows
    /// the reply gets its text from the stream.
    ///
    /// # Errors
    /// `NotFound` if conversation, context or parent is gone; `Storage`, `DiskFull`.
    pub fn put_draft(&mut self, draft: &ReplyDraft) -> Result<(), StoreError> {
        let (provider, model) = of_model(draft.model.as_ref());
        let put = self.try_execute(
            "INSERT INTO reply_drafts (reply_id, conversation_id, parent_id, context_id, revision_id, provider_id, model, content,
                 reasoning, owner_pid, owner_token, updated_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 WHERE NOT EXISTS (SELECT 1 FROM messages WHERE id = ?1)
             ON CONFLICT (reply_id) DO UPDATE SET content = excluded.content, reasoning = excluded.reasoning,
                 updated_at = excluded.updated_at",
            params![
                bytes(draft.reply_id.uuid()),
                bytes(draft.conversation_id.uuid()),
                draft.parent_id.map(|parent| bytes(parent.uuid())),
                bytes(draft.context_id.uuid()),
                draft.revision_id.as_ref().map(|revision| revision.as_str()),
                provider,
                model,
                draft.content,
                draft.reasoning,
                draft.owner.pid,
                draft.owner.token,
                draft.updated_at.timestamp_millis(),
            ],
        );
        match put {
            Err(error) if StoreError::is_constraint(&error) => {
                Err(self.explain_missing(error, draft.conversation_id, draft.context_id, draft.parent_id)?)
            }
            Err(error) => Err(error.into()),
            Ok(_) => Ok(()),
        }
    }

    /// Drops a draft, if there is one: its reply had no text.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn delete_draft(&mut self, reply_id: MessageId) -> Result<(), StoreError> {
        self.execute("DELETE FROM reply_drafts WHERE reply_id = ?1", [bytes(reply_id.uuid())])?;
        Ok(())
    }

    /// Makes interrupted messages of the drafts whose process is gone, as `is_gone` judges, and
    /// returns them. Each gets the time its text had arrived, at most `now`; it is shown where its
    /// parent was the newest message shown. A draft without text is dropped.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `Damaged` or `DamagedValue`.
    pub fn recover_drafts(
        &mut self,
        now: DateTime<Utc>,
        mut is_gone: impl FnMut(&DraftOwner) -> bool,
    ) -> Result<Vec<Message>, StoreError> {
        let mut recovered = Vec::new();
        for draft in self.drafts()? {
            if !is_gone(&draft.owner) {
                continue;
            }
            if draft.content.is_empty() && draft.reasoning.as_deref().unwrap_or_default().is_empty() {
                self.delete_draft(draft.reply_id)?;
            } else {
                recovered.push(self.recover(draft, now)?);
            }
        }
        Ok(recovered)
    }

    fn recover(&mut self, draft: ReplyDraft, now: DateTime<Utc>) -> Result<Message, StoreError> {
        let parent = draft.parent_id.map(|parent| bytes(parent.uuid()));
        let stored = self.add_message(interrupted(draft, now))?;
        self.execute(
            "UPDATE conversations SET message_count = message_count + 1, last_activity_at = max (last_activity_at, ?2),
                 active_leaf_id = CASE WHEN active_leaf_id IS ?4 THEN ?3 ELSE active_leaf_id END WHERE id = ?1",
            params![bytes(stored.conversation_id.uuid()), stored.created_at.timestamp_millis(), bytes(stored.id.uuid()), parent],
        )?;
        Ok(stored)
    }
}

fn interrupted(draft: ReplyDraft, now: DateTime<Utc>) -> Message {
    Message {
        id: draft.reply_id,
        conversation_id: draft.conversation_id,
        context_id: draft.context_id,
        parent_id: draft.parent_id,
        role: Role::Assistant,
        content: draft.content,
        reasoning: draft.reasoning,
        status: MessageStatus::Interrupted,
        token_count: None,
        revision_id: draft.revision_id,
        model: draft.model,
        usage: None,
        created_at: draft.updated_at.min(now),
        sibling_ids: Vec::new(),
        vote: None,
        citations: Vec::new(),
        source: None,
    }
}
