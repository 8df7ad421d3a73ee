//! GGUF files of the engine.

use crate::column::time;
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::ModelFileId;
use rusqlite::{Row, params};

/// A GGUF file that the user added; the file itself stays where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// Hex SHA-256 of the canonical path.
    pub id: ModelFileId,
    /// Canonical path; no two rows have the same.
    pub path: String,
    /// Shown name.
    pub name: String,
    /// Context window in tokens, where the file says so.
    pub window: Option<u32>,
    /// Size in bytes, below 2⁶³.
    pub size_bytes: u64,
    /// When it was added.
    pub added_at: DateTime<Utc>,
}

macro_rules! select_model_files {
    ($rest:literal) => {
        concat!("SELECT id, path, name, window, size_bytes, added_at FROM model_files ", $rest)
    };
}

fn model_file(row: &Row<'_>) -> Result<ModelFile, StoreError> {
    let size: i64 = row.get(4)?;
    Ok(ModelFile {
        id: ModelFileId::new(row.get::<_, String>(0)?),
        path: row.get(1)?,
        name: row.get(2)?,
        window: row.get(3)?,
        size_bytes: u64::try_from(size).map_err(|_| StoreError::DamagedValue { what: "model_files.size_bytes".into() })?,
        added_at: time(row, 5)?,
    })
}

impl ReadHandle<'_> {
    /// One model file.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn model_file(&self, id: &ModelFileId) -> Result<Option<ModelFile>, StoreError> {
        self.one(select_model_files!("WHERE id = ?1"), [id.as_str()], model_file)
    }

    /// All model files by name.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn model_files(&self) -> Result<Vec<ModelFile>, StoreError> {
        self.all(select_model_files!("ORDER BY name, id"), [], model_file)
    }
}

impl WriteHandle<'_> {
    /// Stores a model file, new or read anew; when it was first added stays.
    ///
    /// # Errors
    /// `Defect` if another id has the same path; `Storage`, `DiskFull`.
    pub fn upsert_model_file(&mut self, file: &ModelFile) -> Result<(), StoreError> {
        let size = i64::try_from(file.size_bytes).map_err(|_| StoreError::defect("a model file of 2^63 bytes or more"))?;
        self.execute(
            "INSERT INTO model_files (id, path, name, window, size_bytes, added_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET path = excluded.path, name = excluded.name, window = excluded.window,
                 size_bytes = excluded.size_bytes",
            params![file.id.as_str(), file.path, file.name, file.window, size, file.added_at.timestamp_millis()],
        )?;
        self.changed(Noun::ModelFile, &file.id);
        Ok(())
    }

    /// Notes that the file of a model is at another path, which gives it another id; its name stays.
    ///
    /// # Errors
    /// `NotFound`; `Defect` if another model file has that path; `Storage`, `DiskFull`.
    pub fn move_model_file(&mut self, id: &ModelFileId, new_id: &ModelFileId, path: &str) -> Result<(), StoreError> {
        let moved = "UPDATE model_files SET id = ?2, path = ?3 WHERE id = ?1";
        self.execute_on(Noun::ModelFile, id, moved, params![id.as_str(), new_id.as_str(), path])?;
        self.changed(Noun::ModelFile, new_id);
        Ok(())
    }

    /// Forgets a model file; the file itself stays.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_model_file(&mut self, id: &ModelFileId) -> Result<(), StoreError> {
        self.execute_on(Noun::ModelFile, id, "DELETE FROM model_files WHERE id = ?1", [id.as_str()])
    }
}
