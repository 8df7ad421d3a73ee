//! Plug-ins that are good, bad and hostile, as real modules in real folders.

#![allow(clippy::unwrap_used)]

mod example;
mod hostile;
mod install;
mod limits;
mod loading;

use evenkeel_domain::Role;
use evenkeel_plugin::{ComposeInput, ComposeOutput, ExchangeInput, Fault, Host, MessageInput, Plugin, PluginError};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Answers `{"first":0}`.
const FIRST: &str = "(i64.const 0x100000000b)";
/// The parts of a module that works.
const MEMORY: &str = r#"(memory (export "memory") 1) (data (i32.const 16) "{\"first\":0}")"#;
const VERSION: &str = r#"(func (export "ek_abi") (result i32) (i32.const 1))"#;
const ALLOC: &str = r#"(func (export "ek_alloc") (param i32) (result i32) (i32.const 1024))"#;

/// A module whose `ek_compose` does this.
fn composing(body: &str) -> String {
    let compose = format!(r#"(func (export "ek_compose") (param i32 i32) (result i64) {body})"#);
    format!("(module {MEMORY} {VERSION} {ALLOC} {compose})")
}

fn manifest() -> Value {
    json!({ "id": "test-plugin", "name": "Test", "version": "1.0.0", "abi": 1 })
}

fn folder(manifest: &Value, wasm: &[u8]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fill(folder.path(), manifest, wasm);
    folder
}

fn fill(folder: &Path, manifest: &Value, wasm: &[u8]) {
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("plugin.wasm"), wasm).unwrap();
}

/// Loads a module from its text.
fn load(host: &Host, wat: &str) -> Result<Plugin, PluginError> {
    host.load(folder(&manifest(), &wat::parse_str(wat).unwrap()).path())
}

/// The fault of something that has to fail, whose error names the plug-in.
fn fault<T: std::fmt::Debug>(result: Result<T, PluginError>) -> Fault {
    match result.unwrap_err() {
        PluginError::Plugin { plugin, fault } if plugin == "test-plugin" => fault,
        other => panic!("{other} does not name the plug-in"),
    }
}

/// Asks about so many exchanges.
fn ask(plugin: &Plugin, exchanges: usize) -> Result<ComposeOutput, PluginError> {
    let message =
        |role, content| MessageInput { id: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(), role, tokens: 6, content };
    let exchange = ExchangeInput {
        tokens: 20,
        answered: true,
        messages: vec![message(Role::User, "How are you?"), message(Role::Assistant, "Calm.")],
    };
    plugin.compose(&ComposeInput {
        config: &Value::Null,
        state: None,
        max_history_tokens: 1_000,
        room: 900,
        earlier: 0,
        user_text: "And now?",
        exchanges: vec![exchange; exchanges],
    })
}
