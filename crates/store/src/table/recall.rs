//! Candidates for recall, by the full-text index: bounded work however large the vault is.
//!
//! FTS5's own order by relevance scores every match, and this index keeps no lengths, so that each
//! score would read a text. Here the index only says which messages have which word; a word that is in
//! too many of them is read for the newest alone, and texts are read of the best few. The order of
//! those is made by who asked.

mod scope;

use super::message::ROLES;
use crate::column::{bytes, id, maybe_id, of_json, time, variant};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{ConversationId, MessageId, RecallCandidate, RecallFound, RecallWish, RecallWord, Role};
use rusqlite::Row;
use scope::Scope;
use std::collections::{HashMap, HashSet};

/// Messages that are read of the index for one word, the newest ones.
const A_WORD: u32 = 4_000;
/// Entries of the index that are passed over for them, where they belong to other contexts.
const PASSED_OVER: u32 = 40_000;
/// Candidates whose texts are read.
const TEXTS: usize = 120;
/// Rows that are looked at for them, where most belong to other contexts.
const LOOKED_AT: usize = 600;
/// The best candidates, whose neighbours are read too.
const WITH_NEIGHBOURS: usize = 40;
/// Newest messages whose texts are looked through for what the index does not divide into words.
const LOOKED_THROUGH: usize = 1_500;
/// A candidate with its place in the tables.
struct Placed {
    key: i64,
    candidate: RecallCandidate,
}

macro_rules! candidate_columns {
    () => {
        "m.key, m.id, m.conversation_id, m.parent_id, m.role, \
         CASE WHEN m.role = 'assistant' THEN coalesce ((SELECT r.name FROM revisions r WHERE r.id = m.revision_id), '') ELSE '' END, \
         m.content, m.created_at"
    };
}

