//! The app as a server on this machine: what the user has turned on.

use serde::{Deserialize, Serialize};

/// What is served over HTTP on the loopback address. As it begins, nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerSettings {
    /// It is on.
    pub enabled: bool,
    /// The port; 0 = one that is free, another one at each start.
    pub port: u16,
}

impl ServerSettings {
    /// The port until the user names another one: none that is registered for anything.
    pub const PORT: u16 = 28_472;
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self { enabled: false, port: Self::PORT }
    }
}
