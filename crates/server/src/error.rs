//! What can go wrong with the ways in.

/// Why a way in could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another process of the same profile listens already.
    #[error("another process of this profile listens already")]
    Taken,
    /// No place for the socket is the user's alone.
    #[error("there is no folder of the user alone to listen in")]
    NoPlace,
    /// Another program has the port.
    #[error("port {0} is in use by another program; choose another one")]
    PortTaken(u16),
    /// The system refused.
    #[error("listening failed: {0}")]
    Io(#[from] std::io::Error),
}
