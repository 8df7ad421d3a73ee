//! Errors of the log and of crash reports.

use std::path::{Path, PathBuf};

/// Why a log or a report could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosisError {
    /// A file or folder.
    #[error("{what} {path} failed: {source}", path = path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no such report; it may have been deleted already.
    #[error("there is no crash report {0}; it may have been deleted already")]
    NoReport(String),
}

impl DiagnosisError {
    pub(crate) fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }
}
