//! How a command can end other than well.

use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::ServiceError;
use std::fmt::Display;
use std::io;

/// Refused or failed.
pub(super) const FAILED: u8 = 1;
/// The vault, or a backup, cannot be opened.
const CLOSED: u8 = 3;
/// Stopped by Ctrl-C, as shells have it.
pub(super) const STOPPED: u8 = 130;

/// Why a command does not end well.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something was refused.
    Refused(ErrorBody),
    /// Standard output takes no more.
    Output(io::Error),
    /// Everything was said; the process ends with this code.
    Ended(u8),
}

impl Failure {
    /// A defect of Evenkeel or of the system under it.
    pub fn internal(place: &str, error: &dyn Display) -> Self {
        ErrorBody::new(ErrorCode::Internal, format!("{place} failed: {error}")).into()
    }

    /// Why a file of the user's could not be read.
    pub fn of_file(doing: &str, path: &std::path::Path, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            io::ErrorKind::PermissionDenied => ErrorCode::NotWritable,
            _ => ErrorCode::Storage,
        };
        let body = ErrorBody::new(code, format!("{doing} {} failed: {error}", path.display())).with("path", path.display());
        body.advised("Check the path, and whether the file may be read; nothing was changed.").into()
    }
}

/// The exit code of an error.
pub(super) fn exit_code(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::VaultLocked
        | ErrorCode::VaultDamaged
        | ErrorCode::VaultTooNew
        | ErrorCode::VaultAway
        | ErrorCode::VaultInUse
        | ErrorCode::WrongKey
        | ErrorCode::KeychainUnavailable
        | ErrorCode::KeychainLocked
        | ErrorCode::KeychainWaiting
        | ErrorCode::KeychainMissing => CLOSED,
        _ => FAILED,
    }
}

impl From<ErrorBody> for Failure {
    fn from(body: ErrorBody) -> Self {
        Self::Refused(body)
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error.to_body())
    }
}
