//! Messages: deleted and brought back, and judged.

use crate::missing::{LISTED, missing, named};
use crate::session::private::Item;
use crate::{ConversationView, Service, ServiceError};
use evenkeel_domain::{ErrorBody, ErrorCode, Message, MessageId, MessageQuery, MessageSelection, Role, Vote};
use std::collections::HashSet;

/// Messages that are deleted in one transaction: each of them moves all that were said after it.
const AT_ONCE: usize = 1_000;

impl Service {
    /// Refuses a text that is larger than a message may be.
    pub(crate) fn check_size(&self, text: &str) -> Result<(), ServiceError> {
        let (bytes, limit) = (text.len(), self.limits().message_bytes);
        if bytes <= limit as usize {
            return Ok(());
        }
        let message = format!("the text has {bytes} bytes, and a message may have {limit}; shorten it or send it in parts");
        Err(ErrorBody::new(ErrorCode::LimitReached, message)
            .with("field", "text")
            .with("value", format!("{bytes} bytes"))
            .with("range", format!("at most {limit} bytes"))
            .with("limit", limit)
            .into())
    }

    /// Refuses a text that cannot be sent.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), ServiceError> {
        self.check_size(text)?;
        Ok(self.limits().check_message(text)?)
    }

    /// Deletes one message, so that it can be brought back; what followed it now follows what was
    /// before it.
    ///
    /// # Errors
    /// There is no such message, its context has expired, or a reply is being written in its conversation.
    pub async fn message_delete(&self, id: MessageId) -> Result<ConversationView, ServiceError> {
        let conversation = self.changeable_message(id).await?.conversation_id;
        let _turn = self.replies().begin(conversation)?;
        let now = self.now();
        self.session()?.records(id).write(move |w| w.delete_message(id, now)).await?;
        self.conversation_open(conversation).await
    }

    /// A page of the messages of a context over all its conversations, and how many there are on all pages.
    ///
    /// # Errors
    /// Page or page size is outside its range, or the vault is locked or cannot be read.
    pub(crate) async fn message_list(&self, query: MessageQuery) -> Result<(Vec<Message>, u32), ServiceError> {
        query.check()?;
        let (page, total) = self.session()?.read(move |r| r.messages_page(&query)).await?;
        Ok((page, u32::try_from(total).unwrap_or(u32::MAX)))
    }

    /// Deletes the messages that a selection names, the newest first and a thousand at most, so that they can be brought
    /// back; gives how many went, and how many of them are left.
    ///
    /// # Errors
    /// One that is named by id does not exist (the error lists the newest that do; all stay then), the context has expired,
    /// or a reply is being written in one of the conversations.
    pub(crate) async fn messages_delete(&self, selection: MessageSelection) -> Result<(u32, u32), ServiceError> {
        self.check_lifetime(&self.context_get(selection.context_id).await?)?;
        let (session, now, wanted) = (self.session()?, self.now(), selection.clone());
        let mut found = session.read(move |r| r.selected_messages(&wanted)).await?;
        let known: HashSet<MessageId> = found.iter().map(|(id, ..)| *id).collect();
        if let Some(unknown) = selection.ids.iter().flatten().find(|id| !known.contains(id)) {
            return Err(self.unknown_message(&selection, *unknown).await?);
        }
        found.retain(|(.., at)| selection.older_than.is_none_or(|before| *at < before));
        let left = found.len().saturating_sub(AT_ONCE);
        found.truncate(AT_ONCE);
        let mut conversations: Vec<_> = found.iter().map(|(_, conversation, _)| *conversation).collect();
        conversations.sort_unstable();
        conversations.dedup();
        let _turns = self.turns(&conversations)?;
        let gone = session.write(move |w| {
            let mut gone = 0_u32;
            for (id, ..) in found {
                // One may have been deleted elsewhere since.
                if w.message(id)?.is_some() {
                    w.delete_message(id, now)?;
                    gone += 1;
                }
            }
            Ok(gone)
        });
        Ok((gone.await?, u32::try_from(left).unwrap_or(u32::MAX)))
    }

    /// The refusal for a message that is not there, with the newest that are.
    async fn unknown_message(&self, selection: &MessageSelection, id: MessageId) -> Result<ServiceError, ServiceError> {
        let (context_id, conversation_id, among) = (selection.context_id, selection.conversation_id, selection.among.clone());
        let newest = MessageQuery { context_id, conversation_id, among, newest_first: true, page: 1, page_size: LISTED };
        let known = self.message_list(newest).await?.0;
        let known: Vec<String> = known.iter().map(|message| named(message.role.as_str(), message.id)).collect();
        Ok(missing("message of this context", id, &known))
    }

    /// Brings a deleted message back to its place.
    ///
    /// # Errors
    /// It is not among the deleted ones, where messages stay for a while.
    pub async fn message_restore(&self, id: MessageId) -> Result<ConversationView, ServiceError> {
        let restored =
            self.session()?.records(Item::Deleted(id)).write(move |w| w.restore_message(id)).await.map_err(|error| {
                if error.code() != ErrorCode::NotFound {
                    return error;
                }
                let message = format!("the message {id} is not among those whose deletion can be undone");
                ErrorBody::new(ErrorCode::NotFound, message).with("id", id).into()
            })?;
        self.conversation_open(restored.conversation_id).await
    }

    /// Keeps the user's judgement of a reply; `None` takes it back. It counts for the preset that
    /// the answering context was made from.
    ///
    /// # Errors
    /// There is no such message, its context has expired, or it is no reply.
    pub async fn message_vote(&self, id: MessageId, vote: Option<Vote>) -> Result<Message, ServiceError> {
        if self.changeable_message(id).await?.role != Role::Assistant {
            let message = "only replies can be judged";
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message)
                .with("field", "id")
                .with("value", id)
                .with("range", "the id of a reply")
                .into());
        }
        self.session()?.records(id).write(move |w| w.set_feedback(id, vote)).await?;
        self.message_get(id).await
    }
}
