//! Lists of contexts: filtered, sorted, a page at a time.

use super::context::{context, select_contexts};
use super::filter::{Filter, wanted_text};
use crate::column::bytes;
use crate::{ReadHandle, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextPlace, ContextQuery, ContextSort, folded};
use rusqlite::types::Value;

impl ReadHandle<'_> {
    /// One page of contexts, and how many there are on all pages. `now` decides which are expired.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn contexts_page(&self, query: &ContextQuery, now: DateTime<Utc>) -> Result<(Vec<Context>, u64), StoreError> {
        let (page, count) = (page(query, now), count(query, now));
        let contexts = self.all(&page.sql(), page.values(), context)?;
        Ok((contexts, self.number(&count.sql(), count.values())?))
    }
}

pub(super) fn page(query: &ContextQuery, now: DateTime<Utc>) -> Filter {
    let order = match query.sort {
        ContextSort::LastInteraction => "ORDER BY c.last_interaction_at DESC, c.id DESC",
        ContextSort::Name => "ORDER BY folded (r.name), c.id",
        ContextSort::Created => "ORDER BY c.created_at DESC, c.id DESC",
        ContextSort::ExpiresSoon => "ORDER BY c.expires_at NULLS LAST, c.id",
    };
    let offset = i64::from(query.page.saturating_sub(1)) * i64::from(query.page_size);
    let mut filter = wanted(select_contexts!(""), query, now);
    if let Some(place) = &query.after {
        after(&mut filter, place, query.sort);
    }
    filter.part(order, query.page_size, offset)
}

fn after(filter: &mut Filter, place: &ContextPlace, sort: ContextSort) {
    let id = Value::from(bytes(place.id.uuid()).to_vec());
    let time = |time: DateTime<Utc>| Value::from(time.timestamp_millis());
    match (sort, place.expires_at) {
        (ContextSort::LastInteraction, _) => {
            filter.only("(c.last_interaction_at, c.id) < (?, ?)", [time(place.last_interaction_at), id]);
        }
        (ContextSort::Name, _) => filter.only("(folded (r.name), c.id) > (?, ?)", [folded(&place.name).into(), id]),
        (ContextSort::Created, _) => filter.only("(c.created_at, c.id) < (?, ?)", [time(place.created_at), id]),
        (ContextSort::ExpiresSoon, Some(end)) => {
            filter.only("(c.expires_at IS NULL OR (c.expires_at, c.id) > (?, ?))", [time(end), id]);
        }
        (ContextSort::ExpiresSoon, None) => filter.only("c.expires_at IS NULL AND c.id > ?", [id]),
    }
}

pub(super) fn count(query: &ContextQuery, now: DateTime<Utc>) -> Filter {
    // The revisions are looked at only where their texts are.
    let from = match wanted_text(query.text.as_deref()) {
        Some(_) => "SELECT count(*) FROM contexts c JOIN revisions r ON r.id = c.revision_id",
        None => "SELECT count(*) FROM contexts c",
    };
    wanted(from, query, now)
}

/// A context is expired once it was switched off for that or its time is over, whichever is
/// noticed first.
fn wanted(from: &'static str, query: &ContextQuery, now: DateTime<Utc>) -> Filter {
    let mut filter = Filter::of(from);
    filter.only("c.purged_at IS NULL", []);
    filter.only(if query.only_deleted { "c.deleted_at IS NOT NULL" } else { "c.deleted_at IS NULL" }, []);
    if !query.only_deleted && !query.include_expired {
        filter.only("c.is_active AND (c.expires_at IS NULL OR c.expires_at > ?)", [now.timestamp_millis().into()]);
    }
    if let Some(tag) = wanted_text(query.tag.as_deref()) {
        filter.only("EXISTS (SELECT 1 FROM context_tags t WHERE t.context_id = c.id AND t.folded = ?)", [tag.into()]);
    }
    if let Some(text) = wanted_text(query.text.as_deref()) {
        filter.only(
            "(instr (folded (r.name), ?) OR instr (folded (r.personality), ?)
              OR EXISTS (SELECT 1 FROM context_tags t WHERE t.context_id = c.id AND instr (t.folded, ?)))",
            [text.clone().into(), text.clone().into(), text.into()],
        );
    }
    filter
}
