//! Whether the app is there, and figures.

use super::Desk;
use super::asker::Asker;
use super::record::{Health, Statistics};
use crate::AppVault;
use crate::http::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use evenkeel_domain::{AccessKind, ErrorBody};

/// Answers also while the vault is locked.
pub(super) async fn health(State(desk): State<Desk>) -> Json<Health> {
    let vault = if desk.app.vault() == AppVault::Open { "open" } else { "locked" };
    Json(Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), vault: vault.to_owned() })
}

/// Figures of what is there for the program.
pub(super) async fn statistics(asker: Asker) -> Result<Json<Statistics>, Refusal> {
    Ok(Json(counted(&asker).await?))
}

async fn counted(asker: &Asker) -> Result<Statistics, ErrorBody> {
    let contexts: Vec<_> = asker.caller.contexts(true).await?.into_iter().map(|context| context.id).collect();
    let count = contexts.len();
    let all = asker.desk.app.sessions(asker.sessions(contexts)).await?;
    asker.caller.note(AccessKind::ReadContexts, None, count).await;
    // Counts of messages are far below what a fraction holds exactly.
    let average = if all.total == 0 { 0.0 } else { all.messages as f64 / f64::from(all.total) };
    Ok(Statistics {
        contexts: u32::try_from(count).unwrap_or(u32::MAX),
        sessions: all.total,
        messages: all.messages,
        average_messages: (average * 100.0).round() / 100.0,
    })
}
