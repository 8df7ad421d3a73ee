//! The open database: one writer, a few readers, and the subscribers.

use crate::backup::refuse_pending;
use crate::change::Changes;
use crate::connection::{self, Key, Purpose, Salt, has_read_intact, is_intact, refuse_broken};
use crate::file::{create_private, make_private, remove_if_there, sync_file, sync_folder, with_suffix};
use crate::mark::{Mark, Shortfall};
use crate::migration::{self, MIGRATIONS};
use crate::pool::Pool;
use crate::{Change, Noun, ReadHandle, StoreError, Subscription, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::ErrorCode;
use evenkeel_vault::{Profile, release_reserve};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use secrecy::SecretBox;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a page, which the format of SQLCipher 4 fixes.
pub(crate) const PAGE_BYTES: u64 = 4_096;

/// An open vault database. Cheap calls, safe to share between threads; each call blocks.
pub struct Store {
    place: Place,
    pool: Pool,
    writer: Mutex<Writer>,
    changes: Changes,
}

/// Steps of SQLite's machine between two looks whether a check is to go on: about a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// Where the database is, and what opens it.
pub(crate) enum Place {
    /// An encrypted file.
    File { path: PathBuf, key: Key },
    /// The memory of this process, under a name of its own; gone with its last connection.
    Memory { name: String },
}

impl Place {
    /// Opens one more connection.
    pub(crate) fn connect(&self, purpose: Purpose) -> Result<Connection, StoreError> {
        let connection = match self {
            Self::File { path, key } => connection::create(path, key)?,
            Self::Memory { name } => connection::open_memory(name)?,
        };
        connection::settle(&connection, purpose, matches!(self, Self::Memory { .. }))?;
        Ok(connection)
    }
}

struct Writer {
    connection: Connection,
    /// Whether it is a file, which is encrypted; otherwise a database in memory.
    is_file: bool,
    /// How far messages were acknowledged; none for a database in memory.
    mark: Option<Mark>,
    /// SQLite's counter of commits by others, as last seen.
    data_version: i64,
}

impl Writer {
    /// One transaction, and the mark with it.
    fn transact<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, E>,
    ) -> Result<(T, Vec<Change>), E> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate).map_err(StoreError::from)?;
        let before = self.mark.as_ref().map(|_| Mark::newest(&transaction)).transpose()?.flatten();
        let changes_before = transaction.total_changes();
        let mut handle = WriteHandle::new(&transaction);
        let value = work(&mut handle)?;
        let changes = handle.into_changes();
        // What has changed cannot be committed after a page that does not decrypt: SQLCipher encrypts none from then on.
        // What was only read could be zeros all the same. To ask each time costs as much as half the writing.
        if self.is_file && transaction.total_changes() == changes_before {
            refuse_broken(&transaction)?;
        }
        let rise = self.mark.as_ref().map(|mark| mark.before_commit(&transaction, before)).transpose()?;
        if let Err(error) = transaction.commit() {
            if self.is_file {
                refuse_broken(&self.connection)?;
            }
            return Err(StoreError::from(error).into());
        }
        if let (Some(mark), Some(rise)) = (&self.mark, rise) {
            mark.after_commit(rise);
        }
        Ok((value, changes))
    }

    /// Gives a few freed pages back to the disk; answers how many. Pages are moved for that, and one that does not
    /// decrypt must not be moved as zeros.
    fn give_back(&mut self) -> Result<u64, StoreError> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
        let before = free_pages(&transaction)?;
        if before > 0 {
            // One page for each row that is asked for.
            let mut statement = transaction.prepare("PRAGMA incremental_vacuum(256)")?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
        }
        let given = before.saturating_sub(free_pages(&transaction)?);
        if self.is_file {
            refuse_broken(&transaction)?;
        }
        transaction.commit()?;
        Ok(given)
    }

    /// Takes another connection where the present one has met a damaged page.
    fn mend(&mut self, place: &Place) {
        if self.is_file && !is_intact(&self.connection) {
            match place.connect(Purpose::Write) {
                Ok(connection) => self.connection = connection,
                Err(error) => tracing::warn!(code = error.code().as_str(), %error, "the writer could not be opened anew"),
            }
        }
    }
}

