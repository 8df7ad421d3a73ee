//! Model files of the engine: added, and taken off the list again.

use super::{BUILT_IN, file_info};
use crate::{ModelFileRemoval, Service, ServiceError};
use evenkeel_domain::{ErrorBody, ErrorCode, ModelChoice, ModelFileId, ModelInfo};
use evenkeel_engine::inspect;
use evenkeel_store::ModelFile;
use std::path::{Path, PathBuf};

impl Service {
    /// Adds a GGUF file to the engine's models; the file stays where it is.
    ///
    /// # Errors
    /// The file is no model that the engine can run, with the reason.
    pub async fn model_file_add(&self, path: PathBuf) -> Result<ModelInfo, ServiceError> {
        let session = self.session()?;
        let look = move || {
            let file = inspect(&path)?;
            if !file.has_chat_template {
                return Err(evenkeel_engine::ModelFileError::NoChatTemplate(path));
            }
            let absolute = path.canonicalize().unwrap_or(path);
            Ok((file, absolute))
        };
        let looked = tokio::task::spawn_blocking(look).await;
        let (file, path) = looked.map_err(|error| ServiceError::internal("reading a model file", &error))??;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let path = path.to_string_lossy().into_owned();
        let mut row = ModelFile {
            id: ModelFileId::of_path(&path),
            name: stem,
            path,
            window: Some(file.window),
            size_bytes: file.size_bytes,
            added_at: self.now(),
        };
        let name = session
            .write(move |w| {
                // A name chooses one model: a second file of the same name gets a number.
                let taken = w.model_files()?;
                let stem = row.name.clone();
                let mut number = 2;
                while row.name == BUILT_IN || taken.iter().any(|other| other.name == row.name && other.id != row.id) {
                    row.name = format!("{stem} ({number})");
                    number += 1;
                }
                w.upsert_model_file(&row)?;
                Ok(row.name)
            })
            .await?;
        Ok(file_info(name, &file, false))
    }

    /// What taking a model file off the engine's list would mean; changes nothing.
    ///
    /// # Errors
    /// It is the model that comes with Evenkeel, or there is none of this name; the error lists those that exist.
    pub async fn model_file_removal(&self, name: String) -> Result<ModelFileRemoval, ServiceError> {
        Ok(self.removal(&name).await?.1)
    }

    /// Takes a model file off the engine's list. The file stays on the disk, unless it lies in the profile's own
    /// folder of models. Where it was the default, none is chosen afterwards; where it is loaded, it is freed.
    ///
    /// # Errors
    /// As for [`Service::model_file_removal`]; a reply is being written with it; or the file, which is off the list
    /// then, could not be deleted.
    pub async fn model_file_remove(&self, name: String) -> Result<ModelFileRemoval, ServiceError> {
        let (row, removal) = self.removal(&name).await?;
        if removal.is_loaded {
            if !self.replies().is_empty() {
                let message = format!("a reply is being written, and {name} is loaded; stop it or wait for its end");
                return Err(ErrorBody::new(ErrorCode::Busy, message).with("name", name).into());
            }
            self.engines().unload().await;
        }
        self.forget_file(row.id, name).await?;
        if removal.deletes_file {
            let path = PathBuf::from(row.path);
            let deleted = tokio::task::spawn_blocking(move || std::fs::remove_file(&path).map_err(|error| (path, error))).await;
            let deleted = deleted.map_err(|error| ServiceError::internal("deleting a model file", &error))?;
            if let Err((path, error)) = deleted {
                let place = path.display();
                let message =
                    format!("the model is off the list, but its file {place} could not be deleted: {error}; delete it by hand");
                return Err(ErrorBody::new(ErrorCode::Storage, message).with("path", place).into());
            }
        }
        Ok(removal)
    }

    /// Row and default model go in one transaction.
    async fn forget_file(&self, id: ModelFileId, name: String) -> Result<(), ServiceError> {
        let engine = ModelChoice { provider_id: self.engine_provider().await?.id, model: name };
        let session = self.session()?;
        let settings = session
            .write(move |w| {
                w.delete_model_file(&id)?;
                let mut settings = w.settings()?;
                if settings.default_model.as_ref() == Some(&engine) {
                    settings.default_model = None;
                    w.put_settings(&settings)?;
                }
                Ok(settings)
            })
            .await?;
        session.set_settings(settings);
        Ok(())
    }

    async fn removal(&self, name: &str) -> Result<(ModelFile, ModelFileRemoval), ServiceError> {
        if name == BUILT_IN {
            let message = format!("{BUILT_IN} comes with Evenkeel and cannot be removed; choose another default model instead");
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "name").with("value", name).into());
        }
        let session = self.session()?;
        let rows = session.read(|r| r.model_files()).await?;
        let known = rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
        let Some(row) = rows.iter().find(|row| row.name == name).cloned() else {
            let message = format!("there is no model file {name}; there are: {known}");
            return Err(ErrorBody::new(ErrorCode::NotFound, message).with("id", name).with("existing", known).into());
        };
        let engine = self.engine_provider().await?.id;
        let chosen = session.settings().default_model;
        let (path, own) = (PathBuf::from(&row.path), self.own_models());
        let lies_in = tokio::task::spawn_blocking(move || lies_in(&path, &own)).await;
        let removal = ModelFileRemoval {
            name: name.to_owned(),
            deletes_file: lies_in.map_err(|error| ServiceError::internal("looking for a model file", &error))?,
            is_default: chosen.is_some_and(|chosen| chosen.provider_id == engine && chosen.model == name),
            is_loaded: self.engines().may_use(Path::new(&row.path)),
            path: row.path.clone(),
        };
        Ok((row, removal))
    }
}

/// Whether a file, not a link to one, stands directly in a folder.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|about| about.is_file());
    let place = path.parent().and_then(|parent| parent.canonicalize().ok());
    is_file && place.is_some() && place == folder.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_a_file_right_in_the_folder_lies_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("models");
        std::fs::create_dir_all(own.join("deeper")).unwrap();
        let (inside, deeper, outside) = (own.join("a.gguf"), own.join("deeper/a.gguf"), dir.path().join("a.gguf"));
        for path in [&inside, &deeper, &outside] {
            std::fs::write(path, b"x").unwrap();
        }
        assert!(lies_in(&inside, &own));
        assert!(lies_in(&own.join("deeper/../a.gguf"), &own));
        for path in [deeper, outside, own.join("missing.gguf"), own.join("deeper")] {
            assert!(!lies_in(&path, &own), "{}", path.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(dir.path().join("a.gguf"), own.join("link.gguf")).unwrap();
            assert!(!lies_in(&own.join("link.gguf"), &own));
        }
    }
}
