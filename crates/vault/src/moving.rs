//! Moving the data of a profile to another folder: copied, compared, and only then left.

mod copy;
mod target;

use crate::place::{Former, Note, Stand, real};
use crate::{KeyFile, Place, Profile, VaultError, VaultLock, durable, erase};
use copy::Contents;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use target::Target;
use uuid::Uuid;

/// What a move has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where the data is now.
    pub profile: Profile,
    /// Whether the old copy is gone. Otherwise [`Place::finish`] removes it at the next start.
    pub is_cleared: bool,
}

/// Says whether the data could be moved to `folder`, as far as that can be known before, and gives
/// the folder that it would be in: `folder` itself if it is new or empty, else the folder
/// `evenkeel` in it. Nothing is changed.
///
/// # Errors
/// As for [`move_profile`].
pub fn check_move(profile: &Profile, folder: &Path) -> Result<PathBuf, VaultError> {
    let target = Target::choose(profile, folder)?;
    target.check_room(Contents::of(profile)?.bytes())?;
    Ok(target.profile.dir().to_owned())
}

/// Moves all that is in the folder of a profile to another folder, but for locks and work files.
/// Everything is copied, synced, read back and compared with what was read from the original; then
/// `prove` may look whether the vault opens there. After that a note is put into the old folder,
/// and from that moment on the new one counts: [`Place::of`] follows the note. The old copy of the
/// vault is removed at last; files in the old folder that are none of Evenkeel's stay there too.
///
/// If it fails before that moment, what was copied is removed again and the data is as it was.
///
/// # Errors
/// [`VaultError::InUse`] without the exclusive lock of `profile`, or if the new folder is in use;
/// [`VaultError::MoveRefused`] if `folder` is not absolute, is a file, lies in the profile or around
/// it, or is not empty and has a folder `evenkeel` already that is not empty either; if the profile
/// holds a link, which could lead anywhere; or if a restore is not finished.
/// [`VaultError::NoRoom`], [`VaultError::Damaged`] if the copy differs, [`VaultError::Io`]; and the
/// errors of `prove`.
pub fn move_profile<E: From<VaultError>>(
    profile: &Profile,
    folder: &Path,
    lock: &VaultLock,
    prove: impl FnOnce(&Profile) -> Result<(), E>,
) -> Result<Moved, E> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse.into());
    }
    let vault_id = KeyFile::read(profile)?.vault_id();
    give_up(profile)?;
    let target = Target::choose(profile, folder)?;
    let contents = Contents::of(profile)?;
    target.check_room(contents.bytes())?;
    let number = Note::read(profile)?.map_or(0, |note| note.number);
    let to = target.profile.dir().to_owned();
    Note::new(number, vault_id, Stand::Leaving { to: to.clone(), made_folder: target.is_new }).write(profile)?;
    let number = number + 1;
    let copied = bring(profile, &target, &contents, number, vault_id).map_err(E::from).and_then(|held| {
        prove(&target.profile)?;
        publish(profile, Note::new(number, vault_id, Stand::Left { to }))?;
        Ok(held)
    });
    match copied {
        Ok(held) => {
            let place = Place { profile: target.profile, left: vec![profile.clone()] };
            let is_cleared = settle(&place.profile, &held).and_then(|()| place.clear(profile, lock)).is_ok();
            Ok(Moved { profile: place.profile, is_cleared })
        }
        Err(error) => {
            // What stays is encrypted, and the next start tries again.
            let _ = give_up(profile);
            Err(error)
        }
    }
}

/// Makes the copy and holds the lock of its folder.
fn bring(profile: &Profile, target: &Target, contents: &Contents, number: u64, vault_id: Uuid) -> Result<VaultLock, VaultError> {
    let to = &target.profile;
    if target.is_new {
        copy::private_folder(to.dir())?;
    }
    let held = VaultLock::exclusive(to)?;
    let former = |note: Note| match note.stand {
        Stand::Left { to } => Some(Former { number: note.number, to }),
        Stand::Arriving { before, .. } => before,
        _ => None,
    };
    let before = Note::read(to)?.and_then(former);
    let stand = Stand::Arriving { from: real(profile.dir())?, before, entries: contents.entries() };
    Note::new(number, vault_id, stand).write(to)?;
    contents.copy(profile.dir(), to.dir())?;
    durable::sync_folder(to.dir())?;
    if KeyFile::read(to)?.vault_id() == vault_id {
        return Ok(held);
    }
    Err(VaultError::damaged(to.key_slots().display().to_string(), "it is that of another vault"))
}

/// Puts the note into the old folder that makes the new one count.
fn publish(profile: &Profile, note: Note) -> Result<(), VaultError> {
    let written = note.write(profile);
    // It can be in its place although the system would not say that it is there to stay.
    if written.is_err() && Note::read(profile)?.is_some_and(|found| found == note) {
        return Ok(());
    }
    written
}

