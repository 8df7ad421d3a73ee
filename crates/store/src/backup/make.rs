//! Making a backup: copy, pack, prove, and only then give it its name.

use super::check::{prove, pump};
use super::copy::{census, copy_database};
use super::format::{Census, Contents, Head, file_name, front_bytes};
use super::info::{BackupId, BackupInfo, BackupKind, BackupResult, VaultKeys};
use super::progress::{Step, Watch, announce, tell};
use super::rotate::{Keep, rotate, sweep_unfinished};
use super::work::{self, Work};
use super::{BackupError, index, journal};
use crate::connection::{self, Key};
use crate::file::{create_private, sync_folder, with_suffix};
use crate::{SCHEMA_VERSION, Store, StoreError};
use chrono::{DateTime, Utc};
use evenkeel_vault::{KeyFile, Profile, RootKey, Use};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::{self, File};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A backup to be made.
pub struct BackupRequest<'a> {
    /// Where it is to lie: the profile's folder of backups, or one that the user chose. It has to
    /// exist, because a folder that is gone is most often a drive that was removed.
    pub folder: &'a Path,
    /// Why.
    pub kind: BackupKind,
    /// Its id.
    pub id: BackupId,
    /// The vault's root key.
    pub root: &'a RootKey,
    /// The vault's key slots, which go into the backup.
    pub key_file: &'a KeyFile,
    /// This version of Evenkeel.
    pub app_version: &'a str,
    /// The time.
    pub now: DateTime<Utc>,
    /// Which backups in `folder` to keep afterwards; without it none is deleted.
    pub keep: Option<&'a Keep<'a>>,
}

impl<'a> BackupRequest<'a> {
    fn keys(&self) -> VaultKeys<'a> {
        VaultKeys { root: self.root, vault_id: self.key_file.vault_id() }
    }
}

impl Store {
    /// Makes a backup of what is in the vault now, proves it and names it; see [`make`]. Reading and
    /// writing go on meanwhile, also in other processes.
    ///
    /// # Errors
    /// As for [`make`].
    pub fn backup_to(&self, request: &BackupRequest<'_>, watch: &mut Watch<'_>) -> Result<BackupInfo, BackupError> {
        let (path, key) = self.file().ok_or_else(|| StoreError::defect("what is kept in memory alone is not backed up"))?;
        let profile = Profile::new(path.parent().unwrap_or(Path::new("")).to_owned());
        back_up(&profile, (path, key), request, watch)
    }
}

/// Makes a backup of a vault that need not be open, such as before its schema is changed. It counts
/// from the moment it has its name, which it gets once it was read back from the disk and checked
/// completely. Then, as far as asked, backups that are out of their time are deleted.
///
/// # Errors
/// `FolderMissing`, `NotWritable`, `DiskFull`, `File`; `NotProved`; `Cancelled`; `Store` if the
/// vault's database cannot be read. No file is left under a backup's name, and those that were
/// there are as before.
pub fn make(profile: &Profile, request: &BackupRequest<'_>, watch: &mut Watch<'_>) -> Result<BackupInfo, BackupError> {
    let key = request.keys().database(Use::Database);
    connection::peek(&profile.database())?;
    back_up(profile, (&profile.database(), &key), request, watch)
}

fn back_up(
    profile: &Profile,
    database: (&Path, &Key),
    request: &BackupRequest<'_>,
    watch: &mut Watch<'_>,
) -> Result<BackupInfo, BackupError> {
    journal::refuse_pending(database.0)?;
    if !fs::metadata(request.folder).map_err(|source| BackupError::file("open", request.folder, source))?.is_dir() {
        return Err(BackupError::FolderMissing { path: request.folder.to_owned() });
    }
    let work = Work::begin(profile, "backup")?;
    let suffix = format!(".unfinished-{}-", &request.key_file.vault_id().simple().to_string()[..8]);
    sweep_unfinished(request.folder, &suffix, |name| work::goes_on(profile, name));

    let raw = work.path("copy.db");
    let snapshot = take_snapshot(database, &raw, request, watch)?;
    let path = request.folder.join(file_name(request.id, request.now));
    let unfinished = Unfinished(with_suffix(&path, &format!("{suffix}{}", work.name())));
    let size_bytes = pack(&raw, &unfinished.0, request, &snapshot, watch)?;
    // The proof needs the room.
    let _ = fs::remove_file(&raw);
    let proved = prove(&unfinished.0, request.keys(), &work, watch).map_err(not_proved)?;
    drop(work);
    tell(watch, Step::Publishing, 0, 0)?;
    unfinished.publish(&path)?;
    let info = BackupInfo {
        path,
        size_bytes,
        about: Some(proved.front.about(Some(proved.contents.census.counts()))),
        verified_at: Some(request.now),
        result: BackupResult::Verified,
    };
    announce(watch, Step::Recording);
    index::record(&info);
    if let Some(keep) = request.keep {
        announce(watch, Step::Rotating);
        if let Err(error) = rotate(request.folder, request.keys(), keep, (profile, request.now), watch) {
            tracing::warn!(code = error.code().as_str(), %error, "old backups could not be rotated; the new one is whole");
        }
    }
    Ok(info)
}

