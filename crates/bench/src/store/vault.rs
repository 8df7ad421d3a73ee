//! The seeded vault: made once, kept in the cache folder, and measured on copies.

use super::population::{self, Counts, EDITION, LONG};
use super::raw::{Cache, Raw};
use crate::error::BenchError;
use crate::report::Progress;
use chrono::{DateTime, Utc};
use evenkeel_domain::{MessageId, Revision};
use evenkeel_store::{SCHEMA_VERSION, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// The key of every database of this workload. It guards nothing: what is in them is made up.
pub const KEY: [u8; 32] = *b"evenkeel-bench: guards nothing..";

/// A database that holds so much of everything.
pub struct Vault {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub counts: Counts,
    // Dropped last; only a copy has a folder of its own.
    _folder: Option<TempDir>,
}

/// A conversation of [`Vault::long`].
pub struct LongThread {
    /// Its newest message.
    pub leaf: MessageId,
    /// The persona that answers.
    pub revision: Revision,
}

impl Vault {
    /// The vault of the cache folder, seeded first if it is not there.
    pub fn cached(messages: usize, progress: Progress) -> Result<Self, BenchError> {
        let counts = Counts::of(messages);
        let folder = folder()?;
        let path = folder.join(name(messages, "vault"));
        if !path.exists() {
            forget_older(&folder)?;
            make(&folder, &path, |unfinished| seed(unfinished, counts, progress))?;
        }
        progress.say(&format!("vault of {messages} messages: {} ({} MB)", path.display(), megabytes(&path)?));
        Ok(Self { path, counts, _folder: None })
    }

    /// The vault of long conversations, seeded first if it is not there.
    pub fn long(progress: Progress) -> Result<Self, BenchError> {
        let messages = LONG.iter().sum();
        let folder = folder()?;
        let path = folder.join(name(messages, "long"));
        if !path.exists() {
            forget_older(&folder)?;
            progress.say(&format!("seeding {messages} messages in {} conversations; this is done once …", LONG.len()));
            make(&folder, &path, |unfinished| {
                let store = Store::create(unfinished, &KEY, population::at(0))?;
                population::seed_long(&store, &mut |messages| {
                    if messages % 200_000 < 10_000 {
                        progress.say(&format!("  {messages}"));
                    }
                })
            })?;
        }
        Ok(Self { path, counts: Counts { messages, conversations: LONG.len(), contexts: 1 }, _folder: None })
    }

    /// The conversations of [`Vault::long`], the shortest first.
    pub fn long_threads(&self, store: &Store) -> Result<Vec<LongThread>, BenchError> {
        let worthless = |what: &str| BenchError::Worthless(format!("the vault of long conversations has no {what}"));
        let mut conversations = store.read(|read| read.conversations(None, 10, 0))?;
        conversations.sort_by_key(|conversation| conversation.message_count);
        conversations
            .into_iter()
            .map(|conversation| {
                let context = store.read(|read| read.context(conversation.context_id))?.ok_or_else(|| worthless("context"))?;
                let revision = store.read(|read| read.revision(&context.revision_id))?.ok_or_else(|| worthless("persona"))?;
                Ok(LongThread { leaf: conversation.active_leaf_id.ok_or_else(|| worthless("messages"))?, revision })
            })
            .collect()
    }

    /// A small vault, seeded for one run.
    pub fn fresh(messages: usize) -> Result<Self, BenchError> {
        let counts = Counts::of(messages);
        let folder = run_folder()?;
        let path = folder.path().join("vault.db");
        let store = Store::create(&path, &KEY, population::at(0))?;
        population::seed(&store, counts, &mut |_| ())?;
        Ok(Self { path, counts, _folder: Some(folder) })
    }

    /// A vault as it is after the first start.
    pub fn empty() -> Result<Self, BenchError> {
        let folder = run_folder()?;
        let path = folder.path().join("vault.db");
        Store::create(&path, &KEY, population::at(0))?;
        Ok(Self { path, counts: Counts { messages: 0, conversations: 0, contexts: 0 }, _folder: Some(folder) })
    }

    /// A copy to write to, on the disk before this returns; it goes with the value.
    pub fn copy(&self) -> Result<Self, BenchError> {
        let folder = run_folder()?;
        let path = folder.path().join("vault.db");
        let failed = |source| BenchError::system("copying a vault", source);
        fs::copy(&self.path, &path).map_err(failed)?;
        fs::File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        Ok(Self { path, counts: self.counts, _folder: Some(folder) })
    }

    /// A copy that is packed anew, encrypted or not; it goes with the value.
    pub fn export(&self, key: Option<&[u8; 32]>) -> Result<Self, BenchError> {
        let folder = run_folder()?;
        let path = folder.path().join("vault.db");
        self.raw(Cache::Writer)?.export(&path, key)?;
        Ok(Self { path, counts: self.counts, _folder: Some(folder) })
    }

    /// The same vault twice, packed alike: encrypted, and not. Both stay in the cache folder.
    pub fn twins(&self, progress: Progress) -> Result<(Self, Self), BenchError> {
        let folder = folder()?;
        let twin = |kind: &str, key: Option<&[u8; 32]>| {
            let path = folder.join(name(self.counts.messages, kind));
            if !path.exists() {
                progress.say(&format!("  exporting the vault as {} …", path.display()));
                make(&folder, &path, |unfinished| {
                    Raw::open(&self.path, Some(&KEY), Cache::Writer)?.export(unfinished, key)?;
                    // From here on it has a log, so that opening it changes nothing.
                    Raw::open(unfinished, key, Cache::Reader).map(drop)
                })?;
            }
            Ok::<_, BenchError>(Self { path, counts: self.counts, _folder: None })
        };
        Ok((twin("sealed", Some(&KEY))?, twin("plain", None)?))
    }

    /// When it was last written to.
    pub fn now(&self) -> DateTime<Utc> {
        self.counts.end()
    }

    /// Opens it as the app does.
    pub fn store(&self) -> Result<Store, BenchError> {
        Ok(Store::open(&self.path, &KEY, self.now())?)
    }

    /// Opens it for raw statements.
    pub fn raw(&self, cache: Cache) -> Result<Raw, BenchError> {
        Raw::open(&self.path, Some(&KEY), cache)
    }
}

/// Fills a new vault, and says how fast.
fn seed(path: &Path, counts: Counts, progress: Progress) -> Result<(), BenchError> {
    progress.say(&format!("seeding {} messages; this is done once …", counts.messages));
    let began = Instant::now();
    let store = Store::create(path, &KEY, population::at(0))?;
    let mut told = 0;
    population::seed(&store, counts, &mut |messages| {
        if messages / 100_000 > told || messages == counts.messages {
            told = messages / 100_000;
            let rate = messages as f64 / began.elapsed().as_secs_f64();
            progress.say(&format!("  {messages} after {:.0} s ({rate:.0} a second)", began.elapsed().as_secs_f64()));
        }
    })
}

/// Makes a file under another name first: one that was not finished is never taken for it.
fn make(folder: &Path, path: &Path, work: impl FnOnce(&Path) -> Result<(), BenchError>) -> Result<(), BenchError> {
    let beside = tempfile::Builder::new().prefix("making-").tempdir_in(folder);
    let beside = beside.map_err(|source| BenchError::system("making a folder in the cache", source))?;
    let unfinished = beside.path().join("vault.db");
    work(&unfinished)?;
    let finished = fs::File::open(&unfinished).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&unfinished, path));
    finished.map_err(|source| BenchError::system("keeping a vault in the cache", source))
}

