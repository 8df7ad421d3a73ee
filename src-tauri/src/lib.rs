//! The desktop shell of Evenkeel: windows, tray, shortcut and the commands of the window. What
//! the app does is in `evenkeel-service`; this crate only carries it to the screen.

// tauri-specta generates items without documentation in `events`.
mod bindings;
mod cli;
pub mod commands;
mod error;
pub mod events;
mod mcp;
mod notify;
mod options;
mod program;
#[cfg(debug_assertions)]
mod shifted_clock;
mod shortcut;
mod state;
mod tray;
mod window;
mod words;

pub use options::{Options, Task};
pub use program::main;

use evenkeel_service::{Service, ServiceOptions, VaultState};
use state::Shell;
use tauri::{AppHandle, Manager, RunEvent};
use tauri_specta::Event;

/// Runs the app with its window until it is quit.
///
/// # Errors
/// The desktop could not be reached.
pub fn run(options: Options) -> Result<(), tauri::Error> {
    let contract = bindings::contract();
    let quick = options.task == Task::Quick;
    let service_options = options.clone();
    let app = tauri::Builder::default()
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .callback(|app, arguments, _| again(app, &arguments))
                .dbus_id(options.instance_id())
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::init())
        .plugin(tauri_plugin_global_shortcut::Builder::new().build())
        .plugin(tauri_plugin_notification::init())
        .invoke_handler(contract.invoke_handler())
        .on_window_event(window::on_event)
        .setup(move |app| {
            contract.mount_events(app);
            start(app.handle(), &service_options, quick)?;
            Ok(())
        })
        .build(context())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event {
            tauri::async_runtime::block_on(app.state::<Shell>().service.shutdown());
        }
    });
    Ok(())
}

/// What was built into the app: its pages and its name. In one place, so that they are built in once.
fn context() -> tauri::Context {
    tauri::generate_context!()
}

fn start(app: &AppHandle, options: &Options, quick: bool) -> Result<(), Box<dyn std::error::Error>> {
    let resources = app.path().resource_dir().ok();
    let runtime = tauri::async_runtime::handle();
    let _guard = runtime.inner().enter();
    let service_options = ServiceOptions::new(options.profile.clone(), resources)?;
    #[cfg(debug_assertions)]
    let service_options = shifted_clock::wished(service_options);
    let service = Service::new(service_options)?;
    let followed = service.clone();
    app.manage(Shell::new(service));
    follow(app.clone(), &followed);
    followed.watch_sleep();
    tauri::async_runtime::spawn(async move {
        // The app is of use without it; why it does not listen is in the log.
        let _ = followed.listen_to_programs().await;
    });
    if let Err(error) = tray::build(app) {
        tracing::warn!(%error, "no tray icon");
    }
    if quick {
        window::show_quick_chat(app)?;
    } else {
        window::show_main(app)?;
        window::prepare_quick_chat(app)?;
    }
    Ok(())
}

/// Carries changes of the vault, warnings and notices of the engine to the windows.
fn follow(app: AppHandle, service: &Service) {
    let mut changes = service.changes();
    let mut notices = service.engine_notices();
    let mut states = service.vault_states();
    let mut expirings = service.context_expirings();
    let warned = app.clone();
    tauri::async_runtime::spawn(async move {
        while let Some(news) = evenkeel_service::next(&mut expirings).await {
            notify::expiring(&warned, &news).await;
            let _ = events::ContextExpiring(news).emit(&warned);
        }
    });
    let mut long = service.long_operations();
    let told = app.clone();
    tauri::async_runtime::spawn(async move {
        while let Some(done) = evenkeel_service::next(&mut long).await {
            notify::long_operation(&told, &done).await;
        }
    });
    let opened = app.clone();
    tauri::async_runtime::spawn(async move {
        while let Some(state) = evenkeel_service::next(&mut states).await {
            let _ = events::VaultChanged.emit(&opened);
            tray::show_state(&opened, state);
            if state == VaultState::Open {
                apply_settings(&opened).await;
            }
        }
    });
    let changed = app.clone();
    tauri::async_runtime::spawn(async move {
        while let Some(change) = evenkeel_service::next(&mut changes).await {
            let _ = events::Changed(change).emit(&changed);
        }
    });
    tauri::async_runtime::spawn(async move {
        while let Some(notice) = evenkeel_service::next(&mut notices).await {
            let _ = events::Engine(notice).emit(&app);
        }
    });
}

/// The user's own shortcut and language, known only once the vault is open.
async fn apply_settings(app: &AppHandle) {
    if let Ok(settings) = app.state::<Shell>().service.settings_get().await {
        shortcut::bind(app, &settings.quick_chat_shortcut);
        tray::speak(app, &settings.language);
    }
}

/// A second start does not open a second app: it asks this one.
fn again(app: &AppHandle, arguments: &[String]) {
    let wants_quick = arguments.iter().skip(1).any(|argument| argument == "quick");
    let outcome = if wants_quick { window::show_quick_chat(app) } else { window::show_main(app) };
    if let Err(error) = outcome {
        tracing::error!(%error, "the running app could not be shown");
    }
}
