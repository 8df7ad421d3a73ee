//! Where the data of a profile is: in its own folder, or in the one that it was moved to.
//!
//! Every folder that had to do with a move holds a note. What counts is decided by one of them: as
//! long as the folder that is left says nothing else the data is there, and from the moment on that
//! its note says [`Stand::Left`] it is in the other one. Moves are numbered, so that the data can
//! be moved back: the note of an older move no longer leads on.

use crate::{Profile, VaultError, durable};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use uuid::Uuid;

/// Name of the note.
pub(crate) const FILE: &str = "place.json";
const FORMAT: u32 = 1;
/// Far more than the names of any profile need.
const MOST_BYTES: u64 = 16 << 20;
/// Nobody moves his data as often; more steps are a circle.
const MOST_STEPS: usize = 64;

/// What a folder has to do with a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub(crate) enum Stand {
    /// The data came here and is here.
    Here,
    /// The data is here; a copy for another folder is being made.
    Leaving {
        /// That folder.
        to: PathBuf,
        /// It was made for the copy.
        made_folder: bool,
    },
    /// The data went to another folder.
    Left {
        /// That folder.
        to: PathBuf,
    },
    /// A copy is being made here; it counts once the other folder is left.
    Arriving {
        /// That folder.
        from: PathBuf,
        /// Where this one led to before.
        before: Option<Former>,
        /// What is copied, relative to the folder, folders before what is in them.
        entries: Vec<PathBuf>,
    },
}

/// A folder's earlier [`Stand::Left`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Former {
    pub number: u64,
    pub to: PathBuf,
}

/// The note in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Note {
    format: u32,
    /// The move that the note is of: 1 for the first.
    pub number: u64,
    /// Whose data it is.
    pub vault_id: Uuid,
    pub stand: Stand,
}

impl Note {
    pub fn new(number: u64, vault_id: Uuid, stand: Stand) -> Self {
        Self { format: FORMAT, number, vault_id, stand }
    }

    /// The same of the same move, with another stand.
    pub fn with(self, stand: Stand) -> Self {
        Self { stand, ..self }
    }

    /// The note in a folder; `None` if there is none.
    pub fn read(profile: &Profile) -> Result<Option<Self>, VaultError> {
        let path = profile.place_note();
        let mut bytes = Vec::new();
        match fs::File::open(&path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)) {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            read => read.map_err(|e| VaultError::unread(&path, e))?,
        };
        let damaged = |reason: String| VaultError::damaged(path.display().to_string(), reason);
        let note: Self = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if note.format != FORMAT {
            return Err(damaged("its format number is not known".to_owned()));
        }
        if !note.stand.is_sound() {
            return Err(damaged("it names files that are none of a move".to_owned()));
        }
        Ok(Some(note))
    }

    /// Writes the note durably.
    pub fn write(&self, profile: &Profile) -> Result<(), VaultError> {
        let path = profile.place_note();
        let bytes = serde_json::to_vec(self).map_err(|e| VaultError::io("Writing", &path, e.into()))?;
        durable::write(&path, &bytes)
    }

    /// Takes the note away.
    pub fn remove(profile: &Profile) -> Result<(), VaultError> {
        let path = profile.place_note();
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(VaultError::io("Removing", &path, e)),
            _ => durable::sync_folder(&path),
        }
    }
}

impl Stand {
    /// Folders are whole paths, and names lead nowhere out of the folder.
    fn is_sound(&self) -> bool {
        let is_inside = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        match self {
            Self::Here => true,
            Self::Leaving { to, .. } | Self::Left { to } => to.is_absolute(),
            Self::Arriving { from, before, entries } => {
                from.is_absolute() && before.iter().all(|former| former.to.is_absolute()) && entries.iter().all(is_inside)
            }
        }
    }
}

/// Where the data of a profile is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub(crate) profile: Profile,
    /// The folders that it was moved out of, on the way from where the search began.
    pub(crate) left: Vec<Profile>,
}

impl Place {
    /// Follows the notes of moves from `start`. Without one it is `start` itself, whatever is there.
    /// Nothing is changed.
    ///
    /// # Errors
    /// [`VaultError::Away`] if a folder that the data was moved to is not there, most often because
    /// its drive is not connected: no new vault may be made then. [`VaultError::Damaged`] if a note
    /// cannot be understood or the notes lead in a circle, [`VaultError::Io`].
    pub fn of(start: &Profile) -> Result<Self, VaultError> {
        let mut place = Self { profile: start.clone(), left: Vec::new() };
        let mut number = 0;
        for _ in 0..MOST_STEPS {
            let (to, is_left) = match place.note(start)? {
                Some(Note { number: newer, stand: Stand::Left { to }, .. }) if newer > number => {
                    number = newer;
                    (to, true)
                }
                Some(Note { stand: Stand::Left { .. }, .. }) => break,
                Some(Note { number: other, stand: Stand::Arriving { from, .. }, .. }) if other != number => (from, false),
                _ => return Ok(place),
            };
            let from = std::mem::replace(&mut place.profile, Profile::new(to));
            if is_left {
                place.left.push(from);
            }
        }
        Err(VaultError::damaged(start.place_note().display().to_string(), "it leads in a circle"))
    }

    /// The folder that the data is in.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The note where the search stands; only the folder that it began in may have none.
    fn note(&self, start: &Profile) -> Result<Option<Note>, VaultError> {
        if self.profile == *start {
            return Note::read(start);
        }
        let away = |reason: String| VaultError::Away { path: self.profile.dir().to_owned(), reason };
        match Note::read(&self.profile) {
            Ok(Some(note)) => Ok(Some(note)),
            Ok(None) if self.profile.dir().is_dir() => {
                // What was copied from has no note if that was its first move and it was given up.
                if self.left.is_empty() && self.profile.traces().any() {
                    return Ok(None);
                }
                Err(away("the folder holds nothing of Evenkeel".to_owned()))
            }
            Ok(None) => Err(away("there is no such folder".to_owned())),
            Err(VaultError::Unread { source, .. }) => Err(away(source.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Whether a note says that what belongs into the folder is elsewhere; one that cannot be read may.
pub(crate) fn leads_away(profile: &Profile) -> bool {
    match Note::read(profile) {
        Ok(note) => note.is_some_and(|note| matches!(note.stand, Stand::Left { .. } | Stand::Arriving { .. })),
        Err(_) => true,
    }
}

/// The folder's real path, which no link changes any more.
pub(crate) fn real(folder: &Path) -> Result<PathBuf, VaultError> {
    folder.canonicalize().map_err(|e| VaultError::unread(folder, e))
}

#[cfg(test)]
mod tests;
