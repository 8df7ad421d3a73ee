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
/// Messages of a vault that has a page to show and little more.
const FEW: usize = 1_000;
/// Milliseconds from the key to the first page (figure 6).
const MOST_MS: f64 = 30.0;

/// What the window shows first. The store is closed after the time was taken.
struct FirstPage {
    _store: Store,
    _sidebar: (Vec<Context>, Vec<Conversation>),
    _messages: Vec<Message>,
}

/// Measures with this vault beside an empty one, which has no page to show, and beside one whose
/// pages are nearly as full. How the start of the whole app compares is the workload `start`.
pub fn measure(vault: &Vault, runs: usize) -> Result<Report, BenchError> {
    let (full, few, empty) = (vault.copy()?, Vault::fresh(FEW)?, Vault::empty()?);
    let duel = Duel { runs, block: BLOCK };
    let beside_empty = duel.measure(|_| first_page(&full), |_| first_page(&empty))?;
    let beside_few = duel.measure(|_| first_page(&full), |_| first_page(&few))?;
    let (what, ours, small) = ("key to first page", format!("{} messages", vault.counts.messages), format!("{FEW} messages"));
    let mut rows = beside_empty.rows(Names { what, ours: &ours, theirs: "empty vault" }, None);
    rows.push(Row::at_most(format!("{what}: {ours}, p95 (ms)"), beside_empty.p95(), MOST_MS));
    rows.push(Row::reported(format!("{what}: added by {ours} (ms)"), beside_empty.added()));
    let names = Names { what: "key to first page, growth", ours: &ours, theirs: &small };
    rows.extend(beside_few.rows(names, None));
    Ok(Report { rows, preface: String::new() })
}

fn first_page(vault: &Vault) -> Result<FirstPage, BenchError> {
    let store = vault.store()?;
    let sidebar = lists::sidebar(&store, vault.now())?;
    let leaf = sidebar.1.first().and_then(|conversation| conversation.active_leaf_id);
    let messages = leaf.map_or(Ok(Vec::new()), |leaf| store.read(|read| read.path(leaf, PAGE)))?;
    Ok(FirstPage { _store: store, _sidebar: sidebar, _messages: messages })
}
