//! Messages: deleted and brought back, and judged.

use crate::session::private::Item;
use crate::{ConversationView, Service, ServiceError};
use evenkeel_domain::{ErrorBody, ErrorCode, Message, MessageId, Role, Vote};

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
