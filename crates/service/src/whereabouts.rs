//! Where the data is: in the profile that the service was made with, or where it was moved to.

use evenkeel_vault::{Place, Profile, VaultError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The profile in use. It is looked for each time the vault is opened, since a drive may have come
/// or another process may have moved the data; while the vault is open nobody can.
pub(crate) struct Whereabouts {
    start: Profile,
    found: Mutex<Option<Profile>>,
}

impl Whereabouts {
    /// Begins at a profile; nothing is read yet.
    pub fn new(start: Profile) -> Self {
        Self { start, found: Mutex::new(None) }
    }

    /// The profile as it was last found; the one begun with where its data cannot be reached. Reads a
    /// small file the first time.
    pub fn profile(&self) -> Profile {
        let known = self.lock().clone();
        known.or_else(|| self.look().ok().map(|place| place.profile().clone())).unwrap_or_else(|| self.start.clone())
    }

    /// Looks where the data is now.
    pub fn look(&self) -> Result<Place, VaultError> {
        let place = Place::of(&self.start);
        *self.lock() = place.as_ref().ok().map(|place| place.profile().clone());
        place
    }

    /// Refuses to go on in `profile` if another process has moved the data away from it meanwhile.
    pub fn check(&self, profile: &Profile) -> Result<(), VaultError> {
        if Place::of(&self.start)?.profile() == profile { Ok(()) } else { Err(VaultError::InUse) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Profile>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
