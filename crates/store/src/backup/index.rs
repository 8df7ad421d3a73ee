//! `backups.json` beside the backups: when each was checked, and with what result. Everything else
//! is in the files themselves; without it they only count as not yet checked.

use super::info::{BackupId, BackupInfo, BackupResult};
use super::work::lock_file;
use chrono::{DateTime, Utc};
use evenkeel_vault::write_durably;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const NAME: &str = "backups.json";
/// Held while the index is read and written anew: what two note at once would else be lost.
const LOCK: &str = "backups.lock";
const FORMAT: u32 = 1;
/// Far more than the entries of any folder need.
const MOST_BYTES: u64 = 8 << 20;

/// What is known of the files in one folder.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Index {
    format: u32,
    backups: Vec<Entry>,
}

/// The last check of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    /// The file's name in the folder.
    name: String,
    /// Its id, where it could be read: another file of the same name is another backup.
    id: Option<BackupId>,
    size_bytes: u64,
    checked_at: DateTime<Utc>,
    /// What was wrong; `None` if all was well.
    damage: Option<String>,
}

impl Index {
    /// The index of a folder; empty where there is none or it cannot be read.
    pub(super) fn read(folder: &Path) -> Self {
        let mut bytes = Vec::new();
        let read = fs::File::open(folder.join(NAME)).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
        let index = read.ok().and_then(|_| serde_json::from_slice::<Self>(&bytes).ok());
        index.filter(|index| index.format == FORMAT).unwrap_or_default()
    }

    /// The last check of a file: when, and what was wrong.
    pub(super) fn check_of(&self, path: &Path, id: Option<BackupId>, bytes: u64) -> Option<(DateTime<Utc>, Option<&str>)> {
        let name = name_of(path);
        let entry = self.backups.iter().find(|entry| entry.name == name && entry.id == id && entry.size_bytes == bytes)?;
        Some((entry.checked_at, entry.damage.as_deref()))
    }

    fn put(&mut self, entry: Entry) {
        self.backups.retain(|old| old.name != entry.name);
        self.backups.push(entry);
    }

    /// Forgets files that are gone and writes the rest. A failure costs nothing but a new check.
    fn write(mut self, folder: &Path) {
        self.format = FORMAT;
        self.backups.retain(|entry| folder.join(&entry.name).exists());
        self.backups.sort_by(|a, b| a.name.cmp(&b.name));
        let written = serde_json::to_vec_pretty(&self).map(|bytes| write_durably(&folder.join(NAME), &bytes));
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!("the checks of the backups could not be noted; they will count as not checked");
        }
    }
}

/// Notes a check that went well.
pub(super) fn record(info: &BackupInfo) {
    let Some(checked_at) = info.verified_at.filter(|_| info.result == BackupResult::Verified) else { return };
    let id = info.about.as_ref().map(|about| about.id);
    put(&info.path, Entry { name: name_of(&info.path), id, size_bytes: info.size_bytes, checked_at, damage: None });
}

/// Notes a check that found damage.
pub(super) fn record_damage(path: &Path, reason: &str, checked_at: DateTime<Utc>) {
    let size_bytes = fs::metadata(path).map_or(0, |file| file.len());
    let id = super::list::front(path).ok().map(|front| front.head.id);
    put(path, Entry { name: name_of(path), id, size_bytes, checked_at, damage: Some(reason.to_owned()) });
}

/// Forgets the files that are gone.
pub(super) fn tidy(folder: &Path) {
    let _turn = turn(folder);
    Index::read(folder).write(folder);
}

fn put(path: &Path, entry: Entry) {
    let folder: PathBuf = path.parent().unwrap_or(Path::new("")).to_owned();
    let _turn = turn(&folder);
    let mut index = Index::read(&folder);
    index.put(entry);
    index.write(&folder);
}

/// Waits for the turn to change the index, among threads and processes; it ends when dropped. Where
/// a file system has no locks there is none, and a check that is lost is made again.
fn turn(folder: &Path) -> Option<fs::File> {
    let locked = lock_file(&folder.join(LOCK));
    locked
        .inspect_err(
            |error| tracing::debug!(code = error.code().as_str(), %error, "the index of the backups is written without a lock"),
        )
        .ok()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
