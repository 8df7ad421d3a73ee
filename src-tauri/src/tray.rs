//! The tray icon and its menu.

use crate::{error::ShellError, state::Shell, window};
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, include_image};

/// Puts the icon into the tray. A desktop without a tray shows none; `evenkeel quick` works all the same.
///
/// # Errors
/// The desktop refused the icon or the menu.
pub fn build(app: &AppHandle) -> Result<(), ShellError> {
    let item = |id: &str, text: &str| MenuItem::with_id(app, id, text, true, None::<&str>);
    let menu = Menu::with_items(
        app,
        &[
            &item("quick", "Quick chat")?,
            &item("open", "Open Evenkeel")?,
            &PredefinedMenuItem::separator(app)?,
            &item("lock", "Lock")?,
            &PredefinedMenuItem::separator(app)?,
            &item("quit", "Quit")?,
        ],
    )?;
    TrayIconBuilder::with_id("evenkeel")
        .icon(include_image!("icons/tray.png"))
        .tooltip("Evenkeel")
        .menu(&menu)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| choose(app, event.id().as_ref()))
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. } = event {
                window::toggle_quick_chat(tray.app_handle());
            }
        })
        .build(app)?;
    Ok(())
}

fn choose(app: &AppHandle, id: &str) {
    let outcome = match id {
        "quick" => window::show_quick_chat(app),
        "open" => window::show_main(app),
        "lock" => {
            lock(app.clone());
            Ok(())
        }
        _ => {
            app.exit(0);
            Ok(())
        }
    };
    if let Err(error) = outcome {
        tracing::error!(%error, id, "the tray menu could not do that");
    }
}

fn lock(app: AppHandle) {
    tauri::async_runtime::spawn(async move {
        app.state::<Shell>().service.vault_lock().await;
    });
}
