//! A recovery code in a text file that the user keeps elsewhere.

use crate::{Profile, VaultError, durable};
use std::path::Path;

/// Writes `text`, which holds a recovery code, to `path`: a file that only its owner may read (mode 0600 on
/// Unix), in place of one that stood there. The file appears whole or not at all.
///
/// # Errors
/// [`VaultError::InsideProfile`] if it would stand in the profile folder or below it; [`VaultError::Io`].
pub fn save_recovery_code(profile: &Profile, path: &Path, text: &str) -> Result<(), VaultError> {
    let failed = |error| VaultError::io("Writing", path, error);
    let nameless = || std::io::Error::new(std::io::ErrorKind::InvalidInput, "it names no file");
    let absolute = std::path::absolute(path).map_err(failed)?;
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else { return Err(failed(nameless())) };
    // Links and `..` are resolved, so that no other name of the folder leads into it.
    let folder = folder.canonicalize().map_err(failed)?;
    if profile.dir().canonicalize().is_ok_and(|profile| folder.starts_with(profile)) {
        return Err(VaultError::InsideProfile { path: path.to_owned() });
    }
    durable::write(&folder.join(name), text.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    fn profile() -> (tempfile::TempDir, Profile) {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().join("profile"));
        profile.prepare().unwrap();
        (dir, profile)
    }

    #[test]
    fn it_is_written_whole_and_for_the_owner_only() {
        let (dir, profile) = profile();
        let path = dir.path().join("code.txt");
        fs::write(&path, "something longer that stood there before").unwrap();
        save_recovery_code(&profile, &path, "AAAA-BBBB").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "AAAA-BBBB");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing unfinished is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn no_way_leads_into_the_profile_folder() {
        let (dir, profile) = profile();
        let link = dir.path().join("link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(profile.dir(), &link).unwrap();
        #[cfg(not(unix))]
        fs::create_dir(&link).unwrap();
        let mut ways = vec![
            profile.dir().join("code.txt"),
            profile.backups().join("code.txt"),
            dir.path().join("profile/../profile/models/code.txt"),
        ];
        if cfg!(unix) {
            ways.push(link.join("code.txt"));
        }
        for path in ways {
            let error = save_recovery_code(&profile, &path, "AAAA").unwrap_err();
            assert!(matches!(&error, VaultError::InsideProfile { path: named } if *named == path), "{error}");
            assert!(!path.exists());
        }
        save_recovery_code(&profile, &dir.path().join("profile-code.txt"), "AAAA").unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error() {
        let (dir, profile) = profile();
        fs::create_dir(dir.path().join("folder")).unwrap();
        for path in [dir.path().join("missing/code.txt"), dir.path().join("folder"), "/".into()] {
            let error = save_recovery_code(&profile, &path, "AAAA").unwrap_err();
            assert!(matches!(error, VaultError::Io { .. }), "{error}");
        }
    }
}
