//! Conversations as programs list them over HTTP, and the names that programs gave them.

use super::companions::redacted;
use crate::chat::wording::{before_sending, worded};
use crate::{Service, ServiceError};
use chrono::TimeDelta;
use evenkeel_domain::{
    Conversation, ConversationId, Message, MessageId, NamedSession, SessionPart, SessionQuery, Sessions, SessionsShown,
};
use evenkeel_store::ReadHandle;
use std::collections::HashMap;

/// Names that are kept; the oldest go first, their conversations stay.
const NAMES: usize = 1_000;
/// Most characters of what a session began with.
const QUERY: usize = 200;
/// A transient session in which nothing was said for so long goes to the trash.
const TRANSIENT: TimeDelta = TimeDelta::hours(24);

impl Service {
    /// A page of sessions and figures of all of them.
    pub(super) async fn sessions_shown(&self, query: SessionsShown) -> Result<Sessions, ServiceError> {
        let session = self.session()?;
        let mut sessions = session.read(move |r| r.sessions(&query)).await?;
        let redactor = before_sending(&session);
        for summary in &mut sessions.page {
            // Cut only afterwards: what is taken out may lie over the border.
            summary.query = worded(&summary.query, redactor.as_ref()).text.chars().take(QUERY).collect();
            summary.conversation.title = worded(&summary.conversation.title, redactor.as_ref()).text;
        }
        Ok(sessions)
    }

    /// A part of a session; `None` where it is not there for the program.
    pub(super) async fn session_part_told(&self, query: SessionQuery) -> Result<Option<SessionPart>, ServiceError> {
        let session = self.session()?;
        let Some(mut part) = session.read(move |r| r.session_part(&query)).await? else { return Ok(None) };
        let redactor = before_sending(&session);
        part.conversation.title = worded(&part.conversation.title, redactor.as_ref()).text;
        part.messages = part.messages.into_iter().map(|message| redacted(message, redactor.as_ref())).collect();
        Ok(Some(part))
    }

    /// Of some conversations those that are there for a program.
    pub(super) async fn sessions_there_of(
        &self,
        query: SessionsShown,
        ids: Vec<ConversationId>,
    ) -> Result<Vec<ConversationId>, ServiceError> {
        let read = move |r: &ReadHandle<'_>| r.sessions_there(&query.contexts, query.among.as_deref(), ids.into_iter());
        self.session()?.read(read).await
    }

    /// A message of the vault, as programs read it. A private one is in no vault.
    pub(super) async fn message_told(&self, id: MessageId) -> Result<Option<Message>, ServiceError> {
        let session = self.session()?;
        let found = session.read(move |r| r.message(id)).await?;
        let redactor = before_sending(&session);
        Ok(found.map(|message| redacted(message, redactor.as_ref())))
    }

    /// A conversation that is not in the trash.
    pub(super) async fn conversation_there(&self, id: ConversationId) -> Result<Option<Conversation>, ServiceError> {
        let found = self.session()?.read(move |r| r.conversation(id)).await?;
        Ok(found.filter(|conversation| conversation.deleted_at.is_none()))
    }

    /// The conversation that a program has given a name.
    pub(super) async fn session_named(&self, client: &str, name: &str) -> Result<Option<ConversationId>, ServiceError> {
        let named = self.session()?.read(|r| r.named_sessions()).await?;
        let found = named.into_iter().rev().find(|session| session.client == client && session.name == name);
        Ok(found.map(|session| session.conversation_id))
    }

    /// What a program calls the conversations that it has named.
    pub(super) async fn session_names_of(&self, client: &str) -> Result<HashMap<ConversationId, String>, ServiceError> {
        let named = self.session()?.read(|r| r.named_sessions()).await?;
        let own = named.into_iter().filter(|session| session.client == client);
        Ok(own.map(|session| (session.conversation_id, session.name)).collect())
    }

    /// Keeps the name that a program has given a conversation; an older use of it is forgotten.
    pub(super) async fn session_name(&self, named: NamedSession) -> Result<(), ServiceError> {
        let session = self.session()?;
        if named.is_transient {
            self.operation_set_transient(named.conversation_id, true).await?;
        }
        let kept = session.write(move |w| {
            let mut all = w.named_sessions()?;
            all.retain(|other| (&other.client, &other.name) != (&named.client, &named.name));
            all.push(named);
            w.put_named_sessions(all, NAMES)
        });
        kept.await
    }

    /// Puts the transient sessions into the trash in which nothing was said for a day.
    pub(crate) async fn clean_up_sessions(&self) -> Result<usize, ServiceError> {
        let (session, before) = (self.session()?, self.now() - TRANSIENT);
        let idle = session.read(move |r| {
            let mut idle = Vec::new();
            for named in r.named_sessions()?.into_iter().filter(|named| named.is_transient) {
                let found = r.conversation(named.conversation_id)?;
                // What the user has pinned is the user's.
                let goes = |it: &Conversation| it.deleted_at.is_none() && !it.is_pinned && it.last_activity_at < before;
                idle.extend(found.filter(goes).map(|it| it.id));
            }
            Ok(idle)
        });
        let idle = idle.await?;
        if idle.is_empty() {
            return Ok(0);
        }
        // One that the user brings back from the trash stays.
        let gone = idle.clone();
        session
            .write(move |w| {
                let mut all = w.named_sessions()?;
                for named in all.iter_mut().filter(|named| gone.contains(&named.conversation_id)) {
                    named.is_transient = false;
                }
                w.put_named_sessions(all, NAMES)
            })
            .await?;
        Ok(self.conversation_delete(idle).await?.len())
    }
}
