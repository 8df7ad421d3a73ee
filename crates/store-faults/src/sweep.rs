//! Every call of a work fails once, on a healthy disk and on one that stays broken: whatever happens, the
//! vault opens clean afterwards and holds every message that was acknowledged.

use crate::disk::{Failure, FaultDisk, Plan, Span};
use crate::error::{FaultError, promise};
use crate::scene::{Files, Scene, TALK, THROWN_AWAY, at, conversation_id, found, furnish, message, message_id, say};
use chrono::TimeDelta;
use evenkeel_domain::TrashId;
use evenkeel_store::backup::{self, BackupResult, finish_pending_restore};
use evenkeel_store::{Purge, SCHEMA_VERSION, Store};
use evenkeel_vault::VaultLock;
use std::fs;
use std::path::{Path, PathBuf};

/// Something that the vault is asked to do while the disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Opening, saving a message, closing.
    Save,
    /// Opening a vault of the first schema.
    Migrate,
    /// Deleting a conversation for good, and giving its room back.
    Purge,
    /// Making a backup.
    Backup,
    /// Restoring one.
    Restore,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Save, Self::Migrate, Self::Purge, Self::Backup, Self::Restore];

    /// Its name in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Save => "save a message",
            Self::Migrate => "migrate",
            Self::Purge => "purge",
            Self::Backup => "backup",
            Self::Restore => "restore",
        }
    }
}

/// How a sweep went; it went well, or it would have been an error.
#[derive(Debug, Clone, Copy)]
pub struct Swept {
    /// What was done.
    pub work: Work,
    /// Calls of an undisturbed run that change something.
    pub calls: u64,
    /// Runs with a fault, each opened and checked afterwards.
    pub runs: u64,
    /// Runs in which the work said that it failed.
    pub refused: u64,
}

/// Messages that were acknowledged before.
const BEFORE: u64 = 30;
/// Messages of the conversation that is purged.
const DOOMED: u64 = 220;
/// Messages that came after the backup that is restored.
const LATER: u64 = 5;
/// The message that is saved while the disk fails.
const SAVED: u64 = 9_001;
/// Key of the fixtures of released schemas in the store's tests.
const FIXTURE_KEY: [u8; 32] = *b"\x93\x0f an unguessable key, 32 \xf1\x00\x7f\xe2!\x01";

/// A prepared vault, and what is done to it.
struct Stage {
    work: Work,
    scene: Scene,
    start: Files,
    backup: Option<PathBuf>,
}

/// Lets calls of `work` fail: all of them or, with `most`, that many for each kind of failure, evenly spread.
///
/// # Errors
/// `Broken` names the work, the call and the promise; others if the stage cannot be set.
pub fn sweep(work: Work, most: Option<u64>) -> Result<Swept, FaultError> {
    let stage = Stage::set(work)?;
    let disk = FaultDisk::over(stage.scene.folder())?;
    disk.plan(None);
    stage.act()?;
    let calls = disk.calls().0;
    stage.check(true).map_err(|error| FaultError::Broken(format!("{} without any fault: {error}", work.name())))?;
    let mut swept = Swept { work, calls, runs: 0, refused: 0 };
    let points = most.map_or(calls, |most| most.min(calls));
    for (failure, span) in [Failure::Io, Failure::Full].into_iter().flat_map(|f| [(f, Span::Once), (f, Span::Sticky)]) {
        for point in 1..=points {
            let plan = Plan { at: point * calls / points, failure, span };
            stage.scene.put_back(&stage.start)?;
            disk.plan(Some(plan));
            let outcome = stage.act();
            disk.plan(None);
            swept.runs += 1;
            swept.refused += u64::from(outcome.is_err());
            let checked = stage.check(outcome.is_ok());
            checked.map_err(|error| FaultError::Broken(format!("{}, {plan:?}, {outcome:?}: {error}", work.name())))?;
        }
    }
    Ok(swept)
}

impl Stage {
    fn set(work: Work) -> Result<Self, FaultError> {
        if work == Work::Migrate {
            return Self::of_fixture();
        }
        let scene = Scene::with(BEFORE)?;
        let store = scene.open()?;
        let backup = matches!(work, Work::Backup | Work::Restore).then(|| scene.back_up(&store, 1)).transpose()?;
        if work == Work::Purge {
            say(&store, (1_001, 1_000 + DOOMED), 1_001, THROWN_AWAY, 20)?;
            store.write(|write| write.trash_conversations(&[conversation_id(THROWN_AWAY)], at(5)).map(drop))?;
        }
        if work == Work::Restore {
            say(&store, (BEFORE + 1, BEFORE + LATER), 1, TALK, 40)?;
        }
        drop(store);
        let start = scene.files()?;
        Ok(Self { work, scene, start, backup: backup.map(|info| info.path) })
    }

    fn of_fixture() -> Result<Self, FaultError> {
        let scene = Scene::empty()?;
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/fixtures/vault-v1.db");
        fs::copy(fixture, scene.profile.database())?;
        let start = scene.files()?;
        Ok(Self { work: Work::Migrate, scene, start, backup: None })
    }

