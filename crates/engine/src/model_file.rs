use crate::gguf::{GgufError, Header};
use evenkeel_domain::ErrorCode;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Architectures that make embeddings by their nature.
const EMBEDDING_ARCHITECTURES: [&str; 6] = ["bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "neo-bert", "modern-bert"];
/// The value of `*.pooling_type` for rerankers, which answer neither chats nor embeddings.
const POOLING_RANK: u64 = 4;
/// Largest file that counts as a small model, in bytes: about a billion weights at four bits each.
const SMALL_BYTES: u64 = 700_000_000;
/// Longest name that is shown, in characters.
const MAX_NAME: usize = 120;

/// What a GGUF file says about itself. Nothing in it has been verified beyond its form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFile {
    /// The model's name, or the file's where it has none; at most 120 characters, no control ones.
    pub name: String,
    /// The family of models, such as `llama`.
    pub architecture: String,
    /// The window the model was trained for, in tokens; 0 = the file does not say.
    pub window: u32,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// Whether it can chat: a file without a chat template is refused, never guessed at.
    pub has_chat_template: bool,
    /// Whether it makes embeddings instead of replies.
    pub embedding: bool,
    /// The kind of tokenizer, such as `gpt2`; empty = the file does not say.
    pub tokenizer: String,
}

impl ModelFile {
    /// Whether it is a small model, of fewer than about a billion weights. Such a model repeats its own
    /// earlier replies word by word and answers whatever text comes last, so it is asked and sampled
    /// in another way.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.size_bytes < SMALL_BYTES
    }
}

/// Why a file is no model that the engine can run.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// Nothing is there.
    #[error("There is no model file at {0}. It may have been moved or deleted: add it again, or choose another model.")]
    Missing(PathBuf),
    /// A folder, a device or a pipe.
    #[error("{0} is not a regular file. Choose a single model file whose name ends in .gguf.")]
    NotAFile(PathBuf),
    /// It may not be read.
    #[error("{path} cannot be read: {source}. Check its permissions and the disk, then try again.")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not a whole GGUF file.
    #[error("{path} is not a usable model file: {reason}. Download it again, or choose another one.")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It has no chat template and makes no embeddings.
    #[error(
        "{0} has no chat template, so there is no telling how to talk to it. Choose an \"instruct\" or \"chat\" version of the model."
    )]
    NoChatTemplate(PathBuf),
    /// Its checksum is not the expected one.
    #[error("{path} is not the expected file: its sha256 is {found} instead of {expected}. Delete it and run ./scripts/setup.")]
    WrongChecksum {
        /// The file.
        path: PathBuf,
        /// The sha256 it should have, in hex.
        expected: String,
        /// The sha256 it has, in hex.
        found: String,
    },
}

impl ModelFileError {
    /// The stable name of this error for every face.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing(_) => ErrorCode::ModelFileMissing,
            _ => ErrorCode::ModelFileInvalid,
        }
    }
}

/// Opens `path` if it is a regular file. A pipe would wait for a writer for ever.
pub(crate) fn open_regular(path: &Path) -> Result<(File, u64), ModelFileError> {
    let unreadable = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => ModelFileError::Missing(path.to_owned()),
        _ => ModelFileError::Unreadable { path: path.to_owned(), source },
    };
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(ModelFileError::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    Ok((file, size))
}

/// Reads what a model file says about itself, in safe code and with bounds on every length.
///
/// # Errors
/// [`ModelFileError`] when there is no such file, when it is not a regular file, cannot be read,
/// or is not a whole GGUF file of version 2 or 3. A missing chat template is no error here.
pub fn inspect(path: &Path) -> Result<ModelFile, ModelFileError> {
    let (file, size_bytes) = open_regular(path)?;
    let header = Header::read(BufReader::new(file), size_bytes).map_err(|error| match error {
        GgufError::Io(source) => ModelFileError::Unreadable { path: path.to_owned(), source },
        other => invalid(path, other.to_string()),
    })?;
    describe(path, &header, size_bytes)
}

fn describe(path: &Path, header: &Header, size_bytes: u64) -> Result<ModelFile, ModelFileError> {
    let Some(architecture) = header.text("general.architecture").filter(|name| !name.is_empty()) else {
        return Err(invalid(path, "it does not name the model's architecture".to_owned()));
    };
    if header.tensors == 0 {
        return Err(invalid(path, "it holds no weights".to_owned()));
    }
    let window = header.number(&format!("{architecture}.context_length")).unwrap_or(0);
    let pooling = header.number(&format!("{architecture}.pooling_type")).unwrap_or(0);
    let embedding = (EMBEDDING_ARCHITECTURES.contains(&architecture) || pooling > 0) && pooling != POOLING_RANK;
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = header.text("general.name").map(presentable).filter(|name| !name.is_empty());
    Ok(ModelFile {
        name: name.unwrap_or_else(|| presentable(&stem())),
        architecture: presentable(architecture),
        window: u32::try_from(window).unwrap_or(u32::MAX),
        size_bytes,
        has_chat_template: header.text("tokenizer.chat_template").is_some_and(|text| !text.trim().is_empty()),
        embedding,
        tokenizer: header.text("tokenizer.ggml.model").map(presentable).unwrap_or_default(),
    })
}

fn invalid(path: &Path, reason: String) -> ModelFileError {
    ModelFileError::Invalid { path: path.to_owned(), reason }
}

/// A name as it may be shown: no control characters, not endless.
fn presentable(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    clean.trim().to_owned()
}

#[cfg(test)]
#[path = "model_file/tests.rs"]
mod tests;
