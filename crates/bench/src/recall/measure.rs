//! One sample in a vault of its own, asked both ways.

use super::set::{Asked, Sample};
use crate::error::BenchError;
use crate::store::chance::Chance;
use crate::store::raw::{Cache, Raw};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, MemorySettings, Message, MessageId, MessageStatus, RecallWish, Revision,
    Role, StrategyChoice, TitleSource,
};
use evenkeel_prompt::{RANKING, question, ranked};
use evenkeel_store::{Store, StoreError, WriteHandle};
use rusqlite::types::Value;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The key of a vault that lives for one sample.
const KEY: [u8; 32] = [21; 32];
/// How many are first.
const FIRST: usize = 5;
/// How deep the order of plain BM25 is read.
const DEEP: u32 = 500;

/// Who was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Recall as the app does it.
    Ours,
    /// FTS5's `bm25` over all words of the question.
    Plain,
}

/// Where the evidence of one question stands in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Ranks of the messages of evidence, from 0; `None` where one is not found.
    pub messages: Vec<Option<usize>>,
    /// The same of the conversations that they are in.
    pub conversations: Vec<Option<usize>>,
}

/// Scores over questions.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    questions: f64,
    messages: [f64; 3],
    conversations: [f64; 3],
}

impl Scores {
    /// Adds one question.
    pub fn add(&mut self, places: &Places) {
        self.questions += 1.0;
        for (sums, ranks) in [(&mut self.messages, &places.messages), (&mut self.conversations, &places.conversations)] {
            let is_first = |rank: &Option<usize>| rank.is_some_and(|rank| rank < FIRST);
            let best = ranks.iter().flatten().min();
            sums[0] += f64::from(u8::from(ranks.iter().any(is_first)));
            sums[1] += f64::from(u8::from(ranks.iter().all(is_first)));
            sums[2] += best.map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0));
        }
    }

    /// Each figure of both sides.
    pub fn beside(&self, other: &Self) -> Vec<(String, f64, f64)> {
        let mut figures = Vec::new();
        for (what, ours, theirs) in
            [("message", self.messages, other.messages), ("conversation", self.conversations, other.conversations)]
        {
            for (at, name) in ["any@5", "all@5", "MRR"].into_iter().enumerate() {
                figures.push((format!("{what} {name}"), ours[at] / self.questions, theirs[at] / other.questions));
            }
        }
        figures
    }
}

/// A vault with a sample in it.
struct Vault {
    store: Store,
    raw: Raw,
    context: ContextId,
    /// Messages by the names of evidence, and the conversations that they are in.
    named: HashMap<String, (MessageId, ConversationId)>,
    conversations: HashMap<MessageId, ConversationId>,
    // Dropped last.
    _folder: tempfile::TempDir,
}

/// Asks every question of a sample both ways; `heard` gets the places of its evidence and the
/// milliseconds that it took.
pub fn measure(sample: &Sample, heard: &mut dyn FnMut(Side, Places, f64)) -> Result<(), BenchError> {
    let vault = Vault::of(sample)?;
    for asked in &sample.questions {
        let began = Instant::now();
        let (messages, conversations) = vault.ours(asked)?;
        let time = began.elapsed().as_secs_f64() * 1_000.0;
        heard(Side::Ours, vault.places(asked, &messages, &conversations), time);
        let began = Instant::now();
        let (messages, conversations) = vault.plain(asked)?;
        let time = began.elapsed().as_secs_f64() * 1_000.0;
        heard(Side::Plain, vault.places(asked, &messages, &conversations), time);
    }
    Ok(())
}

type Order = (Vec<MessageId>, Vec<ConversationId>);

impl Vault {
    fn of(sample: &Sample) -> Result<Self, BenchError> {
        let folder = tempfile::tempdir().map_err(|source| BenchError::system("making a folder", source))?;
        let path = folder.path().join("vault.db");
        let start = sample.sessions.first().map_or(DateTime::UNIX_EPOCH, |session| session.begins);
        let store = Store::create(&path, &KEY, start)?;
        let mut chance = Chance::new(11);
        let (context, revision) = companion(start, &mut chance);
        let (mut named, mut conversations) = (HashMap::new(), HashMap::new());
        store.write(|write| {
            write.insert_context(&context, &revision)?;
            fill(write, sample, &context, &mut chance, &mut named)
        })?;
        conversations.extend(named.values().copied());
        let raw = Raw::open(&path, Some(&KEY), Cache::Reader)?;
        Ok(Self { store, raw, context: context.id, named, conversations, _folder: folder })
    }

    /// The way of the app: candidates of the store, ordered by the rules of the prompt.
    fn ours(&self, asked: &Asked) -> Result<Order, BenchError> {
        let question = question(&asked.text, None);
        let wish = RecallWish {
            words: question.words.clone(),
            contexts: vec![self.context],
            with_local_only: true,
            ..RecallWish::default()
        };
        let found = self.store.read(|read| read.recall_candidates(&wish))?;
        let order = ranked(&question, &found, &[], &RANKING);
        let messages = order.messages.iter().map(|(at, _)| found.candidates[*at].message_id).collect();
        Ok((messages, order.conversations.into_iter().map(|(id, _)| id).collect()))
    }

