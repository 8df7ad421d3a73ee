//! What an expired context allows. It is read-only: it is read, searched and written out, what was
//! typed for it is kept, and it and its conversations are put into the trash, restored and purged.
//! Nothing is said in it, and neither it, nor what was said, nor what its conversations are called
//! and how they are sorted is changed, until its lifetime is extended.

use crate::missing::in_trash;
use crate::{Service, ServiceError};
use evenkeel_domain::{Context, Conversation, ConversationId, ErrorBody, ErrorCode, Message, MessageId};

impl Service {
    /// Refuses where a context lies in the trash or has expired.
    pub(crate) fn check_lifetime(&self, context: &Context) -> Result<(), ServiceError> {
        if context.deleted_at.is_some() {
            return Err(in_trash(&context.name, context.id));
        }
        if context.is_active && !context.is_expired(self.now()) {
            return Ok(());
        }
        let message = format!("{} has expired and can only be read; extend its lifetime to go on with it", context.name);
        Err(ErrorBody::new(ErrorCode::ContextExpired, message).with("id", context.id).with("name", &context.name).into())
    }

    /// A conversation that may be changed.
    pub(crate) async fn changeable_conversation(&self, id: ConversationId) -> Result<Conversation, ServiceError> {
        let conversation = self.conversation_get(id).await?;
        self.check_lifetime(&self.context_get(conversation.context_id).await?)?;
        Ok(conversation)
    }

    /// A message that may be changed.
    pub(crate) async fn changeable_message(&self, id: MessageId) -> Result<Message, ServiceError> {
        let message = self.message_get(id).await?;
        self.changeable_conversation(message.conversation_id).await?;
        Ok(message)
    }
}