/// What was copied.
struct Snapshot {
    schema: i64,
    census: Census,
}

/// Copies one consistent state of the database to the backup's key.
fn take_snapshot(
    (path, key): (&Path, &Key),
    target: &Path,
    request: &BackupRequest<'_>,
    watch: &mut Watch<'_>,
) -> Result<Snapshot, BackupError> {
    let source = connection::open_beside(path, key)?;
    let quietly = "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192;";
    source.execute_batch(quietly).map_err(StoreError::from)?;
    // Inside a transaction every statement and the copy see the same state.
    let transaction = Transaction::new_unchecked(&source, TransactionBehavior::Deferred).map_err(StoreError::from)?;
    let schema = schema_of(&source)?;
    let census = census(&source)?;
    copy_database(&source, target, &request.keys().database(Use::Backup), Step::Copying, watch)?;
    transaction.rollback().map_err(StoreError::from)?;
    Ok(Snapshot { schema, census })
}

fn schema_of(connection: &Connection) -> Result<i64, StoreError> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > SCHEMA_VERSION { Err(StoreError::TooNew { found, known: SCHEMA_VERSION }) } else { Ok(found) }
}

/// Writes the whole file and syncs it; answers its length.
fn pack(
    raw: &Path,
    target: &Path,
    request: &BackupRequest<'_>,
    snapshot: &Snapshot,
    watch: &mut Watch<'_>,
) -> Result<u64, BackupError> {
    let failed = |source| BackupError::file("write", target, source);
    let read_failed = |source| BackupError::file("read", raw, source);
    let mut from = File::open(raw).map_err(read_failed)?;
    let bytes = from.metadata().map_err(read_failed)?.len();
    tell(watch, Step::Packing, 0, bytes)?;
    let head = Head {
        id: request.id,
        vault_id: request.key_file.vault_id(),
        kind: request.kind,
        made_at: request.now,
        app_version: request.app_version.to_owned(),
        schema: snapshot.schema,
    };
    // The hash stands before what it is of; room is left for it, since its length is known.
    let mut contents = Contents { bytes, sha256: "0".repeat(64), census: snapshot.census.clone() };
    let room = front_bytes(&head, request.key_file, &contents, request.keys())?.len();
    create_private(target).map_err(|error| BackupError::of_work(error, target))?;
    let mut file = File::options().write(true).open(target).map_err(failed)?;
    file.seek(SeekFrom::Start(room as u64)).map_err(failed)?;
    let (written, sha256) = pump((&mut from, raw), (&mut file, target), |done| tell(watch, Step::Packing, done, bytes))?;
    contents.sha256 = sha256;
    let front = front_bytes(&head, request.key_file, &contents, request.keys())?;
    if (front.len(), written) != (room, bytes) {
        return Err(StoreError::defect("the parts of a backup changed their lengths while it was written").into());
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.write_all(&front).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(room as u64 + bytes)
}

/// Damage in a file that was written just now speaks against the vault or the disk, not against a
/// backup that the user has.
fn not_proved(error: BackupError) -> BackupError {
    match error {
        BackupError::Damaged { reason, .. } => BackupError::NotProved { reason },
        error @ (BackupError::WrongKey { .. } | BackupError::TooNew { .. }) => {
            BackupError::NotProved { reason: error.to_string() }
        }
        error => error,
    }
}

/// A file that is no backup yet; removed when dropped.
struct Unfinished(PathBuf);

impl Unfinished {
    /// Gives it its name, durably.
    fn publish(self, path: &Path) -> Result<(), BackupError> {
        if path.exists() {
            return Err(BackupError::file("create", path, ErrorKind::AlreadyExists.into()));
        }
        fs::rename(&self.0, path).map_err(|source| BackupError::file("create", path, source))?;
        match sync_folder(path) {
            // Some file systems of sticks and shares cannot sync a folder.
            Err(StoreError::File { source, .. }) if matches!(source.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                Ok(())
            }
            synced => synced.map_err(|error| BackupError::of_work(error, path)),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Gone already if it was published.
        let _ = fs::remove_file(&self.0);
    }
}
