//! Mending what hangs together after rows were read from two places: a message without its conversation is put
//! into one, a conversation without its companion gets one, and everything else that hangs on what is gone goes.

use crate::{StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextId, MemorySettings, Revision, StrategyChoice};
use rusqlite::{Connection, Transaction};
use std::collections::HashMap;
use uuid::Uuid;

/// Name of a companion of which nothing but its messages is left.
const NAMELESS: &str = "?";

/// Sees to it that everything that is referred to is there.
pub(super) fn references(target: &Transaction<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
    contexts(target, now)?;
    conversations(target)?;
    messages(target)?;
    orphans(target)?;
    belongings(target)
}

/// Makes companions for what was said with, and by, ones that are lost.
fn contexts(target: &Transaction<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
    let revision = Revision::new(NAMELESS, NAMELESS, "", None, now);
    let lost = "SELECT DISTINCT context_id FROM (
                  SELECT context_id FROM messages UNION ALL SELECT context_id FROM conversations
                  UNION ALL SELECT context_id FROM deleted_messages)
                WHERE context_id NOT IN (SELECT id FROM contexts)";
    let mut statement = target.prepare(lost)?;
    let lost: Vec<[u8; 16]> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in lost {
        WriteHandle::new(target).insert_context(&nameless(Uuid::from_bytes(id).into(), &revision, now), &revision)?;
    }
    // A persona whose wording is lost is better than no companion.
    let wordless = "SELECT count(*) FROM contexts WHERE revision_id NOT IN (SELECT id FROM revisions)";
    if target.query_row(wordless, [], |row| row.get::<_, i64>(0))? > 0 {
        target.execute(
            "INSERT OR IGNORE INTO revisions (id, name, system_prompt, personality, anchor, created_at) VALUES (?1, ?2, ?2, '', NULL, ?3)",
            (revision.id.as_str(), NAMELESS, now.timestamp_millis()),
        )?;
        let sql = "UPDATE contexts SET revision_id = ?1 WHERE revision_id NOT IN (SELECT id FROM revisions)";
        target.execute(sql, [revision.id.as_str()])?;
    }
    for table in ["messages", "deleted_messages", "reply_drafts"] {
        let sql = format!("UPDATE {table} SET revision_id = NULL WHERE revision_id NOT IN (SELECT id FROM revisions)");
        target.execute(&sql, [])?;
    }
    Ok(())
}

fn nameless(id: ContextId, revision: &Revision, now: DateTime<Utc>) -> Context {
    Context {
        id,
        name: NAMELESS.to_owned(),
        system_prompt: NAMELESS.to_owned(),
        personality: String::new(),
        revision_id: revision.id.clone(),
        temperature: 0.7,
        max_tokens: 1_000,
        max_history_tokens: 15_000,
        expiry_days: None,
        model: None,
        // Nobody knows whether its words may go elsewhere.
        local_only: true,
        maintain_personality: true,
        preset_id: None,
        created_at: now,
        updated_at: now,
        last_interaction_at: now,
        expires_at: None,
        is_active: true,
        anchor: None,
        deleted_at: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    }
}

/// Makes conversations for messages whose own are lost, titled as they begin.
fn conversations(target: &Connection) -> Result<(), StoreError> {
    target.execute(
        "INSERT INTO conversations (id, context_id, title, active_leaf_id, message_count, created_at, last_activity_at, title_source)
         SELECT m.conversation_id, m.context_id, substr (trim (m.content), 1, 60), NULL, 0, m.created_at, m.created_at, 'beginning'
         FROM messages m
         WHERE m.conversation_id NOT IN (SELECT id FROM conversations)
           AND m.key = (SELECT min (key) FROM messages f WHERE f.conversation_id = m.conversation_id)",
        [],
    )?;
    Ok(())
}

