//! `evenkeel mcp` that has opened the vault itself: it follows an app that is started later, and leaves nothing behind.
#![cfg(target_os = "linux")]

use crate::mcp_process::{DIR, Place, Raw, Scripted, service_of_session};
use crate::support::engine_program;
use crate::tools::calls;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::keyring::KeyringHome;
use evenkeel_vault::{Profile, VaultLock};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Waits for a condition.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn list(program: &mut Raw, id: u32) -> Value {
    program.call(id, "context-manage", &json!({ "action": "list" }));
    program.answer(id)["result"]["structuredContent"].clone()
}

/// Two programs and an app that is started after them, in the session of the keychain that opens the vault for each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
async fn following_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let profile = Profile::new(dir.join("profile"));
    let started = || Raw::start(Command::new(engine_program()).arg("mcp").arg("--profile").arg(profile.dir()));
    let (mut early, mut idle) = (started(), started());
    assert_eq!(list(&mut early, 1)["success"], json!(true));

    // An app that has not opened its vault yet has not locked it either.
    let app = service_of_session(&dir);
    app.listen_to_programs().await.unwrap();
    assert_eq!(app_vault(profile.dir()).await, Some(AppVault::Opening));
    assert_eq!(list(&mut early, 2)["success"], json!(true));
    assert_eq!(list(&mut idle, 1)["error"]["code"], json!("keychain_waiting"));
    assert_eq!(app.vault_status().await.state, VaultState::Open);
    assert_eq!(app_vault(profile.dir()).await, Some(AppVault::Open));
    assert_eq!(list(&mut idle, 2)["success"], json!(true));
    assert!(VaultLock::exclusive(&profile).is_err(), "three processes have it open");

    // Nobody is asked anything, and all of them have closed it.
    app.vault_lock().await;
    assert_eq!(app_vault(profile.dir()).await, Some(AppVault::Locked));
    until("a program keeps the vault open that the app has locked", || VaultLock::exclusive(&profile).is_ok());
    for (program, id) in [(&mut early, 3), (&mut idle, 3)] {
        assert_eq!(list(program, id)["error"]["code"], json!("vault_locked"));
    }
    app.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    for (program, id) in [(&mut early, 4), (&mut idle, 4)] {
        assert_eq!(list(program, id)["success"], json!(true));
    }
    app.shutdown().await;
    assert_eq!(app_vault(profile.dir()).await, None);
    assert_eq!(list(&mut early, 5)["success"], json!(true));
}

#[test]
fn a_program_that_had_opened_the_vault_is_locked_when_an_app_that_came_later_is() {
    let home = KeyringHome::new().unwrap();
    Place::new(&home, None).child("mcp_own::following_child", None);
}

/// Gives the companion a tool that never answers.
#[tokio::test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
async fn tooling_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let service = service_of_session(&dir);
    assert_eq!(service.vault_status().await.state, VaultState::Open);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hanging_server.py");
    let args = [script, dir.join("called")].map(|path| path.display().to_string()).to_vec();
    let draft = ToolServerDraft {
        id: None,
        name: "Hanging".into(),
        transport: ToolTransport::Stdio { command: "python3".into(), args },
        env: None,
        token: None,
    };
    let added = service.tool_server_save(draft).await.unwrap();
    service.tool_server_test(added.server.id).await.unwrap();
    let choice = ToolChoice { server_id: added.server.id, tool: "wait".into() };
    service.tool_rule_set(choice.clone(), ToolRule::Allowed).await.unwrap();
    let context = std::fs::read_to_string(dir.join("context")).unwrap().parse().unwrap();
    service.context_tools_set(context, vec![choice]).await.unwrap();
    service.shutdown().await;
}

/// Whether a process runs; one that has ended may wait for its parent.
fn runs(id: &str) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    about.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_server_of_tools_ends_with_the_process_in_the_middle_of_a_call_too() {
    let model = Scripted::start();
    let home = KeyringHome::new().unwrap();
    let place = Place::new(&home, Some(&model.server.base_url()));
    let mut first = place.raw();
    list(&mut first, 1);
    first.close();
    place.child("mcp_process::granting_child", None);
    place.child("mcp_own::tooling_child", None);
    let called = place.dir.path().join("called");
    for is_told_by_signal in [false, true] {
        let _ = std::fs::remove_file(&called);
        model.server.push(calls(&[("wait", json!({}))]));
        let mut program = place.raw();
        program.call(1, "context-chat", &json!({ "contextId": place.context, "message": "Wait." }));
        let id = || std::fs::read_to_string(&called).unwrap_or_default();
        until("the tool was never called", || id().ends_with('\n'));
        let id = id().trim().to_owned();
        assert!(runs(&id));
        if is_told_by_signal {
            let told = Command::new("kill").args(["-TERM", &program.id().to_string()]).status().unwrap();
            assert!(told.success() && program.end().success());
        } else {
            program.close();
        }
        until("a server of tools has outlived the process", || !runs(&id));
    }
}
