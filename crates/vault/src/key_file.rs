//! The key-slot file: which slots a vault has. Two copies lie beside the database.
//!
//! ```text
//! EVENKEEL KEY SLOTS 1          magic and format number
//! <SHA-256 of line 1 and the JSON, 64 hex digits>
//! {"vaultId":…,"generation":…,"recoveryConfirmed":…,"slots":[…]}
//! ```
//! The first two lines keep their meaning in every later format. So a damaged file is told
//! from one that a newer version wrote, and both from a wrong key, which only a slot's tag shows.

use crate::slot::{Slot, SlotFault, SlotKind};
use crate::{Profile, VaultError, durable};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use uuid::Uuid;

pub(crate) const MAGIC: &str = "EVENKEEL KEY SLOTS";
/// Format that this version writes, and the newest that it reads.
pub(crate) const VERSION: u32 = 1;
/// A key-slot file is under 2 KiB; anything much larger is none.
const MOST_BYTES: u64 = 64 << 10;

/// The key slots of one vault. Holds nothing secret: the root key in it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyFile {
    vault_id: Uuid,
    generation: u64,
    recovery_confirmed: bool,
    /// Names the root key, once it was replaced by another; the first has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root_id: Option<Uuid>,
    slots: Vec<Slot>,
    #[serde(skip)]
    repaired: bool,
}

/// What one copy on disk turned out to be.
enum Copy {
    Whole(Box<KeyFile>),
    Absent,
    Bad(VaultError),
    TooNew(VaultError),
}

impl KeyFile {
    /// Reads the key-slot file of a profile. If one copy is missing, damaged or older than the
    /// other, it is written anew from the good one; a damaged one is first set aside as
    /// `<name>.damaged-<n>`. If that cannot be done, reading succeeds all the same.
    ///
    /// # Errors
    /// [`VaultError::NoVault`] where nothing of a vault exists, [`VaultError::Damaged`] if no
    /// copy is whole (they are left as they are), [`VaultError::TooNew`] if a whole copy has a
    /// newer format, [`VaultError::Io`].
    pub fn read(profile: &Profile) -> Result<Self, VaultError> {
        let (first_path, second_path) = (profile.key_slots(), profile.key_slots_copy());
        let (first, second) = (Copy::read(&first_path)?, Copy::read(&second_path)?);
        match (first, second) {
            (Copy::TooNew(error), _) | (_, Copy::TooNew(error)) => Err(error),
            (Copy::Whole(first), Copy::Whole(second)) => {
                if first == second || first.vault_id != second.vault_id {
                    return Ok(*first);
                }
                // An interrupted change: the first copy is written first, but trust the number.
                if second.generation > first.generation {
                    Ok(second.repair(&first_path, false))
                } else {
                    Ok(first.repair(&second_path, false))
                }
            }
            (Copy::Whole(good), other) => Ok(good.repair(&second_path, matches!(other, Copy::Bad(_)))),
            (other, Copy::Whole(good)) => Ok(good.repair(&first_path, matches!(other, Copy::Bad(_)))),
            (Copy::Bad(error), _) | (_, Copy::Bad(error)) => Err(error),
            (Copy::Absent, Copy::Absent) if profile.traces().any() => {
                Err(VaultError::damaged(first_path.display().to_string(), "both copies of the key-slot file are gone"))
            }
            (Copy::Absent, Copy::Absent) => Err(VaultError::NoVault),
        }
    }

    /// The vault's id: salt of every sub-key and user name of the keychain item.
    #[must_use]
    pub fn vault_id(&self) -> Uuid {
        self.vault_id
    }

    /// Which root key the slots wrap: `None` for the one that the vault was made with, a random name for each that
    /// took its place.
    #[must_use]
    pub fn root_id(&self) -> Option<Uuid> {
        self.root_id
    }

    /// Whether both are of one vault and one root key of it.
    #[must_use]
    pub fn is_of_same_root(&self, other: &Self) -> bool {
        (self.vault_id, self.root_id) == (other.vault_id, other.root_id)
    }

    /// The slots, at most one of each kind.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether the vault can be opened this way.
    #[must_use]
    pub fn has(&self, kind: SlotKind) -> bool {
        self.slots.iter().any(|slot| slot.kind() == kind)
    }

    /// Whether the user has typed back (part of) the recovery code. Not protected against
    /// change: it only decides whether the app asks again.
    #[must_use]
    pub fn recovery_confirmed(&self) -> bool {
        self.recovery_confirmed
    }

