//! The tray icon and its menu.

use crate::words::{self, TrayWords};
use crate::{error::ShellError, state::Shell, window};
use evenkeel_service::VaultState;
use std::sync::{Mutex, PoisonError};
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry, include_image};

const ID: &str = "evenkeel";
const ICON: Image<'_> = include_image!("icons/tray.png");

/// What the tray says of the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// It is open and can be locked.
    Open,
    /// It is there and not open.
    Locked,
    /// There is none, or it is being made or opened.
    None,
}

impl Lock {
    fn of(state: VaultState) -> Self {
        match state {
            VaultState::Open => Self::Open,
            VaultState::New | VaultState::Opening | VaultState::ConfirmRecovery => Self::None,
            _ => Self::Locked,
        }
    }
}

/// The entries of the menu, kept so that their texts can follow the language and the vault.
struct Entries {
    quick: MenuItem<Wry>,
    open: MenuItem<Wry>,
    lock: MenuItem<Wry>,
    quit: MenuItem<Wry>,
    shown: Mutex<(TrayWords, Lock)>,
}

impl Entries {
    fn new(app: &AppHandle, words: TrayWords) -> Result<Self, ShellError> {
        let item = |id: &str, text: &str| MenuItem::with_id(app, id, text, true, None::<&str>);
        Ok(Self {
            quick: item("quick", &words.quick)?,
            open: item("open", &words.open)?,
            lock: item("lock", &words.lock)?,
            quit: item("quit", &words.quit)?,
            shown: Mutex::new((words, Lock::None)),
        })
    }

    /// Changes what is shown, and shows it.
    fn show(&self, app: &AppHandle, change: impl FnOnce(&mut (TrayWords, Lock))) -> Result<(), ShellError> {
        let (words, lock) = {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut shown);
            shown.clone()
        };
        self.quick.set_text(&words.quick)?;
        self.open.set_text(&words.open)?;
        self.lock.set_text(if lock == Lock::Locked { &words.unlock } else { &words.lock })?;
        self.lock.set_enabled(lock != Lock::None)?;
        self.quit.set_text(&words.quit)?;
        if let Some(tray) = app.tray_by_id(ID) {
            let is_locked = lock == Lock::Locked;
            tray.set_icon(Some(if is_locked { dimmed(&ICON) } else { ICON }))?;
            tray.set_tooltip(Some(if is_locked { words.locked.as_str() } else { "Evenkeel" }))?;
        }
        Ok(())
    }

    fn lock(&self) -> Lock {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Puts the icon into the tray. A desktop without a tray shows none; `evenkeel quick` works all the same.
///
/// # Errors
/// The desktop refused the icon or the menu.
pub fn build(app: &AppHandle) -> Result<(), ShellError> {
    // The vault, which holds the language chosen, is not open yet.
    let entries = Entries::new(app, words::tray("system")?)?;
    let (first, second) = (PredefinedMenuItem::separator(app)?, PredefinedMenuItem::separator(app)?);
    let menu = Menu::with_items(app, &[&entries.quick, &entries.open, &first, &entries.lock, &second, &entries.quit])?;
    app.manage(entries);
    TrayIconBuilder::with_id(ID)
        .icon(ICON)
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
    if let Err(error) = words::tray(language).and_then(|words| entries.show(app, |shown| shown.0 = words)) {
        tracing::warn!(%error, language, "the tray menu keeps its old language");
    }
}

/// Shows whether the vault is locked; nothing where there is no tray.
pub fn show_state(app: &AppHandle, state: VaultState) {
    let Some(entries) = app.try_state::<Entries>() else { return };
    if let Err(error) = entries.show(app, |shown| shown.1 = Lock::of(state)) {
        tracing::warn!(%error, "the tray does not show whether the vault is locked");
    }
}

fn choose(app: &AppHandle, id: &str) {
    let outcome = match id {
        "quick" => window::show_quick_chat(app),
        "open" => window::show_main(app),
        "lock" if app.try_state::<Entries>().is_some_and(|entries| entries.lock() == Lock::Locked) => window::show_main(app),
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

/// The icon at less than half its strength.
fn dimmed(icon: &Image<'_>) -> Image<'static> {
    let mut pixels = icon.rgba().to_vec();
    for alpha in pixels.iter_mut().skip(3).step_by(4) {
        *alpha = (u16::from(*alpha) * 2 / 5) as u8;
    }
    Image::new_owned(pixels, icon.width(), icon.height())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_vault_that_is_there_and_shut_shows_as_locked() {
        for (state, expected) in [
            (VaultState::Open, Lock::Open),
            (VaultState::New, Lock::None),
            (VaultState::Opening, Lock::None),
            (VaultState::ConfirmRecovery, Lock::None),
            (VaultState::LockedByUser, Lock::Locked),
            (VaultState::Waiting, Lock::Locked),
            (VaultState::Damaged, Lock::Locked),
        ] {
            assert_eq!(Lock::of(state), expected, "{state:?}");
        }
    }

    #[test]
    fn a_locked_vault_has_a_fainter_icon_of_the_same_shape() {
        let faint = dimmed(&ICON);
        assert_eq!((faint.width(), faint.height()), (ICON.width(), ICON.height()));
        let strongest = |icon: &Image<'_>| icon.rgba().iter().skip(3).step_by(4).copied().max();
        assert!(strongest(&faint) < strongest(&ICON) && strongest(&faint) > Some(0));
    }
}
