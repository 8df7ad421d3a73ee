//! The Model Context Protocol over HTTP in the running app: who is let in, and both eras with the protocol library's own
//! client.

use crate::mcp::{Program, eras, until};
use crate::support::World;
use evenkeel_domain::*;
use evenkeel_service::{UnlockMethod, VaultState};
use evenkeel_store::state_key;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that is on.
pub struct Door {
    pub address: String,
    pub token: String,
}

/// A client that asks nobody on the way.
pub fn client() -> reqwest::Client {
    // An error says that one is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

impl World {
    /// Turns the server on, on a port that is free.
    pub async fn door(&self) -> Door {
        // Where it listens already that is told, and of no matter.
        let _ = self.service.listen_to_programs().await;
        let status = self.service.server_save(ServerSettings { enabled: true, port: 0 }).await.unwrap();
        let token = self.service.server_token().await.unwrap().to_string();
        Door { address: status.address.unwrap(), token }
    }
}

impl Door {
    pub fn host(&self) -> &str {
        self.address.strip_prefix("http://").unwrap()
    }

    /// Sends bytes as they are, with the end of what is sent; gives status and body.
    pub async fn raw(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// A request with these lines in its head, and no body.
    async fn status(&self, lines: &[&str]) -> u16 {
        let head =
            lines.iter().fold("POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n".to_owned(), |head, line| {
                format!("{head}{line}\r\n")
            });
        self.raw(format!("{head}\r\n").as_bytes()).await.0
    }
}

#[tokio::test]
async fn nothing_listens_until_the_user_turns_it_on_and_nothing_does_once_it_is_off_again() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let status = world.service.server_status().await.unwrap();
    assert_eq!((status.settings, status.address, status.error), (ServerSettings::default(), None, None));
    let door = world.door().await;
    assert_eq!(door.status(&[&format!("Host: {}", door.host())]).await, 401);
    let off = world.service.server_save(ServerSettings { enabled: false, port: 0 }).await.unwrap();
    assert_eq!(off.address, None);
    assert!(TcpStream::connect(door.host()).await.is_err());
    world.service.shutdown().await;
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_with_403_and_a_missing_or_wrong_token_with_401() {
    let world = World::new().await;
    let door = world.door().await;
    let (host, token) = (format!("Host: {}", door.host()), format!("Authorization: Bearer {}", door.token));
    for foreign in ["Host: evil.example", "Host: 127.0.0.1", "Host: evil.example:28472"] {
        assert_eq!(door.status(&[foreign, &token]).await, 403, "{foreign}");
    }
    for foreign in ["Origin: https://evil.example", "Origin: null", "Origin: http://localhost:1"] {
        assert_eq!(door.status(&[&host, foreign, &token]).await, 403, "{foreign}");
    }
    for wrong in ["Authorization: Bearer wrong", "Authorization: Basic YTpi", "X-Nothing: 1"] {
        assert_eq!(door.status(&[&host, wrong]).await, 401, "{wrong}");
    }
    assert!(![401, 403].contains(&door.status(&[&host, &token]).await));
    let renewed = world.service.server_renew_token().await.unwrap();
    assert!(*renewed != door.token && renewed.len() == door.token.len());
    let door = Door { address: world.service.server_status().await.unwrap().address.unwrap(), ..door };
    assert_eq!(door.status(&[&format!("Host: {}", door.host()), &token]).await, 401, "the token before is worth nothing");
    world.service.shutdown().await;
}

#[tokio::test]
async fn both_eras_read_talk_and_hear_of_changes_over_http() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let door = world.door().await;
    for era in eras() {
        let program = Program::over_http(&door.address, &door.token, era).await;
        let listed = program.call("context-manage", json!({ "action": "list" })).await;
        assert_eq!(listed["totalCount"], json!(1));
        world.grant(ConnectionGrant { may_chat: true, ..ConnectionGrant::default() }).await;
        let piece = |text: &str| Piece::Text(text.into());
        world.server.push(Answer::stream(vec![piece("Good "), piece("morning."), Piece::Done]));
        let said = program.call("context-chat", json!({ "contextId": context.id, "message": "Good morning" })).await;
        assert_eq!(said["response"], json!("Good morning."));
        let refused = program.refusal("context-manage", json!({ "action": "delete", "contextId": context.id })).await;
        assert_eq!(refused["code"], json!("not_permitted"));
        program.client.cancel().await.unwrap();
    }
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_change_in_the_window_is_told_to_a_program_with_a_session() {
    let world = World::new().await;
    let door = world.door().await;
    let [legacy, _] = eras();
    let program = Program::over_http(&door.address, &door.token, legacy).await;
    world.counselor().await;
    until("the change", async || program.heard.lists.load(Ordering::SeqCst) > 0).await;
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_locked_app_answers_that_it_is_locked_and_goes_on_once_it_is_not() {
    let world = World::new().await;
    let door = world.door().await;
    let [legacy, _] = eras();
    let program = Program::over_http(&door.address, &door.token, legacy).await;
    world.service.vault_lock().await;
    let refused = program.refusal("context-manage", json!({ "action": "list" })).await;
    assert_eq!(refused["code"], json!("vault_locked"));
    assert_eq!(world.service.vault_status().await.state, VaultState::LockedByUser);
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    program.call("context-manage", json!({ "action": "list" })).await;
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_in_the_settings_and_another_one_can_be_chosen() {
    let world = World::new().await;
    world.service.listen_to_programs().await.unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let status = world.service.server_save(ServerSettings { enabled: true, port }).await.unwrap();
    let error = status.error.unwrap();
    assert_eq!((status.address, error.code), (None, ErrorCode::InvalidParameter));
    assert_eq!((&*error.details["field"], &*error.details["value"]), ("port", &*port.to_string()));
    drop(taken);
    let status = world.service.server_save(ServerSettings { enabled: true, port }).await.unwrap();
    assert_eq!((status.address, status.error), (Some(format!("http://127.0.0.1:{port}")), None));
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_server_whose_token_does_not_open_can_be_turned_off_and_gets_another_one() {
    let world = World::new().await;
    world.door().await;
    world.store().write(|w| w.put_app_state(state_key::SERVER_TOKEN, "00")).unwrap();
    assert!(world.service.server_token().await.is_err());
    let off = world.service.server_save(ServerSettings { enabled: false, port: 0 }).await.unwrap();
    assert_eq!((off.address, off.error), (None, None));
    let token = world.service.server_renew_token().await.unwrap();
    assert_eq!(world.door().await.token, *token);
    world.service.shutdown().await;
}

#[tokio::test]
async fn the_next_start_serves_what_was_turned_on_with_the_same_token() {
    let mut world = World::new().await;
    let door = world.door().await;
    world.restart().await;
    world.service.listen_to_programs().await.unwrap();
    until("listening", async || world.service.server_status().await.unwrap().address.is_some()).await;
    assert_eq!(*world.service.server_token().await.unwrap(), door.token);
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_sessions_have_an_end() {
    let world = World::new().await;
    let door = world.door().await;
    let client = client();
    let post = |body: String| {
        let request = client.post(format!("{}/mcp", door.address)).bearer_auth(&door.token);
        let request = request.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
        request.body(body).timeout(Duration::from_secs(20)).send()
    };
    assert_eq!(post("x".repeat((16 << 20) + 1)).await.map(|answer| answer.status().as_u16()).unwrap_or(413), 413);
    let begin = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "Raw", "version": "1" } }
    });
    let mut kept = Vec::new();
    let last = loop {
        let answer = post(begin.to_string()).await.unwrap();
        match answer.status().as_u16() {
            200 => kept.push(answer),
            other => break (other, answer),
        }
    };
    let (status, body) = (last.0, last.1.text().await.unwrap());
    let refused: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((kept.len(), status, &refused["code"]), (64, 429, &json!("limit_reached")));
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_refusal_of_the_protocol_has_the_one_error_shape_and_a_session_that_was_ended_has_ended() {
    let world = World::new().await;
    let door = world.door().await;
    let ask = |method: reqwest::Method, session: Option<&str>, body: &str| {
        let request = client().request(method, format!("{}/mcp", door.address)).bearer_auth(&door.token);
        let request = request.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
        let request = session.into_iter().fold(request, |request, session| request.header("mcp-session-id", session));
        request.body(body.to_owned()).send()
    };
    let listing = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    for (session, status, code) in [(None, 400, "invalid_parameter"), (Some("none-of-those"), 404, "not_found")] {
        let answer = ask(reqwest::Method::GET, session, "").await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{session:?}");
        let refused: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!((&refused["code"], &refused["details"]), (&json!(code), &json!({})), "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("ession"), "{refused}");
    }
    let begin = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "Raw", "version": "1" } }
    });
    let begun = ask(reqwest::Method::POST, None, &begin.to_string()).await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(ask(reqwest::Method::DELETE, Some(&session), "").await.unwrap().status().as_u16(), 204);
    assert_eq!(ask(reqwest::Method::POST, Some(&session), &listing).await.unwrap().status().as_u16(), 404);
    world.service.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_sdk_lists_reads_talks_stops_and_is_refused_over_http_in_both_eras() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let door = world.door().await;
    let seen = |mode: &str, steps: &[&str]| {
        let url = format!("{}/mcp", door.address);
        let wish = json!({ "url": url, "token": door.token, "mode": mode, "contextId": context.id, "steps": steps });
        tokio::task::spawn_blocking(move || crate::mcp_process::run_python(&wish))
    };
    seen("legacy", &["reads"]).await.unwrap();
    let grant = ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() };
    world.service.connection_set_grant("Python SDK".into(), grant).await.unwrap();
    for (mode, protocol) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")] {
        let text = |text: &str| Piece::Text(text.into());
        world.server.push(Answer::stream(vec![
            text("Good "),
            Piece::Wait(Duration::from_millis(150)),
            text("morning."),
            Piece::Done,
        ]));
        world.server.push(Answer::stream(vec![text("Half of"), Piece::Gate, Piece::Done]));
        let seen = seen(mode, &["reads", "talks", "stops", "misuses"]).await.unwrap();
        assert_eq!((&seen["protocol"], seen["tools"].as_object().unwrap().len()), (&json!(protocol), 5));
        assert_eq!(seen["chat"]["structured"]["response"], json!("Good morning."), "{mode}");
        let told: String = seen["progress"].as_array().unwrap().iter().map(|one| one[1].as_str().unwrap()).collect();
        assert_eq!((told.as_str(), &seen["stopped"]["content"]), ("Good morning.", &json!("Half of")), "{mode}");
        assert_eq!(seen["tooLarge"]["structured"]["error"]["code"], json!("limit_reached"));
        assert_eq!(seen["unknownTool"]["code"], json!(-32602));
    }
    world.service.shutdown().await;
}
