//! Notifications of the desktop. They say nothing of the user unless that is allowed: they can be
//! read on a locked screen.

use crate::{error::ShellError, state::Shell, words};
use evenkeel_domain::FinishedOperation;
use evenkeel_service::ExpiringContext;
use tauri::{AppHandle, Manager};
use tauri_plugin_notification::NotificationExt;

/// Says that a context expires within a day, if the settings allow it.
pub async fn expiring(app: &AppHandle, news: &ExpiringContext) {
    let Ok(settings) = app.state::<Shell>().service.settings_get().await else { return };
    if !settings.notifications {
        return;
    }
    let name = settings.notification_content.then_some(news.name.as_str());
    show(app, words::expiring(&settings.language, name));
}

/// Says that an operation that took long is over, if the settings allow it.
pub async fn long_operation(app: &AppHandle, done: &FinishedOperation) {
    let Ok(settings) = app.state::<Shell>().service.settings_get().await else { return };
    if !settings.notifications {
        return;
    }
    let tool = settings.notification_content.then_some(done.operation.tool_name.as_str());
    show(app, words::long_operation(&settings.language, tool));
}

fn show(app: &AppHandle, words: Result<String, ShellError>) {
    match words {
        Ok(text) => {
            if let Err(error) = app.notification().builder().title("Evenkeel").body(text).show() {
                tracing::warn!(%error, "the desktop showed no notification");
            }
        }
        Err(error) => tracing::warn!(%error, "the words of a notification are missing"),
    }
}
