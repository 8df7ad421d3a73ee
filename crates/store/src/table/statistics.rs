//! Figures, computed when asked for.

use crate::column::{bytes, count, id, maybe_time};
use crate::store::PAGE_BYTES;
use crate::{Noun, ReadHandle, StoreError};
use evenkeel_domain::{AgentShare, ConversationId, ConversationStatistics, KindSize, VaultStatistics};

impl ReadHandle<'_> {
    /// Figures of one conversation over all its branches. Costs time in proportion to its messages.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `Damaged` or `DamagedValue`.
    pub fn conversation_statistics(&self, conversation_id: ConversationId) -> Result<ConversationStatistics, StoreError> {
        let id = [bytes(conversation_id.uuid())];
        let agents = self.agents(conversation_id)?;
        let sql = "SELECT count(*), count(*) FILTER (WHERE role = 'user'), count(*) FILTER (WHERE role = 'assistant'),
                       min(created_at), max(created_at), coalesce(max(created_at) - min(created_at), 0),
                       coalesce(sum(tokens), 0), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0)
                   FROM messages WHERE conversation_id = ?1";
        let found = self.one(sql, id, |row| {
            Ok(ConversationStatistics {
                messages: row.get(0)?,
                user_messages: row.get(1)?,
                assistant_messages: row.get(2)?,
                started_at: maybe_time(row, 3)?,
                last_activity_at: maybe_time(row, 4)?,
                duration_ms: count(row, 5)?,
                agents,
                tokens: count(row, 6)?,
                prompt_tokens: count(row, 7)?,
                completion_tokens: count(row, 8)?,
            })
        })?;
        if self.conversation(conversation_id)?.is_none() {
            return Err(StoreError::not_found(Noun::Conversation, conversation_id));
        }
        Ok(found.unwrap_or_default())
    }

    /// Who answered. The name of one that was purged is that of the revision it last answered under.
    fn agents(&self, conversation_id: ConversationId) -> Result<Vec<AgentShare>, StoreError> {
        self.all(
            "SELECT s.context_id, coalesce(iif (c.purged_at IS NULL, r.name, NULL), q.name, ''), s.messages
             FROM (
                 SELECT context_id, count(*) AS messages, max(key) FILTER (WHERE revision_id IS NOT NULL) AS newest
                 FROM messages WHERE conversation_id = ?1 AND role = 'assistant' GROUP BY context_id
             ) s
             JOIN contexts c ON c.id = s.context_id
             JOIN revisions r ON r.id = c.revision_id
             LEFT JOIN messages m ON m.key = s.newest
             LEFT JOIN revisions q ON q.id = m.revision_id
             ORDER BY s.messages DESC, s.context_id",
            [bytes(conversation_id.uuid())],
            |row| Ok(AgentShare { context_id: id(row, 0)?, name: row.get(1)?, messages: row.get(2)? }),
        )
    }

    /// Bytes of the pages that hold something; those that deleting has freed are not counted, for
    /// what comes next takes their place. Costs microseconds.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn used_bytes(&self) -> Result<u64, StoreError> {
        let (all, free) = (self.number("PRAGMA page_count", [])?, self.number("PRAGMA freelist_count", [])?);
        Ok(PAGE_BYTES * all.saturating_sub(free))
    }

    /// How large the database is, by kind. Reads every page: it costs time in proportion to the size.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn vault_statistics(&self) -> Result<VaultStatistics, StoreError> {
        let mut sizes = VaultStatistics::default();
        let tables = self.all(
            "SELECT coalesce(s.tbl_name, d.name), sum(d.pgsize)
             FROM dbstat d LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE GROUP BY 1",
            [],
            |row| Ok((row.get::<_, String>(0)?, count(row, 1)?)),
        )?;
        for (table, bytes) in tables {
            sizes.kind(&table).bytes += bytes;
        }
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'message\\_index\\_%' ESCAPE '\\'";
        for table in self.all(sql, [], |row| Ok(row.get::<_, String>(0)?))? {
            // The name comes from the schema, and quoted it cannot be anything but a name.
            sizes.kind(&table).rows += self.number(&format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\"")), [])?;
        }
        sizes.index.rows = self.number("SELECT count(*) FROM messages WHERE role <> 'system'", [])?;
        // SQLCipher answers the pragma for it with a text; every page has the same size.
        let page = self.number("SELECT pgsize FROM dbstat WHERE name = 'sqlite_schema' LIMIT 1", [])?;
        sizes.free_bytes = page * self.number("PRAGMA freelist_count", [])?;
        sizes.database_bytes = page * self.number("PRAGMA page_count", [])?;
        // Pages that say where others lie belong to no table.
        let told = sizes.messages.bytes + sizes.index.bytes + sizes.contexts.bytes + sizes.others.bytes + sizes.free_bytes;
        sizes.others.bytes += sizes.database_bytes.saturating_sub(told);
        Ok(sizes)
    }
}

trait ByTable {
    /// The kind that a table belongs to.
    fn kind(&mut self, table: &str) -> &mut KindSize;
}

impl ByTable for VaultStatistics {
    fn kind(&mut self, table: &str) -> &mut KindSize {
        match table {
            "messages" | "deleted_messages" | "reply_drafts" | "feedback" => &mut self.messages,
            memory if memory.starts_with("summar") || memory.starts_with("state_") => &mut self.messages,
            "contexts" | "context_tags" | "context_revisions" | "revisions" | "presets" | "preset_use" => &mut self.contexts,
            index if index.starts_with("message_index") => &mut self.index,
            _ => &mut self.others,
        }
    }
}
