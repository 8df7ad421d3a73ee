//! Rescuing a damaged vault: whatever can be read of it is put into a new database, what cannot comes from the
//! newest backup that is whole, and the new one takes the old one's place. The old one is only ever copied and,
//! in the end, moved aside as it is.

mod repair;
mod salvage;

use super::BackupError;
use super::check::{check_connection, prove, pump};
use super::copy::{census, copy_database};
use super::info::{BackupAbout, BackupCounts, VaultKeys};
use super::journal::{Journal, READY, finish_pending_restore};
use super::progress::{Step, Watch, tell};
use super::work::Work;
use crate::connection::{self, Key};
use crate::file::{create_private, sync_file, sync_folder, with_suffix};
use crate::migration::{self, MIGRATIONS};
use crate::store::build_database;
use crate::{StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_vault::{Profile, Use, VaultLock};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub use salvage::TableRescue;

/// The copy of the damaged database in the work folder.
const COPY: &str = "damaged.db";
/// What may stand beside a database that was not closed, and belongs to it.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// A vault to be rescued.
pub struct RescueRequest<'a> {
    /// Its keys.
    pub keys: VaultKeys<'a>,
    /// Its profile.
    pub profile: &'a Profile,
    /// The exclusive lock of `profile`: the vault is closed in every process.
    pub lock: &'a VaultLock,
    /// The backup that fills the gaps; without one they stay.
    pub backup: Option<&'a Path>,
    /// The time.
    pub now: DateTime<Utc>,
}

/// What a rescue would bring, or has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescued {
    /// Whether the damaged database opens at all; if not, everything is from the backup.
    pub opens: bool,
    /// What became of each table that is not rebuilt.
    pub tables: Vec<TableRescue>,
    /// What is in the new database.
    pub counts: BackupCounts,
    /// Messages in it that the backup does not have; all of them without a backup.
    pub beyond_backup: u64,
    /// When the newest message in it was written.
    pub newest: Option<DateTime<Utc>>,
    /// The backup that filled the gaps.
    pub backup: Option<BackupAbout>,
    /// The damaged database, moved aside as it was; `None` before the rescue is done.
    pub set_aside: Option<PathBuf>,
}

impl Rescued {
    /// Minutes that restoring the backup alone would lose against this, rounded up; `None` without a backup.
    #[must_use]
    pub fn minutes_lost_by_backup(&self) -> Option<i64> {
        let backup = self.backup.as_ref()?;
        let behind = self.newest.map_or(0, |newest| (newest - backup.made_at).num_seconds().max(0));
        Some((behind + 59) / 60)
    }

    /// Whether something may be missing: ranges that can be read neither in the vault nor in the backup.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        !self.opens || self.tables.iter().any(|table| !table.is_complete())
    }
}

/// Says what [`rescue`] would bring. Nothing but the work folder is written.
///
/// # Errors
/// As for [`rescue`].
pub fn preview_rescue(request: &RescueRequest<'_>, watch: &mut Watch<'_>) -> Result<Rescued, BackupError> {
    check_lock(request)?;
    let work = Work::begin(request.profile, "rescue")?;
    make_ready(request, &work, watch)
}

/// Puts whatever can be read of a damaged vault, merged with a backup, in its place. The damaged database is kept
/// beside it, byte for byte, as restores keep theirs. An interruption at any point leaves the vault from before or
/// the rescued one, once [`finish_pending_restore`] was called at the next start.
///
/// # Errors
/// `InUse` without the exclusive lock; `Store(Damaged)` if the database does not open and there is no backup;
/// `Damaged`, `OtherVault`, `TooNew`, `WrongKey` for the backup; `DiskFull`, `File`; `Cancelled`: the vault is as
/// before.
pub fn rescue(request: &RescueRequest<'_>, watch: &mut Watch<'_>) -> Result<Rescued, BackupError> {
    check_lock(request)?;
    let RescueRequest { profile, lock, now, .. } = *request;
    let mut work = Work::begin(profile, "rescue")?;
    let mut rescued = make_ready(request, &work, watch)?;
    let ready = work.path(READY);
    sync_file(&ready).and_then(|()| sync_folder(&ready)).and_then(|()| sync_folder(work.folder())).map_err(of(&ready))?;
    tell(watch, Step::Journalling, 0, 0)?;
    let journal = Journal::new(profile, work.name(), &stamp(now), false, &ready)?;
    journal.write(profile)?;
    work.keep();
    journal.finish(profile, lock, watch)?;
    rescued.set_aside = Some(journal.aside(profile)).filter(|aside| aside.exists());
    Ok(rescued)
}

/// Keeps a copy of the database as it is, with its log, where restores keep theirs; answers its path.
///
/// # Errors
/// `DiskFull`, `NotWritable`, `File`, `FolderMissing`: the database is as before.
pub fn keep_copy(profile: &Profile, now: DateTime<Utc>) -> Result<PathBuf, BackupError> {
    let copy = Journal::free_aside(profile, &stamp(now));
    let done = copy_files(&profile.database(), &copy).and_then(|()| sync_folder(&copy).map_err(of(&copy)));
    if done.is_err() {
        for end in ["", BESIDE[0], BESIDE[1]] {
            // What is left of a copy that failed only takes room.
            let _ = fs::remove_file(with_suffix(&copy, end));
        }
    }
    done.map(|()| copy)
}

fn check_lock(request: &RescueRequest<'_>) -> Result<(), BackupError> {
    if !request.lock.is_exclusive_of(request.profile) {
        return Err(BackupError::InUse);
    }
    finish_pending_restore(request.profile, request.lock).map(drop)
}

