//! Damage to every file of a vault: bits that flip, pages that change places or are filled with something else,
//! files that are cut. All of it has to be found, nothing may be answered by writing over what was damaged, and
//! what the bytes still hold has to come back.

use crate::chance::Chance;
use crate::error::{FaultError, promise};
use crate::scene::{Files, Scene, TALK, at, found, on, say};
use evenkeel_store::backup::{self, BackupError, RescueRequest};
use evenkeel_store::{Store, StoreError};
use evenkeel_vault::{KeyFile, Use, VaultError, VaultLock};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: usize = 4_096;
/// Messages of the vault; half of them are in the backup's past, and all of them in the backup.
const MESSAGES: u64 = 120;
/// Of so many damaged databases one is rescued too.
const RESCUED: u64 = 8;

/// What is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The database of a vault that was closed.
    Database,
    /// The log of a vault that was not.
    Log,
    /// One or both copies of the key slots.
    KeySlots,
    /// A backup.
    Backup,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Database, Self::Log, Self::KeySlots, Self::Backup];

    /// Its name in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Log => "log",
            Self::KeySlots => "key slots",
            Self::Backup => "backup",
        }
    }
}

/// How the vault held up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Faults that were made.
    pub faults: u64,
    /// Of these, those that were found.
    pub found: u64,
    /// Those whose damaged file was changed or removed by looking at it.
    pub overwritten: u64,
    /// Vaults that were rescued.
    pub rescued: u64,
    /// Messages that the bytes of vault and backup still held and that a rescue did not bring back.
    pub lost: u64,
}

/// Makes `faults` faults in one kind of file, each as `seed` has it.
///
/// # Errors
/// The stage cannot be set, or a healthy file is taken for a damaged one. What is not found is counted.
pub fn damage(target: Target, faults: u64, seed: u64) -> Result<Tally, FaultError> {
    let mut stage = Stage::set(target, Chance::new(seed))?;
    stage.check_healthy()?;
    let mut tally = Tally::default();
    for number in 0..faults {
        match target {
            Target::Database => stage.of_database(number, &mut tally)?,
            Target::Log => stage.of_log(number, &mut tally)?,
            Target::KeySlots => stage.of_key_slots(number, &mut tally)?,
            Target::Backup => stage.of_backup(number, &mut tally)?,
        }
    }
    Ok(tally)
}

struct Stage {
    target: Target,
    scene: Scene,
    start: Files,
    backup: PathBuf,
    chance: Chance,
}

impl Stage {
    fn set(target: Target, chance: Chance) -> Result<Self, FaultError> {
        let scene = Scene::with(MESSAGES / 2)?;
        let store = scene.open()?;
        if target == Target::Log {
            // What comes now stays in the log.
            store.compact(&mut || true)?;
            say(&store, (MESSAGES / 2 + 1, MESSAGES), 1, TALK, 40)?;
            let backup = scene.back_up(&store, 1)?.path;
            // As a process leaves it that is killed.
            let start = scene.files()?;
            drop(store);
            return Ok(Self { target, scene, start, backup, chance });
        }
        say(&store, (MESSAGES / 2 + 1, MESSAGES), 1, TALK, 40)?;
        let backup = scene.back_up(&store, 1)?.path;
        drop(store);
        let start = scene.files()?;
        Ok(Self { target, scene, start, backup, chance })
    }

    /// The file that is damaged, below the profile.
    fn victim(&self) -> PathBuf {
        match self.target {
            Target::Database => "vault.db".into(),
            Target::Log => "vault.db-wal".into(),
            Target::KeySlots => "vault.keys".into(),
            Target::Backup => self.backup.strip_prefix(self.scene.profile.dir()).map(Path::to_owned).unwrap_or_default(),
        }
    }

    /// Without damage nothing is found, or every figure would be worth nothing.
    fn check_healthy(&self) -> Result<(), FaultError> {
        self.scene.put_back(&self.start)?;
        promise(!self.finds_damage()?, || format!("a healthy {} is taken for a damaged one", self.target.name()))?;
        let store = self.scene.open()?;
        let there = found(&store, MESSAGES)?.len() as u64;
        promise(there == MESSAGES, || format!("the stage has {there} messages"))
    }

    fn of_database(&mut self, number: u64, tally: &mut Tally) -> Result<(), FaultError> {
        let victim = self.victim();
        let mut files = self.start.clone();
        if let Some(bytes) = files.get_mut(&victim) {
            spoil(bytes, number, &mut self.chance);
        }
        self.strike(&files, &victim, tally)?;
        if number.is_multiple_of(RESCUED) {
            self.rescue(&files, tally)?;
        }
        Ok(())
    }

    fn of_log(&mut self, number: u64, tally: &mut Tally) -> Result<(), FaultError> {
        let victim = self.victim();
        let mut files = self.start.clone();
        if number % 40 == 39 {
            files.remove(&victim);
        } else if let Some(bytes) = files.get_mut(&victim) {
            spoil(bytes, number, &mut self.chance);
        }
        self.strike(&files, &victim, tally)
    }

