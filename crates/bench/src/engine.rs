//! The workload `engine`: the built-in engine beside llama.cpp's own server, what a second turn
//! costs, what the app adds to the first token, and a conversation with an angry user.

pub mod calm;
pub mod exchange;
mod first_token;
mod peer;
mod prompt;
mod rates;
mod second_turn;

use crate::app::App;
use crate::arguments::ENGINE_CHILD;
use crate::error::BenchError;
use crate::report::{Progress, Report};
use evenkeel_engine::{Supervisor, SupervisorOptions, default_model};
use exchange::Server;
use std::path::Path;

/// Tokens of prompt and reply together, on both servers.
pub const WINDOW: u32 = 4_096;

/// What can be measured alone: the speed beside llama.cpp's server, the app's own share, the calm conversation.
pub const PARTS: [&str; 3] = ["speed", "first-token", "calm"];

/// Measures everything, or one of [`PARTS`], with `runs` counted runs of the comparison.
pub async fn run(runs: usize, part: Option<&str>, progress: Progress) -> Result<Report, BenchError> {
    let wanted = |name| part.is_none_or(|part| part == name);
    let model = default_model::locate(None)?;
    let mut report = Report::default();
    let app = App::open().await?;
    if wanted("first-token") {
        // First, while the process is still as small and as cool as the app's own.
        progress.say("first token: the app beside a direct request …");
        report.append(first_token::measure(&app).await?);
    }
    if wanted("speed") {
        report.append(speed(&model, runs, progress).await?);
    }
    if wanted("calm") {
        report.append(calm::measure(&app, progress).await?);
    }
    app.service.shutdown().await;
    Ok(report)
}

async fn speed(model: &Path, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    let program = std::env::current_exe().map_err(|source| BenchError::system("finding the benchmark's own program", source))?;
    let mut options = SupervisorOptions::new(program);
    options.args = vec![ENGINE_CHILD.to_owned()];
    let supervisor = Supervisor::new(options);
    let endpoint = supervisor.endpoint(model, Some(WINDOW)).await?;
    let ours = Server::new(&endpoint.base_url, Some(endpoint.token.clone()), &endpoint.model);
    let peer = peer::Peer::start(model, WINDOW).await?;
    let theirs = Server::new(&peer.base_url, None, &endpoint.model);
    progress.say(&format!("rates: {runs} alternating runs on {} threads …", peer.threads));
    let mut report = rates::measure(&ours, &theirs, runs, progress).await?;
    drop(peer);
    progress.say("second turn of a long chat …");
    report.append(second_turn::measure(&ours).await?);
    drop(endpoint);
    supervisor.shutdown().await;
    Ok(report)
}
