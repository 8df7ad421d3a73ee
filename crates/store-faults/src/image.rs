//! Power cuts: what a disk may hold when the current goes while writes have not been synced yet.
//!
//! Every call on the database's files is written down. For a moment in between, a file is what was synced,
//! and of each later write all, nothing or some sectors, in any order: a disk with a cache promises no more.

use crate::chance::Chance;
use crate::disk::{Call, Event, FaultDisk};
use crate::error::{FaultError, promise};
use crate::scene::{Files, Scene, TALK, found, message};
use crate::sweep::furnished;
use evenkeel_store::Store;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// How the images held up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Images {
    /// Images that were opened and checked.
    pub images: u64,
    /// Acknowledged messages that were looked for in all of them.
    pub acknowledged: u64,
    /// Of these, those that were not there.
    pub lost: u64,
    /// Images that did not open clean.
    pub corrupt: u64,
}

/// Cuts the power `cuts` times, at moments spread over the saving of `messages` messages with a checkpoint in
/// between, and opens what is left, each time as `seed` has it.
///
/// # Errors
/// The stage cannot be set. What is lost is counted, not an error.
pub fn power_cuts(messages: u64, cuts: u64, seed: u64) -> Result<Images, FaultError> {
    let (scene, store) = furnished()?;
    drop(store);
    let before = scene.files()?;
    let disk = FaultDisk::over(scene.folder())?;
    let store = scene.open()?;
    disk.record();
    let mut marks = BTreeMap::new();
    for number in 1..=messages {
        let parent = (number > 1).then(|| number - 1);
        // Lengths that are no multiple of anything.
        let words = 1 + usize::try_from(number * 37 % 150).unwrap_or(0);
        store.write(|write| write.insert_message(message(number, parent, TALK, words)))?;
        disk.note(number);
        marks.insert(number, scene.files()?.remove(&PathBuf::from("vault.db.mark")));
        if number == messages / 2 {
            // Moves the log into the database: its writes are unsynced for a while too.
            store.compact(&mut || true)?;
        }
    }
    let events = disk.recorded();
    drop(store);
    drop(disk);
    let mut chance = Chance::new(seed);
    let mut images = Images::default();
    for _ in 0..cuts {
        let at = chance.below(events.len() + 1);
        let (mut files, noted) = image(&events[..at], &before, &mut chance);
        // What lies beside the database was written without a sync: it is as new as it can be.
        if let Some(Some(mark)) = marks.get(&noted) {
            files.insert("vault.db.mark".into(), mark.clone());
        }
        scene.put_back(&files)?;
        images.images += 1;
        images.acknowledged += noted;
        match look(&scene, noted) {
            Ok(lost) => images.lost += lost,
            Err(_) => images.corrupt += 1,
        }
    }
    Ok(images)
}

/// Opens an image; answers how many of the first `acknowledged` messages are missing.
fn look(scene: &Scene, acknowledged: u64) -> Result<u64, FaultError> {
    let store: Store = scene.open()?;
    let findings = store.full_check()?;
    promise(findings.is_empty(), || format!("{findings:?}"))?;
    Ok(acknowledged - found(&store, acknowledged)?.len() as u64)
}

/// The same cuts on a database that syncs nothing: shows that an image can lose what was acknowledged.
///
/// # Errors
/// The stage cannot be set.
pub fn without_syncs(rows: u64, cuts: u64, seed: u64) -> Result<Images, FaultError> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let disk = FaultDisk::over(&root)?;
    disk.record();
    let connection = Connection::open(root.join("loose.db"))?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (x INTEGER, y BLOB)")?;
    for row in 1..=rows {
        connection.execute("INSERT INTO t VALUES (?1, zeroblob (900))", [i64::try_from(row).unwrap_or(0)])?;
        disk.note(row);
    }
    let events = disk.recorded();
    drop(connection);
    drop(disk);
    let mut chance = Chance::new(seed);
    let mut images = Images::default();
    for cut in 0..cuts {
        let at = chance.below(events.len() + 1);
        let (files, noted) = image(&events[..at], &Files::new(), &mut chance);
        let folder = root.join(format!("cut-{cut}"));
        std::fs::create_dir(&folder)?;
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes)?;
        }
        images.images += 1;
        images.acknowledged += noted;
        let sql = "SELECT count(*) FROM t";
        match Connection::open(folder.join("loose.db")).and_then(|read| read.query_row(sql, [], |row| row.get::<_, i64>(0))) {
            Ok(rows) => images.lost += noted.saturating_sub(u64::try_from(rows).unwrap_or(0)),
            Err(_) => images.corrupt += 1,
        }
    }
    Ok(images)
}

/// A file while its writes are under way.
#[derive(Default)]
struct Unsynced {
    durable: Vec<u8>,
    /// Whether its name is on the disk.
    exists: bool,
    waiting: Vec<Call>,
}

