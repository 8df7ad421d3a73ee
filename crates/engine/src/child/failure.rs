use crate::ModelFileError;
use evenkeel_domain::ErrorCode;

/// Why the child cannot serve; the parent gets it as the `failed` line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The stable name.
    pub code: ErrorCode,
    /// What happened and what to do.
    pub message: String,
}

impl From<ModelFileError> for Failure {
    fn from(error: ModelFileError) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}
