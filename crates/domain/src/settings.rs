//! The user's settings.

use crate::{ContextId, ModelChoice};
use serde::{Deserialize, Serialize};

/// Light, dark, or what the system says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// All settings; each has a default, and the whole is written at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// BCP 47 language tag, or `system`.
    pub language: String,
    /// Model of contexts that name none; `None` until one is chosen.
    pub default_model: Option<ModelChoice>,
    /// Global shortcut of quick chat, such as `CommandOrControl+Shift+Space`; empty = none.
    pub quick_chat_shortcut: String,
    /// Closing the window keeps the app in the tray.
    pub keep_in_tray: bool,
    /// Minutes without a request after which the engine frees the model, 1–1,440.
    pub engine_idle_minutes: u32,
    /// Context that quick chat talks to: the one last used.
    pub last_context_id: Option<ContextId>,
    /// The user has seen that this is an AI and no therapist.
    pub ai_notice_accepted: bool,
    /// Conversations get their titles from the model, in the background.
    #[serde(default = "on")]
    pub automatic_titles: bool,
}

/// The value of a setting that is on where nothing is said of it.
fn on() -> bool {
    true
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            language: "system".into(),
            default_model: None,
            quick_chat_shortcut: "CommandOrControl+Shift+Space".into(),
            keep_in_tray: true,
            engine_idle_minutes: 15,
            last_context_id: None,
            ai_notice_accepted: false,
            automatic_titles: true,
        }
    }
}
