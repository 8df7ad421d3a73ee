//! What messages mean to an embedding model.

use crate::column::{bytes, id};
use crate::{ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{ContextId, Meaning, MessageId, ModelChoice};
use rusqlite::named_params;

/// Messages of a context's conversations that may be compared: nothing from the trash.
macro_rules! of_context {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM conversations v
              CROSS JOIN contexts c ON c.id = v.context_id
              CROSS JOIN messages m ON m.conversation_id = v.id
              LEFT JOIN message_vectors e ON e.message_key = m.key AND e.provider_id = :provider AND e.model = :model
              WHERE v.context_id = :context AND v.deleted_at IS NULL AND c.deleted_at IS NULL AND ",
            $rest
        )
    };
}

impl ReadHandle<'_> {
    /// What the newest messages of a context mean to a model, at most `most` of them.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn meanings(&self, context: ContextId, model: &ModelChoice, most: u32) -> Result<Vec<(MessageId, Meaning)>, StoreError> {
        self.all(
            of_context!("m.id, e.scale, e.vector", "e.vector IS NOT NULL ORDER BY m.key DESC LIMIT :most"),
            named_params! {
                ":context": bytes(context.uuid()), ":provider": bytes(model.provider_id.uuid()), ":model": model.model, ":most": most,
            },
            |row| {
                let scale: f32 = row.get(1)?;
                let stored = row.get_ref(2)?.as_blob().map_err(|_| damaged())?;
                let values = stored.iter().map(|byte| i8::from_ne_bytes([*byte])).collect();
                Ok((id(row, 0)?, Meaning::from_stored(scale, values).ok_or_else(damaged)?))
            },
        )
    }

    /// Messages of a context of which it is not known what they mean to a model, the newest first.
    /// `elsewhere`: the model runs elsewhere, where the words of a context that is local only do not go.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn messages_without_meaning(
        &self,
        context: ContextId,
        model: &ModelChoice,
        elsewhere: bool,
        most: u32,
    ) -> Result<Vec<(MessageId, String)>, StoreError> {
        self.all(
            of_context!(
                "m.id, m.content",
                "e.vector IS NULL AND m.role <> 'system' AND trim (m.content, char (9, 10, 13, 32)) <> ''
                 AND (NOT :elsewhere OR (c.local_only = 0
                      AND NOT EXISTS (SELECT 1 FROM contexts a WHERE a.id = m.context_id AND a.local_only = 1)))
                 ORDER BY m.key DESC LIMIT :most"
            ),
            named_params! {
                ":context": bytes(context.uuid()), ":provider": bytes(model.provider_id.uuid()), ":model": model.model,
                ":elsewhere": elsewhere, ":most": most,
            },
            |row| Ok((id(row, 0)?, row.get(1)?)),
        )
    }
}

impl WriteHandle<'_> {
    /// Keeps what messages mean to a model, in the place of what they meant to another; those that are
    /// gone meanwhile are passed over.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_meanings(&mut self, model: &ModelChoice, meanings: &[(MessageId, Meaning)]) -> Result<(), StoreError> {
        for (message, meaning) in meanings {
            let (scale, values) = meaning.stored();
            let dims = i64::try_from(values.len()).unwrap_or(i64::MAX);
            let stored: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            self.execute(
                "INSERT INTO message_vectors (message_key, provider_id, model, dims, scale, vector)
                 SELECT m.key, ?2, ?3, ?4, ?5, ?6 FROM messages m WHERE m.id = ?1
                 ON CONFLICT (message_key) DO UPDATE SET provider_id = excluded.provider_id, model = excluded.model,
                     dims = excluded.dims, scale = excluded.scale, vector = excluded.vector",
                (bytes(message.uuid()), bytes(model.provider_id.uuid()), &model.model, dims, f64::from(scale), stored),
            )?;
        }
        Ok(())
    }
}

fn damaged() -> StoreError {
    StoreError::DamagedValue { what: "message_vectors.vector".into() }
}
