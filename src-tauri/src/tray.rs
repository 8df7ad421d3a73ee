//! The tray icon and its menu.

use crate::words::{self, TrayWords};
use crate::{error::ShellError, state::Shell, window};
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry, include_image};

/// The entries of the menu, kept so that their texts can follow the language.
struct Entries {
    quick: MenuItem<Wry>,
    open: MenuItem<Wry>,
    lock: MenuItem<Wry>,
    quit: MenuItem<Wry>,
}

impl Entries {
    fn new(app: &AppHandle, words: &TrayWords) -> Result<Self, ShellError> {
        let item = |id: &str, text: &str| MenuItem::with_id(app, id, text, true, None::<&str>);
        Ok(Self {
            quick: item("quick", &words.quick)?,
            open: item("open", &words.open)?,
            lock: item("lock", &words.lock)?,
            quit: item("quit", &words.quit)?,
        })
    }

    fn say(&self, words: &TrayWords) -> Result<(), ShellError> {
        self.quick.set_text(&words.quick)?;
        self.open.set_text(&words.open)?;
        self.lock.set_text(&words.lock)?;
        self.quit.set_text(&words.quit)?;
        Ok(())
    }
}

/// Puts the icon into the tray. A desktop without a tray shows none; `evenkeel quick` works all the same.
///
/// # Errors
/// The desktop refused the icon or the menu.
pub fn build(app: &AppHandle) -> Result<(), ShellError> {
    // The vault, which holds the language chosen, is not open yet.
    let entries = Entries::new(app, &words::tray("system")?)?;
    let (first, second) = (PredefinedMenuItem::separator(app)?, PredefinedMenuItem::separator(app)?);
    let menu = Menu::with_items(app, &[&entries.quick, &entries.open, &first, &entries.lock, &second, &entries.quit])?;
    app.manage(entries);
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

/// Writes the menu in the language of a setting; nothing where there is no tray.
pub fn speak(app: &AppHandle, language: &str) {
    let Some(entries) = app.try_state::<Entries>() else { return };
    if let Err(error) = words::tray(language).and_then(|words| entries.say(&words)) {
        tracing::warn!(%error, language, "the tray menu keeps its old language");
    }
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
