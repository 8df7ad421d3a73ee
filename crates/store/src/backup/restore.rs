//! Restoring: a copy is made ready beside the vault, and then takes its place.

use super::BackupError;
use super::check::{check_connection, check_database, prove};
use super::copy::{census, copy_database};
use super::info::{BackupCounts, VaultKeys};
use super::journal::{Journal, READY, SLOTS, finish_pending_restore};
use super::list::front;
use super::progress::{Step, Watch, tell};
use super::work::Work;
use crate::connection::{self, Key};
use crate::file::{sync_file, sync_folder};
use crate::migration::{self, MIGRATIONS};
use crate::{SCHEMA_VERSION, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_vault::{KeyFile, Profile, RootKey, Use, VaultError, VaultLock, write_durably};
use std::path::{Path, PathBuf};

/// A backup to be restored.
pub struct RestoreRequest<'a> {
    /// The backup.
    pub path: &'a Path,
    /// The root key of its vault: the open vault's own, or the one that the key slots in the backup
    /// give for a recovery code (see [`key_slots`](super::key_slots)).
    pub root: &'a RootKey,
    /// The profile that it is restored to: that of the same vault, or an empty one.
    pub profile: &'a Profile,
    /// The exclusive lock of `profile`: the vault is closed in every process.
    pub lock: &'a VaultLock,
    /// The time.
    pub now: DateTime<Utc>,
}

/// What a restore has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What is in the vault now.
    pub counts: BackupCounts,
    /// The database from before, as [`set_aside_databases`](super::set_aside_databases) lists it;
    /// `None` if there was none.
    pub set_aside: Option<PathBuf>,
    /// Whether the profile had no key slots and has now those of the backup. The vault then opens by
    /// recovery code or passphrase; the keychain can be added after that.
    pub adopted_key_slots: bool,
}

/// Puts a backup in the place of the vault. The database from before is kept beside it. The backup
/// is checked completely, copied to the vault's key, brought to this version's schema and checked
/// again before anything is moved; an interruption at any point leaves the vault from before or the
/// restored one, once [`finish_pending_restore`] was called at the next start.
///
/// # Errors
/// `InUse` without the exclusive lock; `OtherVault` if the profile has the key slots of another
/// vault; `Damaged`, `Foreign`, `TooNew`, `WrongKey`; `DiskFull`, `File`; `Cancelled`: the vault is
/// as before. `File` and `Vault` can also come after the point of no return; then
/// [`restore_is_pending`](super::restore_is_pending) says so.
pub fn restore(request: &RestoreRequest<'_>, watch: &mut Watch<'_>) -> Result<Restored, BackupError> {
    let RestoreRequest { path, root, profile, lock, now } = *request;
    if !lock.is_exclusive_of(profile) {
        return Err(BackupError::InUse);
    }
    finish_pending_restore(profile, lock)?;
    let of_backup = front(path)?;
    let keys = VaultKeys { root, vault_id: of_backup.head.vault_id };
    let adopted_key_slots = needs_key_slots(profile, path, &of_backup.key_file(path)?)?;

    let mut work = Work::begin(profile, "restore")?;
    let ready = work.path(READY);
    let counts = make_ready(path, keys, &work, now, watch)?;
    if adopted_key_slots {
        write_durably(&work.path(SLOTS), &of_backup.key_file(path)?.to_bytes()?)?;
    }
    sync_file(&ready).and_then(|()| sync_folder(&ready)).and_then(|()| sync_folder(work.folder())).map_err(of(&ready))?;
    tell(watch, Step::Journalling, 0, 0)?;
    let time = now.format("%Y%m%dT%H%M%SZ").to_string();
    let journal = Journal::new(profile, work.name(), &time, adopted_key_slots, &ready)?;
    journal.write(profile)?;
    work.keep();
    journal.finish(profile, lock, watch)?;
    let aside = journal.aside(profile);
    Ok(Restored { counts, set_aside: aside.exists().then_some(aside), adopted_key_slots })
}

/// Whether the profile takes the key slots of the backup: where it has none to read, or none for the root key that the
/// backup was made under.
fn needs_key_slots(profile: &Profile, path: &Path, of_backup: &KeyFile) -> Result<bool, BackupError> {
    let found = of_backup.vault_id();
    match KeyFile::read(profile) {
        Ok(present) if present.vault_id() == found => Ok(!present.is_of_same_root(of_backup)),
        Ok(present) => Err(BackupError::OtherVault { path: path.to_owned(), found, wanted: present.vault_id() }),
        // Lost or damaged: the present database, if there is one, is set aside all the same.
        Err(VaultError::NoVault | VaultError::Damaged { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Makes the database that is to take the vault's place.
fn make_ready(
    path: &Path,
    keys: VaultKeys<'_>,
    work: &Work,
    now: DateTime<Utc>,
    watch: &mut Watch<'_>,
) -> Result<BackupCounts, BackupError> {
    let ready = work.path(READY);
    let proved = prove(path, keys, work, watch)?;
    let source = connection::open(&proved.database, &keys.database(Use::Backup)).map_err(|e| BackupError::of_backup(e, path))?;
    let key = keys.database(Use::Database);
    copy_database(&source, &ready, &key, Step::Rekeying, watch)?;
    drop(source);
    // The room may be needed, and the work folder goes with the swap.
    let _ = std::fs::remove_file(&proved.database);
    check_database(&ready, &key, &proved.contents.census).map_err(of(&ready))?;
    tell(watch, Step::Migrating, 0, 0)?;
    migrate(&ready, &key, proved.front.head.schema, now).map_err(|error| BackupError::of_backup(error, path))
}

/// Brings the copy to this version's schema, checks it again if that changed anything, and begins
/// every wait for a deletion anew. A schema that this version would refuse to open is refused here.
fn migrate(ready: &Path, key: &Key, schema: i64, now: DateTime<Utc>) -> Result<BackupCounts, StoreError> {
    let mut connection = connection::open(ready, key)?;
    migration::migrate(&mut connection, MIGRATIONS, now)?;
    let transaction = connection.transaction()?;
    // What its scheduler was about to delete is what the user wants back.
    WriteHandle::new(&transaction).begin_waits_anew(now)?;
    transaction.commit()?;
    if schema < SCHEMA_VERSION {
        check_connection(&connection)?;
    }
    let counts = census(&connection)?.counts();
    connection.close().map_err(|(_, error)| StoreError::from(error))?;
    Ok(counts)
}

fn of(path: &Path) -> impl Fn(StoreError) -> BackupError + '_ {
    move |error| BackupError::of_work(error, path)
}