    /// All words of the question, any of them, by FTS5's own order; a conversation stands where the
    /// first of its messages does.
    fn plain(&self, asked: &Asked) -> Result<Order, BenchError> {
        let words = asked.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT m.id FROM message_index i JOIN messages m ON m.key = i.rowid WHERE message_index MATCH ?1 ORDER BY rank LIMIT ?2";
        let rows = self.raw.rows(sql, (words.join(" OR "), DEEP))?;
        let id = |cells: &Vec<Value>| match cells.first() {
            Some(Value::Blob(bytes)) => uuid::Uuid::from_slice(bytes).ok().map(MessageId::from),
            _ => None,
        };
        let messages: Vec<MessageId> = rows.iter().filter_map(id).collect();
        let mut seen = HashSet::new();
        let conversations = messages.iter().filter_map(|id| self.conversations.get(id).copied()).filter(|id| seen.insert(*id));
        Ok((messages.clone(), conversations.collect()))
    }

    fn places(&self, asked: &Asked, messages: &[MessageId], conversations: &[ConversationId]) -> Places {
        let named: Vec<_> = asked.evidence.iter().filter_map(|name| self.named.get(name).copied()).collect();
        let mut homes: Vec<ConversationId> = named.iter().map(|(_, conversation)| *conversation).collect();
        homes.sort_unstable();
        homes.dedup();
        Places {
            messages: named.iter().map(|(id, _)| messages.iter().position(|one| one == id)).collect(),
            conversations: homes.iter().map(|id| conversations.iter().position(|one| one == id)).collect(),
        }
    }
}

fn fill(
    write: &mut WriteHandle<'_>,
    sample: &Sample,
    context: &Context,
    chance: &mut Chance,
    named: &mut HashMap<String, (MessageId, ConversationId)>,
) -> Result<(), StoreError> {
    for session in &sample.sessions {
        let conversation = thread(context.id, session.begins, chance);
        write.insert_conversation(&conversation)?;
        let mut parent_id = None;
        for (number, line) in (0i64..).zip(&session.lines) {
            let created_at = session.begins + TimeDelta::seconds(number * 30);
            let id = MessageId::from_parts(created_at, chance.id_bits());
            let role = if line.is_user { Role::User } else { Role::Assistant };
            write.insert_message(Message {
                id,
                conversation_id: conversation.id,
                context_id: context.id,
                parent_id,
                role,
                content: line.text.clone(),
                reasoning: None,
                status: MessageStatus::Complete,
                token_count: None,
                revision_id: None,
                model: None,
                usage: None,
                created_at,
                sibling_ids: Vec::new(),
                vote: None,
                citations: Vec::new(),
                source: None,
            })?;
            named.insert(line.id.clone(), (id, conversation.id));
            parent_id = Some(id);
        }
    }
    Ok(())
}

fn thread(context_id: ContextId, begins: DateTime<Utc>, chance: &mut Chance) -> Conversation {
    Conversation {
        id: ConversationId::from_parts(begins, chance.id_bits()),
        context_id,
        title: "Session".to_owned(),
        title_source: TitleSource::Model,
        active_leaf_id: None,
        message_count: 0,
        is_pinned: false,
        is_archived: false,
        tags: Vec::new(),
        created_at: begins,
        last_activity_at: begins,
        deleted_at: None,
    }
}

fn companion(now: DateTime<Utc>, chance: &mut Chance) -> (Context, Revision) {
    let revision = Revision::new("Listener", "Listener remembers.", "", None, now);
    let context = Context {
        id: ContextId::from_parts(now, chance.id_bits()),
        name: revision.name.clone(),
        system_prompt: revision.system_prompt.clone(),
        personality: String::new(),
        anchor: None,
        revision_id: revision.id.clone(),
        temperature: 0.5,
        max_tokens: 1_000,
        max_history_tokens: 8_000,
        expiry_days: None,
        model: None,
        local_only: false,
        maintain_personality: true,
        preset_id: None,
        created_at: now,
        updated_at: now,
        last_interaction_at: now,
        expires_at: None,
        is_active: true,
        deleted_at: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    (context, revision)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::recall::locomo;
    use std::path::Path;

    #[test]
    fn scores_are_those_of_the_ranks() {
        let mut scores = Scores::default();
        scores.add(&Places { messages: vec![Some(0), Some(7)], conversations: vec![Some(1)] });
        scores.add(&Places { messages: vec![None], conversations: vec![Some(5)] });
        let figures: Vec<f64> = scores.beside(&scores).into_iter().map(|(_, ours, _)| ours).collect();
        let expected = [0.5, 0.0, 0.5, 0.5, 0.5, (0.5 + 1.0 / 6.0) / 2.0];
        assert!(figures.iter().zip(expected).all(|(one, two)| (one - two).abs() < 1e-9), "{figures:?}");
    }

    #[test]
    fn both_sides_answer_the_questions_of_a_file() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/locomo.json");
        let set = locomo::read(&path).unwrap();
        let mut heard = Vec::new();
        measure(&set.samples[0], &mut |side, places, _| heard.push((side, places))).unwrap();
        assert_eq!(heard.len(), 6);
        assert!(heard.iter().all(|(_, places)| places.conversations[0].is_some()), "{heard:?}");
        assert_eq!(heard[0].1.messages, [Some(0)]);
    }
}
