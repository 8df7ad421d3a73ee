//! What installed strategies want to know again, by conversation.

use crate::column::{bytes, json, of_json};
use crate::{ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::ConversationId;
use serde_json::Value;

impl ReadHandle<'_> {
    /// What a strategy left in a conversation; `None` before its first turn.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn strategy_state(&self, conversation: ConversationId, plugin: &str) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT state FROM strategy_states WHERE conversation_id = ?1 AND plugin_id = ?2";
        self.one(sql, (bytes(conversation.uuid()), plugin), |row| json(row, 0))
    }
}

impl WriteHandle<'_> {
    /// Keeps what a strategy wants to know again. A conversation that is gone meanwhile keeps nothing.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_strategy_state(&mut self, conversation: ConversationId, plugin: &str, state: &Value) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO strategy_states (conversation_id, plugin_id, state)
             SELECT id, ?2, ?3 FROM conversations WHERE id = ?1
             ON CONFLICT DO UPDATE SET state = excluded.state",
            (bytes(conversation.uuid()), plugin, of_json(state)?),
        )?;
        Ok(())
    }
}
