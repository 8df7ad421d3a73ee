//! `evenkeel mcp` as a real process with a real keyring, and the official Python SDK as its client.
#![cfg(target_os = "linux")]

use crate::support::{TestClock, engine_program, open_new, options};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use evenkeel_service::*;
use evenkeel_testkit::clock::FixedClock;
use evenkeel_testkit::keyring::{KeyringHome, KeyringSession, KeyringState};
use evenkeel_testkit::scripted_server::{Answer, Piece, ScriptedServer};
use evenkeel_vault::Keychain;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Names the folder of a [`Place`] to its other processes.
pub const DIR: &str = "EVENKEEL_MCP_CHILD_DIR";
const SERVER: &str = "EVENKEEL_MCP_CHILD_SERVER";
/// The names that the programs of these tests give themselves.
const NAMES: [&str; 2] = ["Python SDK", "Raw"];

/// A service that the session's keychain opens.
pub fn service_of_session(dir: &Path) -> Service {
    let clock = Arc::new(TestClock(FixedClock::at(chrono::Utc::now())));
    let keychain = Arc::new(Keychain::new());
    let options =
        ServiceOptions { keychain: keychain.clone(), patient_keychain: keychain, ..options(dir, Arc::default(), clock) };
    Service::new(options).unwrap()
}

/// Makes a vault that the session's keychain opens, with a context, a model, and what the programs may do.
#[tokio::test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
async fn making_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let service = service_of_session(&dir);
    open_new(&service).await;
    let provider = match std::env::var(SERVER) {
        Ok(base_url) => scripted(&service, base_url).await,
        Err(_) => ModelChoice {
            provider_id: service.provider_list().await.unwrap().remove(0).id,
            model: "SmolLM2-135M-Instruct".into(),
        },
    };
    let settings = service.settings_get().await.unwrap();
    service.settings_save(Settings { automatic_titles: false, default_model: Some(provider), ..settings }).await.unwrap();
    let overrides = PresetOverrides { max_tokens: Some(40), ..PresetOverrides::default() };
    let context = service.context_create_from_preset(PresetId::new("preset-calm-counselor"), overrides).await.unwrap();
    let profile = dir.join("profile");
    service.shutdown().await;
    std::fs::write(dir.join("context"), context.id.to_string()).unwrap();
    assert!(profile.join("vault.db").exists());
}

async fn scripted(service: &Service, base_url: String) -> ModelChoice {
    let draft = ProviderDraft {
        id: None,
        kind: ProviderKind::OpenaiCompatible,
        name: "Scripted".into(),
        base_url,
        key: Some("sk-secret-0123456789".into()),
        extra_headers: BTreeMap::new(),
        manual_models: vec![],
        window_override: Some(8_192),
        timeout_seconds: 30,
    };
    ModelChoice { provider_id: service.provider_save(draft).await.unwrap().id, model: "scripted".into() }
}

/// Lets the programs do everything, once they have been there.
#[tokio::test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
async fn granting_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let service = service_of_session(Path::new(&dir));
    assert_eq!(service.vault_status().await.state, VaultState::Open);
    granted(&service).await;
    service.shutdown().await;
}

/// Lets the programs of these tests do everything that have been there.
pub async fn granted(service: &Service) {
    let known = service.connection_list().await.unwrap();
    for connection in known.iter().filter(|connection| NAMES.contains(&connection.name.as_str())) {
        let grant = ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() };
        service.connection_set_grant(connection.name.clone(), grant).await.unwrap();
    }
}

/// A vault in a session of its own.
pub struct Place<'a> {
    session: KeyringSession<'a>,
    pub dir: tempfile::TempDir,
    pub context: String,
}

impl<'a> Place<'a> {
    pub fn new(home: &'a KeyringHome, server: Option<&str>) -> Self {
        let session = home.start(KeyringState::Unlocked).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut place = Self { session, dir, context: String::new() };
        place.child("mcp_process::making_child", server);
        place.context = std::fs::read_to_string(place.dir.path().join("context")).unwrap();
        place
    }

