//! The global shortcut of quick chat.

use crate::{state::Shell, window};
use evenkeel_domain::{ErrorBody, ErrorCode};
use serde::Serialize;
use std::str::FromStr;
use tauri::{AppHandle, Manager};
use tauri_plugin_global_shortcut::{GlobalShortcutExt, Shortcut, ShortcutState};

/// Whether the global shortcut works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, specta::Type)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// Bound.
    Ok,
    /// None is set.
    Off,
    /// The desktop has no global shortcuts for apps (Wayland).
    Unsupported,
    /// Another app holds it.
    Failed,
}

/// Checks a shortcut before it is saved.
///
/// # Errors
/// The text is no shortcut.
pub fn check(text: &str) -> Result<(), ErrorBody> {
    if text.is_empty() || Shortcut::from_str(text).is_ok() {
        return Ok(());
    }
    let message = format!("{text:?} is no shortcut; write modifiers and a key, such as CommandOrControl+Shift+Space");
    Err(ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "quickChatShortcut").with("value", text))
}

/// Binds a shortcut in place of the one before; notes the outcome for the settings view.
pub fn bind(app: &AppHandle, text: &str) {
    let shortcuts = app.global_shortcut();
    let _ = shortcuts.unregister_all();
    let outcome = if text.is_empty() {
        Availability::Off
    } else if on_wayland() {
        Availability::Unsupported
    } else {
        let handler = |app: &AppHandle, _: &Shortcut, event: tauri_plugin_global_shortcut::ShortcutEvent| {
            if event.state == ShortcutState::Pressed {
                window::toggle_quick_chat(app);
            }
        };
        match shortcuts.on_shortcut(text, handler) {
            Ok(()) => Availability::Ok,
            Err(error) => {
                tracing::warn!(%error, "the global shortcut could not be bound");
                Availability::Failed
            }
        }
    };
    app.state::<Shell>().set_shortcut(outcome);
}

fn on_wayland() -> bool {
    let session = std::env::var("XDG_SESSION_TYPE").is_ok_and(|kind| kind == "wayland");
    cfg!(target_os = "linux") && (session || std::env::var_os("WAYLAND_DISPLAY").is_some())
}
