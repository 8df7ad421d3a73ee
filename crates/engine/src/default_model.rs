//! The small model that comes with Evenkeel, "for trying out": SmolLM2 135M Instruct (Apache-2.0).

use crate::ModelFileError;
use crate::model_file::open_regular;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file's name.
pub const FILE_NAME: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// The file's sha256, in lower-case hex.
pub const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
/// The environment variable that names a folder with models, for development and packagers.
pub const MODELS_VARIABLE: &str = "EVENKEEL_MODELS";

/// The places where the file may be, in the order in which they are tried: the app's own
/// resources, the folder of [`MODELS_VARIABLE`], `evenkeel/models` in the user's cache folder.
#[must_use]
pub fn candidates(resources: Option<&Path>) -> Vec<PathBuf> {
    let named = std::env::var_os(MODELS_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    candidates_in(resources, named.as_deref(), cache_folder().as_deref())
}

fn candidates_in(resources: Option<&Path>, named: Option<&Path>, cache: Option<&Path>) -> Vec<PathBuf> {
    let folders =
        [resources.map(Path::to_owned), named.map(Path::to_owned), cache.map(|cache| cache.join("evenkeel").join("models"))];
    folders.into_iter().flatten().map(|folder| folder.join(FILE_NAME)).collect()
}

/// Where the file is: the first of [`candidates`] that is a regular file. Its contents are not
/// checked, see [`verify`].
///
/// # Errors
/// [`ModelFileError::Missing`] with the last place looked at.
pub fn locate(resources: Option<&Path>) -> Result<PathBuf, ModelFileError> {
    first_file(candidates(resources))
}

fn first_file(candidates: Vec<PathBuf>) -> Result<PathBuf, ModelFileError> {
    let last = candidates.last().cloned().unwrap_or_else(|| PathBuf::from(FILE_NAME));
    candidates.into_iter().find(|path| path.is_file()).ok_or(ModelFileError::Missing(last))
}

/// Checks that the file is the expected one, byte for byte. Takes about a tenth of a second.
///
/// # Errors
/// [`ModelFileError`] when it cannot be read or its sha256 differs.
pub fn verify(path: &Path) -> Result<(), ModelFileError> {
    let (mut file, _) = open_regular(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(|source| ModelFileError::Unreadable { path: path.to_owned(), source })?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    let found = data_encoding::HEXLOWER.encode(&hasher.finalize());
    if found == SHA256 {
        Ok(())
    } else {
        Err(ModelFileError::WrongChecksum { path: path.to_owned(), expected: SHA256.to_owned(), found })
    }
}

fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return variable("HOME").map(|home| home.join("Library").join("Caches"));
    }
    variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| variable("HOME").map(|home| home.join(".cache")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn resources_come_first_and_the_cache_last() {
        let found = candidates_in(Some(Path::new("/r")), Some(Path::new("/n")), Some(Path::new("/c")));
        let expected = ["/r", "/n", "/c/evenkeel/models"].map(|folder| Path::new(folder).join(FILE_NAME));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_that_exists_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join(FILE_NAME);
        std::fs::write(&here, b"x").unwrap();
        assert_eq!(first_file(vec![folder.path().join("none"), here.clone()]).unwrap(), here);
        assert!(matches!(first_file(vec![folder.path().join("none")]), Err(ModelFileError::Missing(_))));
    }

    #[test]
    fn a_changed_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, b"GGUF but something else").unwrap();
        let error = verify(&path).unwrap_err();
        assert!(matches!(&error, ModelFileError::WrongChecksum { found, .. } if found.len() == 64), "{error}");
    }
}
