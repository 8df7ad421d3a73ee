//! What installed strategies want to know again, by the reply that they were told of.

use crate::column::{bytes, json, of_json};
use crate::{ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, MessageId};
use serde_json::Value;

/// States that a conversation keeps for one context and strategy, the newest ones: of 64 KiB at most each.
const KEPT: u32 = 16;
/// Messages that are gone back over for one.
const LOOKED_BACK: u32 = 64;

impl ReadHandle<'_> {
    /// What a strategy of a context left on the branch that ends with `leaf`, at its last turn there; `None`
    /// before its first turn, and where the branch left the others too long ago.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn strategy_state(&self, leaf: MessageId, context: ContextId, plugin: &str) -> Result<Option<Value>, StoreError> {
        let sql = "WITH RECURSIVE branch (id, parent_id, distance) AS (
                SELECT id, parent_id, 0 FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.id, p.parent_id, b.distance + 1
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id WHERE b.distance < ?4
            )
            SELECT s.state FROM branch b
            CROSS JOIN strategy_states s ON s.plugin_id = ?3 AND s.reply_id = b.id AND s.context_id = ?2
            ORDER BY b.distance LIMIT 1";
        self.one(sql, (bytes(leaf.uuid()), bytes(context.uuid()), plugin, LOOKED_BACK), |row| json(row, 0))
    }
}

impl WriteHandle<'_> {
    /// Keeps what a strategy wants to know again after it was told of a message and the reply to it. Where one of them
    /// is gone meanwhile, nothing is kept.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_strategy_state(
        &mut self,
        (asked, reply): (MessageId, MessageId),
        plugin: &str,
        state: &Value,
    ) -> Result<(), StoreError> {
        let (asked, reply) = (bytes(asked.uuid()), bytes(reply.uuid()));
        // A deleted message is no parent any more.
        self.execute(
            "INSERT INTO strategy_states (plugin_id, reply_id, conversation_id, context_id, state)
             SELECT ?2, id, conversation_id, context_id, ?3 FROM messages WHERE id = ?1 AND parent_id = ?4
             ON CONFLICT DO UPDATE SET state = excluded.state",
            (reply, plugin, of_json(state)?, asked),
        )?;
        self.execute(
            "DELETE FROM strategy_states WHERE key IN (
                SELECT s.key FROM messages m CROSS JOIN strategy_states s
                ON s.conversation_id = m.conversation_id AND s.context_id = m.context_id AND s.plugin_id = ?2
                WHERE m.id = ?1 ORDER BY s.key DESC LIMIT -1 OFFSET ?3)",
            (reply, plugin, KEPT),
        )?;
        Ok(())
    }

    /// Forgets everything that a strategy wanted to know again.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn delete_strategy_states(&mut self, plugin: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM strategy_states WHERE plugin_id = ?1", [plugin]).map(drop)
    }
}