impl ReadHandle<'_> {
    /// Messages that may be recalled for a wish, and those that stand beside them. Only from the
    /// conversations of its contexts and the one it stands in, from the branches that are shown, and
    /// nothing from the trash. Bounded in time, whatever the size of the vault.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn recall_candidates(&self, wish: &RecallWish) -> Result<RecallFound, StoreError> {
        let scope = Scope::of(self, wish)?;
        if scope.messages == 0 {
            return Ok(RecallFound::default());
        }
        let mut hits = wish.words.iter().map(|word| self.hits(word, &scope)).collect::<Result<Vec<_>, _>>()?;
        self.add_hits_in_texts(&mut hits, wish, &scope)?;
        let frequencies = hits.iter().map(|keys| keys.len() as u64).collect();
        let mut keys = best_keys(&hits, &wish.words, scope.messages);
        let near = self.keys_of(&wish.nearest)?;
        keys.retain(|key| !near.contains(key));
        // What was found by its meaning is read in any case.
        keys.splice(0..0, near);
        let mut rows = self.admitted(&keys, &scope, wish)?;
        self.add_neighbours(&mut rows, &scope, wish)?;
        let rows = self.on_shown_branches(rows, wish)?;
        let candidates = rows.into_iter().map(|row| row.candidate).collect();
        Ok(RecallFound { candidates, messages: scope.messages, frequencies })
    }

    /// Keys of messages that have a word, the newest of them first.
    fn hits(&self, word: &RecallWord, scope: &Scope) -> Result<Vec<i64>, StoreError> {
        if word.forms.is_empty() {
            return Ok(Vec::new());
        }
        // Quoted, nothing is an operator.
        let quoted: Vec<String> = word.forms.iter().map(|form| format!("\"{}\"", form.replace(['"', '\0'], " "))).collect();
        let sql = "SELECT rowid FROM message_index WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                   ORDER BY rowid DESC LIMIT ?4";
        let (first, last) = scope.bounds();
        self.some(sql, (quoted.join(" OR "), first, last, A_WORD + PASSED_OVER), A_WORD as usize, |row| {
            let key = row.get(0)?;
            Ok(scope.may_hold(key).then_some(key))
        })
    }

    /// The same for pieces of a writing without spaces, of which the index makes one long word.
    fn add_hits_in_texts(&self, hits: &mut [Vec<i64>], wish: &RecallWish, scope: &Scope) -> Result<(), StoreError> {
        if wish.words.iter().all(|word| !word.forms.is_empty()) {
            return Ok(());
        }
        let keys = scope.newest(self, LOOKED_THROUGH)?;
        let sql = "SELECT m.key, m.content FROM json_each (?1) k CROSS JOIN messages m ON m.key = k.value";
        self.all(sql, [of_json(&keys)?], |row| {
            let (key, text) = (row.get::<_, i64>(0)?, row.get_ref(1)?.as_str().unwrap_or_default());
            for (keys, word) in hits.iter_mut().zip(&wish.words) {
                if word.forms.is_empty() && text.contains(&word.stem) {
                    keys.push(key);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn keys_of(&self, messages: &[MessageId]) -> Result<Vec<i64>, StoreError> {
        let sql = "SELECT key FROM messages WHERE id = ?1";
        let found = messages.iter().map(|message| self.one(sql, [bytes(message.uuid())], |row| Ok(row.get::<_, i64>(0)?)));
        found.filter_map(Result::transpose).collect()
    }

    /// The texts of the first keys that the wish allows.
    fn admitted(&self, keys: &[i64], scope: &Scope, wish: &RecallWish) -> Result<Vec<Placed>, StoreError> {
        let mut rows = Vec::new();
        for key in keys.iter().take(LOOKED_AT) {
            if rows.len() == TEXTS {
                break;
            }
            rows.extend(self.row(*key, scope, wish)?);
        }
        Ok(rows)
    }

    fn row(&self, key: i64, scope: &Scope, wish: &RecallWish) -> Result<Option<Placed>, StoreError> {
        let sql = concat!(
            "SELECT ",
            candidate_columns!(),
            " FROM messages m
             CROSS JOIN conversations v ON v.id = m.conversation_id
             CROSS JOIN contexts c ON c.id = v.context_id
             CROSS JOIN contexts a ON a.id = m.context_id
             WHERE m.key = ?1 AND m.role <> 'system' AND v.deleted_at IS NULL AND c.deleted_at IS NULL
               AND (?2 OR (c.local_only = 0 AND a.local_only = 0))
               AND (v.id IS ?3 OR EXISTS (SELECT 1 FROM json_each (?4) k WHERE unhex (k.value) = v.context_id))"
        );
        let here = wish.here.map(|(conversation, _)| bytes(conversation.uuid()));
        let row = self.one(sql, (key, wish.with_local_only, here, &scope.contexts), candidate)?;
        Ok(row.filter(|row| !wish.without.contains(&row.candidate.message_id) && !row.candidate.text.trim().is_empty()))
    }

    /// What stands before and after the best candidates: an answer seldom repeats its question's words.
    fn add_neighbours(&self, rows: &mut Vec<Placed>, scope: &Scope, wish: &RecallWish) -> Result<(), StoreError> {
        let mut known: HashSet<i64> = rows.iter().map(|row| row.key).collect();
        let sql = "SELECT key FROM messages WHERE id = ?1
                   UNION ALL SELECT key FROM messages WHERE conversation_id = ?2 AND parent_id = ?3";
        let mut beside = Vec::new();
        for row in rows.iter().take(WITH_NEIGHBOURS) {
            let one = &row.candidate;
            let parent = one.parent_id.map(|parent| bytes(parent.uuid()));
            let ids = (parent, bytes(one.conversation_id.uuid()), bytes(one.message_id.uuid()));
            beside.extend(self.all(sql, ids, |row| Ok(row.get::<_, i64>(0)?))?);
        }
        for key in beside.into_iter().filter(|key| known.insert(*key)) {
            rows.extend(self.row(key, scope, wish)?);
        }
        Ok(())
    }

    /// Leaves out what stands on a branch that is not shown.
    fn on_shown_branches(&self, rows: Vec<Placed>, wish: &RecallWish) -> Result<Vec<Placed>, StoreError> {
        let mut by_conversation: HashMap<ConversationId, Vec<Placed>> = HashMap::new();
        for row in rows {
            by_conversation.entry(row.candidate.conversation_id).or_default().push(row);
        }
        let mut shown = Vec::new();
        for (conversation, mut rows) in by_conversation {
            let oldest = rows.iter().map(|row| row.key).min().unwrap_or(0);
            if let Some(branch) = self.shown_branch(conversation, oldest, wish)? {
                rows.retain(|row| branch.contains(&row.key));
            }
            shown.append(&mut rows);
        }
        shown.sort_by_key(|row| row.key);
        Ok(shown)
    }

    /// Keys of a conversation's branch from `oldest` on; `None` where there is no other branch.
    fn shown_branch(
        &self,
        conversation: ConversationId,
        oldest: i64,
        wish: &RecallWish,
    ) -> Result<Option<HashSet<i64>>, StoreError> {
        let followed = match wish.here {
            Some((here, None)) if here == conversation => return Ok(Some(HashSet::new())),
            Some((here, Some(leaf))) if here == conversation => Some(bytes(leaf.uuid())),
            _ => None,
        };
        // As many messages as the branch is long: there is no other one.
        let sql = "SELECT m.id, v.message_count = m.depth + 1 FROM conversations v
                   CROSS JOIN messages m ON m.id = coalesce (?2, v.active_leaf_id) WHERE v.id = ?1";
        let found = self
            .one(sql, (bytes(conversation.uuid()), followed), |row| Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, bool>(1)?)))?;
        let leaf = match found {
            Some((_, true)) => return Ok(None),
            Some((leaf, false)) => leaf,
            None => return Ok(Some(HashSet::new())),
        };
        let sql = "WITH RECURSIVE branch (key, parent_id) AS (
                SELECT key, parent_id FROM messages WHERE id = ?1
                UNION ALL
                SELECT p.key, p.parent_id
                FROM branch b CROSS JOIN messages p ON p.id = b.parent_id AND p.key < b.key
                WHERE p.key >= ?2
            )
            SELECT key FROM branch";
        Ok(Some(self.all(sql, (leaf, oldest), |row| Ok(row.get(0)?))?.into_iter().collect()))
    }
}

fn candidate(row: &Row<'_>) -> Result<Placed, StoreError> {
    Ok(Placed {
        key: row.get(0)?,
        candidate: RecallCandidate {
            message_id: id(row, 1)?,
            conversation_id: id(row, 2)?,
            parent_id: maybe_id(row, 3)?,
            role: variant(row, 4, &ROLES, Role::as_str)?,
            speaker: row.get(5)?,
            text: row.get(6)?,
            created_at: time(row, 7)?,
        },
    })
}

/// Keys by how rare the words are that they have, the newest first of those that are alike.
#[allow(clippy::cast_precision_loss)]
fn best_keys(hits: &[Vec<i64>], words: &[RecallWord], messages: u64) -> Vec<i64> {
    let mut scores: HashMap<i64, f32> = HashMap::new();
    for (keys, word) in hits.iter().zip(words) {
        let frequency = keys.len() as f32;
        let rarity = ((messages as f32 - frequency).max(0.0) / (frequency + 0.5)).ln_1p() * word.weight;
        for key in keys {
            *scores.entry(*key).or_default() += rarity;
        }
    }
    let mut keys: Vec<(i64, f32)> = scores.into_iter().collect();
    let by_score = |one: &(i64, f32), two: &(i64, f32)| two.1.total_cmp(&one.1).then(two.0.cmp(&one.0));
    if keys.len() > LOOKED_AT {
        keys.select_nth_unstable_by(LOOKED_AT, by_score);
        keys.truncate(LOOKED_AT);
    }
    keys.sort_unstable_by(by_score);
    keys.into_iter().map(|(key, _)| key).collect()
}
