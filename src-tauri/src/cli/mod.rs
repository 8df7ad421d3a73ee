//! The command line: each command is parsed, calls the service, and is printed.

mod backup;
mod chat;
mod contexts;
mod conversations;
mod doctor;
mod export;
mod failure;
mod opening;
mod presets;
mod print;
mod restore;
mod tool_call;

use crate::options::{Manner, Wish, definition};
use crate::{Options, mcp};
use evenkeel_service::Service;
use failure::Failure;
use print::Printer;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What closing the vault may take at the end. What is being written then is kept by the next start.
const ENDING: Duration = Duration::from_secs(5);

/// One command with what it works on.
struct Caller {
    service: Service,
    /// The folder that the app is started with.
    profile: PathBuf,
    manner: Manner,
    print: Printer,
}

/// Carries a command out.
#[must_use]
pub fn run(options: &Options, wish: &Wish, manner: &Manner) -> ExitCode {
    let is_streamed = matches!(wish, Wish::Chat(chat) if chat.stream);
    let print = Printer::new(manner.json || is_streamed);
    if let Wish::Completions(shell) = wish {
        return print.ended(completions(&print, *shell));
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return print.ended(Err(Failure::internal("starting", &error))),
    };
    let outcome = runtime.block_on(carried_out(options, wish, manner, print));
    // The end of the process takes the database's library apart: whatever still reads by it has to end before.
    runtime.shutdown_timeout(ENDING);
    print.ended(outcome)
}

async fn carried_out(options: &Options, wish: &Wish, manner: &Manner, print: Printer) -> Result<(), Failure> {
    let service = mcp::service_without_window(options)?;
    let caller = Caller { service, profile: options.profile.clone(), manner: manner.clone(), print };
    let outcome = match wish {
        Wish::Chat(wish) => chat::chat(&caller, wish).await,
        Wish::Contexts(wish) => contexts::contexts(&caller, wish).await,
        Wish::Presets(wish) => presets::presets(&caller, wish).await,
        Wish::Conversations(wish) => conversations::conversations(&caller, wish).await,
        Wish::Export(wish) => export::export(&caller, wish).await,
        Wish::Backup(wish) => backup::backup(&caller, wish).await,
        Wish::Restore(wish) => restore::restore(&caller, wish).await,
        Wish::Doctor(wish) => doctor::doctor(&caller, *wish).await,
        Wish::Completions(shell) => completions(&caller.print, *shell),
    };
    if tokio::time::timeout(ENDING, caller.service.shutdown()).await.is_err() {
        tracing::warn!("not everything was closed in time; what was being written is kept as a draft");
    }
    outcome
}

fn completions(print: &Printer, shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "evenkeel", &mut script);
    print.whole(&String::from_utf8_lossy(&script))
}
