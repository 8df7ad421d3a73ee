use crate::ModelFileError;
use evenkeel_domain::ErrorCode;
use std::path::PathBuf;

/// Why the engine cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The model file cannot be used.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// The program that is the engine could not be started.
    #[error(
        "The engine program {program} could not be started: {source}. Install Evenkeel again, or check that the file may be run."
    )]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The child said why it cannot run the model.
    #[error("{message}")]
    Refused {
        /// `model_file_invalid` or `engine_unavailable`.
        code: ErrorCode,
        /// The child's sentence.
        message: String,
    },
    /// The child died again and again while loading the model.
    #[error(
        "The engine stopped {times} times within a minute while loading {path} ({reason}). The file may be damaged or need more memory than is free: choose another model, or try again in a minute."
    )]
    KeepsCrashing {
        /// The model file.
        path: PathBuf,
        /// How often it was tried.
        times: usize,
        /// How it ended the last time.
        reason: String,
    },
    /// The child did not become ready in time.
    #[error(
        "The engine was still loading {path} after {seconds} s and was stopped. Choose a smaller model, or close other programs and try again."
    )]
    TooSlow {
        /// The model file.
        path: PathBuf,
        /// The limit, in seconds.
        seconds: u64,
    },
    /// The supervisor was shut down; the app is quitting.
    #[error("The engine is shut down because Evenkeel is closing. Start Evenkeel again to use it.")]
    ShutDown,
    /// No random bytes for the access token.
    #[error("The system gave no random bytes for the engine's access token ({0}). Restart the computer and try again.")]
    NoRandomness(String),
}

impl EngineError {
    /// The stable name of this error for every face.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ModelFile(error) => error.code(),
            Self::Refused { code, .. } => *code,
            Self::KeepsCrashing { .. } => ErrorCode::EngineCrashed,
            Self::Start { .. } | Self::TooSlow { .. } | Self::ShutDown | Self::NoRandomness(_) => ErrorCode::EngineUnavailable,
        }
    }
}
