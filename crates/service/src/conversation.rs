//! Conversations: listed, opened at any place, sorted and put away.

use crate::chat::replies::Turn;
use crate::missing::{LISTED, home_in_trash, missing, missing_message, named};
use crate::{ConversationPage, ConversationView, EarlierMessages, LaterMessages, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ConversationQuery, ConversationStatistics, ConversationsShown, FieldError, Message,
    MessageId, checked_tags,
};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle};
use std::collections::HashSet;

/// Messages shown when a conversation is opened.
const PAGE: u32 = 50;
/// The most messages in one answer.
const MOST: u32 = 500;

impl Service {
    /// A part of the conversations, pinned ones first, then the newest activity.
    ///
    /// # Errors
    /// The limit is outside its range, or the vault is locked or cannot be read.
    pub async fn conversation_list(&self, query: ConversationQuery) -> Result<ConversationPage, ServiceError> {
        query.check()?;
        let (items, total) = self.session()?.read(move |r| r.conversations_page(&query)).await?;
        Ok(ConversationPage { items, total_count: u32::try_from(total).unwrap_or(u32::MAX) })
    }

    /// A conversation at its newest messages.
    ///
    /// # Errors
    /// There is none with this id; the error lists the last used ones.
    pub async fn conversation_open(&self, id: ConversationId) -> Result<ConversationView, ServiceError> {
        let opened = self.session()?.records(id).read(move |r| r.conversation_at_newest(id, PAGE + 1)).await?;
        // The refusal lists what there is instead.
        let (conversation, mut messages) = match opened {
            Some(opened) => opened,
            None => (self.conversation_get(id).await?, Vec::new()),
        };
        let has_earlier = shorten(&mut messages, PAGE);
        Ok(self.shown(conversation, messages, has_earlier, false).await)
    }

    /// A conversation at the place of a message, whose branch is shown from now on.
    ///
    /// # Errors
    /// There is no such message, or a reply is being written on another branch.
    pub async fn conversation_open_at(&self, message: MessageId) -> Result<ConversationView, ServiceError> {
        let id = self.message_get(message).await?.conversation_id;
        let conversation = self.conversation_get(id).await?;
        let is_shown = match conversation.active_leaf_id {
            Some(leaf) => self.session()?.records(id).read(move |r| r.is_on_branch(message, leaf)).await?,
            None => false,
        };
        if !is_shown {
            self.show_branch(id, message).await?;
        }
        let half = PAGE / 2;
        let (mut messages, mut later) =
            self.session()?.records(id).read(move |r| Ok((r.path(message, half + 1)?, r.path_after(message, half + 1)?))).await?;
        let has_earlier = shorten(&mut messages, half);
        let has_later = later.len() > half as usize;
        later.truncate(half as usize);
        messages.append(&mut later);
        let conversation = self.conversation_get(id).await?;
        Ok(self.shown(conversation, messages, has_earlier, has_later).await)
    }

    /// Messages before a known one on its branch, oldest first.
    ///
    /// # Errors
    /// There is no such message.
    pub async fn conversation_earlier(&self, message: MessageId, limit: u32) -> Result<EarlierMessages, ServiceError> {
        let limit = limit.clamp(1, MOST);
        self.message_get(message).await?;
        let mut messages = self.session()?.records(message).read(move |r| r.path_before(message, limit + 1)).await?;
        let has_earlier = shorten(&mut messages, limit);
        Ok(EarlierMessages { messages, has_earlier })
    }

    /// Messages after a known one on the shown branch, oldest first.
    ///
    /// # Errors
    /// There is no such message.
    pub async fn message_after(&self, message: MessageId, limit: u32) -> Result<LaterMessages, ServiceError> {
        let limit = limit.clamp(1, MOST);
        self.message_get(message).await?;
        let mut messages = self.session()?.records(message).read(move |r| r.path_after(message, limit + 1)).await?;
        let has_later = messages.len() > limit as usize;
        messages.truncate(limit as usize);
        Ok(LaterMessages { messages, has_later })
    }

    /// Gives a conversation a title of 1–200 characters.
    ///
    /// # Errors
    /// There is no such conversation, its context has expired, or the title is empty or too long.
    pub async fn conversation_rename(&self, id: ConversationId, title: String) -> Result<Conversation, ServiceError> {
        let title = checked_title(&title)?;
        self.changeable_conversation(id).await?;
        self.session()?.records(id).write(move |w| w.rename_conversation(id, &title)).await?;
        self.conversation_get(id).await
    }

