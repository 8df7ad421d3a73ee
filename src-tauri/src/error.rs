//! Errors of the shell itself: windows, tray, shortcut.

use evenkeel_domain::{ErrorBody, ErrorCode};

/// A window, tray or event that the system refused.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// Tauri reported an error.
    #[error("the desktop refused: {0}; if it stays so, restart Evenkeel")]
    Desktop(#[from] tauri::Error),
    /// A text of the shell is in no catalogue.
    #[error("a text of the tray is missing ({0}); this version of Evenkeel is not whole, install it again")]
    Words(#[from] serde_json::Error),
}

impl From<ShellError> for ErrorBody {
    fn from(error: ShellError) -> Self {
        Self::new(ErrorCode::Internal, error.to_string())
    }
}
