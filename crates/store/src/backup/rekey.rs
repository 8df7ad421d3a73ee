//! Giving the vault another root key: a copy under the new key is made ready beside it, checked, and takes its place as
//! a restored backup does. Until that is written down, everything is as it was.

use super::BackupError;
use super::check::{check_connection, check_database};
use super::copy::{census, copy_database};
use super::info::VaultKeys;
use super::journal::{Journal, READY, SLOTS, finish_pending_restore};
use super::progress::{Step, Watch, tell};
use super::work::Work;
use crate::connection::{self, Key};
use crate::file::{sync_file, sync_folder};
use crate::{StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_vault::{KeyFile, NewRoot, Profile, RootKey, Use, VaultLock, write_durably};
use std::path::{Path, PathBuf};

/// A vault that is to get another root key.
pub struct RekeyRequest<'a> {
    /// The profile, whose vault is closed in every process.
    pub profile: &'a Profile,
    /// Its exclusive lock.
    pub lock: &'a VaultLock,
    /// The present root key.
    pub root: &'a RootKey,
    /// The present key slots.
    pub key_file: &'a KeyFile,
    /// The root key to be, with its slots.
    pub new: &'a NewRoot,
    /// Seals anew what is sealed inside the database.
    pub reseal: &'a Reseal<'a>,
    /// The time.
    pub now: DateTime<Utc>,
}

/// Seals anew, in the copy, what a sub-key of the old root has sealed.
pub type Reseal<'a> = dyn Fn(&mut WriteHandle<'_>) -> Result<(), StoreError> + 'a;

/// Exports the vault into a database under another root key, checks it, and swaps both the database and the key slots. An
/// interruption at any point leaves the vault under the old key or under the new one, once
/// [`finish_pending_restore`](super::finish_pending_restore) was called at the next start. Gives the old database, which is
/// kept beside with the slots that open it until [`remove_set_aside`](super::remove_set_aside).
///
/// # Errors
/// `InUse` without the exclusive lock; `Store` if the vault is damaged; `DiskFull`, `File`; `Cancelled`: the vault is as
/// before. `File` and `Vault` can also come after the point of no return; then
/// [`restore_is_pending`](super::restore_is_pending) says so.
pub fn rekey(request: &RekeyRequest<'_>, watch: &mut Watch<'_>) -> Result<PathBuf, BackupError> {
    let RekeyRequest { profile, lock, now, .. } = *request;
    if !lock.is_exclusive_of(profile) {
        return Err(BackupError::InUse);
    }
    finish_pending_restore(profile, lock)?;
    let mut work = Work::begin(profile, "rekey")?;
    let ready = work.path(READY);
    make_ready(request, &ready, watch)?;
    write_durably(&work.path(SLOTS), &request.new.key_file.to_bytes()?)?;
    sync_file(&ready).and_then(|()| sync_folder(&ready)).and_then(|()| sync_folder(work.folder())).map_err(of(&ready))?;
    tell(watch, Step::Journalling, 0, 0)?;
    let time = now.format("%Y%m%dT%H%M%SZ").to_string();
    let journal = Journal::new(profile, work.name(), &time, true, &ready)?;
    journal.write(profile)?;
    work.keep();
    journal.finish(profile, lock, watch)?;
    Ok(journal.aside(profile))
}

/// Makes the database that is to take the vault's place.
fn make_ready(request: &RekeyRequest<'_>, ready: &Path, watch: &mut Watch<'_>) -> Result<(), BackupError> {
    let vault_id = request.key_file.vault_id();
    let old = VaultKeys { root: request.root, vault_id }.database(Use::Database);
    let new = VaultKeys { root: &request.new.root, vault_id }.database(Use::Database);
    let source = connection::open(&request.profile.database(), &old)?;
    let expected = census(&source)?;
    copy_database(&source, ready, &new, Step::Rekeying, watch)?;
    drop(source);
    tell(watch, Step::Checking, 0, 0)?;
    check_database(ready, &new, &expected).map_err(of(ready))?;
    reseal(ready, &new, request.reseal)?;
    check_database(ready, &new, &expected).map_err(of(ready))
}

fn reseal(ready: &Path, key: &Key, reseal: &Reseal<'_>) -> Result<(), BackupError> {
    let work = || -> Result<(), StoreError> {
        let mut connection = connection::open(ready, key)?;
        let transaction = connection.transaction()?;
        reseal(&mut WriteHandle::new(&transaction))?;
        transaction.commit()?;
        check_connection(&connection)?;
        connection.close().map_err(|(_, error)| StoreError::from(error))
    };
    work().map_err(of(ready))
}

fn of(path: &Path) -> impl Fn(StoreError) -> BackupError + '_ {
    move |error| BackupError::of_work(error, path)
}
