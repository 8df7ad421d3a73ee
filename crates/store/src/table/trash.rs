//! The trash: what lies in it, how it gets there and out again.

use super::app_state::state_key;
use crate::column::{bytes, id, maybe_id, maybe_time, of_time, time};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, TrashId, TrashItem, TrashSummary, purge_allowance};

impl ReadHandle<'_> {
    /// Everything in the trash, the last deleted first. A context stands for its conversations,
    /// except for those that were put there before it. What is being purged lies there no more.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn trash(&self) -> Result<Vec<TrashItem>, StoreError> {
        let mut items = self.deleted_items()?;
        let begun = self.begun_purges()?;
        items.retain(|item| !begun.contains(&item.id));
        Ok(items)
    }

    /// What a purge has begun with and not ended: it is to be taken up again.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn unfinished_purges(&self) -> Result<Vec<TrashItem>, StoreError> {
        let begun = self.begun_purges()?;
        if begun.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.deleted_items()?;
        items.retain(|item| begun.contains(&item.id));
        Ok(items)
    }

    /// What was deleted, each with its weight: 1 for itself, for each conversation, and for each message
    /// in them, deleted ones too.
    fn deleted_items(&self) -> Result<Vec<TrashItem>, StoreError> {
        let mut items = self.all(
            "SELECT 0, c.id, c.deleted_at, c.trash_shown_at, c.purge_due_running_ms, r.name, NULL, NULL,
                 1 + (SELECT coalesce (sum (1 + v.message_count
                     + (SELECT count(*) FROM deleted_messages d WHERE d.conversation_id = v.id)), 0)
                      FROM conversations v WHERE v.context_id = c.id)
             FROM contexts c JOIN revisions r ON r.id = c.revision_id
             WHERE c.deleted_at IS NOT NULL AND c.purged_at IS NULL
             UNION ALL
             SELECT 1, v.id, v.deleted_at, v.trash_shown_at, v.purge_due_running_ms, v.title, v.context_id, r.name,
                 1 + v.message_count + (SELECT count(*) FROM deleted_messages d WHERE d.conversation_id = v.id)
             FROM conversations v JOIN contexts c ON c.id = v.context_id JOIN revisions r ON r.id = c.revision_id
             WHERE v.deleted_at IS NOT NULL
             ORDER BY 3 DESC, 1, 2",
            [],
            |row| {
                Ok(TrashItem {
                    id: if row.get(0)? { TrashId::Conversation(id(row, 1)?) } else { TrashId::Context(id(row, 1)?) },
                    title: row.get(5)?,
                    context_id: maybe_id(row, 6)?,
                    context_name: row.get(7)?,
                    weight: row.get::<_, i64>(8)?.try_into().unwrap_or(0),
                    waits: false,
                    deleted_at: time(row, 2)?,
                    shown_at: maybe_time(row, 3)?,
                    purge_due_running_ms: row.get::<_, Option<i64>>(4)?.and_then(|ms| u64::try_from(ms).ok()),
                })
            },
        )?;
        if !items.is_empty() {
            let allowance = purge_allowance(self.vault_weight()?);
            items.iter_mut().for_each(|item| item.waits = item.weight > allowance);
        }
        Ok(items)
    }

    /// The items that a purge has begun with and not ended.
    pub(super) fn begun_purges(&self) -> Result<Vec<TrashId>, StoreError> {
        let Some(text) = self.app_state(state_key::PURGING)? else { return Ok(Vec::new()) };
        serde_json::from_str(&text).map_err(|_| StoreError::DamagedValue { what: "app_state.purging".into() })
    }

    /// How much lies in the trash, and since when.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn trash_summary(&self) -> Result<TrashSummary, StoreError> {
        let found = self.one(
            "SELECT count(*), min(deleted_at) FROM (
                 SELECT deleted_at FROM contexts WHERE deleted_at IS NOT NULL AND purged_at IS NULL
                 UNION ALL SELECT deleted_at FROM conversations WHERE deleted_at IS NOT NULL)",
            [],
            |row| Ok(TrashSummary { count: row.get(0)?, oldest: maybe_time(row, 1)? }),
        )?;
        Ok(found.unwrap_or_default())
    }

    /// Whether something lies in the trash that was not shown there.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn has_trash_to_show(&self) -> Result<bool, StoreError> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM contexts WHERE deleted_at IS NOT NULL AND trash_shown_at IS NULL AND purged_at IS NULL)
                       OR EXISTS (SELECT 1 FROM conversations WHERE deleted_at IS NOT NULL AND trash_shown_at IS NULL)";
        Ok(self.number(sql, [])? > 0)
    }

    /// The weight of everything, in the trash or not.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn vault_weight(&self) -> Result<u64, StoreError> {
        self.number(
            "SELECT (SELECT count(*) FROM contexts WHERE purged_at IS NULL) + (SELECT count(*) FROM deleted_messages)
                 + (SELECT coalesce(sum(1 + message_count), 0) FROM conversations)",
            [],
        )
    }
}

