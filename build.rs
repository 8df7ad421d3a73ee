//! Generates what Tauri needs at compile time: the command permissions, the Windows resources, and the files that a
//! package carries beside the program.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where `bundle.resources` of `tauri.conf.json` takes its files from.
const STAGE: &str = "gen/package";
/// The built-in model, as `scripts/setup` fetches it.
const MODEL: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// Every command of the main window; quick chat has the few that its capability file names.
const COMMANDS: &[&str] = &[
    "app_info",
    "archive_choose",
    "archive_export",
    "archive_folder",
    "archive_import",
    "archive_keep",
    "archive_key",
    "archive_pending",
    "archive_place",
    "archive_preview",
    "archive_stop",
    "archive_undo",
    "backup_choose",
    "backup_choose_closed",
    "backup_forget",
    "backup_list",
    "backup_list_closed",
    "backup_make",
    "backup_preview",
    "backup_restore",
    "backup_restore_closed",
    "backup_save",
    "backup_verify",
    "care_helplines",
    "chat_compare",
    "chat_meter",
    "chat_preview",
    "chat_send",
    "chat_stop",
    "connection_clear_log",
    "connection_forget",
    "connection_list",
    "connection_log",
    "connection_set_grant",
    "connection_setup",
    "context_advice",
    "context_create",
    "context_create_from_preset",
    "context_delete",
    "context_duplicate",
    "context_extend",
    "context_get",
    "context_list",
    "context_purge",
    "context_recommended_history",
    "context_restore",
    "context_restore_revision",
    "context_revisions",
    "context_tools",
    "context_tools_set",
    "context_update",
    "conversation_clear",
    "conversation_delete",
    "conversation_delete_older",
    "conversation_earlier",
    "conversation_export",
    "conversation_list",
    "conversation_open",
    "conversation_open_at",
    "conversation_purge",
    "conversation_rename",
    "conversation_restore",
    "conversation_save",
    "conversation_select_branch",
    "conversation_set_archived",
    "conversation_set_pinned",
    "conversation_set_tags",
    "conversation_statistics",
    "crash_delete",
    "crash_list",
    "crash_save",
    "data_erase",
    "data_move",
    "data_summary",
    "draft_get",
    "draft_put",
    "envelope_export",
    "envelope_import",
    "feature_list",
    "job_list",
    "job_run",
    "log_clear",
    "log_open_folder",
    "log_read",
    "message_after",
    "message_delete",
    "message_restore",
    "message_vote",
    "model_file_add",
    "model_file_pick",
    "model_file_removal",
    "model_file_remove",
    "model_offers",
    "network_list",
    "operation_clear",
    "operation_get",
    "operation_list",
    "operation_long_save",
    "operation_long_status",
    "operation_save",
    "operation_try_rule",
    "open_external",
    "plugin_install",
    "plugin_list",
    "plugin_pick",
    "plugin_remove",
    "preset_create",
    "preset_delete",
    "preset_duplicate",
    "preset_from_context",
    "preset_get",
    "preset_list",
    "preset_reset",
    "preset_set_active",
    "preset_update",
    "private_begin",
    "private_end",
    "private_list",
    "provider_delete",
    "provider_detect",
    "provider_list",
    "provider_models",
    "provider_save",
    "provider_test",
    "quick_chat_hide",
    "quick_chat_move",
    "quick_chat_moved",
    "receipt_get",
    "receipt_request",
    "search_messages",
    "server_renew_token",
    "server_save",
    "server_status",
    "server_token",
    "settings_get",
    "settings_save",
    "state_forget",
    "state_get",
    "state_pin",
    "state_set",
    "summary_edit",
    "summary_list",
    "summary_remove",
    "tool_answer",
    "tool_rule_set",
    "tool_server_delete",
    "tool_server_list",
    "tool_server_save",
    "tool_server_test",
    "trash_empty",
    "trash_list",
    "trash_summary",
    "vault_add_keychain",
    "vault_begin_recovery",
    "vault_cancel_recovery",
    "vault_cancel_root",
    "vault_cancel_waiting",
    "vault_confirm_recovery",
    "vault_create",
    "vault_finish_recovery",
    "vault_health",
    "vault_loss_seen",
    "vault_lock",
    "vault_remove_slot",
    "vault_renew_recovery",
    "vault_renew_root",
    "vault_rescue",
    "vault_rescue_preview",
    "vault_save_recovery",
    "vault_set_passphrase",
    "vault_slots",
    "vault_status",
    "vault_touch",
    "vault_unlock",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The engine's libraries stand in `lib` beside the binary, or where a package puts its resources. RPATH
    // instead of RUNPATH, so that the libraries find each other the same way.
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/lib:$ORIGIN/../lib/Evenkeel/lib,--disable-new-dtags");
    }
    println!("cargo:rerun-if-changed=build.rs");
    stage_libraries()?;
    stage_model()?;
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}