impl Store {
    /// Makes a new database and opens it. It is built beside its place and moved there when whole,
    /// so a crash leaves either nothing or all of it. Call it only while holding the vault's lock.
    ///
    /// # Errors
    /// `Exists` if there is a file at `path`; `RestorePending`; `File` or `DiskFull` if the disk refuses.
    pub fn create(path: &Path, key: &[u8; 32], now: DateTime<Utc>) -> Result<Self, StoreError> {
        refuse_pending(path)?;
        if path.exists() {
            return Err(StoreError::Exists { path: path.to_owned() });
        }
        let build = with_suffix(path, ".creating");
        for leftover in [build.clone(), with_suffix(&build, "-wal"), with_suffix(&build, "-shm")] {
            remove_if_there(&leftover)?;
        }
        create_private(&build)?;
        build_database(&build, &copy_key(key), now)?;
        sync_file(&build)?;
        fs::rename(&build, path).map_err(|source| StoreError::File { action: "create", path: path.to_owned(), source })?;
        sync_folder(path)?;
        Self::open(path, key, now)
    }

    /// Opens a database, and brings it to the schema of this build; `now` is recorded with that.
    ///
    /// # Errors
    /// `Missing`, `Plaintext` or `Damaged` (which is also what a wrong key looks like), `TailLost`, `TooNew`,
    /// `MigrationEdited`, `RestorePending`: the file is untouched after each of them.
    pub fn open(path: &Path, key: &[u8; 32], now: DateTime<Utc>) -> Result<Self, StoreError> {
        match Self::open_as(path, key, now, false) {
            // Opening takes some room too, and who cannot open cannot delete.
            Err(error) if error.code() == ErrorCode::DiskFull && gives_reserve(path) => Self::open_as(path, key, now, false),
            opened => opened,
        }
    }

    /// Opens a database that lacks messages which were acknowledged, as if they had never been. What is left of
    /// them in its log is gone then: call it only behind [`backup::keep_copy`](crate::backup::keep_copy).
    ///
    /// # Errors
    /// As for [`Store::open`], but for `TailLost`.
    pub fn open_short(path: &Path, key: &[u8; 32], now: DateTime<Utc>) -> Result<Self, StoreError> {
        Self::open_as(path, key, now, true)
    }

    fn open_as(path: &Path, key: &[u8; 32], now: DateTime<Utc>, may_be_short: bool) -> Result<Self, StoreError> {
        refuse_pending(path)?;
        let key = copy_key(key);
        let mut connection = connection::open(path, &key)?;
        let salt = connection::salt(&connection)?;
        if !may_be_short {
            refuse_short(path, salt, &connection)?;
        }
        make_private(path)?;
        migration::migrate(&mut connection, MIGRATIONS, now)?;
        connection::settle(&connection, Purpose::Write, false)?;
        let mark = Mark::open(path, salt);
        if let Some(mark) = mark.as_ref().filter(|_| may_be_short) {
            mark.begin_anew(&connection)?;
        }
        let data_version = data_version(&connection)?;
        tracing::debug!(schema = migration::SCHEMA_VERSION, "vault database open");
        Ok(Self {
            place: Place::File { path: path.to_owned(), key },
            pool: Pool::default(),
            writer: Mutex::new(Writer { connection, is_file: true, mark, data_version }),
            changes: Changes::default(),
        })
    }

    /// Makes a database in memory, which never touches the disk and is gone when it is dropped.
    /// `name` has to differ from that of every other one in this process.
    ///
    /// # Errors
    /// `Storage` if SQLite refuses.
    pub fn in_memory(name: &str, now: DateTime<Utc>) -> Result<Self, StoreError> {
        let place = Place::Memory { name: name.to_owned() };
        let mut connection = place.connect(Purpose::Write)?;
        migration::migrate(&mut connection, MIGRATIONS, now)?;
        // Migrating turns foreign keys off, and without them what is deleted leaves behind what hangs on it.
        connection::settle(&connection, Purpose::Write, true)?;
        let data_version = data_version(&connection)?;
        Ok(Self {
            place,
            pool: Pool::default(),
            writer: Mutex::new(Writer { connection, is_file: false, mark: None, data_version }),
            changes: Changes::default(),
        })
    }

