//! What a restore would change.

use super::BackupError;
use super::check::prove;
use super::copy::census;
use super::info::{BackupAbout, BackupCounts, VaultKeys};
use super::progress::Watch;
use super::work::Work;
use crate::connection::{self, Key};
use crate::migration::{self, MIGRATIONS};
use crate::{Store, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_domain::ContextId;
use evenkeel_vault::{Profile, Use};
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, TransactionBehavior};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;
use uuid::Uuid;

/// A context by its id and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedContext {
    /// Its id.
    pub id: ContextId,
    /// Its name; in the backup for one that would come back, in the vault for one that would go.
    pub name: String,
}

/// What would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePreview {
    /// The backup, which was checked completely.
    pub backup: BackupAbout,
    /// What is in the backup.
    pub then: BackupCounts,
    /// What is in the vault; nothing where there is none.
    pub now: BackupCounts,
    /// Contexts that are in the backup alone.
    pub returning: Vec<NamedContext>,
    /// Contexts that are in the vault alone.
    pub vanishing: Vec<NamedContext>,
    /// Messages that are in the backup alone.
    pub returning_messages: u64,
    /// Messages that are in the vault alone, and would be lost.
    pub lost_messages: u64,
    /// When the oldest and the newest of them were written.
    pub lost_between: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

/// Says what restoring the backup at `path` would change, after checking it completely on a copy in
/// the work folder of `profile`. `vault` is the vault whose place it would take, if it is open.
/// Memory use does not grow with the history.
///
/// # Errors
/// As for [`verify`](super::verify); `Store` if the vault cannot be read.
pub fn preview(
    path: &Path,
    keys: VaultKeys<'_>,
    profile: &Profile,
    vault: Option<&Store>,
    watch: &mut Watch<'_>,
) -> Result<RestorePreview, BackupError> {
    let work = Work::begin(profile, "preview")?;
    let proved = prove(path, keys, &work, watch)?;
    let then = open_migrated(&proved.database, &keys.database(Use::Backup), proved.front.head.made_at)
        .map_err(|error| BackupError::of_backup(error, path))?;
    let present = vault.map(open_beside).transpose()?;
    let counts = proved.contents.census.counts();
    let mut preview = RestorePreview {
        backup: proved.front.about(Some(counts)),
        then: counts,
        now: BackupCounts::default(),
        returning: contexts(&then)?,
        vanishing: Vec::new(),
        returning_messages: counts.messages,
        lost_messages: 0,
        lost_between: None,
    };
    if let Some(present) = present {
        compare(&mut preview, &then, &present)?;
    }
    Ok(preview)
}

/// The backup's database as this version would show it.
fn open_migrated(path: &Path, key: &Key, made_at: DateTime<Utc>) -> Result<Connection, StoreError> {
    let mut connection = connection::open(path, key)?;
    migration::migrate(&mut connection, MIGRATIONS, made_at)?;
    Ok(connection)
}

fn open_beside(vault: &Store) -> Result<Connection, StoreError> {
    let (path, key) = vault.file().ok_or_else(|| StoreError::defect("what is kept in memory alone has no backups"))?;
    let connection = connection::open_beside(path, key)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192;")?;
    Ok(connection)
}

fn compare(preview: &mut RestorePreview, then: &Connection, present: &Connection) -> Result<(), StoreError> {
    let transaction = Transaction::new_unchecked(present, TransactionBehavior::Deferred)?;
    preview.now = census(present)?.counts();
    let (before, now) = (contexts(then)?, contexts(present)?);
    let missing = |from: &[NamedContext], in_: &[NamedContext]| -> Vec<NamedContext> {
        let there: std::collections::BTreeSet<_> = in_.iter().map(|context| context.id).collect();
        from.iter().filter(|context| !there.contains(&context.id)).cloned().collect()
    };
    preview.returning = missing(&before, &now);
    preview.vanishing = missing(&now, &before);
    let difference = messages_apart(then, present)?;
    preview.returning_messages = difference.returning;
    preview.lost_messages = difference.lost;
    preview.lost_between = difference.lost_between;
    Ok(transaction.rollback()?)
}

fn contexts(connection: &Connection) -> Result<Vec<NamedContext>, StoreError> {
    let sql = "SELECT c.id, r.name FROM contexts c JOIN revisions r ON r.id = c.revision_id WHERE c.purged_at IS NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((Uuid::from_bytes(row.get(0)?), row.get(1)?)))?;
    let named = rows.collect::<Result<BTreeMap<Uuid, String>, _>>()?;
    Ok(named.into_iter().map(|(id, name)| NamedContext { id: id.into(), name }).collect())
}

#[derive(Default)]
struct Apart {
    returning: u64,
    lost: u64,
    lost_between: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

/// Walks both lists of ids in order, side by side.
fn messages_apart(then: &Connection, present: &Connection) -> Result<Apart, StoreError> {
    const IDS: &str = "SELECT id FROM messages ORDER BY id";
    let (mut then, mut now) = (then.prepare(IDS)?, present.prepare(IDS)?);
    let (mut then, mut now) = (ids(&mut then)?, ids(&mut now)?);
    let mut time_of = present.prepare("SELECT created_at FROM messages WHERE id = ?1")?;
    let mut apart = Apart::default();
    let (mut old, mut new) = (then.next().transpose()?, now.next().transpose()?);
    loop {
        let order = match (&old, &new) {
            (None, None) => return Ok(apart),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.cmp(new),
        };
        if order == Ordering::Greater {
            let millis: Option<i64> = time_of.query_row([new], |row| row.get(0)).optional()?;
            apart.lost += 1;
            apart.widen(millis.and_then(DateTime::from_timestamp_millis));
        } else if order == Ordering::Less {
            apart.returning += 1;
        }
        if order != Ordering::Greater {
            old = then.next().transpose()?;
        }
        if order != Ordering::Less {
            new = now.next().transpose()?;
        }
    }
}

impl Apart {
    fn widen(&mut self, at: Option<DateTime<Utc>>) {
        let Some(at) = at else { return };
        let (oldest, newest) = self.lost_between.unwrap_or((at, at));
        self.lost_between = Some((oldest.min(at), newest.max(at)));
    }
}

fn ids<'a>(
    statement: &'a mut Statement<'_>,
) -> Result<impl Iterator<Item = Result<[u8; 16], rusqlite::Error>> + use<'a>, StoreError> {
    Ok(statement.query_map([], |row| row.get::<_, [u8; 16]>(0))?)
}
