//! The two windows and what they may do.

use crate::{error::ShellError, state::Shell};
use std::time::Duration;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};

/// Label of the main window.
pub const MAIN: &str = "main";
/// Label of the small window.
pub const QUICK_CHAT: &str = "quick-chat";

/// Opens the main window, or brings it to the front.
///
/// # Errors
/// The desktop refused the window.
pub fn show_main(app: &AppHandle) -> Result<(), ShellError> {
    let window = match app.get_webview_window(MAIN) {
        Some(window) => window,
        None => guarded(WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App("index.html".into())))
            .title("Evenkeel")
            .inner_size(1120.0, 760.0)
            .min_inner_size(400.0, 420.0)
            .build()?,
    };
    front(&window)
}

/// Makes the small window without showing it, so that the shortcut finds it ready.
///
/// # Errors
/// The desktop refused the window.
pub fn prepare_quick_chat(app: &AppHandle) -> Result<WebviewWindow, ShellError> {
    if let Some(window) = app.get_webview_window(QUICK_CHAT) {
        return Ok(window);
    }
    Ok(guarded(WebviewWindowBuilder::new(app, QUICK_CHAT, WebviewUrl::App("quick-chat.html".into())))
        .title("Evenkeel quick chat")
        .inner_size(560.0, 380.0)
        .min_inner_size(360.0, 240.0)
        .decorations(false)
        .always_on_top(true)
        .skip_taskbar(true)
        .visible(false)
        .center()
        .build()?)
}

/// Shows the small window with the cursor in its field.
///
/// # Errors
/// The desktop refused the window.
pub fn show_quick_chat(app: &AppHandle) -> Result<(), ShellError> {
    // The page puts the cursor into its field when the window gets the focus.
    front(&prepare_quick_chat(app)?)
}

/// Hides the small window.
///
/// # Errors
/// The desktop refused.
pub fn hide_quick_chat(app: &AppHandle) -> Result<(), ShellError> {
    if let Some(window) = app.get_webview_window(QUICK_CHAT) {
        window.hide()?;
    }
    Ok(())
}

/// Shows the small window, or hides it while it has the focus.
pub fn toggle_quick_chat(app: &AppHandle) {
    let focused = app
        .get_webview_window(QUICK_CHAT)
        .is_some_and(|window| window.is_visible().unwrap_or(false) && window.is_focused().unwrap_or(false));
    let outcome = if focused { hide_quick_chat(app) } else { show_quick_chat(app) };
    if let Err(error) = outcome {
        tracing::error!(%error, "quick chat could not be toggled");
    }
}

/// Keeps the app in the tray when its window is closed, and lets the vault be locked when it is out of sight.
pub fn on_event(window: &tauri::Window, event: &WindowEvent) {
    let app = window.app_handle();
    let api = match event {
        WindowEvent::CloseRequested { api, .. } => api,
        WindowEvent::Focused(false) | WindowEvent::Resized(_) if window.label() == MAIN => {
            lock_if_minimized(window.clone());
            return;
        }
        _ => return,
    };
    let keep = window.label() == QUICK_CHAT || app.state::<Shell>().service.keeps_in_tray();
    if keep {
        api.prevent_close();
        if let Err(error) = window.hide() {
            tracing::error!(%error, "the window could not be hidden");
        }
        if window.label() == MAIN {
            let app = app.clone();
            tauri::async_runtime::spawn(async move { app.state::<Shell>().service.lock_if_hidden().await });
        }
    } else {
        app.exit(0);
    }
}

/// The event that tells of it comes before the window says so itself.
fn lock_if_minimized(window: tauri::Window) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        if window.is_minimized().unwrap_or(false) {
            window.app_handle().state::<Shell>().service.lock_if_hidden().await;
        }
    });
}

fn front(window: &WebviewWindow) -> Result<(), ShellError> {
    window.show()?;
    window.unminimize()?;
    window.set_focus()?;
    // A window manager ignores the wish of a window that is not mapped yet, so it is said again.
    let again = window.clone();
    tauri::async_runtime::spawn(async move {
        for wait in [40, 120] {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let _ = again.set_focus();
        }
    });
    Ok(())
}

/// CSP does not stop navigation: only the app's own pages may load, and no window opens another.
fn guarded<'a>(builder: WebviewWindowBuilder<'a, tauri::Wry, AppHandle>) -> WebviewWindowBuilder<'a, tauri::Wry, AppHandle> {
    offline(builder)
        .on_navigation(|url| {
            let own = matches!(
                (url.scheme(), url.host_str()),
                ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))
            );
            own || (cfg!(dev) && url.host_str() == Some("localhost"))
        })
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
}

/// Takes the network away from the page. WebKitGTK connects ahead to where a link leads before it asks whether it may go
/// there; with a proxy that nobody can listen at, it cannot. Elsewhere the page itself is served over an address that a
/// proxy could stand before.
fn offline<'a>(builder: WebviewWindowBuilder<'a, tauri::Wry, AppHandle>) -> WebviewWindowBuilder<'a, tauri::Wry, AppHandle> {
    // Port 0 is no port to connect to. Under `tauri dev` the page comes from a server.
    match Url::parse("http://127.0.0.1:0") {
        Ok(nowhere) if cfg!(target_os = "linux") && !cfg!(dev) => builder.proxy_url(nowhere),
        _ => builder,
    }
}