    /// Runs another process of the tests, by the name of its test, in the session.
    pub fn child(&self, name: &str, server: Option<&str>) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--ignored", "--nocapture"]).env(DIR, self.dir.path());
        if let Some(server) = server {
            command.env(SERVER, server);
        }
        let output = self.session.apply(&mut command).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let mut environment: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in self.session.environment() {
            environment.insert(name.into(), value.to_str().unwrap().into());
        }
        environment.extend(std::env::var("PATH").ok().map(|path| ("PATH".to_owned(), path)));
        environment.extend(models().map(|models| ("EVENKEEL_MODELS".to_owned(), models)));
        environment
    }

    fn profile(&self) -> String {
        self.dir.path().join("profile").to_str().unwrap().to_owned()
    }

    /// Runs the Python client; gives what it saw.
    fn python(&self, mode: &str, steps: &[&str]) -> Value {
        let wish = json!({
            "command": engine_program(),
            "args": ["mcp", "--profile", self.profile()],
            "env": self.environment(),
            "mode": mode,
            "contextId": self.context,
            "steps": steps,
        });
        run_python(&wish)
    }

    /// Starts the server and speaks with it line by line.
    pub fn raw(&self) -> Raw {
        let mut command = Command::new(engine_program());
        Raw::start(self.session.apply(command.args(["mcp", "--profile", &self.profile()])))
    }
}

