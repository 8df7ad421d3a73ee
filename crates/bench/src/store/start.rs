//! From the key to the first page.

use super::duel::{Duel, Names};
use super::lists;
use super::open::PAGE;
use super::vault::Vault;
use crate::error::BenchError;
use crate::report::{Report, Row};
use evenkeel_domain::{Context, Conversation, Message};
use evenkeel_store::Store;

const BLOCK: usize = 10;
/// Of the same with an empty vault (figure 10).
const MOST_OF_EMPTY: f64 = 1.1;
/// Milliseconds from the key to the first page (figure 6).
const MOST_MS: f64 = 30.0;

/// What the window shows first. The store is closed after the time was taken.
struct FirstPage {
    _store: Store,
    _contexts: (Vec<Context>, u64),
    _conversations: (Vec<Conversation>, u64),
    _messages: Vec<Message>,
}

/// Measures with this vault and with an empty one.
pub fn measure(vault: &Vault, runs: usize) -> Result<Report, BenchError> {
    let (full, empty) = (vault.copy()?, Vault::empty()?);
    let times = Duel { runs, block: BLOCK }.measure(|_| first_page(&full), |_| first_page(&empty))?;
    let messages = vault.counts.messages;
    let ours = format!("{messages} messages");
    let mut rows = times.rows(Names { what: "key to first page", ours: &ours, theirs: "empty vault" }, Some(MOST_OF_EMPTY));
    rows.push(Row::at_most(format!("key to first page: {ours}, p95 (ms)"), times.p95(), MOST_MS));
    Ok(Report { rows, preface: String::new() })
}

fn first_page(vault: &Vault) -> Result<FirstPage, BenchError> {
    let store = vault.store()?;
    let contexts = lists::contexts(&store, vault.now())?;
    let conversations = lists::conversations(&store)?;
    let leaf = conversations.0.first().and_then(|conversation| conversation.active_leaf_id);
    let messages = leaf.map_or(Ok(Vec::new()), |leaf| store.read(|read| read.path(leaf, PAGE)))?;
    Ok(FirstPage { _store: store, _contexts: contexts, _conversations: conversations, _messages: messages })
}