/// What may be left after these events, and the last number that was noted among them.
fn image(events: &[Event], before: &Files, chance: &mut Chance) -> (Files, u64) {
    let known = |(name, bytes): (&PathBuf, &Vec<u8>)| {
        (name.clone(), Unsynced { durable: bytes.clone(), exists: true, waiting: Vec::new() })
    };
    let mut files: BTreeMap<PathBuf, Unsynced> = before.iter().map(known).collect();
    let mut noted = 0;
    for event in events {
        match event {
            Event::Note(number) => noted = *number,
            Event::Call(name, call) => files.entry(below_profile(name)).or_default().follow(call),
        }
    }
    let mut left = Files::new();
    for (name, file) in files {
        if let Some(bytes) = file.after_cut(chance) {
            left.insert(name, bytes);
        }
    }
    (left, noted)
}

/// Names are told below the scene's folder, and files are kept below its profile.
fn below_profile(name: &str) -> PathBuf {
    PathBuf::from(name.strip_prefix("profile/").unwrap_or(name))
}

impl Unsynced {
    fn follow(&mut self, call: &Call) {
        match call {
            Call::Sync => {
                for waiting in std::mem::take(&mut self.waiting) {
                    apply(&mut self.durable, &waiting, None);
                }
                self.exists = true;
            }
            // A name that is gone is gone: undoing that would bring back an older state whole, which is no harder.
            Call::Delete => *self = Self::default(),
            Call::Open | Call::Index => {}
            call => self.waiting.push(call.clone()),
        }
    }

    /// What the cut leaves of it; `None` where not even its name was synced.
    fn after_cut(mut self, chance: &mut Chance) -> Option<Vec<u8>> {
        if !self.exists && (self.waiting.is_empty() || chance.below(3) == 0) {
            return None;
        }
        // All, nothing, or a choice: the first two are the most likely disks.
        let mode = chance.below(4);
        if mode == 3 {
            // A file system may write data in any order, but none of it before the cut that came first.
            let cut = self.waiting.iter().rposition(|call| matches!(call, Call::Truncate(_))).map_or(0, |place| place + 1);
            for place in (cut + 1..self.waiting.len()).rev() {
                self.waiting.swap(place, cut + chance.below(place + 1 - cut));
            }
        }
        for call in std::mem::take(&mut self.waiting) {
            match mode {
                0 => {}
                1 => apply(&mut self.durable, &call, None),
                _ => match chance.below(3) {
                    0 => {}
                    1 => apply(&mut self.durable, &call, None),
                    _ => apply(&mut self.durable, &call, Some(&mut *chance)),
                },
            }
        }
        Some(self.durable)
    }
}

/// Does a call on the bytes of a file; with `torn` only some of its sectors.
fn apply(file: &mut Vec<u8>, call: &Call, torn: Option<&mut Chance>) {
    match call {
        Call::Truncate(size) => file.resize(usize::try_from(*size).unwrap_or(0), 0),
        Call::Write { at, bytes } => {
            let at = usize::try_from(*at).unwrap_or(0);
            file.resize(file.len().max(at + bytes.len()), 0);
            let Some(chance) = torn else { return file[at..at + bytes.len()].copy_from_slice(bytes) };
            for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                if chance.below(2) == 0 {
                    let from = at + number * SECTOR;
                    file[from..from + sector.len()].copy_from_slice(sector);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn written(at: u64, bytes: &[u8]) -> Event {
        Event::Call("profile/a".into(), Call::Write { at, bytes: bytes.to_vec() })
    }

    #[test]
    fn what_was_synced_is_in_every_image_and_what_was_not_may_be() {
        let synced = Event::Call("profile/a".into(), Call::Sync);
        let events = [written(0, b"one"), Event::Note(1), synced, written(3, b"two"), Event::Note(2)];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let (files, noted) = image(&events, &Files::new(), &mut Chance::new(seed));
            assert_eq!(noted, 2);
            let bytes = &files[&PathBuf::from("a")];
            assert!(bytes.starts_with(b"one"), "{bytes:?}");
            seen.insert(bytes.clone());
        }
        assert!(seen.contains(b"one".as_slice()) && seen.contains(b"onetwo".as_slice()), "{seen:?}");
    }

    #[test]
    fn a_name_that_was_never_synced_may_be_missing_and_one_that_was_deleted_is() {
        let missing = (0..50).filter(|seed| image(&[written(0, b"x")], &Files::new(), &mut Chance::new(*seed)).0.is_empty());
        assert!((1..49).contains(&missing.count()));
        let gone = [written(0, b"x"), Event::Call("profile/a".into(), Call::Sync), Event::Call("profile/a".into(), Call::Delete)];
        assert!((0..50).all(|seed| image(&gone, &Files::new(), &mut Chance::new(seed)).0.is_empty()));
    }
}