    /// Puts a conversation before the others, or back among them.
    ///
    /// # Errors
    /// There is no such conversation, or its context has expired.
    pub async fn conversation_set_pinned(&self, id: ConversationId, is_pinned: bool) -> Result<Conversation, ServiceError> {
        self.changeable_conversation(id).await?;
        self.session()?.records(id).write(move |w| w.set_conversation_pinned(id, is_pinned)).await?;
        self.conversation_get(id).await
    }

    /// Puts a conversation into the archive, or takes it out.
    ///
    /// # Errors
    /// There is no such conversation, or its context has expired.
    pub async fn conversation_set_archived(&self, id: ConversationId, is_archived: bool) -> Result<Conversation, ServiceError> {
        self.changeable_conversation(id).await?;
        self.session()?.records(id).write(move |w| w.set_conversation_archived(id, is_archived)).await?;
        self.conversation_get(id).await
    }

    /// Gives a conversation these tags and no others.
    ///
    /// # Errors
    /// There is no such conversation, its context has expired, or the tags are too many, too long or alike.
    pub async fn conversation_set_tags(&self, id: ConversationId, tags: Vec<String>) -> Result<Conversation, ServiceError> {
        let tags = checked_tags(&tags)?;
        self.changeable_conversation(id).await?;
        self.session()?.records(id).write(move |w| w.set_conversation_tags(id, &tags)).await?;
        self.conversation_get(id).await
    }

    /// Puts conversations into the trash, all in one transaction; those that are gone or lie there
    /// already are passed over. Gives those that went.
    ///
    /// # Errors
    /// A reply is being written in one of them; all stay then.
    pub async fn conversation_delete(&self, mut ids: Vec<ConversationId>) -> Result<Vec<ConversationId>, ServiceError> {
        ids.sort_unstable();
        ids.dedup();
        let _turns = self.turns(&ids)?;
        let now = self.now();
        self.session()?.write_freeing(move |w| w.trash_conversations(&ids, now)).await
    }

    /// Puts the conversations of one context, or of all, into the trash whose last activity was
    /// before a time; pinned ones stay. Gives those that went.
    ///
    /// # Errors
    /// There is no such context, a reply is being written in one of them (all stay then), or the vault
    /// is locked or cannot be written.
    pub async fn conversation_delete_older(
        &self,
        context: Option<ContextId>,
        before: DateTime<Utc>,
    ) -> Result<Vec<ConversationId>, ServiceError> {
        if let Some(id) = context {
            self.context_get(id).await?;
        }
        self.delete_those(move |r| r.conversations_older_than(context, before, true)).await
    }

    /// Puts all conversations of a context into the trash and gives them.
    ///
    /// # Errors
    /// There is no such context, or a reply is being written in one of them; all stay then.
    pub async fn conversation_clear(&self, context: ContextId) -> Result<Vec<ConversationId>, ServiceError> {
        self.context_get(context).await?;
        self.delete_those(move |r| r.conversations_of_context(context)).await
    }

