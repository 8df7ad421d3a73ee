//! Full-text search, the newest hits first.

use super::chance::Chance;
use super::duel::{Duel, Names};
use super::raw::{Cache, Cells, Raw};
use super::vault::Vault;
use super::{RAW, STORE, same};
use crate::error::BenchError;
use crate::report::{Report, Row};
use evenkeel_domain::{SearchHit, SearchQuery};
use evenkeel_store::Store;
use rusqlite::named_params;

/// Queries of 1–3 words (figure 4); a block is all of them.
const QUERIES: usize = 150;
/// Hits on a page.
const HITS: u32 = 20;
/// Milliseconds within which 95 of 100 queries are answered (figure 4).
const MOST_P95: f64 = 20.0;

const NEWEST: &str = "SELECT m.id, m.conversation_id, m.context_id, v.title, m.role, m.created_at,
        snippet (message_index, -1, '<', '>', '…', 24)
    FROM message_index i
    CROSS JOIN messages m ON m.key = i.rowid
    CROSS JOIN conversations v ON v.id = m.conversation_id
    CROSS JOIN contexts c ON c.id = v.context_id
    WHERE message_index MATCH :words AND v.deleted_at IS NULL AND c.deleted_at IS NULL
    ORDER BY i.rowid DESC LIMIT :limit";

/// Measures; each run asks all queries twice on either side.
pub fn measure(vault: &Vault, runs: usize) -> Result<Report, BenchError> {
    let (store, raw) = (vault.store()?, vault.raw(Cache::Reader)?);
    let queries = queries();
    for query in &queries {
        same("hits", hits(&store, query)?.iter().map(|hit| hit.message_id.uuid()), &raw_hits(&raw, query)?)?;
    }
    let query = |piece: usize| &queries[piece % queries.len()];
    let duel = Duel { runs, block: QUERIES };
    let times = duel.measure(|piece| hits(&store, query(piece)), |piece| raw_hits(&raw, query(piece)))?;
    let what = "full-text search, newest first";
    let mut rows = times.rows(Names { what, ours: STORE, theirs: RAW }, None);
    rows.push(Row::at_most(format!("{what}: {STORE}, p95 of {QUERIES} queries (ms)"), times.p95(), MOST_P95));
    Ok(Report { rows, preface: String::new() })
}

/// Words as they are frequent in the messages, one to three together.
pub fn queries() -> Vec<String> {
    let mut chance = Chance::new(4);
    (0..QUERIES).map(|number| chance.text(number % 3 + 1)).collect()
}

fn hits(store: &Store, query: &str) -> Result<Vec<SearchHit>, BenchError> {
    let query = SearchQuery { text: query.to_owned(), limit: HITS, ..SearchQuery::default() };
    Ok(store.read(|read| read.search_messages(&query))?)
}

/// The page by the raw statement.
pub fn raw_hits(raw: &Raw, query: &str) -> Result<Vec<Cells>, BenchError> {
    // The last word may go on if it has three letters, as in the store.
    let goes_on = query.rsplit(' ').next().is_some_and(|last| last.len() >= 3);
    let words = if goes_on { format!("{query}*") } else { query.to_owned() };
    raw.rows(NEWEST, named_params! { ":words": words, ":limit": HITS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_one_to_three_words() {
        let queries = queries();
        let of = |words: usize| queries.iter().filter(|query| query.split(' ').count() == words).count();
        assert_eq!((queries.len(), of(1), of(2), of(3)), (150, 50, 50, 50));
    }
}
