//! Generates what Tauri needs at compile time: the command permissions and the Windows resources.

/// Every command of the main window; quick chat has the few that its capability file names.
const COMMANDS: &[&str] = &[
    "app_info",
    "chat_meter",
    "chat_send",
    "chat_stop",
    "context_create",
    "context_create_from_preset",
    "context_delete",
    "context_list",
    "context_update",
    "conversation_delete",
    "conversation_earlier",
    "conversation_list",
    "conversation_open",
    "conversation_rename",
    "conversation_select_branch",
    "model_file_add",
    "model_file_pick",
    "model_file_removal",
    "model_file_remove",
    "model_offers",
    "open_external",
    "preset_list",
    "provider_delete",
    "provider_detect",
    "provider_list",
    "provider_models",
    "provider_save",
    "provider_test",
    "quick_chat_hide",
    "quick_chat_move",
    "quick_chat_moved",
    "settings_get",
    "settings_save",
    "vault_cancel_waiting",
    "vault_confirm_recovery",
    "vault_create",
    "vault_lock",
    "vault_renew_recovery",
    "vault_save_recovery",
    "vault_status",
    "vault_unlock",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The engine's libraries stand in `lib` beside the binary. RPATH instead of RUNPATH, so that
    // the libraries find each other the same way.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/lib,--disable-new-dtags");
    }
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