    /// Whether reading it had to write one copy anew.
    #[must_use]
    pub fn repaired(&self) -> bool {
        self.repaired
    }

    /// The file's bytes, for putting it into a backup.
    ///
    /// # Errors
    /// [`VaultError::Io`] if it cannot be put into JSON, which no key file does.
    pub fn to_bytes(&self) -> Result<Vec<u8>, VaultError> {
        let body = serde_json::to_string(self)
            .map_err(|e| VaultError::Io { what: "Writing the key slots as JSON".to_owned(), source: e.into() })?;
        let head = format!("{MAGIC} {VERSION}");
        Ok(format!("{head}\n{}\n{body}", checksum(&head, body.as_bytes())).into_bytes())
    }

    /// Reads the bytes of a key-slot file, wherever they come from; `what` names them in errors.
    ///
    /// # Errors
    /// [`VaultError::Damaged`], [`VaultError::TooNew`].
    pub fn from_bytes(bytes: &[u8], what: &str) -> Result<Self, VaultError> {
        let body = checked_body(bytes, what)?;
        let file: Self = serde_json::from_slice(body).map_err(|e| VaultError::damaged(what, e.to_string()))?;
        file.check().map_err(|fault| VaultError::damaged(what, fault.to_string()))?;
        Ok(file)
    }

    pub(crate) fn new(vault_id: Uuid, slots: Vec<Slot>) -> Self {
        Self { vault_id, generation: 1, recovery_confirmed: false, root_id: None, slots, repaired: false }
    }

    /// Sets aside whatever copies are there, so that a file can be published.
    pub(crate) fn clear_away(profile: &Profile) -> Result<(), VaultError> {
        for copy in [profile.key_slots(), profile.key_slots_copy()] {
            if fs::symlink_metadata(&copy).is_ok() {
                move_aside(&copy)?;
            }
        }
        Ok(())
    }

    pub(crate) fn slot(&self, kind: SlotKind) -> Result<&Slot, VaultError> {
        self.slots.iter().find(|slot| slot.kind() == kind).ok_or(VaultError::NoSlot(kind))
    }

    /// Writes both copies of a file that did not exist before; on an error neither is left.
    pub(crate) fn publish(&self, profile: &Profile) -> Result<(), VaultError> {
        let (first, second) = (profile.key_slots(), profile.key_slots_copy());
        let bytes = self.to_bytes()?;
        let written = write_checked(&first, &bytes, self).and_then(|_| write_checked(&second, &bytes, self)).map(drop);
        if written.is_err() {
            for path in [&second, &first] {
                // Absent is what is wanted; any other failure is less telling than the first.
                let _ = fs::remove_file(path);
            }
            let _ = durable::sync_folder(&first);
        }
        written
    }

    /// Writes both copies over those of another root key of the same vault. Doing it twice is the same as doing it once.
    pub(crate) fn supersede(&self, profile: &Profile) -> Result<(), VaultError> {
        let bytes = self.to_bytes()?;
        for copy in [profile.key_slots(), profile.key_slots_copy()] {
            write_checked(&copy, &bytes, self)?;
        }
        Ok(())
    }

    /// The file of the same vault under another root key.
    pub(crate) fn of_new_root(&self, root_id: Uuid, slots: Vec<Slot>) -> Self {
        // Whoever gave the code for the new slot has it.
        Self { generation: self.generation + 1, root_id: Some(root_id), slots, recovery_confirmed: true, ..self.clone() }
    }

    /// Puts `slot` in the place of the one of its kind.
    pub(crate) fn with_slot(&self, slot: Slot) -> Self {
        let mut changed = self.without_slot(slot.kind());
        changed.slots.push(slot);
        changed
    }

    pub(crate) fn without_slot(&self, kind: SlotKind) -> Self {
        let mut changed = self.clone();
        changed.slots.retain(|slot| slot.kind() != kind);
        changed
    }

    pub(crate) fn with_recovery_confirmed(&self, confirmed: bool) -> Self {
        Self { recovery_confirmed: confirmed, ..self.clone() }
    }