/// Hangs messages whose parents are lost on what was said before them, and counts depths anew.
fn messages(target: &Connection) -> Result<(), StoreError> {
    target.execute(
        "UPDATE messages SET parent_id = (
             SELECT b.id FROM messages b WHERE b.conversation_id = messages.conversation_id AND b.key < messages.key
             ORDER BY b.key DESC LIMIT 1)
         WHERE parent_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM messages p
             WHERE p.conversation_id = messages.conversation_id AND p.id = messages.parent_id AND p.key < messages.key)",
        [],
    )?;
    let mut statement = target.prepare("SELECT key, id, parent_id, depth FROM messages ORDER BY key")?;
    let mut update = target.prepare("UPDATE messages SET depth = ?2 WHERE key = ?1")?;
    let mut depths = HashMap::<[u8; 16], i64>::new();
    let mut changed = Vec::<(i64, i64)>::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (key, id, parent, depth): (i64, [u8; 16], Option<[u8; 16]>, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let right = parent.and_then(|parent| depths.get(&parent)).map_or(0, |depth| depth + 1);
        depths.insert(id, right);
        if right != depth {
            changed.push((key, right));
        }
    }
    for change in changed {
        update.execute(change)?;
    }
    Ok(())
}

/// Deletes what refers to something that is not there, until nothing does.
fn orphans(target: &Connection) -> Result<(), StoreError> {
    target.execute(
        "UPDATE conversations SET active_leaf_id = (
             SELECT id FROM messages m WHERE m.conversation_id = conversations.id ORDER BY key DESC LIMIT 1)
         WHERE active_leaf_id IS NULL OR NOT EXISTS (
             SELECT 1 FROM messages m WHERE m.conversation_id = conversations.id AND m.id = active_leaf_id)",
        [],
    )?;
    let sql =
        "SELECT t.name, k.id, k.\"table\", k.\"from\", k.\"to\" FROM pragma_table_list t, pragma_foreign_key_list (t.name) k
               WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, k.id, k.seq";
    let mut statement = target.prepare(sql)?;
    let mut keys: Vec<(String, i64, String, Vec<String>)> = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (child, id, parent): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (from, to): (String, String) = (row.get(3)?, row.get(4)?);
        if keys.last().is_none_or(|(last, number, ..)| (last, *number) != (&child, id)) {
            keys.push((child, id, parent, Vec::new()));
        }
        if let Some((child, _, _, pairs)) = keys.last_mut() {
            pairs.push(format!("p.\"{to}\" = \"{child}\".\"{from}\""));
            pairs.push(format!("\"{child}\".\"{from}\" IS NOT NULL"));
        }
    }
    loop {
        let mut gone = 0;
        for (child, _, parent, pairs) in &keys {
            let (same, given): (Vec<&String>, Vec<&String>) = pairs.iter().partition(|pair| pair.starts_with("p."));
            let (same, given) = (joined(&same), joined(&given));
            let sql = format!("DELETE FROM \"{child}\" WHERE {given} AND NOT EXISTS (SELECT 1 FROM \"{parent}\" p WHERE {same})");
            gone += target.execute(&sql, [])?;
        }
        if gone == 0 {
            return Ok(());
        }
    }
}

fn joined(conditions: &[&String]) -> String {
    conditions.iter().map(|condition| condition.as_str()).collect::<Vec<_>>().join(" AND ")
}

/// Deletes what goes with a message without a key that says so, where that message is in none of its places.
fn belongings(target: &Connection) -> Result<(), StoreError> {
    for (table, column) in [("receipts", "reply_id"), ("feedback", "message_id")] {
        let sql = format!(
            "DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM messages) AND {column} NOT IN (SELECT id FROM deleted_messages)
               AND {column} NOT IN (SELECT reply_id FROM reply_drafts)"
        );
        target.execute(&sql, [])?;
    }
    Ok(())
}

/// Counts messages anew.
pub(super) fn counts(target: &Connection) -> Result<(), StoreError> {
    target.execute_batch(
        "UPDATE conversations SET message_count = (SELECT count(*) FROM messages m WHERE m.conversation_id = conversations.id);
         UPDATE contexts SET message_count =
             (SELECT coalesce (sum (v.message_count), 0) FROM conversations v WHERE v.context_id = contexts.id);",
    )?;
    Ok(())
}

/// Builds the search index anew from the messages.
pub(super) fn index(target: &Connection) -> Result<(), StoreError> {
    target.execute("INSERT INTO message_index (message_index) VALUES ('rebuild')", [])?;
    Ok(())
}