/// Vaults of another schema or edition are of no use any more.
fn forget_older(folder: &Path) -> Result<(), BenchError> {
    let failed = |source| BenchError::system("clearing the cache", source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("store-") && !name.starts_with(&format!("{}-", edition())) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

fn name(messages: usize, kind: &str) -> String {
    format!("{}-{messages}-{kind}.db", edition())
}

fn edition() -> String {
    format!("store-{SCHEMA_VERSION}.{EDITION}")
}

/// A folder for one run, which goes with the value.
pub fn run_folder() -> Result<TempDir, BenchError> {
    // Beside the cached vaults and not in the folder for temporary files, which may be in memory.
    let made = tempfile::Builder::new().prefix("run-").tempdir_in(folder()?);
    made.map_err(|source| BenchError::system("making a folder in the cache", source))
}

/// `bench` in the cache folder that the scripts use.
pub fn folder() -> Result<PathBuf, BenchError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("EVENKEEL_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("evenkeel")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/evenkeel")))
        .unwrap_or_else(std::env::temp_dir);
    let folder = cache.join("bench");
    fs::create_dir_all(&folder).map_err(|source| BenchError::system("making the cache folder", source))?;
    Ok(folder)
}

fn megabytes(path: &Path) -> Result<u64, BenchError> {
    let length = fs::metadata(path).map_err(|source| BenchError::system("looking at a vault", source))?.len();
    Ok(length / 1_000_000)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn vaults_of_another_schema_are_forgotten_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let kept = [name(10, "vault"), name(20, "plain"), "something-else.db".to_owned()];
        for name in kept.iter().map(String::as_str).chain(["store-0.1-10-vault.db"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        forget_older(folder.path()).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut expected = kept.to_vec();
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn what_was_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault.db");
        let failed = make(folder.path(), &path, |unfinished| {
            fs::write(unfinished, "half").unwrap();
            Err(BenchError::Worthless("the disk is full".to_owned()))
        });
        assert!(failed.is_err() && fs::read_dir(folder.path()).unwrap().next().is_none());
        make(folder.path(), &path, |unfinished| {
            fs::write(unfinished, "whole").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    }
}