    /// Replaces this file by `changed` on disk and then in memory. The second copy keeps the old
    /// slots until the first has the new ones durably, and they, as they were read back, have passed `proof`.
    ///
    /// # Errors
    /// [`VaultError::InUse`] if another process changed the file since it was read,
    /// [`VaultError::Io`], and those of `proof`; the old slots are then still in force.
    pub(crate) fn replace(
        &mut self,
        profile: &Profile,
        mut changed: Self,
        proof: impl FnOnce(&Self) -> Result<(), VaultError>,
    ) -> Result<(), VaultError> {
        let on_disk = Self::read(profile)?;
        if on_disk.vault_id != self.vault_id || on_disk.generation != self.generation {
            return Err(VaultError::InUse);
        }
        changed.generation = self.generation + 1;
        let bytes = changed.to_bytes()?;
        if let Err(error) = write_checked(&profile.key_slots(), &bytes, &changed).and_then(|read| proof(&read)) {
            // The rename may have happened; a caller that is told of a failure must be able to
            // rely on the old slots, since a new recovery code is then never shown.
            let _ = self.to_bytes().and_then(|old| durable::write(&profile.key_slots(), &old));
            return Err(error);
        }
        *self = changed;
        // The change is in force. A second copy that stays behind is brought up by the next read.
        let _ = write_checked(&profile.key_slots_copy(), &bytes, self);
        Ok(())
    }

    fn repair(mut self, copy: &Path, set_aside: bool) -> Self {
        let done = (if set_aside { move_aside(copy) } else { Ok(()) })
            .and_then(|()| self.to_bytes())
            .and_then(|bytes| write_checked(copy, &bytes, &self).map(drop));
        self.repaired = done.is_ok();
        self
    }

    fn check(&self) -> Result<(), SlotFault> {
        for (at, slot) in self.slots.iter().enumerate() {
            slot.check()?;
            if self.slots[..at].iter().any(|earlier| earlier.kind() == slot.kind()) {
                return Err(SlotFault::Twice(slot.kind()));
            }
        }
        Ok(())
    }
}

impl Copy {
    fn read(path: &Path) -> Result<Self, VaultError> {
        let mut bytes = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Self::Absent),
            // A bad sector or a folder in its place: the other copy may do.
            Err(e) if e.kind() != ErrorKind::PermissionDenied => {
                return Ok(Self::Bad(VaultError::damaged(path.display().to_string(), e.to_string())));
            }
            Err(e) => return Err(VaultError::unread(path, e)),
            Ok(_) => {}
        }
        Ok(match KeyFile::from_bytes(&bytes, &path.display().to_string()) {
            Ok(file) => Self::Whole(Box::new(file)),
            Err(error @ VaultError::TooNew { .. }) => Self::TooNew(error),
            Err(error) => Self::Bad(error),
        })
    }
}

/// The JSON of a file whose checksum fits and whose format is known.
fn checked_body<'a>(bytes: &'a [u8], what: &str) -> Result<&'a [u8], VaultError> {
    let damaged = |reason: &str| VaultError::damaged(what, reason);
    if bytes.len() as u64 > MOST_BYTES {
        return Err(damaged("it is too large for a key-slot file"));
    }
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let (Some(head), Some(sum), Some(body)) = (lines.next(), lines.next(), lines.next()) else {
        return Err(damaged("it ends too early"));
    };
    let head = std::str::from_utf8(head).map_err(|_| damaged("its first line is not text"))?;
    let version = head.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(' '));
    let version = version.ok_or_else(|| damaged("it does not begin like a key-slot file"))?;
    if sum != checksum(head, body).as_bytes() {
        return Err(damaged("its checksum does not fit"));
    }
    match version.parse::<u32>() {
        Ok(VERSION) => Ok(body),
        Ok(found) if found > VERSION => Err(VaultError::TooNew { found, known: VERSION }),
        _ => Err(damaged("its format number is none")),
    }
}

fn checksum(head: &str, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(head.as_bytes());
    hash.update(b"\n");
    hash.update(body);
    HEXLOWER.encode(&hash.finalize())
}

/// Writes a copy and gives it as it reads back.
fn write_checked(path: &Path, bytes: &[u8], file: &KeyFile) -> Result<KeyFile, VaultError> {
    durable::write(path, bytes)?;
    match Copy::read(path)? {
        Copy::Whole(read) if read.generation == file.generation && read.slots == file.slots => Ok(*read),
        _ => Err(VaultError::damaged(path.display().to_string(), "it reads back differently from what was written")),
    }
}

fn move_aside(path: &Path) -> Result<(), VaultError> {
    // After nine damaged copies the evidence is of no more use than room on the disk.
    let free = (1..=9).map(|n| format!("{}.damaged-{n}", path.display())).find(|name| !Path::new(name).exists());
    match free {
        Some(name) => fs::rename(path, name).map_err(|e| VaultError::io("Setting aside", path, e)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
