//! The command line as real processes with a real keyring.
#![cfg(target_os = "linux")]

mod chat;
mod closed;
mod data;
mod terminal;
mod vault;

use crate::support::{TestClock, engine_program, options};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use evenkeel_service::*;
use evenkeel_testkit::clock::FixedClock;
use evenkeel_testkit::keyring::{KeyringHome, KeyringSession, KeyringState};
use evenkeel_testkit::scripted_server::ScriptedServer;
use evenkeel_vault::Keychain;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const DIR: &str = "EVENKEEL_CLI_CHILD_DIR";
const SERVER: &str = "EVENKEEL_CLI_CHILD_SERVER";
const TOOLS: &str = "EVENKEEL_CLI_CHILD_TOOLS";
const SECRET: &str = "EVENKEEL_CLI_CHILD_PASSPHRASE";

/// Makes a vault with a companion and a model, which the session's keychain opens, or else a passphrase.
#[tokio::test]
#[ignore = "the other process of the tests in this folder; does nothing by itself"]
async fn making_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let clock = Arc::new(TestClock(FixedClock::at(chrono::Utc::now())));
    let keychain = Arc::new(Keychain::new());
    let options =
        ServiceOptions { keychain: keychain.clone(), patient_keychain: keychain, ..options(&dir, Arc::default(), clock) };
    let service = Service::new(options).unwrap();
    assert_eq!(service.vault_status().await.state, VaultState::New);
    let passphrase = std::env::var(SECRET).ok();
    let sheet = service.vault_create(VaultOptions { use_keychain: passphrase.is_none(), passphrase }).await.unwrap();
    let answers = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    service.vault_confirm_recovery(answers).await.unwrap();
    std::fs::write(dir.join("recovery"), format!("{}\n", sheet.groups.join("-"))).unwrap();
    let default_model = match std::env::var(SERVER) {
        Ok(base_url) => scripted(&service, base_url).await,
        Err(_) => ModelChoice {
            provider_id: service.provider_list().await.unwrap().remove(0).id,
            model: "SmolLM2-135M-Instruct".into(),
        },
    };
    let settings = service.settings_get().await.unwrap();
    let settings = Settings { automatic_titles: false, default_model: Some(default_model), ..settings };
    service.settings_save(settings).await.unwrap();
    let overrides = PresetOverrides { max_tokens: Some(40), ..PresetOverrides::default() };
    let context = service.context_create_from_preset(PresetId::new("preset-calm-counselor"), overrides).await.unwrap();
    if let Ok(wording) = std::env::var(TOOLS) {
        remembering(&service, context.id, wording).await;
    }
    service.shutdown().await;
}

/// Gives a companion a tool of a server that says of it what stands in a file.
async fn remembering(service: &Service, context: ContextId, wording: String) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/changing.mjs").display().to_string();
    let transport = ToolTransport::Stdio { command: "node".into(), args: vec![program, wording] };
    let draft = ToolServerDraft { id: None, name: "Notes".into(), transport, env: None, token: None };
    let added = service.tool_server_save(draft).await.unwrap();
    service.tool_server_test(added.server.id).await.unwrap();
    let choice = ToolChoice { server_id: added.server.id, tool: "remember".into() };
    service.context_tools_set(context, vec![choice]).await.unwrap();
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

/// A home with a folder for a vault in it.
struct Home {
    keyring: KeyringHome,
    dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { keyring: KeyringHome::new().unwrap(), dir: tempfile::tempdir().unwrap() }
    }

    fn session(&self, state: KeyringState) -> Place<'_> {
        Place { session: self.keyring.start(state).unwrap(), dir: self.dir.path() }
    }

    /// A vault that the session's keychain opens.
    fn with_vault(&self, server: Option<&str>) -> Place<'_> {
        let place = self.session(KeyringState::Unlocked);
        place.make(server, None);
        place
    }

    /// The same, with a tool that its companion may ask for.
    fn with_tools(&self, server: &str) -> Place<'_> {
        let place = self.session(KeyringState::Unlocked);
        let wording = self.dir.path().join("wording.txt");
        std::fs::write(&wording, "Keeps a thought.").unwrap();
        place.make_with(&[(SERVER, server), (TOOLS, wording.to_str().unwrap())]);
        place
    }
}

/// A session in which commands run.
struct Place<'a> {
    session: KeyringSession<'a>,
    dir: &'a Path,
}

/// What a command has said.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    /// What went well, and said nothing on standard error.
    fn well(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:?}");
        self.out
    }

    fn json(self) -> Value {
        let out = self.well();
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// The error of a refusal, and nothing else anywhere.
    fn refused(self, code: i32) -> Value {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Place<'_> {
    fn make(&self, server: Option<&str>, passphrase: Option<&str>) {
        let server = server.map(|server| (SERVER, server));
        let variables: Vec<_> = server.into_iter().chain(passphrase.map(|passphrase| (SECRET, passphrase))).collect();
        self.make_with(&variables);
    }

    fn make_with(&self, variables: &[(&str, &str)]) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "command_line::making_child", "--ignored", "--nocapture"]).env(DIR, self.dir);
        command.envs(variables.iter().copied());
        let output = self.session.apply(&mut command).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn profile(&self) -> PathBuf {
        self.dir.join("profile")
    }

    fn recovery_file(&self) -> String {
        self.dir.join("recovery").to_str().unwrap().to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(engine_program());
        command.arg("--profile").arg(self.profile()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.session.apply(&mut command);
        // The home of a session does not have the built-in model.
        if let Some(models) = default_model::locate(None).ok().and_then(|model| Some(model.parent()?.to_owned())) {
            command.env("EVENKEEL_MODELS", models);
        }
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(self.start(arguments))
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(child)
    }

    /// A file with a passphrase.
    fn secret_file(&self, secret: &str) -> String {
        let path = self.dir.join("passphrase");
        std::fs::write(&path, secret).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn said(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// The names of an object's fields.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// A scripted model with a runtime of its own, for tests that wait for processes.
struct Model {
    server: ScriptedServer,
    _runtime: tokio::runtime::Runtime,
}

impl Model {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { server: runtime.block_on(ScriptedServer::start()).unwrap(), _runtime: runtime }
    }

    fn url(&self) -> String {
        self.server.base_url()
    }
}
