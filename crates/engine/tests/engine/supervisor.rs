use crate::support::{Answer, PROGRAM, computing, model, request};
use evenkeel_domain::ErrorCode;
use evenkeel_engine::{EngineEndpoint, EngineError, EngineEvent, ModelFileError, Supervisor, SupervisorOptions};
use secrecy::ExposeSecret;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::Receiver;

pub fn options(program: &str) -> SupervisorOptions {
    SupervisorOptions { args: vec![], ..SupervisorOptions::new(program.into()) }
}

pub async fn next(events: &mut Receiver<EngineEvent>) -> EngineEvent {
    tokio::time::timeout(Duration::from_secs(30), events.recv()).await.expect("an event").unwrap()
}

fn status(endpoint: &EngineEndpoint, token: &str) -> u16 {
    let address = endpoint.base_url.strip_prefix("http://").unwrap();
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    Answer::read(request(
        port,
        &format!("GET /health HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"),
        b"",
    ))
    .status
}

pub fn answers(endpoint: &EngineEndpoint) -> bool {
    status(endpoint, endpoint.token.expose_secret()) == 200
}

fn kill(pid: u32) {
    assert!(Command::new("kill").arg("-9").arg(pid.to_string()).status().unwrap().success());
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn a_killed_engine_is_reported_and_started_again() {
    let _computing = computing();
    let supervisor = Supervisor::new(options(PROGRAM));
    let mut events = supervisor.events();
    let first = supervisor.endpoint(&model(), None).await.unwrap();
    assert!(answers(&first) && first.window == 8192);
    assert!(matches!(next(&mut events).await, EngineEvent::Started { .. }));
    assert!(!first.hold.has_crashed());
    kill(first.pid.unwrap());
    assert_eq!(next(&mut events).await, EngineEvent::Crashed { code: None, signal: Some(9) });
    assert!(first.hold.has_crashed());
    let second = supervisor.endpoint(&model(), None).await.unwrap();
    assert!(answers(&second));
    assert_ne!(second.pid, first.pid);
    assert_eq!(status(&second, first.token.expose_secret()), 401, "a token outlived its child");
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn one_child_serves_until_nobody_has_used_it_for_a_while() {
    let _computing = computing();
    let supervisor = Supervisor::new(SupervisorOptions { idle: Duration::from_millis(300), ..options(PROGRAM) });
    let mut events = supervisor.events();
    let first = supervisor.endpoint(&model(), None).await.unwrap();
    let second = supervisor.endpoint(&model(), None).await.unwrap();
    assert_eq!(first.pid, second.pid);
    assert!(matches!(next(&mut events).await, EngineEvent::Started { .. }));
    drop(first);
    assert!(tokio::time::timeout(Duration::from_millis(900), events.recv()).await.is_err(), "it was unloaded while it was held");
    drop(second);
    assert_eq!(next(&mut events).await, EngineEvent::Unloaded);
    assert!(answers(&supervisor.endpoint(&model(), None).await.unwrap()));
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn another_window_replaces_the_child_once_it_is_free() {
    let _computing = computing();
    let supervisor = Supervisor::new(options(PROGRAM));
    let first = supervisor.endpoint(&model(), Some(512)).await.unwrap();
    assert_eq!(first.window, 512);
    let other = supervisor.clone();
    let waiting = tokio::spawn(async move { other.endpoint(&model(), Some(1024)).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished() && answers(&first), "a held model was taken away");
    let pid = first.pid.unwrap();
    drop(first);
    let second = waiting.await.unwrap().unwrap();
    assert_eq!(second.window, 1024);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the old child is still there");
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn who_gives_up_waiting_for_another_model_leaves_the_held_one_alone() {
    let _computing = computing();
    let supervisor = Supervisor::new(options(PROGRAM));
    let mut events = supervisor.events();
    let first = supervisor.endpoint(&model(), Some(512)).await.unwrap();
    assert!(matches!(next(&mut events).await, EngineEvent::Started { .. }));
    let waited = tokio::time::timeout(Duration::from_millis(200), supervisor.endpoint(&model(), Some(1024))).await;
    assert!(waited.is_err(), "a held model was taken away");
    // What ends a child is told within this time.
    assert!(tokio::time::timeout(Duration::from_millis(500), events.recv()).await.is_err(), "the held model was ended");
    assert!(answers(&first) && !first.hold.has_crashed());
    let again = supervisor.endpoint(&model(), Some(512)).await.unwrap();
    assert_eq!(again.pid, first.pid);
    drop((first, again));
    assert_eq!(supervisor.endpoint(&model(), Some(1024)).await.unwrap().window, 1024);
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn the_child_sees_no_secret_in_arguments_and_little_of_the_environment() {
    let _computing = computing();
    let supervisor = Supervisor::new(options(PROGRAM));
    let endpoint = supervisor.endpoint(&model(), None).await.unwrap();
    let read = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(format!("/proc/{}/{name}", endpoint.pid.unwrap())).unwrap()).into_owned()
    };
    let (arguments, environment) = (read("cmdline"), read("environ"));
    for text in [&arguments, &environment] {
        assert!(!text.contains(endpoint.token.expose_secret()), "{text}");
    }
    assert!(!arguments.contains("gguf"), "{arguments}");
    for name in ["PATH=", "HOME=", "CARGO"] {
        assert!(!environment.contains(name), "{environment}");
    }
    assert!(!format!("{endpoint:?}").contains(endpoint.token.expose_secret()));
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn after_shutdown_the_child_is_gone_and_none_starts() {
    let _computing = computing();
    let supervisor = Supervisor::new(options(PROGRAM));
    let endpoint = supervisor.endpoint(&model(), None).await.unwrap();
    supervisor.shutdown().await;
    assert!(!Path::new(&format!("/proc/{}", endpoint.pid.unwrap())).exists());
    assert!(!endpoint.hold.has_crashed());
    assert!(matches!(supervisor.endpoint(&model(), None).await, Err(EngineError::ShutDown)));
}

#[tokio::test]
async fn a_child_that_always_dies_is_given_up_after_three_times() {
    let supervisor = Supervisor::new(options("/bin/false"));
    let mut events = supervisor.events();
    let error = supervisor.endpoint(&model(), None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::EngineCrashed);
    assert!(error.to_string().contains("3 times") && error.to_string().contains("exit status 1"), "{error}");
    for _ in 0..3 {
        assert_eq!(next(&mut events).await, EngineEvent::Crashed { code: Some(1), signal: None });
    }
    let begin = Instant::now();
    supervisor.endpoint(&model(), None).await.unwrap_err();
    assert!(events.is_empty(), "it was started a fourth time within {:?}", begin.elapsed());
}

#[tokio::test]
async fn bad_files_and_programs_are_typed_errors() {
    let supervisor = Supervisor::new(options(PROGRAM));
    let code = |result: Result<EngineEndpoint, EngineError>| result.unwrap_err().code();
    assert_eq!(code(supervisor.endpoint(Path::new("/nowhere.gguf"), None).await), ErrorCode::ModelFileMissing);
    assert_eq!(code(supervisor.endpoint(Path::new("/"), None).await), ErrorCode::ModelFileInvalid);
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.gguf");
    let whole = std::fs::read(model()).unwrap();
    std::fs::write(&cut, &whole[..whole.len() - 1000]).unwrap();
    let error = supervisor.endpoint(&cut, None).await.unwrap_err();
    assert!(matches!(error, EngineError::ModelFile(ModelFileError::Invalid { .. })), "{error}");
    let missing = Supervisor::new(options("/nowhere/evenkeel"));
    assert_eq!(code(missing.endpoint(&model(), None).await), ErrorCode::EngineUnavailable);
}

#[tokio::test]
async fn a_child_that_never_gets_ready_is_stopped() {
    let slow = SupervisorOptions {
        args: vec!["60".to_owned()],
        load_limit: Duration::from_millis(100),
        ..SupervisorOptions::new("/bin/sleep".into())
    };
    let error = Supervisor::new(slow).endpoint(&model(), None).await.unwrap_err();
    assert!(matches!(error, EngineError::TooSlow { .. }), "{error}");
}

#[tokio::test]
async fn quitting_does_not_wait_for_a_model_that_is_loading() {
    let slow = SupervisorOptions { args: vec!["60".to_owned()], ..SupervisorOptions::new("/bin/sleep".into()) };
    let supervisor = Supervisor::new(slow);
    let other = supervisor.clone();
    let loading = tokio::spawn(async move { other.endpoint(&model(), None).await });
    tokio::task::yield_now().await;
    tokio::time::timeout(Duration::from_secs(5), supervisor.shutdown()).await.expect("shutdown waited");
    assert!(matches!(loading.await.unwrap(), Err(EngineError::ShutDown)));
}
