//! Errors of the shell itself: windows, tray, shortcut.

use evenkeel_domain::{ErrorBody, ErrorCode};

/// A window, tray or event that the system refused.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// Tauri reported an error.
    #[error("the desktop refused: {0}; if it stays so, restart Evenkeel")]
    Desktop(#[from] tauri::Error),
}

impl From<ShellError> for ErrorBody {
    fn from(error: ShellError) -> Self {
        Self::new(ErrorCode::Internal, error.to_string())
    }
}
