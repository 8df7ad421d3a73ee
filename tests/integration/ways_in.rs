//! `evenkeel mcp` beside the running app: a real process that carries between its streams and the app's socket.
#![cfg(target_os = "linux")]

use crate::mcp_process::Raw;
use crate::support::{World, engine_program};
use evenkeel_domain::*;
use evenkeel_service::{AppVault, UnlockMethod, VaultState, app_vault};
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

impl World {
    /// Starts `evenkeel mcp` on this vault. It has no keychain, so that alone it would open nothing.
    fn program(&self) -> Raw {
        let mut command = Command::new(engine_program());
        command.arg("mcp").arg("--profile").arg(self.dir.path().join("profile"));
        Raw::start(command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent").env_remove("XDG_RUNTIME_DIR"))
    }

    async fn trust(&self) {
        let grant = ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() };
        self.service.connection_set_grant("Raw".into(), grant).await.unwrap();
    }
}

fn asked(raw: &mut Raw, id: u32, tool: &str, arguments: &Value) -> Value {
    raw.call(id, tool, arguments);
    raw.answer(id)["result"]["structuredContent"].clone()
}

fn list(raw: &mut Raw, id: u32) -> Value {
    asked(raw, id, "context-manage", &json!({ "action": "list" }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_use_the_vault_that_the_app_has_open_and_each_sees_at_once_what_the_others_change() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let (mut first, mut second) = (world.program(), world.program());
    assert_eq!(list(&mut first, 1)["totalCount"], json!(0));
    world.trust().await;

    let preset = "preset-calm-counselor";
    let made = asked(&mut first, 2, "context-manage", &json!({ "action": "create_from_preset", "presetId": preset }));
    assert_eq!(made["success"], json!(true), "{made}");
    assert_eq!(world.contexts().await.len(), 1);
    assert_eq!(list(&mut second, 1)["totalCount"], json!(1));
    world.counselor().await;
    assert_eq!([list(&mut first, 3), list(&mut second, 2)].map(|seen| seen["totalCount"].clone()), [json!(2), json!(2)]);
    first.close();
    // The end of one is not the end of the other.
    assert_eq!(list(&mut second, 3)["totalCount"], json!(2));
    second.close();
    world.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_app_is_locked_for_programs_whatever_the_keychain_could_open() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let mut program = world.program();
    assert_eq!(list(&mut program, 1)["success"], json!(true));
    world.service.vault_lock().await;
    let refused = list(&mut program, 2)["error"].clone();
    assert_eq!(refused["code"], json!("vault_locked"));
    assert!(refused["message"].as_str().unwrap().contains("unlock it in its window"), "{refused}");
    // Also for one that comes only now; and nothing has opened it.
    assert_eq!(list(&mut world.program(), 1)["error"]["code"], json!("vault_locked"));
    assert_eq!(world.service.vault_status().await.state, VaultState::LockedByUser);
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    assert_eq!(list(&mut program, 3)["success"], json!(true));
    world.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_app_ends_the_programs_that_went_through_it() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let mut program = world.program();
    assert_eq!(list(&mut program, 1)["success"], json!(true));
    world.service.shutdown().await;
    assert!(!program.end().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_a_killed_app_left_is_passed_over_by_programs_and_replaced_by_the_next_app() {
    let mut world = World::new().await;
    let run = world.dir.path().join("profile/run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(run.join("app.sock")).unwrap());
    // Without an app it asks the keychain itself, which it does not have here.
    assert_eq!(list(&mut world.program(), 1)["error"]["code"], json!("keychain_unavailable"));
    world.service.listen_to_programs().await.unwrap();
    assert_eq!(list(&mut world.program(), 1)["success"], json!(true));
    world.restart().await;
    world.service.listen_to_programs().await.unwrap();
    assert_eq!(list(&mut world.program(), 1)["success"], json!(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_in_the_middle_of_a_reply_ends_the_process_and_keeps_what_had_come() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.service.listen_to_programs().await.unwrap();
    let mut program = world.program();
    list(&mut program, 1);
    world.trust().await;
    world.server.push(Answer::stream(vec![Piece::Text("Half of".into()), Piece::Gate, Piece::Done]));
    program.call(2, "context-chat", &json!({ "contextId": context.id, "message": "Tell me" }));
    while program.heard()["method"] != "notifications/progress" {}
    let (took, _) = program.close();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let id = world.conversations(context.id).await.items[0].id;
    let query = || MessageQuery {
        context_id: context.id,
        conversation_id: Some(id),
        among: None,
        newest_first: true,
        page: 1,
        page_size: 10,
    };
    for _ in 0..500 {
        if world.store().read(|r| r.messages_page(&query())).unwrap().0.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (messages, _) = world.store().read(|r| r.messages_page(&query())).unwrap();
    assert_eq!(messages[0].content, "Half of");
    world.service.shutdown().await;
}

/// Begins to speak MCP with the app, and hears the first answer.
fn knock(profile: &Path) -> (UnixStream, Value) {
    let mut stream = UnixStream::connect(profile.join("run/app.sock")).unwrap();
    let client = json!({ "name": "Raw", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": begin });
    writeln!(stream, "mcp\n{begin}").unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    (stream, serde_json::from_str(&answer).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_program_too_many_is_told_so_and_finds_room_once_another_has_gone() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let profile = world.dir.path().join("profile");
    let mut inside: Vec<_> = (0..64).map(|_| knock(&profile)).collect();
    assert!(inside.iter().all(|(_, said)| said["result"].is_object()));
    let (mut further, said) = knock(&profile);
    assert_eq!((&said["id"], &said["error"]["data"]["code"]), (&json!(7), &json!("limit_reached")), "{said}");
    assert!(said["error"]["message"].as_str().unwrap().contains("close one of them"), "{said}");
    assert_eq!(further.read_to_string(&mut String::new()).unwrap(), 0, "the connection has ended");
    // Where the vault stands is told all the same, or a locked app would be passed over.
    assert_eq!(app_vault(&profile).await, Some(AppVault::Open));
    inside.pop();
    let mut tries = 0;
    while !knock(&profile).1["result"].is_object() {
        tries += 1;
        assert!(tries < 1_000, "no room was made");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.service.shutdown().await;
}
