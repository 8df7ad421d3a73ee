//! Which messages a wish may find.

use crate::column::{bytes, of_json};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::RecallWish;
use std::collections::HashSet;

/// Up to so many messages are known by their keys before the index is asked; beyond, each hit is looked
/// up, since most of them belong here then.
const KNOWN: u64 = 20_000;

/// The messages of a wish's contexts and of the conversation it stands in.
pub(super) struct Scope {
    /// The contexts' ids as hex, in a list of JSON.
    pub contexts: String,
    /// How many messages there are, as far as they were counted.
    pub messages: u64,
    /// Their keys in order, where they are few enough.
    keys: Option<Vec<i64>>,
    members: HashSet<i64>,
}

impl Scope {
    pub fn of(r: &ReadHandle<'_>, wish: &RecallWish) -> Result<Self, StoreError> {
        let contexts: Vec<String> = wish.contexts.iter().map(|context| context.uuid().simple().to_string()).collect();
        let contexts = of_json(&contexts)?;
        let here = wish.here.map(|(conversation, _)| bytes(conversation.uuid()));
        let count = "SELECT coalesce (sum (c.message_count), 0)
                + coalesce ((SELECT v.message_count FROM conversations v WHERE v.id = ?2
                             AND v.context_id NOT IN (SELECT unhex (value) FROM json_each (?1))), 0)
            FROM json_each (?1) k CROSS JOIN contexts c ON c.id = unhex (k.value)";
        let messages = r.number(count, (&contexts, here))?;
        if messages > KNOWN {
            return Ok(Self { contexts, messages, keys: None, members: HashSet::new() });
        }
        // The index of branches holds conversation and key: no row is read.
        let sql = "SELECT m.key FROM json_each (?1) k
                CROSS JOIN conversations v ON v.context_id = unhex (k.value) AND v.deleted_at IS NULL
                CROSS JOIN messages m ON m.conversation_id = v.id
            UNION ALL
            SELECT key FROM messages WHERE conversation_id = ?2";
        let mut keys: Vec<i64> = r.all(sql, (&contexts, here), |row| Ok(row.get(0)?))?;
        keys.sort_unstable();
        keys.dedup();
        let members = keys.iter().copied().collect();
        Ok(Self { contexts, messages: keys.len() as u64, keys: Some(keys), members })
    }

    /// The first and the last key that they can have.
    pub fn bounds(&self) -> (i64, i64) {
        let ends = self.keys.as_ref().and_then(|keys| Some((*keys.first()?, *keys.last()?)));
        ends.unwrap_or((i64::MIN, i64::MAX))
    }

    /// Whether a message may be among them; where they are many, that is looked up later.
    pub fn may_hold(&self, key: i64) -> bool {
        self.keys.is_none() || self.members.contains(&key)
    }

    /// The newest of them.
    pub fn newest(&self, r: &ReadHandle<'_>, most: usize) -> Result<Vec<i64>, StoreError> {
        if let Some(keys) = &self.keys {
            return Ok(keys.iter().rev().take(most).copied().collect());
        }
        let sql = "SELECT m.key FROM messages m WHERE m.context_id IN (SELECT unhex (value) FROM json_each (?1))
                   ORDER BY +m.key DESC LIMIT ?2";
        r.all(sql, (&self.contexts, u32::try_from(most).unwrap_or(u32::MAX)), |row| Ok(row.get(0)?))
    }
}
