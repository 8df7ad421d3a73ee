//! `evenkeel mcp`: no window, no tray; questions come on standard input, answers go to standard output. Where the app runs,
//! they are its own; this process only carries them. Where it does not, this process opens the vault itself.

use crate::{Options, context};
use evenkeel_service::{AppStream, Service, ServiceError, ServiceOptions, app_of};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What ending may take once the input has ended: whoever started this process may be waiting for its end. A reply that is
/// not stored by then is kept by its draft.
const ENDING: Duration = Duration::from_millis(600);

/// What the last answers may take on their way out.
const LAST: Duration = Duration::from_millis(100);
/// Bytes between the server and a standard stream.
const BUFFER: usize = 64 << 10;

/// Serves another program until its input ends.
#[must_use]
pub fn serve(options: &Options) -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the server could not be started");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(serve_with(options));
    // Reads of the database that are under way must not meet the end of the process; what waits for input is left behind.
    runtime.shutdown_timeout(LAST);
    code
}

async fn serve_with(options: &Options) -> ExitCode {
    if let Some(app) = app_of(&options.profile).await {
        return carry(app).await;
    }
    let service = match service_without_window(options) {
        Ok(service) => service,
        Err(error) => {
            tracing::error!(%error, "the server could not be started");
            return ExitCode::FAILURE;
        }
    };
    let (output, written) = output();
    let served = tokio::select! {
        served = service.serve_mcp(input(), output) => served,
        () = told_to_end() => Ok(()),
    };
    if tokio::time::timeout(ENDING, service.shutdown()).await.is_err() {
        tracing::warn!("not everything was closed in time; what was being written is kept as a draft");
    }
    // Also where there was no time to wait for their calls: nobody would end them afterwards.
    service.end_tool_servers();
    // The last answers are on their way to whoever still reads.
    let _ = tokio::time::timeout(LAST, written).await;
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the connection ended");
            ExitCode::FAILURE
        }
    }
}

/// Waits for the system's word to end, by which some programs end what they have started instead of closing its input.
async fn told_to_end() {
    #[cfg(unix)]
    let heard = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    #[cfg(windows)]
    let heard = tokio::signal::windows::ctrl_break();
    match heard {
        Ok(mut heard) => {
            heard.recv().await;
        }
        Err(error) => {
            tracing::warn!(%error, "the system's word to end is not heard");
            std::future::pending().await
        }
    }
}

/// Carries what is said between whoever started this process and the app, until one of them ends.
async fn carry(app: AppStream) -> ExitCode {
    let (mut output, written) = output();
    let is_whole = relay(app, &mut output).await;
    drop(output);
    let _ = tokio::time::timeout(LAST, written).await;
    if is_whole {
        return ExitCode::SUCCESS;
    }
    tracing::warn!("the running app has ended the connection");
    ExitCode::FAILURE
}

/// Whether the input ended before the app did.
async fn relay(app: AppStream, output: &mut DuplexStream) -> bool {
    let (mut from_app, mut to_app) = tokio::io::split(app);
    let mut input = input();
    let answers = tokio::io::copy(&mut from_app, output);
    let questions = async {
        let carried = tokio::io::copy(&mut input, &mut to_app).await;
        // The app hears that nothing more will be asked.
        carried.and(to_app.shutdown().await)
    };
    tokio::pin!(answers);
    tokio::select! {
        _ = &mut answers => false,
        asked = questions => {
            let _ = tokio::time::timeout(ENDING, &mut answers).await;
            asked.is_ok()
        }
    }
}

/// The service of a process that has no window, and runs no jobs.
pub(crate) fn service_without_window(options: &Options) -> Result<Service, ServiceError> {
    let resources = tauri::utils::platform::resource_dir(context().package_info(), &tauri::utils::Env::default()).ok();
    let service_options = ServiceOptions { job_interval: None, ..ServiceOptions::new(options.profile.clone(), resources)? };
    #[cfg(debug_assertions)]
    let service_options = crate::shifted_clock::wished(service_options);
    Service::new(service_options)
}

/// Standard input. A thread waits for it, since no system lets every kind of it be waited for otherwise.
fn input() -> DuplexStream {
    let (near, mut far) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let (mut stdin, mut bytes) = (std::io::stdin().lock(), vec![0; BUFFER]);
        while let Ok(count @ 1..) = stdin.read(&mut bytes) {
            if runtime.block_on(far.write_all(bytes.get(..count).unwrap_or_default())).is_err() {
                return;
            }
        }
    });
    near
}

/// Standard output, and what is told when everything was written to it that ever will be.
fn output() -> (DuplexStream, oneshot::Receiver<()>) {
    let (near, mut far) = tokio::io::duplex(BUFFER);
    let (done, written) = oneshot::channel();
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let (mut stdout, mut bytes) = (std::io::stdout().lock(), vec![0; BUFFER]);
        while let Ok(count @ 1..) = runtime.block_on(far.read(&mut bytes)) {
            let line = stdout.write_all(bytes.get(..count).unwrap_or_default());
            if line.and_then(|()| stdout.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    (near, written)
}
