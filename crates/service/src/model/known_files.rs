//! What model files say about themselves, read once for each state of a file: reading it for every
//! message would cost milliseconds.

use evenkeel_engine::{ModelFile, inspect};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A file that was written to differs in one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
}

/// The files looked at so far.
#[derive(Default)]
pub(crate) struct KnownFiles(Mutex<HashMap<PathBuf, (Stamp, ModelFile)>>);

impl KnownFiles {
    /// What the file says; `None` where it cannot be read or is no model. May block.
    pub fn look(&self, path: &Path) -> Option<ModelFile> {
        let metadata = std::fs::metadata(path).ok()?;
        let stamp = Stamp { modified: metadata.modified().ok(), size: metadata.len() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = known.get(path).filter(|(seen, _)| *seen == stamp) {
            return Some(file.clone());
        }
        let file = inspect(path).ok()?;
        known.insert(path.to_owned(), (stamp, file.clone()));
        Some(file)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use evenkeel_engine::default_model;

    #[test]
    fn a_file_that_changed_is_read_again_and_one_that_went_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        std::fs::copy(default_model::locate(None).unwrap(), &path).unwrap();
        let known = KnownFiles::default();
        let first = known.look(&path).unwrap();
        assert_eq!(known.look(&path).unwrap(), first);
        std::fs::write(&path, b"no model any more").unwrap();
        assert!(known.look(&path).is_none());
        std::fs::remove_file(&path).unwrap();
        assert!(known.look(&path).is_none());
    }
}