/// The libraries that the engine's own build script has put beside the program.
fn stage_libraries() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=DEP_EVENKEEL_ENGINE_LIB_DIR");
    let Some(libraries) = env::var_os("DEP_EVENKEEL_ENGINE_LIB_DIR") else {
        return Err(io::Error::other("the engine's build did not say where its libraries are"));
    };
    let mut wanted = Vec::new();
    for entry in fs::read_dir(libraries)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")) {
            wanted.push(path);
        }
    }
    stage("lib", &wanted)
}

/// The built-in model, put beside the program like the libraries. Development does without it; a release does not.
fn stage_model() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=EVENKEEL_MODELS");
    let Some(found) = model_folders().into_iter().map(|folder| folder.join(MODEL)).find(|path| path.is_file()) else {
        let missing = format!("the built-in model {MODEL} is not here, and packages would lack it: run ./scripts/setup");
        if env::var("PROFILE").as_deref() == Ok("release") {
            return Err(io::Error::new(io::ErrorKind::NotFound, missing));
        }
        println!("cargo:warning={missing}");
        return stage("model", &[]);
    };
    println!("cargo:rerun-if-changed={}", found.display());
    let Some(out) = env::var_os("OUT_DIR") else { return Err(io::Error::other("OUT_DIR is not set")) };
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return Err(io::Error::other("OUT_DIR is not inside a target folder"));
    };
    let beside = profile.join(MODEL);
    if fs::metadata(&beside).map(|file| file.len()).ok() != Some(fs::metadata(&found)?.len()) {
        let _ = fs::remove_file(&beside);
        fs::hard_link(&found, &beside).or_else(|_| fs::copy(&found, &beside).map(|_| ()))?;
    }
    stage("model", &[beside])
}

/// The folders where `scripts/setup` and packagers put the model.
fn model_folders() -> Vec<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = [
        set("XDG_CACHE_HOME"),
        set("HOME").map(|home| home.join(".cache")),
        set("HOME").map(|home| home.join("Library/Caches")),
        set("LOCALAPPDATA"),
    ];
    let ours = caches.into_iter().flatten().map(|cache| cache.join("evenkeel").join("models"));
    set("EVENKEEL_MODELS").into_iter().chain(ours).collect()
}

/// Makes `folder` of the stage hold exactly these files. They are links to what stands beside the program, which Tauri
/// knows as the same file and does not copy onto itself.
fn stage(folder: &str, wanted: &[PathBuf]) -> io::Result<()> {
    let folder = Path::new(STAGE).join(folder);
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let is_wanted = wanted.iter().any(|file| file.file_name() == path.file_name());
        if !is_wanted {
            fs::remove_file(&path)?;
        }
    }
    for file in wanted {
        let Some(name) = file.file_name() else { continue };
        let to = folder.join(name);
        // Cargo watches the stage: what is right already is left untouched.
        if fs::read_link(&to).is_ok_and(|known| &known == file) {
            continue;
        }
        let _ = fs::remove_file(&to);
        link(file, &to)?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(file: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, to)
}

#[cfg(not(unix))]
fn link(file: &Path, to: &Path) -> io::Result<()> {
    fs::copy(file, to).map(|_| ())
}
