//! What a backup is worth: it opens on a machine that has nothing but the recovery code, it brings back everything, and
//! it does not take long.

use crate::error::{FaultError, promise};
use crate::scene::{Scene, TALK, at, furnish, message, on, say};
use evenkeel_store::Store;
use evenkeel_store::archive::{self, ArchiveProgress, ExportRequest};
use evenkeel_store::backup::{self, RestoreRequest};
use evenkeel_vault::{AgeSecret, KeyFile, Profile, Use, VaultLock, unlock_recovery};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Messages that are saved together.
const TOGETHER: u64 = 1_000;

/// Makes a vault, backs it up, throws everything of it away but the file and the recovery code, and restores it into a
/// new profile; `rounds` times, with another vault each. Gives how many came back the same.
///
/// # Errors
/// `Broken` where an export of the restored vault is another one; what fails where nothing is wrong.
pub fn on_new_profiles(rounds: u64) -> Result<u64, FaultError> {
    for round in 1..=rounds {
        let scene = Scene::with(round % 9 + 1)?;
        let store = scene.open()?;
        let before = digest(&store, &scene.folder().join("before"))?;
        scene.back_up(&store, 1)?;
        say(&store, (20, 22), 20, TALK, 3)?;
        let newest = scene.back_up(&store, 2)?;
        let after = digest(&store, &scene.folder().join("after"))?;
        promise(before != after, || "the export does not tell two states apart".to_owned())?;
        drop(store);
        let kept = scene.folder().join("carried-over.ekbackup");
        std::fs::rename(&newest.path, &kept)?;
        std::fs::remove_dir_all(scene.profile.dir())?;
        let restored = by_code(&kept, &scene)?;
        promise(restored == after, || format!("round {round}: the restored vault is another one"))?;
    }
    Ok(rounds)
}

/// Restores a file with the recovery code alone, and gives the digest of an export.
fn by_code(path: &Path, scene: &Scene) -> Result<String, FaultError> {
    let profile = Profile::new(scene.folder().join("new-machine"));
    let root = unlock_recovery(&backup::key_slots(path)?, &scene.code.text())?;
    let lock = VaultLock::exclusive(&profile)?;
    backup::restore(&RestoreRequest { path, root: &root, profile: &profile, lock: &lock, now: at(99_000) }, &mut on)?;
    // As at the next start: by what lies in the new profile.
    let key_file = KeyFile::read(&profile)?;
    let root = unlock_recovery(&key_file, &scene.code.text())?;
    let store = Store::open(&profile.database(), &root.subkey(key_file.vault_id(), Use::Database), at(99_000))?;
    let found = store.full_check()?;
    promise(found.is_empty(), || format!("the restored vault is not whole: {found:?}"))?;
    digest(&store, &scene.folder().join("restored"))
}

fn digest(store: &Store, path: &Path) -> Result<String, FaultError> {
    let secret = AgeSecret::generate();
    let request = ExportRequest { path, secret: &secret, replace: false, app_version: "0.1.0", plugins: Vec::new(), now: at(77) };
    let exported = archive::export(store, &request, &mut |_: ArchiveProgress| ControlFlow::Continue(()));
    exported.map(|exported| exported.sha256).map_err(|error| FaultError::Broken(error.to_string()))
}

/// Fills a vault to so many megabytes, makes a backup that is checked, and gives its size in bytes and how long
/// it took. On the disk of the system's folder for temporary files, not in memory.
///
/// # Errors
/// The disk or the store fails.
pub fn timed_backup(megabytes: u64) -> Result<(u64, Duration), FaultError> {
    let scene = Scene::on(&std::env::temp_dir())?;
    let store = scene.create()?;
    furnish(&store)?;
    let mut first = 1;
    while std::fs::metadata(scene.profile.database())?.len() < megabytes * 1_000_000 {
        store.write(|write| {
            for number in first..first + TOGETHER {
                let parent = (number > 1).then(|| number - 1);
                write.insert_message(message(number, parent, TALK, 40))?;
            }
            Ok(())
        })?;
        first += TOGETHER;
    }
    let began = Instant::now();
    let made = scene.back_up(&store, 1)?;
    Ok((made.size_bytes, began.elapsed()))
}
