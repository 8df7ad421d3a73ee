//! A message that is on disk, with its words in the index and its tokens, when the call returns.

use super::chance::Chance;
use super::duel::{Duel, Names};
use super::population::Thread;
use super::raw::{Cache, Raw};
use super::vault::Vault;
use super::{RAW, STORE};
use crate::error::BenchError;
use crate::report::{Progress, Report};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{Message, RevisionId};
use evenkeel_store::Store;
use rusqlite::params;
use rusqlite::types::Value;
use uuid::Uuid;

/// Messages that one side appends before the other's turn: the first finds its pages outdated by
/// the other's writes, the others do not.
const BLOCK: usize = 25;
/// Of the raw statement (figure 2).
const MOST_OF_RAW: f64 = 1.3;
/// Of an append to a small vault: figure 2 says flat, figures 1 and 10 call a tenth more flat.
const MOST_GROWTH: f64 = 1.1;
/// Messages of the small vault.
const FEW: usize = 1_000;

/// The row alone; triggers put its words into the index, as they do for the store.
const INSERT: &str = "INSERT INTO messages (id, conversation_id, context_id, parent_id, depth, role, content, status, tokens,
        tokenizer, revision_id, provider_id, model, prompt_tokens, completion_tokens, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// Measures beside the raw statement, then beside a vault of a thousand messages.
pub fn measure(vault: &Vault, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    let duel = Duel { runs, block: BLOCK };
    let copy = vault.copy()?;
    let (store, raw) = (copy.store()?, copy.raw(Cache::Writer)?);
    let [mut ours, mut theirs] = Writing::newest(&raw, &copy)?;
    let beside = duel.measure(|piece| ours.append(&store, piece), |piece| theirs.insert(&raw, piece))?;
    drop(raw);
    progress.say(&format!("append: onto {} and onto {FEW} messages …", vault.counts.messages));
    let small = Vault::fresh(FEW)?;
    let few = small.store()?;
    let [mut on_few, _] = Writing::newest(&small.raw(Cache::Reader)?, &small)?;
    let growth = duel.measure(|piece| ours.append(&store, piece), |piece| on_few.append(&few, piece))?;
    let mut rows = beside.rows(Names { what: "durable append", ours: STORE, theirs: RAW }, Some(MOST_OF_RAW));
    let (all, few) = (format!("onto {}", vault.counts.messages), format!("onto {FEW}"));
    rows.extend(growth.rows(Names { what: "durable append, growth", ours: &all, theirs: &few }, Some(MOST_GROWTH)));
    Ok(Report { rows, preface: String::new() })
}

/// A conversation that is written to.
pub struct Writing {
    thread: Thread,
    /// Seconds of the vault's time that have gone by.
    seconds: i64,
    begin: DateTime<Utc>,
}

impl Writing {
    /// The two conversations that were last active, one for each side.
    pub fn newest(raw: &Raw, vault: &Vault) -> Result<[Self; 2], BenchError> {
        let sql = "SELECT v.id, v.context_id, v.active_leaf_id, v.message_count, c.revision_id
            FROM conversations v JOIN contexts c ON c.id = v.context_id
            WHERE v.deleted_at IS NULL AND v.message_count > 0 ORDER BY v.last_activity_at DESC LIMIT 2";
        let rows = raw.rows(sql, [])?;
        let found: Vec<_> = rows.iter().filter_map(|row| thread(row)).collect();
        // Half a second apart, or both would make the same ids.
        let begins = [vault.now(), vault.now() + TimeDelta::milliseconds(500)];
        let found: Vec<_> = found.into_iter().zip(begins).map(|(thread, begin)| Self { thread, seconds: 0, begin }).collect();
        found.try_into().map_err(|_| BenchError::Worthless("there are no two conversations to write to: ask for more".to_owned()))
    }

    /// The same text for the same piece, on either side.
    pub fn message(&mut self, piece: usize) -> Message {
        self.seconds += 1;
        let time = self.begin + TimeDelta::seconds(self.seconds);
        self.thread.next(time, &mut Chance::new(1_000 + piece as u64))
    }

    fn append(&mut self, store: &Store, piece: usize) -> Result<Message, BenchError> {
        let message = self.message(piece);
        Ok(store.write(|write| write.insert_message(message))?)
    }

    /// The raw statement, a transaction of its own unless one is open.
    pub fn insert(&mut self, raw: &Raw, piece: usize) -> Result<(), BenchError> {
        let depth = i64::try_from(self.thread.length).unwrap_or(0);
        let message = self.message(piece);
        let (model, usage, tokens) = (message.model.as_ref(), message.usage, message.token_count.as_ref());
        raw.execute(
            INSERT,
            params![
                message.id.uuid().into_bytes(),
                message.conversation_id.uuid().into_bytes(),
                message.context_id.uuid().into_bytes(),
                message.parent_id.map(|parent| parent.uuid().into_bytes()),
                depth,
                message.role.as_str(),
                message.content,
                message.status.as_str(),
                tokens.map(|count| count.tokens),
                tokens.map(|count| count.tokenizer.as_str()),
                message.revision_id.as_ref().map(RevisionId::as_str),
                model.map(|model| model.provider_id.uuid().into_bytes()),
                model.map(|model| model.model.as_str()),
                usage.map(|usage| usage.prompt_tokens),
                usage.map(|usage| usage.completion_tokens),
                message.created_at.timestamp_millis(),
            ],
        )
    }
}

fn thread(row: &[Value]) -> Option<Thread> {
    let [Value::Blob(id), Value::Blob(context), Value::Blob(leaf), Value::Integer(length), Value::Text(revision)] = row else {
        return None;
    };
    let uuid = |bytes: &[u8]| Uuid::from_slice(bytes).ok();
    Some(Thread {
        id: uuid(id)?.into(),
        context_id: uuid(context)?.into(),
        revision_id: RevisionId::new(revision.as_str()),
        leaf: Some(uuid(leaf)?.into()),
        length: usize::try_from(*length).ok()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn both_sides_store_the_same_message() {
        let vault = Vault::fresh(400).unwrap();
        let raw = vault.raw(Cache::Writer).unwrap();
        let [mut ours, mut theirs] = Writing::newest(&raw, &vault).unwrap();
        assert_ne!(ours.thread.id, theirs.thread.id);
        let store = vault.store().unwrap();
        let kept = ours.append(&store, 0).unwrap();
        theirs.insert(&raw, 0).unwrap();
        let sql = "SELECT m.content, m.tokens, m.depth, (SELECT count(*) FROM messages b WHERE b.conversation_id = m.conversation_id) - 1
                   FROM messages m WHERE m.conversation_id = ?1 ORDER BY m.key DESC LIMIT 1";
        let row = |writing: &Writing| raw.rows(sql, [writing.thread.id.uuid().into_bytes()]).unwrap().remove(0);
        let (our, their) = (row(&ours), row(&theirs));
        assert_eq!((&our[..2], &our[2], &their[2]), (&their[..2], &our[3], &their[3]));
        assert_eq!(our[0], Value::Text(kept.content.clone()));
        let found = raw.rows("SELECT rowid FROM message_index ORDER BY rowid DESC LIMIT 2", []).unwrap();
        assert_eq!(found, [[Value::Integer(402)], [Value::Integer(401)]]);
    }
}
