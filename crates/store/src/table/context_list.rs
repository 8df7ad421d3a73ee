//! Lists of contexts: filtered, sorted, a page at a time.

use super::context::{context, select_contexts};
use crate::{ReadHandle, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextQuery, ContextSort, folded};
use rusqlite::named_params;

/// What `:now`, `:expired`, `:trash`, `:tag` and `:text` leave. A context is expired once it was
/// switched off for that or its time is over, whichever is noticed first.
macro_rules! wanted {
    () => {
        "WHERE c.purged_at IS NULL
           AND (c.deleted_at IS NOT NULL) = :trash
           AND (:trash OR :expired OR (c.is_active AND (c.expires_at IS NULL OR c.expires_at > :now)))
           AND (:tag IS NULL
                OR EXISTS (SELECT 1 FROM context_tags t WHERE t.context_id = c.id AND t.folded = :tag))
           AND (:text IS NULL
                OR instr (folded (r.name), :text) OR instr (folded (r.personality), :text)
                OR EXISTS (SELECT 1 FROM context_tags t WHERE t.context_id = c.id AND instr (t.folded, :text))) "
    };
}

macro_rules! page_sorted_by {
    ($order:literal) => {
        concat!(select_contexts!(""), wanted!(), "ORDER BY ", $order, " LIMIT :limit OFFSET :offset")
    };
}

impl ReadHandle<'_> {
    /// One page of contexts, and how many there are on all pages. `now` decides which are expired.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn contexts_page(&self, query: &ContextQuery, now: DateTime<Utc>) -> Result<(Vec<Context>, u64), StoreError> {
        let sql = match query.sort {
            ContextSort::LastInteraction => page_sorted_by!("c.last_interaction_at DESC, c.id DESC"),
            ContextSort::Name => page_sorted_by!("folded (r.name), c.id"),
            ContextSort::Created => page_sorted_by!("c.created_at DESC, c.id DESC"),
            ContextSort::ExpiresSoon => page_sorted_by!("c.expires_at NULLS LAST, c.id"),
        };
        let (tag, text) = (wanted_text(query.tag.as_deref()), wanted_text(query.text.as_deref()));
        let offset = i64::from(query.page.saturating_sub(1)) * i64::from(query.page_size);
        let now = now.timestamp_millis();
        let page = self.all(
            sql,
            named_params! {
                ":now": now, ":expired": query.include_expired, ":trash": query.only_deleted, ":tag": tag, ":text": text,
                ":limit": query.page_size, ":offset": offset,
            },
            context,
        )?;
        let count = concat!("SELECT count(*) FROM contexts c JOIN revisions r ON r.id = c.revision_id ", wanted!());
        let total = self.number(
            count,
            named_params! {
                ":now": now, ":expired": query.include_expired, ":trash": query.only_deleted, ":tag": tag, ":text": text,
            },
        )?;
        Ok((page, total))
    }
}

/// A filter as it is compared; a blank one is none.
pub(super) fn wanted_text(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(folded)
}
