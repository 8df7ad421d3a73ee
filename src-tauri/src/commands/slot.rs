//! Commands of the ways into the open vault, and of its lock.

use super::Answer;
use crate::state::Shell;
use evenkeel_service::{KeyChange, RecoverySheet, RestoreProgress, RootSecrets, SlotName, VaultSlots};
use tauri::{State, ipc::Channel};

/// The ways into the open vault.
#[tauri::command]
#[specta::specta]
pub async fn vault_slots(shell: State<'_, Shell>) -> Answer<VaultSlots> {
    Ok(shell.service.vault_slots().await?)
}

/// Lets a passphrase open the vault, in place of an earlier one.
#[tauri::command]
#[specta::specta]
pub async fn vault_set_passphrase(shell: State<'_, Shell>, passphrase: String) -> Answer<KeyChange> {
    Ok(shell.service.vault_set_passphrase(passphrase).await?)
}

/// Lets the keychain open the vault.
#[tauri::command]
#[specta::specta]
pub async fn vault_add_keychain(shell: State<'_, Shell>) -> Answer<KeyChange> {
    Ok(shell.service.vault_add_keychain().await?)
}

/// Takes a way into the vault away; for the keychain's the recovery code is needed.
#[tauri::command]
#[specta::specta]
pub async fn vault_remove_slot(shell: State<'_, Shell>, slot: SlotName, recovery_code: Option<String>) -> Answer<KeyChange> {
    Ok(shell.service.vault_remove_slot(slot, recovery_code).await?)
}

/// Shows a recovery code that takes the place of the one in force once it was typed back.
#[tauri::command]
#[specta::specta]
pub async fn vault_begin_recovery(shell: State<'_, Shell>) -> Answer<RecoverySheet> {
    Ok(shell.service.vault_begin_recovery().await?)
}

/// Takes back the groups of the new recovery code that were asked for, and puts it into force.
#[tauri::command]
#[specta::specta]
pub async fn vault_finish_recovery(shell: State<'_, Shell>, answers: Vec<String>) -> Answer<KeyChange> {
    Ok(shell.service.vault_finish_recovery(answers).await?)
}

/// Wipes a new recovery code that was not typed back.
#[tauri::command]
#[specta::specta]
pub async fn vault_cancel_recovery(shell: State<'_, Shell>) -> Answer<()> {
    shell.service.vault_cancel_recovery();
    Ok(())
}

/// Gives the vault another root key; `null` where that was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn vault_renew_root(
    shell: State<'_, Shell>,
    secrets: RootSecrets,
    channel: Channel<RestoreProgress>,
) -> Answer<Option<KeyChange>> {
    // A window that was closed no longer listens; the work goes on all the same.
    let watch = move |progress| {
        let _ = channel.send(progress);
    };
    Ok(shell.service.vault_renew_root(secrets, watch).await?)
}

/// Stops giving the vault another root key, as long as nothing was swapped.
#[tauri::command]
#[specta::specta]
pub async fn vault_cancel_root(shell: State<'_, Shell>) -> Answer<()> {
    shell.service.vault_cancel_root();
    Ok(())
}

/// Notes that somebody uses a window.
#[tauri::command]
#[specta::specta]
pub async fn vault_touch(shell: State<'_, Shell>) -> Answer<()> {
    shell.service.vault_touched();
    Ok(())
}
