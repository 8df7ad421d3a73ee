//! Private conversations: kept in memory alone, gone when they are ended, the vault is locked or
//! the app is closed.

use crate::conversation::checked_title;
use crate::{Service, ServiceError};
use evenkeel_domain::{ContextId, Conversation, ConversationId, ErrorBody, ErrorCode, Feature, TitleSource};
use evenkeel_store::{Noun, StoreError};

impl Service {
    /// Begins a conversation with a context that is never written to disk. `title` stands until a
    /// model or the user gives another.
    ///
    /// # Errors
    /// The title is not of 1–200 characters.
    /// There is no such context, it has expired or lies in the trash, or private conversations are
    /// switched off.
    pub async fn private_begin(&self, context: ContextId, title: String) -> Result<Conversation, ServiceError> {
        if !self.is_on(Feature::PrivateConversations) {
            let message = "private conversations are switched off; switch them on under Settings, Advanced";
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "features").into());
        }
        let context = self.context_get(context).await?;
        self.check_lifetime(&context)?;
        let session = self.session()?;
        let revision_id = context.revision_id.clone();
        let revision = session.read(move |r| r.revision(&revision_id)).await?;
        let revision = revision.ok_or_else(|| StoreError::NotFound { noun: Noun::Context, id: context.id.to_string() })?;
        let conversation = Conversation { title: checked_title(&title)?, ..self.blank(context.id) };
        let (private, begun) = (session.made_private(self.random(), self.now())?, conversation.clone());
        let task = tokio::task::spawn_blocking(move || private.begin(&begun, &context, &revision));
        task.await.map_err(|error| ServiceError::internal("beginning a private conversation", &error))??;
        Ok(conversation)
    }

    /// The private conversations with a context, the last used first.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn private_list(&self, context: ContextId) -> Result<Vec<Conversation>, ServiceError> {
        let session = self.session()?;
        let ids = session.private().map(|private| private.ids()).unwrap_or_default();
        let Some(first) = ids.first().copied() else { return Ok(Vec::new()) };
        let read = move |r: &evenkeel_store::ReadHandle<'_>| {
            ids.iter().filter_map(|id| r.conversation(*id).transpose()).collect::<Result<Vec<_>, _>>()
        };
        let mut found = session.records(first).read(read).await?;
        found.retain(|conversation| conversation.context_id == context);
        found.sort_by_key(|conversation| std::cmp::Reverse(conversation.last_activity_at));
        Ok(found)
    }

    /// Ends a private conversation; nothing of it is left.
    ///
    /// # Errors
    /// There is no such private conversation, or a reply is being written in it.
    pub async fn private_end(&self, id: ConversationId) -> Result<(), ServiceError> {
        let session = self.session()?;
        let Some(private) = session.private().filter(|private| private.has(id)) else {
            return Err(StoreError::NotFound { noun: Noun::Conversation, id: id.to_string() }.into());
        };
        let _turn = self.replies().begin(id)?;
        let task = tokio::task::spawn_blocking(move || private.end(id));
        Ok(task.await.map_err(|error| ServiceError::internal("ending a private conversation", &error))??)
    }

    /// A conversation that nothing was said in yet.
    pub(crate) fn blank(&self, context_id: ContextId) -> Conversation {
        let now = self.now();
        Conversation {
            id: ConversationId::from_parts(now, self.random()),
            context_id,
            title: String::new(),
            title_source: TitleSource::Beginning,
            active_leaf_id: None,
            message_count: 0,
            is_pinned: false,
            is_archived: false,
            tags: Vec::new(),
            created_at: now,
            last_activity_at: now,
            deleted_at: None,
        }
    }
}