fn stamp(now: DateTime<Utc>) -> String {
    now.format("%Y%m%dT%H%M%SZ").to_string()
}

/// Makes the database that is to take the vault's place.
fn make_ready(request: &RescueRequest<'_>, work: &Work, watch: &mut Watch<'_>) -> Result<Rescued, BackupError> {
    let key = request.keys.database(Use::Database);
    let ready = work.path(READY);
    let source = open_copy(request.profile, work, &key, watch)?.map(drop);
    let opens = source.is_ok();
    let backup = match request.backup {
        Some(path) => Some(base_of_backup(request, path, work, &key, watch)?),
        None => {
            source?;
            create_private(&ready).and_then(|()| build_database(&ready, &key, request.now)).map_err(of(&ready))?;
            None
        }
    };
    tell(watch, Step::Migrating, 0, 0)?;
    let mut target = connection::open(&ready, &key).map_err(of(&ready))?;
    migration::migrate(&mut target, MIGRATIONS, request.now).map_err(of(&ready))?;
    let damaged = opens.then(|| work.path(COPY));
    tell(watch, Step::Salvaging, 0, 0)?;
    let (tables, beyond_backup) = fill(&mut target, damaged.as_deref(), &key, request.now).map_err(of(&ready))?;
    check_connection(&target).map_err(of(&ready))?;
    let counts = census(&target)?.counts();
    let newest: Option<i64> =
        target.query_row("SELECT max(created_at) FROM messages", [], |row| row.get(0)).map_err(StoreError::from)?;
    // A file that is moved has no log.
    target.execute_batch("PRAGMA query_only = OFF").map_err(StoreError::from)?;
    target.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0)).map_err(StoreError::from)?;
    target.close().map_err(|(_, error)| StoreError::from(error))?;
    let newest = newest.and_then(DateTime::from_timestamp_millis);
    Ok(Rescued { opens, tables, counts, beyond_backup, newest, backup, set_aside: None })
}

/// Copies the damaged database into the work folder and tries to open the copy.
fn open_copy(
    profile: &Profile,
    work: &Work,
    key: &Key,
    watch: &mut Watch<'_>,
) -> Result<Result<Connection, StoreError>, BackupError> {
    tell(watch, Step::Salvaging, 0, 0)?;
    let copy = work.path(COPY);
    if !profile.database().exists() {
        return Ok(Err(StoreError::Missing { path: profile.database() }));
    }
    copy_files(&profile.database(), &copy)?;
    Ok(salvage::open(&copy, key))
}

/// Copies a database and what stands beside it, and syncs the copies.
fn copy_files(from: &Path, to: &Path) -> Result<(), BackupError> {
    for end in ["", BESIDE[0], BESIDE[1]] {
        let (from, to) = (with_suffix(from, end), with_suffix(to, end));
        if !from.exists() {
            continue;
        }
        create_private(&to).map_err(of(&to))?;
        let mut source = File::open(&from).map_err(|source| BackupError::file("read", &from, source))?;
        let opened = File::options().write(true).open(&to);
        let mut target = opened.map_err(|source| BackupError::file("write", &to, source))?;
        pump((&mut source, &from), (&mut target, &to), |_| Ok(()))?;
        target.sync_all().map_err(|source| BackupError::file("write", &to, source))?;
    }
    Ok(())
}

/// Lets the new database begin as the backup is.
fn base_of_backup(
    request: &RescueRequest<'_>,
    path: &Path,
    work: &Work,
    key: &Key,
    watch: &mut Watch<'_>,
) -> Result<BackupAbout, BackupError> {
    let proved = prove(path, request.keys, work, watch)?;
    let source = connection::open(&proved.database, &request.keys.database(Use::Backup))
        .map_err(|error| BackupError::of_backup(error, path))?;
    copy_database(&source, &work.path(READY), key, Step::Rekeying, watch)?;
    drop(source);
    // The room may be needed.
    let _ = fs::remove_file(&proved.database);
    Ok(proved.front.about(Some(proved.contents.census.counts())))
}

/// Moves what can be read into the new database and mends what hangs on it, in one transaction. Gives what became of
/// each table, and how many messages there are now that were not there before.
fn fill(
    target: &mut Connection,
    damaged: Option<&Path>,
    key: &Key,
    now: DateTime<Utc>,
) -> Result<(Vec<TableRescue>, u64), StoreError> {
    // Rows are put back as they were: what the triggers would do with them was done when they were written.
    target.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    let settings =
        "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;";
    target.execute_batch(settings)?;
    let transaction: Transaction<'_> = target.transaction()?;
    transaction.execute_batch("CREATE TEMP TABLE of_backup AS SELECT id FROM messages")?;
    let mut tables = Vec::new();
    if let Some(damaged) = damaged {
        tables = salvage::all(&transaction, damaged, key)?;
        repair::references(&transaction, now)?;
        repair::counts(&transaction)?;
        repair::index(&transaction)?;
    }
    let beyond = "SELECT count(*) FROM messages WHERE id NOT IN (SELECT id FROM temp.of_backup)";
    let beyond: i64 = transaction.query_row(beyond, [], |row| row.get(0))?;
    transaction.execute_batch("DROP TABLE temp.of_backup")?;
    WriteHandle::new(&transaction).begin_waits_anew(now)?;
    transaction.commit()?;
    target.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true)?;
    Ok((tables, u64::try_from(beyond).unwrap_or(0)))
}

fn of(path: &Path) -> impl Fn(StoreError) -> BackupError + '_ {
    move |error| BackupError::of_work(error, path)
}
