//! Model files that came along when the profile's folder was moved: their paths are of the old place,
//! and so are those in a backup that was made there.

use crate::ServiceError;
use evenkeel_domain::ModelFileId;
use evenkeel_store::{ModelFile, Store};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Gives each model file that is no longer where it was the path in the profile's own folder of
/// models, if a file of its name and size is there. Its name stays, by which contexts and settings
/// choose it.
pub(crate) fn find_moved_files(store: &Store, own: &Path) -> Result<(), ServiceError> {
    let rows = store.read(|r| r.model_files())?;
    let mut taken: BTreeSet<String> = rows.iter().map(|row| row.path.clone()).collect();
    for row in &rows {
        let Some(path) = moved_to(row, own) else { continue };
        let path = path.to_string_lossy().into_owned();
        // Two rows never have the same file; it may have been added again from its new place.
        if !taken.insert(path.clone()) {
            continue;
        }
        store.write(|w| w.move_model_file(&row.id, &ModelFileId::of_path(&path), &path))?;
        tracing::info!("a model file was found again in the profile's folder");
    }
    Ok(())
}

/// Looks into the own folder first: the path that is gone may be on a drive that does not answer.
fn moved_to(row: &ModelFile, own: &Path) -> Option<PathBuf> {
    let here = own.join(name_below(Path::new(&row.path), own.file_name()?)).canonicalize().ok()?;
    let is_it = here.metadata().is_ok_and(|about| about.is_file() && about.len() == row.size_bytes);
    (is_it && Path::new(&row.path) != here && !Path::new(&row.path).exists()).then_some(here)
}

/// The end of a path after the last folder of that name; without one its last part.
fn name_below(path: &Path, folder: &OsStr) -> PathBuf {
    let parts: Vec<_> = path.components().collect();
    let after =
        parts.iter().rposition(|part| *part == Component::Normal(folder)).map_or(parts.len().saturating_sub(1), |at| at + 1);
    parts.get(after..).unwrap_or_default().iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_below_the_folder_is_kept() {
        for (path, expected) in [
            ("/a/models/own.gguf", "own.gguf"),
            ("/models/a/models/deep/own.gguf", "deep/own.gguf"),
            ("/elsewhere/own.gguf", "own.gguf"),
            ("own.gguf", "own.gguf"),
            ("/a/models", ""),
            ("", ""),
        ] {
            assert_eq!(name_below(Path::new(path), OsStr::new("models")), Path::new(expected), "{path}");
        }
    }
}
