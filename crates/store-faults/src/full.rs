//! A disk that is full: a small file system in memory, in a name space of a process of its own, so that neither
//! rights nor a trace outside are needed. Linux alone; elsewhere, or where that is forbidden, nothing is shown.

use crate::error::{FaultError, promise};
use crate::scene::{Scene, TALK, THROWN_AWAY, at, conversation_id, found, furnish, on, say};
use evenkeel_domain::ErrorCode;
use evenkeel_store::backup::{self, BackupError};
use evenkeel_store::{Purge, Store};
use evenkeel_vault::keep_reserve;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says that the file system was made and the child began.
const BEGAN: &str = "ON A SMALL DISK";
/// Messages of the conversation that is deleted when the disk is full.
const DOOMED: u64 = 60;
/// Free rooms, in KiB, in which backups and restores are tried.
const ROOMS: [u64; 12] = [0, 4, 16, 64, 128, 256, 384, 512, 768, 1_024, 1_536, 2_048];

/// Runs a child on a file system of so many MiB. `child` is a program that calls [`small_disk_child`] with the
/// folder that its variable names. `None` where no such file system can be made.
///
/// # Errors
/// `Broken` with what the child said.
pub fn on_small_disk(megabytes: u32, child: &Command) -> Result<Option<String>, FaultError> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("mount -t tmpfs -o size={megabytes}m none \"$0\" && exec \"$@\""))
        .arg(folder.path())
        .arg(child.get_program())
        .args(child.get_args())
        .env(crate::kill::FOLDER, folder.path())
        .stdin(Stdio::null());
    for (name, value) in child.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    let Ok(output) = command.output() else { return Ok(None) };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !said.contains(BEGAN) {
        return Ok(None);
    }
    promise(output.status.success(), || said.clone())?;
    Ok(Some(said))
}

/// What the child does with `folder`, which has few MiB.
///
/// # Errors
/// `Broken` names the promise.
pub fn small_disk_child(folder: &Path) -> Result<(), FaultError> {
    writeln!(std::io::stdout(), "\n{BEGAN}")?;
    let scene = Scene::on(folder)?;
    let store = scene.create()?;
    furnish(&store)?;
    let has_reserve = keep_reserve(&scene.profile)?;
    say(&store, (100_001, 100_000 + DOOMED), 100_001, THROWN_AWAY, 60)?;
    let spare = folder.join("spare");
    fs::write(&spare, vec![0x5a; 512 << 10])?;
    let saved = fill_up(&store)?;
    if !has_reserve {
        // Too small a disk for one: the user makes room elsewhere.
        fs::remove_file(&spare)?;
        return reopened(&scene, store, saved).map(drop);
    }
    no_half_backups(&scene, &store, folder)?;
    leave_room(&folder.join("ballast"), 0)?;
    let store = reopened(&scene, store, saved)?;
    deleting_works(&store)?;
    let store = reopened(&scene, store, saved)?;
    say(&store, (saved + 1, saved + 5), 1, TALK, 40)?;
    reopened(&scene, store, saved + 5)?;
    let is_kept = keep_reserve(&scene.profile)?;
    promise(is_kept == scene.profile.reserve().exists(), || "half a reserve takes room".to_owned())
}

/// Saves messages until the disk is full; answers how many were acknowledged.
fn fill_up(store: &Store) -> Result<u64, FaultError> {
    let mut saved = 0;
    loop {
        match say(store, (saved + 1, saved + 1), 1, TALK, 100) {
            Ok(()) => saved += 1,
            Err(FaultError::Store(error)) => {
                promise(error.code() == ErrorCode::DiskFull, || format!("a full disk is told as {error}"))?;
                return Ok(saved);
            }
            Err(error) => return Err(error),
        }
    }
}

fn reopened(scene: &Scene, store: Store, saved: u64) -> Result<Store, FaultError> {
    drop(store);
    let store = scene.open()?;
    let findings = store.full_check()?;
    promise(findings.is_empty(), || format!("not clean on a full disk: {findings:?}"))?;
    let there = found(&store, saved)?.len() as u64;
    promise(there == saved, || format!("{there} of {saved} acknowledged messages are there"))?;
    Ok(store)
}

/// However little room there is, a backup is whole or not there.
fn no_half_backups(scene: &Scene, store: &Store, folder: &Path) -> Result<(), FaultError> {
    let ballast = folder.join("ballast");
    for (number, room) in (1_u8..).zip(ROOMS) {
        leave_room(&ballast, room)?;
        match scene.back_up(store, number) {
            Ok(_) => {}
            Err(FaultError::Backup(error)) => {
                promise(error.code() == ErrorCode::DiskFull, || format!("{room} KiB are told as {error}"))?;
            }
            Err(error) => return Err(error),
        }
        let listed = backup::list(&scene.profile.backups(), Some(scene.keys()))?;
        for info in listed {
            let _ = fs::remove_file(&ballast);
            match backup::verify(&info.path, scene.keys(), &scene.profile, at(9), &mut on) {
                Ok(_) | Err(BackupError::DiskFull { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            fs::remove_file(&info.path)?;
        }
    }
    let _ = fs::remove_file(&ballast);
    Ok(())
}

/// With no room but what the reserve gives, what is deleted for good goes, and its room comes back.
fn deleting_works(store: &Store) -> Result<(), FaultError> {
    store.write_freeing(|write| write.trash_conversations(&[conversation_id(THROWN_AWAY)], at(5)).map(drop))?;
    for item in store.read(|read| read.trash())? {
        let purged = store.purge(&item, at(99_000), &mut || true)?;
        promise(purged == Purge::Gone, || format!("deleting on a full disk ended as {purged:?}"))?;
    }
    promise(store.read(|read| read.trash())?.is_empty(), || "the trash is not empty".to_owned())?;
    let given = store.compact(&mut || true)?;
    promise(given > 0, || "no room was given back".to_owned())
}

/// Fills the disk but for so many KiB.
fn leave_room(ballast: &Path, kibibytes: u64) -> Result<(), FaultError> {
    let _ = fs::remove_file(ballast);
    let mut file = File::create(ballast)?;
    // Down to the last page.
    for part in [1 << 20, 1 << 16, 1 << 12] {
        while file.write_all(&vec![0x5a; part]).is_ok() {}
    }
    let length = file.metadata()?.len();
    file.set_len(length.saturating_sub(kibibytes << 10))?;
    Ok(())
}
