//! Commands of chat and of the small window.

use super::Answer;
use crate::{events::Navigate, state::Shell, window};
use evenkeel_domain::{ChatEvent, ContextId, ConversationId, SendRequest, TokenMeter};
use tauri::{AppHandle, State, WebviewWindow, ipc::Channel};
use tauri_specta::Event;

/// Sends a message and streams the reply; returns when the reply is on disk.
#[tauri::command]
#[specta::specta]
pub async fn chat_send(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    request: SendRequest,
    channel: Channel<ChatEvent>,
) -> Answer<()> {
    // A window that was closed no longer listens; the reply is finished and stored all the same.
    let sink = move |event| drop(channel.send(event));
    // The small window asks no questions.
    if window.label() == window::MAIN {
        return Ok(shell.service.chat_send_in_window(request, sink).await?);
    }
    Ok(shell.service.chat_send(request, sink).await?)
}

/// Stops the reply of a conversation; what has arrived is kept.
#[tauri::command]
#[specta::specta]
pub async fn chat_stop(shell: State<'_, Shell>, conversation_id: ConversationId) -> Answer<()> {
    Ok(shell.service.chat_stop(conversation_id).await?)
}

/// How full the history budget would be with this text.
#[tauri::command]
#[specta::specta]
pub async fn chat_meter(
    shell: State<'_, Shell>,
    context_id: ContextId,
    conversation_id: Option<ConversationId>,
    text: String,
) -> Answer<TokenMeter> {
    Ok(shell.service.chat_meter(context_id, conversation_id, text).await?)
}

/// Hides the small window.
#[tauri::command]
#[specta::specta]
pub async fn quick_chat_hide(app: AppHandle) -> Answer<()> {
    Ok(window::hide_quick_chat(&app)?)
}

/// Shows a conversation of the small window in the main one.
#[tauri::command]
#[specta::specta]
pub async fn quick_chat_move(app: AppHandle, shell: State<'_, Shell>, conversation_id: ConversationId) -> Answer<()> {
    shell.moved.put(conversation_id);
    window::hide_quick_chat(&app)?;
    window::show_main(&app)?;
    // A window that is only being made hears nothing yet; its page asks when it has started.
    Navigate.emit_to(&app, window::MAIN).map_err(crate::error::ShellError::from)?;
    Ok(())
}

/// The conversation that the small window handed to the main one, once; `null` if none waits.
#[tauri::command]
#[specta::specta]
pub async fn quick_chat_moved(shell: State<'_, Shell>) -> Answer<Option<ConversationId>> {
    Ok(shell.moved.take())
}