    /// Whether a database has the messages that were acknowledged, which is not changed by looking.
    ///
    /// # Errors
    /// `TailLost`, and as for [`Store::open`], but for `TooNew` and `MigrationEdited`.
    pub fn check_tail(path: &Path, key: &[u8; 32]) -> Result<(), StoreError> {
        refuse_pending(path)?;
        let connection = connection::open(path, &copy_key(key))?;
        refuse_short(path, connection::salt(&connection)?, &connection)
    }

    /// The schema of a database, which is not changed by looking; 0 = it has none yet.
    ///
    /// # Errors
    /// As for [`Store::open`], but for `TooNew` and `MigrationEdited`.
    pub fn schema(path: &Path, key: &[u8; 32]) -> Result<i64, StoreError> {
        refuse_pending(path)?;
        let connection = connection::open(path, &copy_key(key))?;
        Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Where the database is; `None` = in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File { path, .. } => Some(path),
            Place::Memory { .. } => None,
        }
    }

    /// Reads one consistent state. At most 4 reads run at a time; more wait.
    ///
    /// # Errors
    /// Whatever `work` returns; `Defect` if called inside another read of the same store.
    pub fn read<T>(&self, work: impl FnOnce(&ReadHandle<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.try_read(work)
    }

    /// Like [`Store::read`], for work that has errors of its own.
    ///
    /// # Errors
    /// Whatever `work` returns; `Defect` if called inside another read of the same store.
    pub fn try_read<T, E: From<StoreError>>(&self, work: impl FnOnce(&ReadHandle<'_>) -> Result<T, E>) -> Result<T, E> {
        let _entered = Entered::new(self, "read")?;
        let mut lent = self.pool.lend(&self.place)?;
        let connection = lent.connection()?;
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred).map_err(StoreError::from)?;
        let mut result = work(&ReadHandle::new(connection));
        let ended = transaction.rollback().map_err(StoreError::from);
        if self.file().is_some() && !has_read_intact(connection) {
            lent.discard();
            // What was read may hold zeros that never were written.
            result = result.and(Err(StoreError::DamagedValue { what: "a page".to_owned() }.into()));
        }
        ended?;
        result
    }

    /// Writes in one transaction, which is on disk when this returns `Ok`; otherwise nothing
    /// changed. Subscribers are told after that, on the calling thread.
    ///
    /// # Errors
    /// Whatever `work` returns, `DiskFull`, `Busy` after 5 s of another process's writing;
    /// `Defect` if called inside another write of the same store.
    pub fn write<T>(&self, work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.try_write(work)
    }

    /// Like [`Store::write`], for work that has errors of its own; any error undoes all of it.
    ///
    /// # Errors
    /// As for [`Store::write`].
    pub fn try_write<T, E: From<StoreError>>(&self, work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, E>) -> Result<T, E> {
        let (value, changes) = {
            let _entered = Entered::new(self, "write")?;
            let mut writer = self.writer();
            let done = writer.transact(work);
            if done.is_err() {
                writer.mend(&self.place);
            }
            done?
        };
        self.changes.emit(&changes);
        Ok(value)
    }

    /// Like [`Store::write`], for what leads to room on the disk: where there is none, the profile's reserve is given
    /// back to the disk and it is tried once more.
    ///
    /// # Errors
    /// As for [`Store::write`].
    pub fn write_freeing<T>(&self, mut work: impl FnMut(&mut WriteHandle<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match self.write(&mut work) {
            Err(error) if error.code() == ErrorCode::DiskFull && self.path().is_some_and(gives_reserve) => self.write(work),
            outcome => outcome,
        }
    }

    /// Calls back after each commit, once for each thing that changed, on the thread that wrote; where
    /// more than eight of a noun did, once with an empty id for all of them.
    /// The callback has to be quick; it may use the store.
    pub fn subscribe(&self, callback: impl Fn(&Change) + Send + Sync + 'static) -> Subscription {
        self.changes.subscribe(Arc::new(callback))
    }

    /// Looks whether another process wrote since the last look. If so, subscribers get one change
    /// of each noun with an empty id, and the answer is true. Costs microseconds.
    ///
    /// # Errors
    /// `Storage` if the database cannot be read.
    pub fn notice_other_processes(&self) -> Result<bool, StoreError> {
        let wrote = {
            let mut writer = self.writer();
            let now = data_version(&writer.connection)?;
            std::mem::replace(&mut writer.data_version, now) != now
        };
        if wrote {
            self.changes.emit(&Noun::ALL.map(|noun| Change::of(noun, "")));
        }
        Ok(wrote)
    }

    /// Gives unused memory back: page caches and idle readers. For when the app is idle.
    ///
    /// # Errors
    /// `Storage` if SQLite refuses.
    pub fn shrink(&self) -> Result<(), StoreError> {
        self.pool.shrink();
        Ok(self.writer().connection.release_memory()?)
    }

    /// Gives freed pages back to the disk, a few in each transaction so that nobody waits long, and
    /// empties the log as far as nobody reads from it. `go_on` is asked between the transactions.
    /// Returns the bytes given back; a vault made before that was possible keeps its free pages for
    /// what comes. For when the app is idle.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `Busy`.
    pub fn compact(&self, go_on: &mut dyn FnMut() -> bool) -> Result<u64, StoreError> {
        let mut pages = 0;
        loop {
            let mut writer = self.writer();
            let given = writer.give_back();
            if given.is_err() {
                writer.mend(&self.place);
            }
            drop(writer);
            let given = given?;
            pages += given;
            if given == 0 || !go_on() {
                break;
            }
        }
        let writer = self.writer();
        // Who still reads from the log is not waited for: the next time does.
        writer.connection.busy_timeout(Duration::from_millis(50))?;
        let emptied = writer.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        writer.connection.busy_timeout(connection::BUSY_TIMEOUT)?;
        emptied?;
        Ok(pages * PAGE_BYTES)
    }

    /// Whether whoever last had a database open did not close it: its log still stands beside it. Look before anyone
    /// opens it.
    #[must_use]
    pub fn was_left_open(path: &Path) -> bool {
        fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0)
    }

    /// Checks everything: each page's authentication code, the structure, the foreign keys. Takes
    /// time in proportion to the size; returns what is wrong, nothing if all is well.
    ///
    /// # Errors
    /// `Damaged` or `Storage` if the check itself cannot run.
    pub fn full_check(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.full_check_while(|| true)?.unwrap_or_default())
    }

    /// The same for as long as `go_on` says so; `None` where it was stopped. It reads one state by a connection of
    /// its own, so that nobody who reads or writes waits for it. `go_on` is asked often and has to be quick.
    ///
    /// # Errors
    /// As for [`Store::full_check`].
    pub fn full_check_while(&self, go_on: impl Fn() -> bool + Send + Sync + 'static) -> Result<Option<Vec<String>>, StoreError> {
        let go_on = Arc::new(go_on);
        let mut found = self.look_through(&go_on);
        // A page that another process moved just then is not there the second time; one that is damaged is.
        if go_on() && found.as_ref().map_or(true, |found| !found.is_empty()) {
            found = self.look_through(&go_on);
        }
        // What was interrupted has found nothing that counts.
        if go_on() { found.map(Some) } else { Ok(None) }
    }

    fn look_through(&self, go_on: &Arc<impl Fn() -> bool + Send + Sync + 'static>) -> Result<Vec<String>, StoreError> {
        // A checkpoint that was cut off leaves half a page in the file and the whole one in the log, and the check of page
        // codes reads the file alone: the log goes first.
        if self.file().is_some() {
            // Where that cannot be done, the check says so in its own way.
            let _ = self.writer().connection.query_row("PRAGMA wal_checkpoint (PASSIVE)", [], |_| Ok(()));
        }
        let mut connection = self.place.connect(Purpose::Read)?;
        let asked = go_on.clone();
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || !asked()))?;
        // While somebody reads what the log held, no later page goes into the file, and it is not made shorter.
        let reading = connection.unchecked_transaction()?;
        reading.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        let mut found = findings(&reading)?;
        // Where a page is bad already, counting may meet it.
        if found.is_empty() {
            found.extend(miscounts(&reading)?);
        }
        Ok(found)
    }

    /// The file and its key, for what works on it with a connection of its own.
    pub(crate) fn file(&self) -> Option<(&Path, &Key)> {
        match &self.place {
            Place::File { path, key } => Some((path, key)),
            Place::Memory { .. } => None,
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic inside a write has rolled its transaction back on the way out.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// Which stores this thread is inside of, and how.
    static ENTERED: RefCell<Vec<(usize, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// Turns a nested call, which would wait for itself for ever, into an error.
struct Entered;

impl Entered {
    fn new(store: &Store, how: &'static str) -> Result<Self, StoreError> {
        let entry = (std::ptr::from_ref(store).addr(), how);
        ENTERED.with_borrow_mut(|entered| {
            if entered.contains(&entry) {
                return Err(StoreError::defect(format!("a {how} was begun inside another {how}")));
            }
            entered.push(entry);
            Ok(Self)
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.with_borrow_mut(|entered| entered.pop());
    }
}

fn refuse_short(path: &Path, salt: Salt, connection: &Connection) -> Result<(), StoreError> {
    match Mark::shortfall(path, salt, connection)? {
        Some(Shortfall { acknowledged, found }) => Err(StoreError::TailLost { acknowledged, found }),
        None => Ok(()),
    }
}

/// Gives the reserve of a database's profile back to the disk; answers whether there was one.
fn gives_reserve(database: &Path) -> bool {
    let profile = Profile::new(database.parent().unwrap_or(Path::new("")).to_owned());
    let released = release_reserve(&profile);
    released
        .inspect_err(
            |error| tracing::warn!(code = error.code().as_str(), %error, "the reserve could not be given back to the disk"),
        )
        .unwrap_or(false)
}

/// What is wrong with a database: page codes, structure, foreign keys.
pub(crate) fn findings(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut findings = Vec::new();
    for pragma in ["PRAGMA cipher_integrity_check", "PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
        match told(connection, pragma) {
            Ok(told) => findings.extend(told.into_iter().filter(|finding| finding != "ok")),
            // Over pages that were found bad the next checks may stumble.
            Err(error) if !findings.is_empty() => findings.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(findings)
}

fn told(connection: &Connection, pragma: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(pragma)?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Conversations that hold another number of messages than they say. A page from an earlier time is whole in itself,
/// and only what is kept twice can show that it does not belong here.
fn miscounts(connection: &Connection) -> Result<Option<String>, StoreError> {
    let sql = "SELECT count(*) FROM conversations v
               WHERE message_count <> (SELECT count(*) FROM messages m WHERE m.conversation_id = v.id)";
    let wrong: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok((wrong > 0).then(|| format!("the number of messages of {wrong} conversations")))
}

pub(crate) fn copy_key(key: &[u8; 32]) -> Key {
    SecretBox::new(Box::new(*key))
}

fn free_pages(connection: &Connection) -> Result<u64, StoreError> {
    let pages: i64 = connection.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    Ok(u64::try_from(pages).unwrap_or(0))
}

fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.query_row("PRAGMA data_version", [], |row| row.get(0))?)
}

/// Makes all tables in an empty file, and closes it with nothing left in the log.
pub(crate) fn build_database(path: &Path, key: &Key, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut connection = connection::create(path, key)?;
    // Only an empty file can be given it: freed pages can go back to the disk a few at a time.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    migration::migrate(&mut connection, MIGRATIONS, now)?;
    connection::settle(&connection, Purpose::Write, false)?;
    connection.close().map_err(|(_, error)| error.into())
}
