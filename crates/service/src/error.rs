//! Errors of the service: those of the rooms below, and its own.

use crate::BackupInfo;
use evenkeel_diagnosis::DiagnosisError;
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError};
use evenkeel_plugin::Fault;
use evenkeel_store::archive::ArchiveError;
use evenkeel_store::backup::{BackupError, EXTENSION};

/// What to do about a folder that is not there.
pub(crate) const NO_FOLDER: &str = "Connect its drive, make the folder, or choose another one.";

/// What a service method answers when it cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// A refusal of the service itself.
    #[error("{0}")]
    Refused(ErrorBody),
    /// Keys, keychain or the profile folder.
    #[error(transparent)]
    Vault(#[from] evenkeel_vault::VaultError),
    /// The database.
    #[error(transparent)]
    Store(#[from] evenkeel_store::StoreError),
    /// A backup.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// An archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A provider.
    #[error(transparent)]
    Provider(#[from] evenkeel_provider::ProviderError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] evenkeel_engine::EngineError),
    /// A model file.
    #[error(transparent)]
    ModelFile(#[from] evenkeel_engine::ModelFileError),
    /// The log or a crash report.
    #[error(transparent)]
    Diagnosis(#[from] evenkeel_diagnosis::DiagnosisError),
    /// A strategy of other people.
    #[error(transparent)]
    Plugin(#[from] evenkeel_plugin::PluginError),
    /// A server of tools.
    #[error(transparent)]
    Tool(#[from] evenkeel_tools::ToolError),
    /// The prompt.
    #[error(transparent)]
    Prompt(#[from] evenkeel_prompt::PromptError),
}

impl ServiceError {
    /// A defect of Evenkeel, at `place`.
    pub(crate) fn internal(place: &str, error: &dyn std::fmt::Display) -> Self {
        let message = format!("{place} failed: {error}; restart Evenkeel, nothing that was acknowledged is lost");
        Self::Refused(ErrorBody::new(ErrorCode::Internal, message))
    }

    /// The stable name of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(body) => body.code,
            Self::Vault(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Backup(error) => error.code(),
            Self::Archive(error) => error.code(),
            Self::Provider(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::ModelFile(error) => error.code(),
            Self::Plugin(error) => error.code(),
            Self::Diagnosis(DiagnosisError::NoReport(_)) => ErrorCode::NotFound,
            Self::Diagnosis(DiagnosisError::Io { .. }) => ErrorCode::Storage,
            Self::Tool(_) => ErrorCode::ToolFailed,
            Self::Prompt(error) => error.code(),
        }
    }

    /// The one error shape of every face.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        match self {
            Self::Refused(body) => body.clone(),
            Self::Provider(error) => error.to_body(),
            Self::Vault(evenkeel_vault::VaultError::Away { path, .. }) => {
                ErrorBody::new(self.code(), self.to_string()).with("path", path.display())
            }
            Self::Vault(evenkeel_vault::VaultError::RecoveryCodeMistyped(_)) => {
                ErrorBody::new(self.code(), self.to_string()).with("recoveryCode", "mistyped")
            }
            Self::Archive(error) => {
                let body = ErrorBody::new(error.code(), error.to_string());
                match error {
                    ArchiveError::Limit { field, limit, .. } => body.with("field", field).with("limit", limit),
                    ArchiveError::Exists { path } => body.with("path", path.display()),
                    _ => body,
                }
            }
            // The code alone would speak of the vault, where it is the backup that is damaged or foreign.
            Self::Backup(error) => {
                let body = ErrorBody::new(self.code(), self.to_string());
                match (BackupInfo::problem_of(error), error) {
                    (Some(problem), _) => body.with("backup", problem),
                    (None, BackupError::FolderMissing { path }) if path.extension().is_some_and(|it| it == EXTENSION) => {
                        body.with("path", path.display()).advised("Connect its drive, or choose another backup.")
                    }
                    (None, BackupError::FolderMissing { path }) => body.with("folder", path.display()).advised(NO_FOLDER),
                    (None, _) => body,
                }
            }
            Self::Plugin(error) => {
                let body = ErrorBody::new(error.code(), self.to_string());
                match error.fault() {
                    Some(Fault::Installed { installed, offered }) => body.with("installed", installed).with("offered", offered),
                    _ => body,
                }
            }
            Self::Tool(error) => error.to_body(),
            other => ErrorBody::new(other.code(), other.to_string()),
        }
    }
}

impl From<ErrorBody> for ServiceError {
    fn from(body: ErrorBody) -> Self {
        Self::Refused(body)
    }
}

impl From<FieldError> for ServiceError {
    fn from(error: FieldError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<ServiceError> for ErrorBody {
    fn from(error: ServiceError) -> Self {
        error.to_body()
    }
}