    /// Puts the conversations that a program sees into the trash; gives how many messages went with them.
    ///
    /// # Errors
    /// There is no such context, or a reply is being written in one of them.
    pub(crate) async fn conversations_clear(&self, query: ConversationsShown) -> Result<u32, ServiceError> {
        self.context_get(query.context_id).await?;
        let gone = self.delete_those(move |r| {
            let seen = r.conversations_shown(&query)?;
            Ok(seen.into_iter().map(|conversation| conversation.id).collect())
        });
        let gone = gone.await?;
        let count = move |r: &ReadHandle<'_>| {
            let mut messages = 0_u32;
            for id in gone {
                messages = messages.saturating_add(r.conversation(id)?.map_or(0, |gone| gone.message_count));
            }
            Ok(messages)
        };
        self.session()?.read(count).await
    }

    /// The conversations of a context that a program sees.
    pub(crate) async fn conversations_shown(&self, query: ConversationsShown) -> Result<Vec<Conversation>, ServiceError> {
        self.session()?.read(move |r| r.conversations_shown(&query)).await
    }

    /// Puts into the trash what is found, once the turn of each has been taken; what is not found any
    /// more then, or only then, stays.
    async fn delete_those(
        &self,
        found: impl Fn(&ReadHandle<'_>) -> Result<Vec<ConversationId>, StoreError> + Clone + Send + 'static,
    ) -> Result<Vec<ConversationId>, ServiceError> {
        let (session, now, first) = (self.session()?, self.now(), found.clone());
        let ids = session.read(move |r| first(r)).await?;
        let _turns = self.turns(&ids)?;
        let held: HashSet<ConversationId> = ids.into_iter().collect();
        let trash = move |w: &mut WriteHandle<'_>| {
            let still: Vec<_> = found(w)?.into_iter().filter(|id| held.contains(id)).collect();
            w.trash_conversations(&still, now)
        };
        session.write(trash).await
    }

    pub(crate) fn turns(&self, ids: &[ConversationId]) -> Result<Vec<Turn>, ServiceError> {
        ids.iter().map(|id| self.replies().begin(*id)).collect()
    }

    /// Takes conversations out of the trash; those that do not lie there are passed over. Gives
    /// those that came back.
    ///
    /// # Errors
    /// The context of one of them lies in the trash, with which it would vanish again (the error names
    /// the context; all stay then), or the vault is locked or cannot be written.
    pub async fn conversation_restore(&self, ids: Vec<ConversationId>) -> Result<Vec<ConversationId>, ServiceError> {
        let session = self.session()?;
        let restored = session.write(move |w| {
            for id in &ids {
                let context = w.conversation(*id)?.map(|found| w.context(found.context_id)).transpose()?.flatten();
                if let Some(context) = context.filter(|context| context.deleted_at.is_some()) {
                    return Ok(Err(context));
                }
            }
            Ok(Ok(w.restore_conversations(&ids)?))
        });
        restored.await?.map_err(|context| home_in_trash(&context.name, context.id))
    }

    /// Figures of a conversation over all its branches.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn conversation_statistics(&self, id: ConversationId) -> Result<ConversationStatistics, ServiceError> {
        self.conversation_get(id).await?;
        self.session()?.records(id).read(move |r| r.conversation_statistics(id)).await
    }

    /// Shows the branch that a message is on, down to its newest answer.
    ///
    /// # Errors
    /// There is no such message, or a reply is being written in its conversation.
    pub async fn conversation_select_branch(&self, message: MessageId) -> Result<ConversationView, ServiceError> {
        let conversation = self.message_get(message).await?.conversation_id;
        self.show_branch(conversation, message).await?;
        self.conversation_open(conversation).await
    }

    async fn show_branch(&self, conversation: ConversationId, message: MessageId) -> Result<(), ServiceError> {
        let _turn = self.replies().begin(conversation)?;
        self.session()?
            .records(conversation)
            .write(move |w| {
                let leaf = w.deepest_leaf(message)?;
                w.set_active_leaf(conversation, leaf)
            })
            .await
    }

    async fn shown(
        &self,
        conversation: Conversation,
        messages: Vec<Message>,
        has_earlier: bool,
        has_later: bool,
    ) -> ConversationView {
        // Without a model there is no window to measure against; the conversation opens all the same.
        let meter = self.chat_meter(conversation.context_id, Some(conversation.id), String::new()).await.unwrap_or_default();
        let is_replying = self.replies().under_way().contains(&conversation.id);
        let is_private = self.session().is_ok_and(|session| session.is_private(conversation.id));
        ConversationView { conversation, messages, has_earlier, has_later, meter, is_replying, is_private }
    }

    /// A conversation, also one in the trash.
    ///
    /// # Errors
    /// There is no such conversation; those used last are listed then.
    pub async fn conversation_get(&self, id: ConversationId) -> Result<Conversation, ServiceError> {
        let (found, others) = self
            .session()?
            .records(id)
            .read(move |r| match r.conversation(id)? {
                Some(conversation) => Ok((Some(conversation), Vec::new())),
                None => Ok((None, r.conversations(None, LISTED, 0)?)),
            })
            .await?;
        found.ok_or_else(|| {
            let known = titles(&others);
            missing("conversation", id, &known)
        })
    }

    pub(crate) async fn message_get(&self, id: MessageId) -> Result<Message, ServiceError> {
        let (found, others) = self
            .session()?
            .records(id)
            .read(move |r| match r.message(id)? {
                Some(message) => Ok((Some(message), Vec::new())),
                None => Ok((None, r.conversations(None, LISTED, 0)?)),
            })
            .await?;
        // Its conversation is not known any more: those are named in which it can have been.
        found.ok_or_else(|| missing_message(id, &titles(&others)))
    }
}

/// Conversations as a refusal lists them.
fn titles(conversations: &[Conversation]) -> Vec<String> {
    conversations.iter().map(|one| named(&one.title, one.id)).collect()
}

/// A title as it is kept: 1–200 characters without space around them.
pub(crate) fn checked_title(title: &str) -> Result<String, FieldError> {
    let title = title.trim();
    let count = title.chars().count();
    if (1..=200).contains(&count) && !title.contains('\0') {
        return Ok(title.to_owned());
    }
    let value = format!("{count} characters");
    Err(FieldError { field: "title", value, range: "1 to 200 characters".into() })
}

/// Drops what was read beyond the page only to learn whether there is more.
fn shorten(messages: &mut Vec<Message>, page: u32) -> bool {
    let over = messages.len().saturating_sub(page as usize);
    messages.drain(..over);
    over > 0
}
