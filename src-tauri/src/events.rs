//! Events to the windows. Streams go through channels; these are rare.

use evenkeel_service::{Change, EngineNotice};
use serde::{Deserialize, Serialize};

/// Something in the vault is different now.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct Changed(pub Change);

/// A context expires within a day; told once for each end of a lifetime.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct ContextExpiring(pub evenkeel_service::ExpiringContext);

/// The engine started, stopped or crashed.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct Engine(pub EngineNotice);

/// A conversation waits to be shown in the main window, which asks for it with `quick_chat_moved`.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct Navigate;

/// The vault was locked or opened from somewhere else than the window that hears this.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct VaultChanged;
