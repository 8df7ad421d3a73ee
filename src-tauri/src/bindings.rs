//! The contract with the window, and its TypeScript in `ui/src/lib/ipc/bindings.ts`.

use crate::{commands, events};
use tauri_specta::{Builder, collect_commands, collect_events};

/// All commands and events.
#[must_use]
#[expect(clippy::too_many_lines, reason = "one line for each command: a list, not logic")]
pub fn contract() -> Builder<tauri::Wry> {
    Builder::new()
        .commands(collect_commands![
            commands::settings::app_info,
            commands::archive::archive_choose,
            commands::archive::archive_export,
            commands::archive::archive_folder,
            commands::archive::archive_import,
            commands::archive::archive_keep,
            commands::archive::archive_key,
            commands::archive::archive_pending,
            commands::archive::archive_place,
            commands::archive::archive_preview,
            commands::archive::archive_stop,
            commands::archive::archive_undo,
            commands::backup::backup_choose,
            commands::backup::backup_choose_closed,
            commands::backup::backup_forget,
            commands::backup::backup_list,
            commands::backup::backup_list_closed,
            commands::backup::backup_make,
            commands::backup::backup_preview,
            commands::backup::backup_restore,
            commands::backup::backup_restore_closed,
            commands::backup::backup_save,
            commands::backup::backup_verify,
            commands::care::care_helplines,
            commands::receipt::chat_compare,
            commands::chat::chat_meter,
            commands::receipt::chat_preview,
            commands::chat::chat_send,
            commands::chat::chat_stop,
            commands::connection::connection_clear_log,
            commands::connection::connection_forget,
            commands::connection::connection_list,
            commands::connection::connection_log,
            commands::connection::connection_set_grant,
            commands::connection::connection_setup,
            commands::context::context_advice,
            commands::context::context_create,
            commands::context::context_create_from_preset,
            commands::context::context_delete,
            commands::context::context_duplicate,
            commands::context::context_extend,
            commands::context::context_get,
            commands::context::context_list,
            commands::context::context_purge,
            commands::context::context_recommended_history,
            commands::context::context_restore,
            commands::context::context_restore_revision,
            commands::context::context_revisions,
            commands::tool::context_tools,
            commands::tool::context_tools_set,
            commands::context::context_update,
            commands::conversation::conversation_clear,
            commands::conversation::conversation_delete,
            commands::conversation::conversation_delete_older,
            commands::conversation::conversation_earlier,
            commands::conversation::conversation_export,
            commands::conversation::conversation_list,
            commands::conversation::conversation_open,
            commands::conversation::conversation_open_at,
            commands::conversation::conversation_purge,
            commands::conversation::conversation_rename,
            commands::conversation::conversation_restore,
            commands::conversation::conversation_save,
            commands::conversation::conversation_select_branch,
            commands::conversation::conversation_set_archived,
            commands::conversation::conversation_set_pinned,
            commands::conversation::conversation_set_tags,
            commands::conversation::conversation_statistics,
            commands::diagnosis::crash_delete,
            commands::diagnosis::crash_list,
            commands::diagnosis::crash_save,
            commands::data::data_erase,
            commands::data::data_move,
            commands::data::data_summary,
            commands::message::draft_get,
            commands::message::draft_put,
            commands::archive::envelope_export,
            commands::archive::envelope_import,
            commands::settings::feature_list,
            commands::job::job_list,
            commands::job::job_run,
            commands::diagnosis::log_clear,
            commands::diagnosis::log_open_folder,
            commands::diagnosis::log_read,
            commands::message::message_after,
            commands::message::message_delete,
            commands::message::message_restore,
            commands::message::message_vote,
            commands::network::network_list,
            commands::operation::operation_clear,
            commands::operation::operation_get,
            commands::operation::operation_list,
            commands::operation::operation_long_save,
            commands::operation::operation_long_status,
            commands::operation::operation_save,
            commands::operation::operation_try_rule,
            commands::private::private_begin,
            commands::private::private_end,
            commands::private::private_list,
            commands::provider::model_file_add,
            commands::provider::model_file_pick,
            commands::provider::model_file_removal,
            commands::provider::model_file_remove,
            commands::provider::model_offers,
            commands::settings::open_external,
            commands::plugin::plugin_install,
            commands::plugin::plugin_list,
            commands::plugin::plugin_pick,
            commands::plugin::plugin_remove,
            commands::preset::preset_create,
            commands::preset::preset_delete,
            commands::preset::preset_duplicate,
            commands::preset::preset_from_context,
            commands::preset::preset_get,
            commands::preset::preset_list,
            commands::preset::preset_reset,
            commands::preset::preset_set_active,
            commands::preset::preset_update,
            commands::provider::provider_delete,
            commands::provider::provider_detect,
            commands::provider::provider_list,
            commands::provider::provider_models,
            commands::provider::provider_save,
            commands::provider::provider_test,
            commands::chat::quick_chat_hide,
            commands::chat::quick_chat_move,
            commands::chat::quick_chat_moved,
            commands::receipt::receipt_get,
            commands::receipt::receipt_request,
            commands::message::search_messages,
            commands::connection::server_renew_token,
            commands::connection::server_save,
            commands::connection::server_status,
            commands::connection::server_token,
            commands::settings::settings_get,
            commands::settings::settings_save,
            commands::memory::state_forget,
            commands::memory::state_get,
            commands::memory::state_pin,
            commands::memory::state_set,
            commands::memory::summary_edit,
            commands::memory::summary_list,
            commands::memory::summary_remove,
            commands::tool::tool_answer,
            commands::tool::tool_rule_set,
            commands::tool::tool_server_delete,
            commands::tool::tool_server_list,
            commands::tool::tool_server_save,
            commands::tool::tool_server_test,
            commands::trash::trash_empty,
            commands::trash::trash_list,
            commands::trash::trash_summary,
            commands::slot::vault_add_keychain,
            commands::slot::vault_begin_recovery,
            commands::slot::vault_cancel_recovery,
            commands::slot::vault_cancel_root,
            commands::vault::vault_cancel_waiting,
            commands::vault::vault_confirm_recovery,
            commands::vault::vault_create,
            commands::slot::vault_finish_recovery,
            commands::rescue::vault_health,
            commands::rescue::vault_loss_seen,
            commands::vault::vault_lock,
            commands::slot::vault_remove_slot,
            commands::vault::vault_renew_recovery,
            commands::slot::vault_renew_root,
            commands::rescue::vault_rescue,
            commands::rescue::vault_rescue_preview,
            commands::vault::vault_save_recovery,
            commands::slot::vault_set_passphrase,
            commands::slot::vault_slots,
            commands::vault::vault_status,
            commands::slot::vault_touch,
            commands::vault::vault_unlock,
        ])
        .events(
            collect_events![events::Changed, events::ContextExpiring, events::Engine, events::Navigate, events::VaultChanged,],
        )
        // Byte counts stay far below 2^53, where a number is exact.
        .dangerously_cast_bigints_to_number()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::path::Path;

    /// Run with `EVENKEEL_WRITE_BINDINGS=1` to write the file instead of comparing it.
    #[test]
    fn the_committed_typescript_matches_the_commands() {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/lib/ipc/bindings.ts");
        let folder = tempfile::tempdir().unwrap();
        let fresh = folder.path().join("bindings.ts");
        super::contract()
            .export(specta_typescript::Typescript::default().header("/* eslint-disable */\n"), &fresh)
            .expect("the contract exports");
        let fresh = std::fs::read_to_string(fresh).unwrap();
        if std::env::var_os("EVENKEEL_WRITE_BINDINGS").is_some() {
            std::fs::write(&committed, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(committed).unwrap_or_default();
        assert!(
            committed == fresh,
            "bindings.ts is out of date: EVENKEEL_WRITE_BINDINGS=1 cargo test -p evenkeel --lib bindings"
        );
    }
}
