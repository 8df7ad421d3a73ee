//! The trash: what goes there, what comes back, and what is deleted for good by the user's word.

use crate::backup::blocking;
use crate::context::{is_full, names, too_many};
use crate::missing::{LISTED, being_purged, missing};
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{Context, ContextId, ContextQuery, ConversationId, ErrorBody, ErrorCode, TrashId, TrashItem, TrashSummary};
use evenkeel_vault::keep_reserve;

impl Service {
    /// Puts a context into the trash, with its conversations.
    ///
    /// # Errors
    /// There is no such context.
    pub async fn context_delete(&self, id: ContextId) -> Result<(), ServiceError> {
        self.context_get(id).await?;
        let now = self.now();
        self.session()?.write_freeing(move |w| w.trash_context(id, now)).await
    }

    /// Takes a context out of the trash; its lifetime begins anew.
    ///
    /// # Errors
    /// It does not lie in the trash (the error lists what does), or the vault holds as many
    /// contexts as it may.
    pub async fn context_restore(&self, id: ContextId) -> Result<Context, ServiceError> {
        let (days, limit, now) = (self.trashed_context(id).await?.expiry_days, self.limits().contexts, self.now());
        let restored = self
            .session()?
            .write(move |w| {
                if is_full(w, limit, now)? {
                    return Ok(false);
                }
                w.restore_context(id, now, Context::expiry(now, days))?;
                Ok(true)
            })
            .await?;
        if restored { self.context_get(id).await } else { Err(too_many(limit)) }
    }

    /// Deletes a context in the trash for good, with all its conversations, behind a backup.
    ///
    /// # Errors
    /// It does not lie in the trash, a reply is being written in it, or no backup could be made.
    pub async fn context_purge(&self, id: ContextId) -> Result<(), ServiceError> {
        self.trashed_context(id).await?;
        self.purge(vec![TrashId::Context(id)]).await.map(|_| ())
    }

    /// Deletes conversations in the trash for good, behind a backup; others are passed over.
    ///
    /// # Errors
    /// A reply is being written in one of them, or no backup could be made.
    pub async fn conversation_purge(&self, ids: Vec<ConversationId>) -> Result<Vec<ConversationId>, ServiceError> {
        self.purge(ids.into_iter().map(TrashId::Conversation).collect()).await
    }

    /// What lies in the trash, the last deleted first. It counts as shown from now on.
    ///
    /// # Errors
    /// The vault is locked or cannot be read or written.
    pub async fn trash_list(&self) -> Result<Vec<TrashItem>, ServiceError> {
        self.note_trash_shown().await?;
        self.session()?.read(|r| r.trash()).await
    }

    /// How much lies in the trash, and since when; for a window that shows it beside its name. What
    /// lies there counts as shown from now on.
    ///
    /// # Errors
    /// The vault is locked or cannot be read or written.
    pub async fn trash_summary(&self) -> Result<TrashSummary, ServiceError> {
        self.note_trash_shown().await?;
        self.session()?.read(|r| r.trash_summary()).await
    }

    async fn note_trash_shown(&self) -> Result<(), ServiceError> {
        let session = self.session()?;
        if !session.read(|r| r.has_trash_to_show()).await? {
            return Ok(());
        }
        let now = self.now();
        session.write(move |w| w.mark_trash_shown(now)).await
    }

    /// Deletes what lies in the trash for good, behind a backup.
    ///
    /// # Errors
    /// A reply is being written in it, or no backup could be made.
    pub async fn trash_empty(&self) -> Result<(), ServiceError> {
        let items = self.session()?.read(|r| r.trash()).await?;
        self.purge(items.into_iter().map(|item| item.id).collect()).await.map(|_| ())
    }

    /// Deletes those of the items for good that lie in the trash when the backup is made; gives the
    /// conversations that were named and are gone.
    async fn purge(&self, items: Vec<TrashId>) -> Result<Vec<ConversationId>, ServiceError> {
        let session = self.session()?;
        let in_trash = session.read(|r| r.trash()).await?;
        let meant: Vec<TrashItem> = in_trash.into_iter().filter(|item| items.contains(&item.id)).collect();
        if meant.is_empty() {
            return Ok(Vec::new());
        }
        self.check_quiet(&meant.iter().map(|item| item.id).collect::<Vec<_>>()).await?;
        let is_full = !self.is_behind_backup().await?;
        // The vault is not closed under it, and waits for it only until the next portion.
        let _work = self.work().await;
        let gone = self.purge_items(session.store(), meant).await?;
        if is_full {
            self.give_room_back(&session).await;
        }
        let conversations = gone.into_iter().filter_map(|id| match id {
            TrashId::Conversation(id) => Some(id),
            TrashId::Context(_) => None,
        });
        Ok(conversations.collect())
    }

    /// Makes the backup before a deletion; false where the disk is full and an earlier backup that was checked has to do.
    /// The user's own word deletes then all the same, since nothing else would make room.
    async fn is_behind_backup(&self) -> Result<bool, ServiceError> {
        match self.back_up_before_purge().await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == ErrorCode::DiskFull => {
                let has_earlier = self.backup_list().await?.iter().any(|info| info.is_newest);
                if has_earlier {
                    tracing::warn!(code = error.code().as_str(), %error, "the disk is full: what is deleted stays in the last backup that was checked");
                    Ok(false)
                } else {
                    Err(error)
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Gives the room of what was deleted back to the disk, and takes the reserve again; the next idle hour does it
    /// otherwise.
    async fn give_room_back(&self, session: &Session) {
        let (store, profile) = (session.store(), self.profile());
        let done = blocking("giving room back", move || {
            store.compact(&mut || true)?;
            Ok(keep_reserve(&profile)?)
        });
        if let Err(error) = done.await {
            tracing::warn!(code = error.code().as_str(), %error, "the room of what was deleted could not be given back yet");
        }
    }

    /// Refuses while a reply is being written in what is to be deleted.
    async fn check_quiet(&self, items: &[TrashId]) -> Result<(), ServiceError> {
        for id in self.replies().under_way() {
            let context = self.session()?.read(move |r| r.conversation(id)).await?.map(|found| found.context_id);
            let is_meant = |item: &TrashId| match item {
                TrashId::Conversation(item) => *item == id,
                TrashId::Context(item) => Some(*item) == context,
            };
            if items.iter().any(is_meant) {
                let message = "a reply is being written in what is to be deleted; stop it or wait for its end";
                return Err(ErrorBody::new(ErrorCode::Busy, message).with("conversationId", id).into());
            }
        }
        Ok(())
    }

    async fn trashed_context(&self, id: ContextId) -> Result<Context, ServiceError> {
        let now = self.now();
        let (found, others) = self
            .session()?
            .read(move |r| {
                let query = ContextQuery { only_deleted: true, page_size: LISTED, ..ContextQuery::default() };
                match r.context(id)?.filter(|context| context.deleted_at.is_some()) {
                    Some(context) => {
                        let is_begun = r.unfinished_purges()?.iter().any(|item| item.id == TrashId::Context(id));
                        Ok((Some((context, is_begun)), Vec::new()))
                    }
                    None => Ok((None, r.contexts_page(&query, now)?.0)),
                }
            })
            .await?;
        if let Some((context, true)) = &found {
            return Err(being_purged(&context.name, id));
        }
        found.map(|(context, _)| context).ok_or_else(|| missing("context in the trash", id, &names(&others)))
    }
}
