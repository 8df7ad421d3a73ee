//! Conversations as other programs list them over HTTP.

use super::conversation::{conversation, select_conversations};
use super::message_page::of_contexts;
use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError, WriteHandle, state_key};
use evenkeel_domain::{ContextId, NamedSession, SessionSummary, Sessions, SessionsShown};

/// Characters of what a session began with.
const BEGINNING: u32 = 2_000;

/// The conversations of the contexts `?1` in which nobody spoke that is not among `?2`, or is local only where that is NULL.
macro_rules! seen {
    () => {
        "v.deleted_at IS NULL AND v.context_id IN (SELECT unhex (value) FROM json_each (?1)) \
         AND NOT EXISTS (SELECT 1 FROM messages g WHERE g.conversation_id = v.id AND g.context_id <> v.context_id \
             AND CASE WHEN ?2 IS NULL THEN g.context_id IN (SELECT id FROM contexts WHERE local_only) \
                 ELSE g.context_id NOT IN (SELECT unhex (value) FROM json_each (?2)) END) "
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

    fn summed_up(&self, conversation: evenkeel_domain::Conversation) -> Result<SessionSummary, StoreError> {
        let within = bytes(conversation.id.uuid());
        let sql = "SELECT substr(content, 1, ?2) FROM messages WHERE conversation_id = ?1 ORDER BY key LIMIT 1";
        let query = self.one(sql, (within, BEGINNING), |row| Ok(row.get(0)?))?.unwrap_or_default();
        let sql = "SELECT context_id FROM messages WHERE conversation_id = ?1 AND role = 'assistant' \
                   GROUP BY context_id ORDER BY min(key)";
        let agents = self.all(sql, [within], |row| id::<ContextId>(row, 0))?;
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
