//! A whole vault in a profile folder of its own.

use crate::room::{at, furnish, message};
use chrono::{DateTime, Duration, Utc};
use evenkeel_store::Store;
use evenkeel_store::backup::{
    self, BackupError, BackupId, BackupInfo, BackupKind, BackupRequest, Keep, Progress, RestoreRequest, Restored, VaultKeys,
};
use evenkeel_vault::{CreateOptions, KeyFile, Profile, RootKey, Use, VaultLock, create};
use rusqlite::{Connection, types::Value};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub struct Vault {
    pub folder: tempfile::TempDir,
    pub profile: Profile,
    pub root: RootKey,
    pub key_file: KeyFile,
    pub code: String,
}

/// Lets the work go on.
pub fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The time of backup number `n`, a day after the one before.
pub fn day(n: u8) -> DateTime<Utc> {
    at(0) + Duration::days(n.into())
}

pub fn failed<T>(result: Result<T, BackupError>) -> BackupError {
    match result {
        Ok(_) => panic!("it should have failed"),
        Err(error) => error,
    }
}

impl Vault {
    /// A vault with one context, one conversation and `messages` messages of about 4 kB.
    pub fn with(messages: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::new(folder.path().join("profile"));
        let lock = VaultLock::exclusive(&profile).unwrap();
        let made = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
        let code = made.recovery_code.text().to_string();
        let vault = Self { folder, profile, root: made.root, key_file: made.key_file, code };
        let store = Store::create(&vault.profile.database(), &vault.database_key(), at(0)).unwrap();
        furnish(&store);
        add(&store, 1, messages);
        vault
    }

    pub fn database_key(&self) -> [u8; 32] {
        *self.root.subkey(self.key_file.vault_id(), Use::Database)
    }

    pub fn keys(&self) -> VaultKeys<'_> {
        VaultKeys { root: &self.root, vault_id: self.key_file.vault_id() }
    }

    pub fn store(&self) -> Store {
        Store::open(&self.profile.database(), &self.database_key(), at(0)).unwrap()
    }

    pub fn request<'a>(&'a self, folder: &'a Path, number: u8, keep: Option<&'a Keep<'a>>) -> BackupRequest<'a> {
        BackupRequest {
            folder,
            kind: BackupKind::Daily,
            id: BackupId::from_parts(day(number), [number; 10]),
            root: &self.root,
            key_file: &self.key_file,
            app_version: "0.1.0",
            now: day(number),
            keep,
        }
    }

    /// A backup in the profile's own folder.
    pub fn back_up(&self, number: u8) -> BackupInfo {
        self.store().backup_to(&self.request(&self.profile.backups(), number, None), &mut on).unwrap()
    }

    pub fn list(&self) -> Vec<BackupInfo> {
        backup::list(&self.profile.backups(), Some(self.keys())).unwrap()
    }

    pub fn verify(&self, path: &Path) -> Result<BackupInfo, BackupError> {
        backup::verify(path, self.keys(), &self.profile, day(99), &mut on)
    }

    pub fn restore(&self, path: &Path) -> Result<Restored, BackupError> {
        let lock = VaultLock::exclusive(&self.profile).unwrap();
        self.restore_to(path, &self.profile, &lock)
    }

    pub fn restore_to(&self, path: &Path, profile: &Profile, lock: &VaultLock) -> Result<Restored, BackupError> {
        backup::restore(&RestoreRequest { path, root: &self.root, profile, lock, now: day(50) }, &mut on)
    }

    /// Every row of every table but the app's own state, as text.
    pub fn contents(&self) -> Vec<String> {
        contents(&self.profile.database(), &self.database_key())
    }
}

/// Puts messages `from` to `to` at the end of conversation 1.
pub fn add(store: &Store, from: u64, to: u64) {
    store
        .write(|write| {
            for n in from..=to {
                let mut one = message(n, (n > 1).then(|| n - 1));
                one.content = format!("{} {n}", "what was said, in some words ".repeat(140));
                write.insert_message(one)?;
            }
            Ok(())
        })
        .unwrap();
}

pub fn contents(path: &Path, key: &[u8; 32]) -> Vec<String> {
    let connection = raw(path, key);
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'app_state' ORDER BY name";
    let mut tables = connection.prepare(sql).unwrap();
    let names: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut rows = Vec::new();
    for name in names {
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let columns = statement.column_count();
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|n| row.get(n)).collect::<Result<Vec<Value>, _>>();
        let found: Vec<_> = statement.query_map([], read).unwrap().map(|row| format!("{name}: {:?}", row.unwrap())).collect();
        rows.extend(found);
    }
    rows.sort();
    rows
}

pub fn raw(path: &Path, key: &[u8; 32]) -> Connection {
    let connection = Connection::open(path).unwrap();
    let hex = key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    connection.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"; PRAGMA cipher_log_level = NONE;")).unwrap();
    connection
}

/// Everything under a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}
