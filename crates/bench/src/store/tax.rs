//! What encryption costs: the same raw statements on two files that differ in nothing else.

use super::append::Writing;
use super::duel::{Duel, Names};
use super::open::{Place, raw_newest};
use super::raw::{Cache, Raw};
use super::vault::{KEY, Vault};
use super::{lists, search};
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};

/// Of the same without a key, where the pages are in memory (figure 6).
const MOST_WARM: f64 = 1.1;
/// Of an import without a key (figure 6).
const MOST_IMPORT: f64 = 1.5;
/// So few conversations and queries that their pages stay in the cache.
const WARM: usize = 10;
const BLOCK: usize = 50;
/// Messages of an import.
const IMPORTED: usize = 20_000;
/// Messages that are there before it.
const SMALL: usize = 400;
/// Imports take seconds each.
const RUNS_AN_IMPORT: usize = 4;

/// Both files, each with a connection.
struct Pair {
    sealed: Raw,
    plain: Raw,
}

impl Pair {
    fn open(sealed: &Vault, plain: &Vault, cache: Cache) -> Result<Self, BenchError> {
        Ok(Self { sealed: Raw::open(&sealed.path, Some(&KEY), cache)?, plain: Raw::open(&plain.path, None, cache)? })
    }

    fn rows<T>(
        &self,
        duel: Duel,
        what: &str,
        most: Option<f64>,
        work: impl Fn(&Raw, usize) -> Result<T, BenchError>,
    ) -> Result<Vec<Row>, BenchError> {
        let times = duel.measure(|piece| work(&self.sealed, piece), |piece| work(&self.plain, piece))?;
        Ok(times.rows(names(what), most))
    }
}

fn names(what: &str) -> Names<'_> {
    Names { what, ours: "with a key", theirs: "without" }
}

/// Measures reading from memory and from the disk's cache, appending, importing.
pub fn measure(vault: &Vault, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    progress.say("encryption: reading …");
    let (sealed, plain) = vault.twins(progress)?;
    // The larger cache, or the postings of frequent words would come from the disk's cache each time.
    let pair = Pair::open(&sealed, &plain, Cache::Writer)?;
    let (duel, warm) = (Duel { runs, block: BLOCK }, Some(MOST_WARM));
    let (places, queries) = (Place::all(&pair.plain)?, search::queries());
    let few = &places[..places.len().min(WARM)];
    let mut rows =
        pair.rows(duel, "encryption, list page of conversations, warm", warm, |raw, _| lists::raw_conversations(raw))?;
    rows.extend(pair.rows(duel, "encryption, newest 50, warm", warm, |raw, piece| raw_newest(raw, &few[piece % few.len()]))?);
    rows.extend(pair.rows(duel, "encryption, search, warm", warm, |raw, piece| search::raw_hits(raw, &queries[piece % WARM]))?);
    drop(pair);
    // Pages that are read anew each time have no figure: they cost what decrypting costs.
    let pair = Pair::open(&sealed, &plain, Cache::Reader)?;
    rows.extend(pair.rows(duel, "encryption, newest 50 of any conversation", None, |raw, piece| {
        raw_newest(raw, &places[piece % places.len()])
    })?);
    rows.extend(pair.rows(Duel { runs, block: queries.len() }, "encryption, any search", None, |raw, piece| {
        search::raw_hits(raw, &queries[piece % queries.len()])
    })?);
    drop(pair);
    progress.say("encryption: appending …");
    rows.extend(appending(&sealed.copy()?, &plain.copy()?, runs)?);
    progress.say("encryption: importing …");
    rows.extend(importing(runs, progress)?);
    Ok(Report { rows, preface: String::new() })
}

/// One durable append is a write to the disk's log, neither warm reading nor an import: figure 6
/// gives it no figure.
fn appending(sealed: &Vault, plain: &Vault, runs: usize) -> Result<Vec<Row>, BenchError> {
    let pair = Pair::open(sealed, plain, Cache::Writer)?;
    let [mut one, _] = Writing::newest(&pair.sealed, sealed)?;
    let [mut other, _] = Writing::newest(&pair.plain, plain)?;
    let times =
        Duel { runs, block: BLOCK }.measure(|piece| one.insert(&pair.sealed, piece), |piece| other.insert(&pair.plain, piece))?;
    Ok(times.rows(names("encryption, durable append"), None))
}

/// Many messages in one transaction, down to the database file itself.
fn importing(runs: usize, progress: Progress) -> Result<Vec<Row>, BenchError> {
    let small = Vault::fresh(SMALL)?;
    let duel = Duel { runs: runs.div_ceil(RUNS_AN_IMPORT), block: 1 };
    progress.say(&format!("  {IMPORTED} messages at a time, {} runs …", duel.runs));
    let (mut sealed, mut plain) = (copies(&small.export(Some(&KEY))?, duel)?, copies(&small.export(None)?, duel)?);
    let times = duel.measure(|_| import(sealed.pop(), Some(&KEY)), |_| import(plain.pop(), None))?;
    Ok(times.rows(names(&format!("encryption, import of {IMPORTED} messages")), Some(MOST_IMPORT)))
}

/// One for each import, made before the clock runs.
fn copies(template: &Vault, duel: Duel) -> Result<Vec<Vault>, BenchError> {
    (0..duel.pieces_a_side()).map(|_| template.copy()).collect()
}

/// Imports into a copy, which is on disk and closed when this returns.
fn import(copy: Option<Vault>, key: Option<&[u8; 32]>) -> Result<Vault, BenchError> {
    let copy = copy.ok_or_else(|| BenchError::Worthless("there are fewer copies than imports".to_owned()))?;
    let raw = Raw::open(&copy.path, key, Cache::Writer)?;
    let [mut writing, _] = Writing::newest(&raw, &copy)?;
    raw.execute("BEGIN IMMEDIATE", [])?;
    (0..IMPORTED).try_for_each(|piece| writing.insert(&raw, piece))?;
    raw.execute("COMMIT", [])?;
    drop(raw);
    Ok(copy)
}
