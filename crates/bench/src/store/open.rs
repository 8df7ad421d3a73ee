//! Opening a conversation at its newest 50.

use super::chance::Chance;
use super::duel::{Duel, Names};
use super::profile::furnished;
use super::raw::{Cache, Cells, Raw};
use super::vault::{Vault, run_folder};
use super::{RAW, STORE, same};
use crate::app::remember_in_memory;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use evenkeel_domain::{ConversationId, Message};
use evenkeel_service::{ConversationView, Service, ServiceOptions};
use evenkeel_store::Store;
use rusqlite::types::Value;
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use uuid::Uuid;

/// Messages on a page.
pub const PAGE: u32 = 50;
/// Conversations opened in a row by one side.
const BLOCK: usize = 50;
/// Milliseconds within which 95 of 100 conversations open (figure 3).
const MOST_P95: f64 = 1.0;

/// The newest messages of a conversation without branches, as a flat table gives them.
const NEWEST: &str =
    "SELECT m.id, m.conversation_id, m.context_id, m.parent_id, m.role, m.content, m.reasoning, m.status, m.tokens,
        m.tokenizer, m.revision_id, m.provider_id, m.model, m.prompt_tokens, m.completion_tokens, m.cached_tokens, m.created_at
    FROM messages m WHERE m.conversation_id = ?1 ORDER BY m.id DESC LIMIT ?2";

/// Measures on conversations from all over the vault, each opened once by either side.
pub fn measure(vault: &Vault, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    let (store, raw) = (vault.store()?, vault.raw(Cache::Reader)?);
    let places = Place::all(&raw)?;
    for place in &places[..places.len().min(BLOCK)] {
        let ours = newest(&store, place)?;
        same("newest messages", ours.iter().rev().map(|message| message.id.uuid()), &raw_newest(&raw, place)?)?;
    }
    let place = |piece: usize| &places[piece % places.len()];
    let duel = Duel { runs, block: BLOCK };
    let times = duel.measure(|piece| newest(&store, place(piece)), |piece| raw_newest(&raw, place(piece)))?;
    let what = "open a conversation at its newest 50";
    let mut rows = times.rows(Names { what, ours: STORE, theirs: RAW }, None);
    rows.push(Row::at_most(format!("{what}: {STORE}, p95 (ms)"), times.p95(), MOST_P95));
    progress.say("open: as the window does it, with the meter …");
    rows.extend(as_the_window(vault, duel, &raw, &places)?);
    Ok(Report { rows, preface: String::new() })
}

/// What the window gets when it opens a conversation: its page, and how full the history is.
fn as_the_window(vault: &Vault, duel: Duel, raw: &Raw, places: &[Place]) -> Result<Vec<Row>, BenchError> {
    let folder = run_folder()?;
    let mut options = ServiceOptions::new(folder.path().join("profile"), None)?;
    remember_in_memory(&mut options);
    let service = now(furnished(options, Some(vault)))?;
    let place = |piece: usize| &places[piece % places.len()];
    let times = duel.measure(|piece| opened(&service, place(piece)), |piece| raw_newest(raw, place(piece)))?;
    now(service.shutdown());
    let (what, ours) = ("open a conversation as the window does, with its meter", "service");
    let mut rows = times.rows(Names { what, ours, theirs: RAW }, None);
    rows.push(Row::reported(format!("{what}: {ours}, p95 (ms)"), times.p95()));
    Ok(rows)
}

fn opened(service: &Service, place: &Place) -> Result<ConversationView, BenchError> {
    let view = now(service.conversation_open(ConversationId::from(place.conversation)))?;
    if view.messages.len() == PAGE as usize && view.meter.history_tokens > 0 {
        return Ok(view);
    }
    Err(BenchError::Worthless(format!("the service opened {} messages, or did not measure them", view.messages.len())))
}

/// Waits in the midst of measuring, which is done step by step.
fn now<T>(work: impl Future<Output = T>) -> T {
    block_in_place(|| Handle::current().block_on(work))
}

/// A conversation that has a full page.
pub struct Place {
    /// Its id.
    pub conversation: Uuid,
}

impl Place {
    /// All of them, in an order that follows from nothing.
    pub fn all(raw: &Raw) -> Result<Vec<Self>, BenchError> {
        let sql = "SELECT id FROM conversations WHERE message_count >= ?1 ORDER BY id";
        let mut places = Vec::new();
        for row in raw.rows(sql, [PAGE])? {
            if let [Value::Blob(id)] = &row[..]
                && let Ok(conversation) = Uuid::from_slice(id)
            {
                places.push(Self { conversation });
            }
        }
        if places.is_empty() {
            return Err(BenchError::Worthless(format!("no conversation has {PAGE} messages: ask for more")));
        }
        let mut chance = Chance::new(3);
        for end in (2..=places.len()).rev() {
            places.swap(end - 1, chance.below(end));
        }
        Ok(places)
    }
}

/// The page as the app opens it, with its conversation.
fn newest(store: &Store, place: &Place) -> Result<Vec<Message>, BenchError> {
    let opened = store.read(|read| read.conversation_at_newest(ConversationId::from(place.conversation), PAGE))?;
    Ok(opened.map(|(_, messages)| messages).unwrap_or_default())
}

/// The page by the raw statement.
pub fn raw_newest(raw: &Raw, place: &Place) -> Result<Vec<Cells>, BenchError> {
    raw.rows(NEWEST, (place.conversation.into_bytes(), PAGE))
}
