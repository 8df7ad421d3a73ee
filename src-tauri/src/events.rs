//! Events to the windows. Streams go through channels; these are rare.

use evenkeel_domain::ConversationId;
use evenkeel_service::{Change, EngineNotice};
use serde::{Deserialize, Serialize};

/// Something in the vault is different now.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct Changed(pub Change);

/// The engine started, stopped or crashed.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct Engine(pub EngineNotice);

/// The main window is to show a conversation.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
#[serde(rename_all = "camelCase")]
pub struct Navigate {
    /// The conversation.
    pub conversation_id: ConversationId,
}

/// The vault was locked or opened from somewhere else than the window that hears this.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct VaultChanged;

/// Quick chat is being shown: the cursor goes into its field.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub struct QuickChatShown;
