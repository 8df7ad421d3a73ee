//! Conversations as other programs list them over HTTP.

use super::conversation::{conversation, select_conversations};
use super::message::{message, message_columns};
use super::message_page::{of_contexts, of_ids};
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError, WriteHandle, state_key};
use evenkeel_domain::{
    ContextId, ConversationId, Message, NamedSession, SessionPart, SessionQuery, SessionSummary, Sessions, SessionsShown,
};

/// Characters of what a session began with.
const BEGINNING: u32 = 2_000;

/// The conversations of the contexts `?1` in which nobody spoke that is not among `?2`, or is local only where that is NULL;
/// also those in the trash.
macro_rules! allowed {
    () => {
        "v.context_id IN (SELECT unhex (value) FROM json_each (?1)) \
         AND NOT EXISTS (SELECT 1 FROM messages g WHERE g.conversation_id = v.id AND g.context_id <> v.context_id \
             AND CASE WHEN ?2 IS NULL THEN g.context_id IN (SELECT id FROM contexts WHERE local_only) \
                 ELSE g.context_id NOT IN (SELECT unhex (value) FROM json_each (?2)) END) "
    };
}

/// Those of them that are not in the trash.
macro_rules! seen {
    () => {
        concat!("v.deleted_at IS NULL AND ", allowed!())
    };
}

impl ReadHandle<'_> {
    /// A page of sessions, the one in which something was said last first, and figures of all of them.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn sessions(&self, query: &SessionsShown) -> Result<Sessions, StoreError> {
        let (contexts, among) = (of_contexts(Some(&query.contexts))?, of_contexts(query.among.as_deref())?);
        let sql =
            concat!(select_conversations!("WHERE "), seen!(), "ORDER BY v.last_activity_at DESC, v.id DESC LIMIT ?3 OFFSET ?4");
        let found = self.all(sql, (&contexts, &among, query.limit, query.offset), conversation)?;
        let page = found.into_iter().map(|conversation| self.summed_up(conversation)).collect::<Result<_, _>>()?;
        let sql = concat!("SELECT count(*) FROM conversations v WHERE ", seen!());
        let total = self.number(sql, (&contexts, &among))?;
        let sql = concat!("SELECT coalesce(sum(v.message_count), 0) FROM conversations v WHERE ", seen!());
        let messages = self.number(sql, (&contexts, &among))?;
        Ok(Sessions { page, total: u32::try_from(total).unwrap_or(u32::MAX), messages })
    }

    /// A part of a session; `None` where it is not there for the program.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn session_part(&self, query: &SessionQuery) -> Result<Option<SessionPart>, StoreError> {
        let (contexts, among) = (of_contexts(Some(&query.contexts))?, of_contexts(query.among.as_deref())?);
        let within = bytes(query.id.uuid());
        let sql = concat!(select_conversations!("WHERE "), seen!(), "AND v.id = ?3");
        let Some(conversation) = self.one(sql, (&contexts, &among, within), conversation)? else { return Ok(None) };
        // The keys alone are sorted; the texts are read for one page.
        let sql = if query.newest_first {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT key FROM messages WHERE conversation_id = ?1 \
                 ORDER BY key DESC LIMIT ?2 OFFSET ?3) ORDER BY m.key DESC"
            )
        } else {
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages m WHERE m.key IN (SELECT key FROM messages WHERE conversation_id = ?1 \
                 ORDER BY key LIMIT ?2 OFFSET ?3) ORDER BY m.key"
            )
        };
        let messages: Vec<Message> = self.all(sql, (within, query.limit, query.offset), message)?;
        let total = self.number("SELECT count(*) FROM messages WHERE conversation_id = ?1", [within])?;
        let cited = messages.iter().flat_map(|message| &message.citations).map(|citation| citation.conversation_id);
        let cited = self.sessions_there(&query.contexts, query.among.as_deref(), cited)?;
        let agents = self.repliers(query.id)?;
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        Ok(Some(SessionPart { conversation, messages, total, agents, cited }))
    }

    /// Of some conversations those that are there for a program, as in [`SessionsShown`].
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn sessions_there(
        &self,
        contexts: &[ContextId],
        among: Option<&[ContextId]>,
        ids: impl Iterator<Item = ConversationId>,
    ) -> Result<Vec<ConversationId>, StoreError> {
        let mut wanted: Vec<_> = ids.map(ConversationId::uuid).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (contexts, among) = (of_contexts(Some(contexts))?, of_contexts(among)?);
        let sql =
            concat!("SELECT v.id FROM conversations v WHERE ", seen!(), "AND v.id IN (SELECT unhex (value) FROM json_each (?3))");
        self.all(sql, (contexts, among, of_ids(wanted.into_iter())?), |row| id(row, 0))
    }

    /// The context of a conversation in the trash that a program saw before, as in [`SessionsShown`].
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn trashed_session(&self, query: &SessionsShown, conversation: ConversationId) -> Result<Option<ContextId>, StoreError> {
        let (contexts, among) = (of_contexts(Some(&query.contexts))?, of_contexts(query.among.as_deref())?);
        let sql =
            concat!("SELECT v.context_id FROM conversations v WHERE ", allowed!(), "AND v.id = ?3 AND v.deleted_at IS NOT NULL");
        self.one(sql, (contexts, among, bytes(conversation.uuid())), |row| id(row, 0))
    }

    fn repliers(&self, conversation: ConversationId) -> Result<Vec<ContextId>, StoreError> {
        let sql = "SELECT context_id FROM messages WHERE conversation_id = ?1 AND role = 'assistant' \
                   GROUP BY context_id ORDER BY min(key)";
        self.all(sql, [bytes(conversation.uuid())], |row| id(row, 0))
    }

    fn summed_up(&self, conversation: evenkeel_domain::Conversation) -> Result<SessionSummary, StoreError> {
        let within = bytes(conversation.id.uuid());
        let sql = "SELECT substr(content, 1, ?2) FROM messages WHERE conversation_id = ?1 ORDER BY key LIMIT 1";
        let query = self.one(sql, (within, BEGINNING), |row| Ok(row.get(0)?))?.unwrap_or_default();
        let agents = self.repliers(conversation.id)?;
        Ok(SessionSummary { conversation, query, agents })
    }

    /// The sessions that programs named themselves, the one named last at the end.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn named_sessions(&self) -> Result<Vec<NamedSession>, StoreError> {
        let Some(text) = self.app_state(state_key::NAMED_SESSIONS)? else { return Ok(Vec::new()) };
        let damaged = |_| StoreError::DamagedValue { what: "the sessions that programs named".to_owned() };
        serde_json::from_str(&text).map_err(damaged)
    }
}

impl WriteHandle<'_> {
    /// Keeps the sessions that programs named themselves: those whose conversation is there, and of them the last `most`.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `DamagedValue`.
    pub fn put_named_sessions(&mut self, mut named: Vec<NamedSession>, most: usize) -> Result<(), StoreError> {
        let mut kept = Vec::with_capacity(named.len());
        named.drain(..named.len().saturating_sub(most));
        for session in named {
            if self.conversation(session.conversation_id)?.is_some() {
                kept.push(session);
            }
        }
        let damaged = |_| StoreError::DamagedValue { what: "the sessions that programs named".to_owned() };
        self.put_app_state(state_key::NAMED_SESSIONS, &serde_json::to_string(&kept).map_err(damaged)?)
    }
}