impl Place {
    /// Finishes moves that were cut off: removes the old copies that moves to this place have left,
    /// and what was copied for a move away from it that never came to count. An old copy goes only
    /// if this place has key slots of the same vault and a database. Call it at each start; where
    /// there is nothing to do it changes nothing and takes no lock.
    ///
    /// `held` is the lock of [`Place::profile`], if the caller has it.
    ///
    /// # Errors
    /// [`VaultError::InUse`] if another process uses one of the folders, [`VaultError::Io`]: the
    /// data can be used all the same, and the next call tries again.
    pub fn finish(&self, held: Option<&VaultLock>) -> Result<(), VaultError> {
        let stand = Note::read(&self.profile)?.map(|note| note.stand);
        if matches!(stand, Some(Stand::Arriving { .. } | Stand::Leaving { .. })) {
            let own = if held.is_none() { Some(VaultLock::exclusive(&self.profile)?) } else { None };
            let lock = held.or(own.as_ref()).ok_or(VaultError::InUse)?;
            if !lock.is_exclusive_of(&self.profile) {
                return Err(VaultError::InUse);
            }
            settle(&self.profile, lock)?;
            give_up(&self.profile)?;
        }
        for old in self.left.iter().filter(|old| erase::has_files(old)) {
            self.clear(old, &VaultLock::exclusive(old)?)?;
        }
        Ok(())
    }

    /// Removes the old copy in a folder that the data was moved out of.
    fn clear(&self, old: &Profile, lock: &VaultLock) -> Result<(), VaultError> {
        if !lock.is_exclusive_of(old) {
            return Err(VaultError::InUse);
        }
        let Some(Note { vault_id, stand: Stand::Left { .. }, .. }) = Note::read(old)? else { return Ok(()) };
        let is_here = KeyFile::read(&self.profile).is_ok_and(|here| here.vault_id() == vault_id);
        if !is_here || !self.profile.database().exists() || real(old.dir())? == real(self.profile.dir())? {
            return Ok(());
        }
        erase::hand_over_left_items(old, &self.profile)?;
        erase::remove_vault(old, true)?;
        durable::sync_folder(&old.place_note())
    }
}

/// Notes in the new folder that the data has come. Only the note of the old one made it so; this
/// takes away what was needed until then.
fn settle(profile: &Profile, lock: &VaultLock) -> Result<(), VaultError> {
    if !lock.is_exclusive_of(profile) {
        return Err(VaultError::InUse);
    }
    match Note::read(profile)? {
        Some(note) if matches!(note.stand, Stand::Arriving { .. }) => note.with(Stand::Here).write(profile),
        _ => Ok(()),
    }
}

/// Removes what was copied for a move that never came to count, and forgets the move.
fn give_up(profile: &Profile) -> Result<(), VaultError> {
    let Some(note) = Note::read(profile)? else { return Ok(()) };
    let Stand::Leaving { to, made_folder } = &note.stand else { return Ok(()) };
    let target = Profile::new(to.clone());
    match fs::symlink_metadata(to) {
        Ok(_) => unmake(&target, &real(profile.dir())?, *made_folder)?,
        // It was never made, or is gone.
        Err(e) if e.kind() == ErrorKind::NotFound && to.parent().is_some_and(Path::exists) => {}
        // Its drive is away: the note keeps it in mind.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(VaultError::unread(to, e)),
    }
    // Without a move before this one there was no note.
    if note.number == 0 { Note::remove(profile) } else { note.with(Stand::Here).write(profile) }
}

/// Takes a copy apart that never came to count.
fn unmake(target: &Profile, from: &Path, made_folder: bool) -> Result<(), VaultError> {
    let note = Note::read(target)?;
    let (before, vault_id) = match note {
        Some(Note { vault_id, stand: Stand::Arriving { from: source, before, entries }, .. }) if source == from => {
            copy::remove(target.dir(), &entries)?;
            // What looking into the copy has made beside it.
            erase::remove_vault(target, false)?;
            (before, vault_id)
        }
        // The claim is made before anything is copied: without it nothing was.
        None => return remove_skeleton(target, made_folder),
        Some(_) => return Ok(()),
    };
    match before {
        Some(Former { number, to }) => Note::new(number, vault_id, Stand::Left { to }).write(target),
        None => {
            Note::remove(target)?;
            remove_skeleton(target, made_folder)
        }
    }
}

/// Removes what taking the lock of a profile makes, if nothing else is in the folder.
fn remove_skeleton(target: &Profile, with_folder: bool) -> Result<(), VaultError> {
    if !target::is_bare(target)? {
        return Ok(());
    }
    for folder in [target.backups(), target.models()] {
        remove_empty(&folder)?;
    }
    erase::remove_file(&target.lock_file())?;
    if with_folder { remove_empty(target.dir()) } else { Ok(()) }
}

fn remove_empty(folder: &Path) -> Result<(), VaultError> {
    match fs::remove_dir(folder) {
        Err(e) if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
            Err(VaultError::io("Removing", folder, e))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
