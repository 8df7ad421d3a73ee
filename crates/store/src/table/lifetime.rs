//! Lifetimes: what expiry looks at, without the texts.

use crate::column::{id, maybe_time, time};
use crate::{ReadHandle, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::ContextId;

/// What decides whether a context is warned about, rests, or goes to the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifetime {
    /// The context.
    pub context_id: ContextId,
    /// Its name.
    pub name: String,
    /// Whether it is switched on.
    pub is_active: bool,
    /// When it was last talked to.
    pub last_interaction_at: DateTime<Utc>,
    /// When its lifetime ends; `None` = never.
    pub expires_at: Option<DateTime<Utc>>,
}

impl ReadHandle<'_> {
    /// The lifetimes of all contexts that lie not in the trash and either end at some time or are
    /// switched off, those that end first before the others.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn lifetimes(&self) -> Result<Vec<Lifetime>, StoreError> {
        self.all(
            "SELECT c.id, r.name, c.is_active, c.last_interaction_at, c.expires_at
             FROM contexts c JOIN revisions r ON r.id = c.revision_id
             WHERE c.purged_at IS NULL AND c.deleted_at IS NULL AND (c.expires_at IS NOT NULL OR c.is_active = 0)
             ORDER BY c.expires_at NULLS LAST, c.id",
            [],
            |row| {
                Ok(Lifetime {
                    context_id: id(row, 0)?,
                    name: row.get(1)?,
                    is_active: row.get(2)?,
                    last_interaction_at: time(row, 3)?,
                    expires_at: maybe_time(row, 4)?,
                })
            },
        )
    }
}