    fn of_key_slots(&mut self, number: u64, tally: &mut Tally) -> Result<(), FaultError> {
        let mut files = self.start.clone();
        let names = [PathBuf::from("vault.keys"), PathBuf::from("vault.keys.2")];
        // Every third time both copies, else one of them.
        for (place, name) in names.iter().enumerate() {
            if let Some(bytes) = files.get_mut(name).filter(|_| number % 3 == 2 || number as usize % 3 == place) {
                spoil_small(bytes, &mut self.chance);
            }
        }
        self.scene.put_back(&files)?;
        tally.faults += 1;
        tally.found += u64::from(self.finds_damage()?);
        // One good copy takes the other's place, and the damaged one is kept beside it.
        let after = self.scene.files()?;
        let is_kept = |name: &PathBuf| after.values().any(|bytes| Some(bytes) == files.get(name));
        tally.overwritten += u64::from(!names.iter().all(is_kept));
        Ok(())
    }

    fn of_backup(&mut self, number: u64, tally: &mut Tally) -> Result<(), FaultError> {
        let victim = self.victim();
        let mut files = self.start.clone();
        if let Some(bytes) = files.get_mut(&victim) {
            spoil(bytes, number, &mut self.chance);
        }
        self.strike(&files, &victim, tally)
    }

    /// Puts the damaged files in their places, looks, and sees whether they are as they were.
    fn strike(&self, files: &Files, victim: &Path, tally: &mut Tally) -> Result<(), FaultError> {
        self.scene.put_back(files)?;
        tally.faults += 1;
        tally.found += u64::from(self.finds_damage()?);
        // SQLite may leave an empty log, which holds nothing.
        let is_as_it_was = [Path::new("vault.db"), Path::new("vault.db-wal"), victim].iter().all(|name| {
            let now = fs::read(self.scene.profile.dir().join(name)).ok();
            now.filter(|bytes| !bytes.is_empty()).as_ref() == files.get(*name).filter(|bytes| !bytes.is_empty())
        });
        tally.overwritten += u64::from(!is_as_it_was);
        Ok(())
    }

    /// Whether any of the ways of looking says that something is wrong. None of them may change anything.
    fn finds_damage(&self) -> Result<bool, FaultError> {
        let scene = &self.scene;
        let key = scene.root.subkey(scene.key_file.vault_id(), Use::Database);
        match self.target {
            // What every weekly check does, on the file as it lies there.
            Target::Database => Ok(!backup::database_is_whole(&scene.profile, scene.keys())?),
            // What every start does.
            Target::Log => match Store::check_tail(&scene.profile.database(), &key) {
                Ok(()) => Ok(!backup::database_is_whole(&scene.profile, scene.keys())?),
                Err(StoreError::TailLost { .. } | StoreError::Damaged { .. }) => Ok(true),
                Err(error) => Err(error.into()),
            },
            Target::KeySlots => match KeyFile::read(&scene.profile) {
                Ok(read) => Ok(read.repaired()),
                Err(VaultError::Damaged { .. }) => Ok(true),
                Err(error) => Err(error.into()),
            },
            Target::Backup => match backup::verify(&self.backup, scene.keys(), &scene.profile, at(9), &mut on) {
                Ok(_) => Ok(false),
                Err(BackupError::Damaged { .. }) => Ok(true),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Rescues the damaged vault with its backup: nothing that either of them holds may be missing.
    fn rescue(&self, files: &Files, tally: &mut Tally) -> Result<(), FaultError> {
        self.scene.put_back(files)?;
        let lock = VaultLock::exclusive(&self.scene.profile)?;
        let scene = &self.scene;
        let request = RescueRequest {
            keys: scene.keys(),
            profile: &scene.profile,
            lock: &lock,
            backup: Some(&self.backup),
            now: at(99_000),
        };
        let rescued = backup::rescue(&request, &mut on)?;
        let aside = rescued.set_aside.as_deref().map(fs::read).transpose()?;
        tally.rescued += 1;
        tally.overwritten += u64::from(aside.as_ref() != files.get(Path::new("vault.db")));
        let store = scene.open()?;
        let findings = store.full_check()?;
        promise(findings.is_empty(), || format!("a rescued vault is not clean: {findings:?}"))?;
        tally.lost += MESSAGES - found(&store, MESSAGES)?.len() as u64;
        Ok(())
    }
}

/// One fault in a file of pages.
fn spoil(bytes: &mut Vec<u8>, number: u64, chance: &mut Chance) {
    let pages = bytes.len() / PAGE;
    match number % 4 {
        0 => spoil_small(bytes, chance),
        1 if pages > 2 => {
            let (one, other) = (chance.below(pages), chance.below(pages - 1));
            let other = if other >= one { other + 1 } else { other };
            let kept = bytes[one * PAGE..(one + 1) * PAGE].to_vec();
            bytes.copy_within(other * PAGE..(other + 1) * PAGE, one * PAGE);
            bytes[other * PAGE..(other + 1) * PAGE].copy_from_slice(&kept);
        }
        2 if pages > 0 => {
            let page = chance.below(pages) * PAGE;
            let fill = if chance.below(2) == 0 { 0 } else { 0xa5 };
            bytes[page..page + PAGE].fill(fill);
        }
        _ => bytes.truncate(1 + chance.below(bytes.len().saturating_sub(1))),
    }
}

/// One bit flips.
fn spoil_small(bytes: &mut [u8], chance: &mut Chance) {
    let at = chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << chance.below(8);
    }
}
