//! The first pages of both lists, each with the number of all, as they are given to whoever asks for
//! nothing in particular; and what the window asks for when it opens.

use super::duel::{Duel, Names};
use super::raw::{Cache, Cells, Raw};
use super::vault::Vault;
use super::{RAW, STORE, same};
use crate::error::BenchError;
use crate::report::Report;
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextQuery, Conversation, ConversationQuery};
use evenkeel_store::Store;
use rusqlite::named_params;

const BLOCK: usize = 25;
/// Contexts that the window asks for before it is painted, and conversations.
const WINDOW_CONTEXTS: u32 = 24;
const WINDOW_CONVERSATIONS: u32 = 100;

const CONTEXTS: &str = "SELECT c.id, r.name, r.system_prompt, r.personality, c.revision_id, c.temperature, c.max_tokens,
        c.max_history_tokens, c.expiry_days, c.provider_id, c.model, c.local_only, c.maintain_personality, c.preset_id,
        c.created_at, c.updated_at, c.last_interaction_at, c.expires_at, c.is_active, r.anchor, c.deleted_at,
        (SELECT group_concat (t.tag) FROM context_tags t WHERE t.context_id = c.id)
    FROM contexts c JOIN revisions r ON r.id = c.revision_id
    WHERE c.is_active AND c.deleted_at IS NULL AND c.purged_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > :now)
    ORDER BY c.last_interaction_at DESC, c.id DESC LIMIT :limit";
const COUNT_CONTEXTS: &str = "SELECT count(*) FROM contexts c
    WHERE c.is_active AND c.deleted_at IS NULL AND c.purged_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > :now)";
/// The plus leads SQLite to the index of the order, which suits a page better.
const CONVERSATIONS: &str = "SELECT v.id, v.context_id, v.title, v.active_leaf_id, v.message_count, v.created_at,
        v.last_activity_at, v.title_source, v.is_pinned, v.is_archived, v.deleted_at,
        (SELECT group_concat (t.tag) FROM conversation_tags t WHERE t.conversation_id = v.id)
    FROM conversations v
    WHERE +v.deleted_at IS NULL AND +v.is_archived = 0
      AND v.context_id NOT IN (SELECT id FROM contexts WHERE deleted_at IS NOT NULL)
    ORDER BY v.is_pinned DESC, v.last_activity_at DESC, v.id DESC LIMIT :limit";
const COUNT_CONVERSATIONS: &str = "SELECT count(*) FROM conversations v
    WHERE v.deleted_at IS NULL AND v.is_archived = 0
      AND v.context_id NOT IN (SELECT id FROM contexts WHERE deleted_at IS NOT NULL)";

/// Measures both lists.
pub fn measure(vault: &Vault, runs: usize) -> Result<Report, BenchError> {
    let (store, raw, now) = (vault.store()?, vault.raw(Cache::Reader)?, vault.now());
    let duel = Duel { runs, block: BLOCK };
    agree(&store, &raw, now)?;
    let contexts = duel.measure(|_| contexts(&store, now), |_| raw_contexts(&raw, now))?;
    let conversations = duel.measure(|_| conversations(&store), |_| raw_conversations(&raw))?;
    let names = |what| Names { what, ours: STORE, theirs: RAW };
    let mut rows = contexts.rows(names("list page of contexts"), None);
    rows.extend(conversations.rows(names("list page of conversations"), None));
    Ok(Report { rows, preface: String::new() })
}

/// The first page of contexts and their number.
pub fn contexts(store: &Store, now: DateTime<Utc>) -> Result<(Vec<Context>, u64), BenchError> {
    Ok(store.read(|read| read.contexts_page(&ContextQuery::default(), now))?)
}

/// The first page of conversations and their number.
pub fn conversations(store: &Store) -> Result<(Vec<Conversation>, u64), BenchError> {
    Ok(store.read(|read| read.conversations_page(&ConversationQuery::default()))?)
}

/// The contexts that the window shows when it opens, and the conversations of the one last used.
pub fn sidebar(store: &Store, now: DateTime<Utc>) -> Result<(Vec<Context>, Vec<Conversation>), BenchError> {
    let all = ContextQuery { include_expired: true, page_size: WINDOW_CONTEXTS, ..ContextQuery::default() };
    let (contexts, _) = store.read(|read| read.contexts_page(&all, now))?;
    let Some(newest) = contexts.first() else { return Ok((contexts, Vec::new())) };
    let of = ConversationQuery { context_id: Some(newest.id), limit: WINDOW_CONVERSATIONS, ..ConversationQuery::default() };
    let (conversations, _) = store.read(|read| read.conversations_page(&of))?;
    Ok((contexts, conversations))
}

fn raw_contexts(raw: &Raw, now: DateTime<Utc>) -> Result<(Vec<Cells>, Vec<Cells>), BenchError> {
    let now = now.timestamp_millis();
    let page = raw.rows(CONTEXTS, named_params! { ":now": now, ":limit": ContextQuery::default().page_size })?;
    Ok((page, raw.rows(COUNT_CONTEXTS, named_params! { ":now": now })?))
}

/// The same for raw connections of any kind.
pub fn raw_conversations(raw: &Raw) -> Result<(Vec<Cells>, Vec<Cells>), BenchError> {
    let page = raw.rows(CONVERSATIONS, named_params! { ":limit": ConversationQuery::default().limit })?;
    Ok((page, raw.rows(COUNT_CONVERSATIONS, [])?))
}

fn agree(store: &Store, raw: &Raw, now: DateTime<Utc>) -> Result<(), BenchError> {
    let (page, total) = contexts(store, now)?;
    let (rows, count) = raw_contexts(raw, now)?;
    same("list of contexts", page.iter().map(|one| one.id.uuid()), &rows)?;
    same_number("contexts", total, &count)?;
    let (page, total) = conversations(store)?;
    let (rows, count) = raw_conversations(raw)?;
    same("list of conversations", page.iter().map(|one| one.id.uuid()), &rows)?;
    same_number("conversations", total, &count)
}

fn same_number(what: &str, ours: u64, theirs: &[Cells]) -> Result<(), BenchError> {
    let expected = vec![vec![rusqlite::types::Value::Integer(i64::try_from(ours).unwrap_or(-1))]];
    if theirs == expected {
        return Ok(());
    }
    Err(BenchError::Worthless(format!("the store counts {ours} {what} and the raw statement {theirs:?}")))
}