/// Runs the Python client with a wish; gives what it saw.
pub fn run_python(wish: &Value) -> Value {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mcp_client.py");
    let mut command = Command::new(python());
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the Python environment is missing: run ./scripts/setup");
    child.stdin.take().unwrap().write_all(wish.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folder of the built-in model, which the home of a session does not have.
fn models() -> Option<String> {
    default_model::locate(None).ok().and_then(|model| Some(model.parent()?.to_str()?.to_owned()))
}

fn python() -> PathBuf {
    let cache = || {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from).join("evenkeel/venv/bin/python")
    };
    std::env::var_os("EVENKEEL_PYTHON").map_or_else(cache, PathBuf::from)
}

/// The server, spoken with by hand.
pub struct Raw {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Raw {
    /// Starts a server and begins to speak with it.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut raw = Self { child, input, output };
        let begin = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "Raw", "version": "1" }
        });
        raw.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin }));
        assert_eq!(raw.heard()["result"]["serverInfo"]["name"], json!("evenkeel"));
        raw.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        raw
    }

    fn say(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// The next message of the server.
    pub fn heard(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next error that belongs to no request.
    fn error(&mut self) -> Value {
        loop {
            let heard = self.heard();
            if heard["error"].is_object() {
                return heard["error"].clone();
            }
        }
    }

    /// The answer to a request; what comes before it is passed over.
    pub fn answer(&mut self, id: u32) -> Value {
        loop {
            let heard = self.heard();
            if heard["id"] == json!(id) {
                return heard;
            }
        }
    }

    pub fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    /// Closes the input; gives how long the process lived on, and what it said on standard error.
    pub fn close(mut self) -> (Duration, String) {
        let began = Instant::now();
        drop(self.input.take());
        let status = self.end();
        let took = began.elapsed();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(status.success(), "{status} {said}");
        (took, said)
    }
}

impl Raw {
    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended by itself.
    pub fn end(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "the process lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scripted model with a runtime of its own, for tests that wait for processes.
pub struct Scripted {
    pub server: ScriptedServer,
    _runtime: tokio::runtime::Runtime,
}

impl Scripted {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { server: runtime.block_on(ScriptedServer::start()).unwrap(), _runtime: runtime }
    }
}

#[test]
fn the_python_sdk_lists_reads_talks_stops_and_is_refused_in_both_eras() {
    let model = Scripted::start();
    let home = KeyringHome::new().unwrap();
    let place = Place::new(&home, Some(&model.server.base_url()));
    // It has to have been there before it can be allowed anything.
    place.python("legacy", &["reads"]);
    place.child("mcp_process::granting_child", None);
    for (mode, protocol) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")] {
        let text = |text: &str| Piece::Text(text.into());
        let wait = Piece::Wait(Duration::from_millis(150));
        model.server.push(Answer::stream(vec![text("Good "), wait.clone(), text("morning"), wait, text("."), Piece::Done]));
        model.server.push(Answer::stream(vec![text("Half of"), Piece::Gate, Piece::Done]));
        let seen = place.python(mode, &["reads", "talks", "stops", "misuses"]);
        assert_eq!(seen["protocol"], json!(protocol));
        let mut listed: Vec<_> = seen["tools"].as_object().unwrap().keys().map(String::as_str).collect();
        listed.sort_unstable();
        let tools = ["context-chat", "context-manage", "conversation-manage", "get_recent_context", "personality-preset-manage"];
        assert_eq!(listed, tools);
        assert!(seen["tools"].as_object().unwrap().values().all(|is_described| is_described == true), "{}", seen["tools"]);
        assert!(seen["resources"].as_array().unwrap().contains(&json!("mcp-llm-generator://contexts")));
        assert_eq!((seen["templates"].as_array().unwrap().len(), seen["prompts"].as_array().unwrap().len()), (4, 2));
        assert_eq!(seen["context"]["context"]["id"], json!(place.context));
        assert!(seen["prompt"].as_str().unwrap().contains("long hikes"));
        let chat = &seen["chat"]["structured"];
        assert_eq!((&chat["response"], &seen["chat"]["text"]), (&json!("Good morning."), &json!("Good morning.")), "{mode}");
        let told: String = seen["progress"].as_array().unwrap().iter().map(|one| one[1].as_str().unwrap()).collect();
        assert_eq!(told, "Good morning.");
        assert_eq!(seen["stopped"]["content"], json!("Half of"));
        assert_eq!(seen["unknownId"]["structured"]["error"]["code"], json!("not_found"));
        assert_eq!(seen["wrongType"]["structured"]["error"]["details"]["field"], json!("pageSize"));
        assert_eq!(seen["tooLarge"]["structured"]["error"]["code"], json!("limit_reached"));
        assert_eq!(seen["unknownTool"]["code"], json!(-32602));
        assert!(seen["unknownResource"]["message"].as_str().unwrap().contains("evenkeel://contexts"), "{seen}");
        assert!(seen["closeSeconds"].as_f64().unwrap() < 1.5, "{seen}");
    }
}

#[test]
fn the_built_in_model_answers_through_a_real_process() {
    assert!(default_model::locate(None).is_ok(), "the model is missing: run ./scripts/setup");
    let home = KeyringHome::new().unwrap();
    let place = Place::new(&home, None);
    place.python("legacy", &["reads"]);
    place.child("mcp_process::granting_child", None);
    let seen = place.python("auto", &["talks"]);
    let chat = &seen["chat"]["structured"];
    assert!(chat["success"] == true && !chat["response"].as_str().unwrap().trim().is_empty(), "{seen}");
    assert!(chat["metadata"]["tokensUsed"].as_u64().unwrap() > 100, "{seen}");
    assert_eq!(seen["messages"]["structured"]["totalCount"], json!(2));
}

#[test]
fn the_end_of_input_ends_the_process_within_a_second_in_the_middle_of_a_reply_too() {
    let model = Scripted::start();
    let home = KeyringHome::new().unwrap();
    let place = Place::new(&home, Some(&model.server.base_url()));
    let mut raw = place.raw();
    raw.call(1, "context-manage", &json!({ "action": "list" }));
    assert_eq!(raw.answer(1)["result"]["structuredContent"]["totalCount"], json!(1));
    // Garbage and a message that is too long are answered, and the connection goes on.
    raw.input.as_mut().unwrap().write_all(b"this is no JSON\n").unwrap();
    assert_eq!(raw.error()["code"], json!(-32700));
    raw.call(2, "context-manage", &json!({ "action": "get", "contextId": "x".repeat(17 << 20) }));
    assert_eq!(raw.answer(2)["error"]["code"], json!(-32600));
    raw.say(
        &json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "context-manage", "arguments": 7 } }),
    );
    assert_eq!(raw.answer(3)["error"]["code"], json!(-32602));
    let (idle, said) = raw.close();
    assert!(idle < Duration::from_secs(1), "{idle:?}");
    assert_eq!(said, "", "nothing is said without a reason");
    place.child("mcp_process::granting_child", None);

    let mut raw = place.raw();
    model.server.push(Answer::stream(vec![Piece::Text("Half of".into()), Piece::Gate, Piece::Done]));
    raw.call(1, "context-chat", &json!({ "contextId": place.context, "message": "Tell me" }));
    let progress = loop {
        let heard = raw.heard();
        if heard["method"] == "notifications/progress" {
            break heard;
        }
    };
    assert_eq!(progress["params"]["message"], json!("Half of"));
    let (busy, said) = raw.close();
    assert!(busy < Duration::from_secs(1), "{busy:?}");
    eprintln!("the process ended {idle:?} after its input, and {busy:?} in the middle of a reply");
    assert!(!said.contains("Tell me") && !said.contains("Half of"), "no text of a message is logged: {said}");

    // What had come is there.
    let mut raw = place.raw();
    raw.call(1, "conversation-manage", &json!({ "action": "list", "contextId": place.context }));
    let listed = raw.answer(1)["result"]["structuredContent"]["conversations"].clone();
    assert_eq!(listed[0]["content"], json!("Half of"), "{listed}");
    raw.close();
}
