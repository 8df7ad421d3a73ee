//! Conversations and their branches.

use crate::{ConversationPage, ConversationView, EarlierMessages, Service, ServiceError};
use evenkeel_domain::{ContextId, Conversation, ConversationId, ErrorBody, ErrorCode, FieldError, Message, MessageId};

/// Messages shown when a conversation is opened.
const PAGE: u32 = 50;
/// The most messages or conversations in one answer.
const MOST: u32 = 500;

impl Service {
    /// A page of a context's conversations, newest activity first.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn conversation_list(&self, context: ContextId, limit: u32, offset: u32) -> Result<ConversationPage, ServiceError> {
        let limit = limit.clamp(1, MOST);
        self.session()?
            .read(move |r| {
                Ok(ConversationPage {
                    items: r.conversations(Some(context), limit, offset)?,
                    total_count: u32::try_from(r.conversation_count(Some(context))?).unwrap_or(u32::MAX),
                })
            })
            .await
    }

    /// A conversation at its newest messages.
    ///
    /// # Errors
    /// There is none with this id.
    pub async fn conversation_open(&self, id: ConversationId) -> Result<ConversationView, ServiceError> {
        let conversation = self.conversation_get(id).await?;
        let leaf = conversation.active_leaf_id;
        let mut messages = match leaf {
            Some(leaf) => self.session()?.read(move |r| r.path(leaf, PAGE + 1)).await?,
            None => Vec::new(),
        };
        let has_earlier = shorten(&mut messages, PAGE);
        // Without a model there is no window to measure against; the conversation opens all the same.
        let meter = self.chat_meter(conversation.context_id, Some(id), String::new()).await.unwrap_or_default();
        Ok(ConversationView { conversation, messages, has_earlier, meter })
    }

    /// Messages before a known one on its branch, oldest first.
    ///
    /// # Errors
    /// There is no such message.
    pub async fn conversation_earlier(&self, message: MessageId, limit: u32) -> Result<EarlierMessages, ServiceError> {
        let limit = limit.clamp(1, MOST);
        self.message_get(message).await?;
        let mut messages = self.session()?.read(move |r| r.path_before(message, limit + 1)).await?;
        let has_earlier = shorten(&mut messages, limit);
        Ok(EarlierMessages { messages, has_earlier })
    }

    /// Gives a conversation a title of 1–200 characters.
    ///
    /// # Errors
    /// There is no such conversation, or the title is empty or too long.
    pub async fn conversation_rename(&self, id: ConversationId, title: String) -> Result<Conversation, ServiceError> {
        let title = title.trim().to_owned();
        let count = title.chars().count();
        if !(1..=200).contains(&count) || title.contains('\0') {
            let value = format!("{count} characters");
            return Err(FieldError { field: "title", value, range: "1 to 200 characters".into() }.into());
        }
        self.conversation_get(id).await?;
        self.session()?.write(move |w| w.rename_conversation(id, &title)).await?;
        self.conversation_get(id).await
    }

    /// Deletes a conversation with its messages.
    ///
    /// # Errors
    /// There is no such conversation, or a reply is being written in it.
    pub async fn conversation_delete(&self, id: ConversationId) -> Result<(), ServiceError> {
        let _turn = self.replies().begin(id)?;
        self.conversation_get(id).await?;
        self.session()?.write(move |w| w.delete_conversation(id)).await
    }

    /// Shows the branch that a message is on, down to its newest answer.
    ///
    /// # Errors
    /// There is no such message, or a reply is being written in its conversation.
    pub async fn conversation_select_branch(&self, message: MessageId) -> Result<ConversationView, ServiceError> {
        let conversation = self.message_get(message).await?.conversation_id;
        let _turn = self.replies().begin(conversation)?;
        self.session()?
            .write(move |w| {
                let leaf = w.deepest_leaf(message)?;
                w.set_active_leaf(conversation, leaf)
            })
            .await?;
        self.conversation_open(conversation).await
    }

    pub(crate) async fn conversation_get(&self, id: ConversationId) -> Result<Conversation, ServiceError> {
        self.session()?.read(move |r| r.conversation(id)).await?.ok_or_else(|| missing("conversation", id))
    }

    pub(crate) async fn message_get(&self, id: MessageId) -> Result<Message, ServiceError> {
        self.session()?.read(move |r| r.message(id)).await?.ok_or_else(|| missing("message", id))
    }
}

fn missing(noun: &str, id: impl std::fmt::Display) -> ServiceError {
    let message = format!("there is no {noun} {id}; it may have been deleted in another window");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id).into()
}

/// Drops what was read beyond the page only to learn whether there is more.
fn shorten(messages: &mut Vec<Message>, page: u32) -> bool {
    let over = messages.len().saturating_sub(page as usize);
    messages.drain(..over);
    over > 0
}
