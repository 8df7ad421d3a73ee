//! What parent and child say to each other: one JSON line each way, over stdin and stdout, so
//! that nothing secret stands in the process list.

use evenkeel_domain::ErrorCode;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use zeroize::Zeroize;

/// Longest start line that the child reads, in bytes.
pub(crate) const MAX_START_LINE: u64 = 64 * 1024;

/// The parent's first and only line. Its end of file tells the child to go.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartLine {
    /// The bearer token that every request must carry.
    pub token: String,
    /// The GGUF file.
    pub model_path: PathBuf,
    /// Window asked for, in tokens; the model's own is the upper bound.
    #[serde(default)]
    pub context_tokens: Option<u32>,
    /// Threads to compute with; physical cores unless given.
    #[serde(default)]
    pub threads: Option<u32>,
    /// Minutes without a request after which the child ends by itself; 0 = never.
    #[serde(default)]
    pub idle_minutes: u32,
}

impl Drop for StartLine {
    fn drop(&mut self) {
        self.token.zeroize();
    }
}

/// The child's only line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub(crate) enum ChildLine {
    /// The endpoint answers.
    Ready(ReadyLine),
    /// The model cannot be run.
    Failed {
        /// `model_file_invalid`, `model_file_missing` or `engine_unavailable`.
        code: ErrorCode,
        /// What happened and what to do.
        message: String,
    },
}

/// What the child tells about itself and its model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReadyLine {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// The model's name.
    pub model: String,
    /// Tokens of prompt and reply together.
    pub window: u32,
    /// The window the model was trained for.
    pub trained_window: u32,
    /// The file has a chat template.
    pub chat_template: bool,
    /// The model makes embeddings, not replies.
    pub embedding: bool,
    /// The kind of tokenizer, as the file names it.
    pub tokenizer: String,
    /// Threads that compute.
    pub threads: u32,
}