impl WriteHandle<'_> {
    /// Puts a context into the trash, with its conversations. One that lies there stays as it is.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn trash_context(&mut self, id: ContextId, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Context,
            &id,
            "UPDATE contexts SET is_active = 0, deleted_at = coalesce(deleted_at, ?2) WHERE id = ?1 AND purged_at IS NULL",
            (bytes(id.uuid()), now.timestamp_millis()),
        )
    }

    /// Takes a context out of the trash and switches it on, with the lifetime that is given.
    ///
    /// # Errors
    /// `NotFound` if it does not lie in the trash, or is being purged; `Storage`, `DiskFull`.
    pub fn restore_context(
        &mut self,
        id: ContextId,
        now: DateTime<Utc>,
        expires_at: Option<DateTime<Utc>>,
    ) -> Result<(), StoreError> {
        if self.begun_purges()?.contains(&TrashId::Context(id)) {
            return Err(StoreError::NotFound { noun: Noun::Context, id: id.to_string() });
        }
        self.execute_on(
            Noun::Context,
            &id,
            "UPDATE contexts SET deleted_at = NULL, trash_shown_at = NULL, purge_due_running_ms = NULL, is_active = 1,
                 updated_at = ?2, expires_at = ?3
             WHERE id = ?1 AND deleted_at IS NOT NULL AND purged_at IS NULL",
            (bytes(id.uuid()), now.timestamp_millis(), of_time(expires_at)),
        )
    }

    /// Notes that the trash was shown with what lies in it now. Only the first time counts.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn mark_trash_shown(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        for (noun, sql) in [
            (
                Noun::Context,
                "UPDATE contexts SET trash_shown_at = ?1
                 WHERE deleted_at IS NOT NULL AND trash_shown_at IS NULL AND purged_at IS NULL RETURNING id",
            ),
            (
                Noun::Conversation,
                "UPDATE conversations SET trash_shown_at = ?1 WHERE deleted_at IS NOT NULL AND trash_shown_at IS NULL RETURNING id",
            ),
        ] {
            let shown = self.all(sql, [now.timestamp_millis()], |row| id::<uuid::Uuid>(row, 0))?;
            for id in shown {
                self.changed(noun, id);
            }
        }
        Ok(())
    }

    /// Notes the app's running time, in milliseconds, at which something in the trash was first
    /// found due to be purged; `None` when it is due no more.
    ///
    /// # Errors
    /// `NotFound` if it does not lie in the trash; `Storage`, `DiskFull`.
    pub fn set_purge_due(&mut self, item: TrashId, running_ms: Option<u64>) -> Result<(), StoreError> {
        let running_ms = running_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        match item {
            TrashId::Context(id) => {
                let sql = "UPDATE contexts SET purge_due_running_ms = ?2
                           WHERE id = ?1 AND deleted_at IS NOT NULL AND purged_at IS NULL";
                self.execute_on(Noun::Context, &id, sql, (bytes(id.uuid()), running_ms))
            }
            TrashId::Conversation(id) => {
                let sql = "UPDATE conversations SET purge_due_running_ms = ?2 WHERE id = ?1 AND deleted_at IS NOT NULL";
                self.execute_on(Noun::Conversation, &id, sql, (bytes(id.uuid()), running_ms))
            }
        }
    }
}