    fn open(&self) -> Result<Store, FaultError> {
        if self.work == Work::Migrate {
            return Ok(Store::open(&self.scene.profile.database(), &FIXTURE_KEY, at(0))?);
        }
        self.scene.open()
    }

    /// Does the work; an error is a refusal.
    fn act(&self) -> Result<(), FaultError> {
        match (self.work, &self.backup) {
            (Work::Restore, Some(backup)) => return self.scene.restore(backup),
            (Work::Migrate, _) => return self.open().map(drop),
            _ => {}
        }
        let store = self.open()?;
        match self.work {
            Work::Save => {
                store.write(|write| write.insert_message(message(SAVED, Some(BEFORE), TALK, 40)))?;
            }
            Work::Purge => {
                let trash = store.read(|read| read.trash())?;
                for item in trash {
                    store.purge(&item, at(99_000), &mut || true)?;
                }
                store.compact(&mut || true)?;
            }
            _ => {
                self.scene.back_up(&store, 2)?;
            }
        }
        Ok(())
    }

    /// Opens the vault on a disk that is healthy again, and holds it against its promises.
    fn check(&self, was_done: bool) -> Result<(), FaultError> {
        if self.work == Work::Restore {
            let lock = VaultLock::exclusive(&self.scene.profile)?;
            finish_pending_restore(&self.scene.profile, &lock)?;
        }
        if self.work == Work::Migrate {
            let schema = Store::schema(&self.scene.profile.database(), &FIXTURE_KEY)?;
            promise(schema == 1 || schema == SCHEMA_VERSION, || format!("the schema is {schema}, halfway"))?;
        }
        let store = self.open()?;
        let findings = store.full_check()?;
        promise(findings.is_empty(), || format!("the vault is not clean: {findings:?}"))?;
        match self.work {
            Work::Save => self.check_saved(&store, was_done),
            Work::Migrate => check_fixture(&store),
            Work::Purge => self.check_purged(&store, was_done),
            Work::Backup => self.check_backups(&store, was_done),
            Work::Restore => self.check_restored(&store, was_done),
        }
    }

    fn check_saved(&self, store: &Store, was_acknowledged: bool) -> Result<(), FaultError> {
        check_before(store)?;
        let is_there = store.read(|read| read.message(message_id(SAVED)))?.is_some();
        promise(is_there || !was_acknowledged, || "an acknowledged message is gone".to_owned())
    }

    fn check_purged(&self, store: &Store, was_done: bool) -> Result<(), FaultError> {
        check_before(store)?;
        let left = store.read(|read| read.conversation(conversation_id(THROWN_AWAY)))?;
        promise(!was_done || left.is_none(), || "what was purged is still there".to_owned())?;
        // Whatever was left half done can be ended now.
        let begun = store.read(|read| read.unfinished_purges())?;
        for item in store.read(|read| read.trash())?.into_iter().chain(begun) {
            promise(matches!(item.id, TrashId::Conversation(_)), || format!("{:?} lies in the trash", item.id))?;
            let purged = store.purge(&item, at(99_000) + TimeDelta::hours(1), &mut || true)?;
            promise(purged == Purge::Gone, || format!("purging once more ended as {purged:?}"))?;
        }
        let doomed = found(store, 1_000 + DOOMED)?.into_iter().filter(|number| *number > 1_000).count();
        promise(doomed == 0, || format!("{doomed} purged messages are still there"))?;
        check_before(store)
    }

    fn check_backups(&self, store: &Store, was_done: bool) -> Result<(), FaultError> {
        check_before(store)?;
        let keys = self.scene.keys();
        let listed = backup::list(&self.scene.profile.backups(), Some(keys))?;
        promise(listed.len() == 2 || (listed.len() == 1 && !was_done), || format!("{} backups", listed.len()))?;
        for info in listed {
            let checked = backup::verify(&info.path, keys, &self.scene.profile, at(99_000), &mut crate::scene::on)?;
            promise(checked.result == BackupResult::Verified, || format!("{} is not whole", info.path.display()))?;
        }
        Ok(())
    }

    fn check_restored(&self, store: &Store, was_done: bool) -> Result<(), FaultError> {
        let there = found(store, BEFORE + LATER)?.len() as u64;
        let is_allowed = there == BEFORE || (there == BEFORE + LATER && !was_done);
        promise(is_allowed, || format!("{there} messages are neither the vault from before nor the backup"))
    }
}

fn check_before(store: &Store) -> Result<(), FaultError> {
    let there = found(store, BEFORE)?.len() as u64;
    promise(there == BEFORE, || format!("{there} of {BEFORE} acknowledged messages are there"))
}

fn check_fixture(store: &Store) -> Result<(), FaultError> {
    let there = found(store, 3)?;
    promise(there == [1, 2, 3], || format!("of the messages of the first schema {there:?} are there"))
}

/// A vault that nothing was said in, for workloads of their own.
///
/// # Errors
/// The disk or the store fails.
pub(crate) fn furnished() -> Result<(Scene, Store), FaultError> {
    let scene = Scene::empty()?;
    let store = scene.create()?;
    furnish(&store)?;
    Ok((scene, store))
}
