//! The HTTP API on the real service: sessions, questions, streams and events, and what is refused.

use crate::mcp::until;
use crate::mcp_http::{Door, client};
use crate::support::World;
use crate::tools::calls;
use evenkeel_domain::*;
use evenkeel_service::PresetOverrides;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the program of these tests calls itself.
const NAME: &str = "script";

impl Door {
    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        client()
            .request(method, format!("{}{path}", self.address))
            .bearer_auth(&self.token)
            .header("user-agent", format!("{NAME}/1.0"))
    }

    async fn got(request: reqwest::RequestBuilder) -> (u16, Value) {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}")))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        Self::got(self.request("GET", path)).await
    }

    async fn delete(&self, path: &str) -> (u16, Value) {
        Self::got(self.request("DELETE", path)).await
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        Self::got(self.request("POST", path).header("content-type", "application/json").body(body.to_string())).await
    }
}

/// A world with a scripted model, a companion, and a program that may do everything.
async fn trusted() -> (World, Door, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let door = world.door().await;
    assert_eq!(door.get("/api/v1/statistics").await.0, 200);
    let grant = ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() };
    world.service.connection_set_grant(NAME.into(), grant).await.unwrap();
    (world, door, context)
}

#[tokio::test]
async fn a_question_begins_a_session_that_is_listed_read_gone_on_with_and_deleted() {
    let (world, door, context) = trusted().await;
    world.server.push(Answer::reply(&["Good morning."]));
    let (status, first) = door.post("/api/v1/query", &json!({ "query": "Good day" })).await;
    assert_eq!((status, &first["success"], &first["response"]), (200, &json!(true), &json!("Good morning.")));
    assert_eq!(first["agent_name"], json!(context.name));
    let id = first["session_id"].as_str().unwrap();
    world.server.push(Answer::reply(&["And on."]));
    let (_, second) = door.post("/api/v1/query", &json!({ "query": "Go on", "session_id": id })).await;
    assert_eq!(second["session_id"], json!(id));

    let (_, listed) = door.get("/api/conversations").await;
    assert_eq!((&listed["total_sessions"], &listed["limit"], &listed["offset"]), (&json!(1), &json!(50), &json!(0)));
    let session = &listed["conversations"][0];
    assert_eq!((&session["query"], &session["message_count"]), (&json!("Good day"), &json!(4)));
    assert_eq!(session["agents_used"], json!([context.name]));
    let (_, read) = door.get(&format!("/api/conversation/{id}")).await;
    let said: Vec<_> = read["messages"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["Good day", "Good morning.", "Go on", "And on."]);
    assert_eq!((&read["messages"][0]["agent"], &read["messages"][1]["agent"]), (&Value::Null, &json!(context.name)));
    let (_, figures) = door.get("/api/v1/statistics").await;
    assert_eq!((&figures["sessions"], &figures["messages"], &figures["average_messages"]), (&json!(1), &json!(4), &json!(4.0)));

    assert_eq!(door.delete(&format!("/api/conversation/{id}")).await.1["deleted_count"], json!(4));
    assert_eq!(door.get(&format!("/api/conversation/{id}")).await.0, 404);
    assert_eq!(door.get("/api/conversations").await.1["total_sessions"], json!(0));
    let log = world.service.connection_log(Some(NAME.into()), 100).await.unwrap();
    assert_eq!(log[0].kind, AccessKind::ReadMessages);
    assert!(log.iter().any(|access| access.kind == AccessKind::DeleteMessages && access.count == 4));
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_program_names_its_sessions_itself_and_another_one_does_not_find_them_by_that_name() {
    let (world, door, _) = trusted().await;
    let name = "session_1753700000000_k3j9x2";
    for (query, reply) in [("One", "First."), ("Two", "Second.")] {
        world.server.push(Answer::reply(&[reply]));
        let (status, answer) = door.post("/api/v1/query", &json!({ "query": query, "session_id": name })).await;
        assert_eq!((status, &answer["session_id"], &answer["response"]), (200, &json!(name), &json!(reply)));
    }
    assert_eq!(door.get(&format!("/api/conversation/{name}")).await.1["message_count"], json!(4));
    assert_eq!(door.get("/api/conversations").await.1["total_sessions"], json!(1));
    let other = door.request("GET", &format!("/api/conversation/{name}")).header("x-evenkeel-client", "other");
    assert_eq!(Door::got(other).await.0, 404);
    let other = door.request("GET", "/api/conversations").header("x-evenkeel-client", "other");
    assert_ne!(Door::got(other).await.1["conversations"][0]["session_id"], json!(name));
    for wrong in ["with blank", "", "ä"] {
        let (status, error) = door.post("/api/v1/query", &json!({ "query": "x", "session_id": wrong })).await;
        assert_eq!((status, &error["details"]["field"]), (400, &json!("session_id")), "{wrong}");
    }
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_session_that_a_program_named_has_that_name_in_all_that_it_hears_of_it() {
    let (world, door, context) = trusted().await;
    let mut listener = Listener::at(&door).await;
    let name = "session_1753700000000_k3j9x2";
    world.server.push(Answer::reply(&["First."]));
    door.post("/api/v1/query", &json!({ "query": "One", "session_id": name })).await;
    let conversation = world.conversations(context.id).await.items.remove(0);
    world.service.operation_record(operation(&conversation, "look_up")).await.unwrap();
    let told = listener.until(r#""tool_name":"look_up""#).await;
    assert!(told.contains(r#""content":"One""#) && told.contains(&format!(r#""session_id":"{name}""#)), "{told}");
    assert!(!told.contains(&conversation.id.to_string()), "{told}");

    assert_eq!(door.get("/api/conversations").await.1["conversations"][0]["session_id"], json!(name));
    for called in [name, &conversation.id.to_string()] {
        assert_eq!(door.get(&format!("/api/conversation/{called}")).await.1["session_id"], json!(name));
        let (_, done) = door.get(&format!("/api/v1/sessions/{called}/context")).await;
        assert_eq!((&done["session_id"], &done["operations"][0]["session_id"]), (&json!(name), &json!(name)));
        world.server.push(Answer::reply(&["More."]));
        let (_, answer) = door.post("/api/v1/query", &json!({ "query": "On", "session_id": called })).await;
        assert_eq!(answer["session_id"], json!(name));
    }
    let gone = door.delete(&format!("/api/conversation/{}", conversation.id)).await.1;
    assert_eq!((&gone["session_id"], &gone["deleted_count"]), (&json!(name), &json!(6)));
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_transient_session_goes_to_the_trash_after_a_day_and_no_other_does() {
    let (world, door, _) = trusted().await;
    for transient in [true, false] {
        world.server.push(Answer::reply(&["Yes."]));
        door.post("/api/v1/query", &json!({ "query": "Well?", "transient": transient })).await;
    }
    world.run_after(chrono::TimeDelta::hours(20)).await;
    assert_eq!(door.get("/api/conversations").await.1["total_sessions"], json!(2));
    world.run_after(chrono::TimeDelta::hours(30)).await;
    assert_eq!(door.get("/api/conversations").await.1["total_sessions"], json!(1));
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_reply_streams_as_it_grows_and_is_stopped_once_nobody_listens() {
    let (world, door, context) = trusted().await;
    let text = |text: &str| Piece::Text(text.into());
    world.server.push(Answer::stream(vec![text("Good "), text("morning."), Piece::Done]));
    let ask = || {
        let request = door.request("POST", "/api/v1/query").header("accept", "text/event-stream");
        request.body(json!({ "query": "Good day" }).to_string())
    };
    let streamed = ask().send().await.unwrap().text().await.unwrap();
    let told = |name: &str| {
        let of = |event: &str| event.strip_prefix(&format!("event: {name}\ndata: ")).map(str::to_owned);
        streamed.split("\n\n").filter_map(of).map(|data| serde_json::from_str(&data).unwrap()).collect::<Vec<Value>>()
    };
    let grown: String = told("text").iter().map(|it| it["delta"].as_str().unwrap()).collect();
    assert_eq!((grown.as_str(), &told("end")[0]["response"]), ("Good morning.", &json!("Good morning.")));

    world.server.push(Answer::stream(vec![text("Half of"), Piece::Gate, Piece::Done]));
    let mut half = ask().send().await.unwrap();
    while !String::from_utf8_lossy(&half.chunk().await.unwrap().unwrap()).contains("Half of") {}
    drop(half);
    until("the stop", async || {
        let query = ConversationQuery { context_id: Some(context.id), ..ConversationQuery::default() };
        world.service.conversation_list(query).await.unwrap().items.iter().all(|it| it.message_count == 2)
    })
    .await;
    world.service.shutdown().await;
}

#[tokio::test]
async fn one_of_several_companions_answers_the_one_that_is_named_first() {
    let (world, door, context) = trusted().await;
    let other = world.named("Ada").await;
    for (query, expected) in [("Ada, are you there?", "Ada"), ("Is anybody there?", &*context.name)] {
        world.server.push(Answer::reply(&["Yes."]));
        let agents = json!([context.id, other.name]);
        let (status, answer) = door.post("/api/multi-agent/query", &json!({ "query": query, "agents": agents })).await;
        assert_eq!((status, &answer["agent_name"], &answer["content"]), (200, &json!(expected), &json!("Yes.")), "{answer}");
        assert_eq!((&answer["success"], &answer["citations"]), (&json!(true), &json!([])));
    }
    world.server.push(Answer::reply(&["Ada here."]));
    let (_, answer) = door.post("/api/v1/query", &json!({ "query": "Who is it?", "context_id": "ada" })).await;
    assert_eq!(answer["agent_name"], json!("Ada"));
    let again = json!({ "query": "Still?", "session_id": answer["session_id"], "context_id": context.name });
    let (status, error) = door.post("/api/v1/query", &again).await;
    assert_eq!((status, &error["details"]["field"]), (400, &json!("context_id")));
    let (status, error) = door.post("/api/multi-agent/query", &json!({ "query": "x", "agents": ["Nobody"] })).await;
    assert_eq!(status, 404);
    assert!(error["details"]["existing"].as_str().unwrap().contains("Ada"), "{error}");
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_new_program_reads_and_does_nothing_else_and_sees_nothing_that_is_local_only() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, ..) = world.exchange(context.id, None, "Hello", "Hi.").await;
    let door = world.door().await;
    let path = format!("/api/conversation/{}", conversation.id);
    assert_eq!(door.get(&path).await.0, 200);
    let (status, error) = door.post("/api/v1/query", &json!({ "query": "x" })).await;
    assert_eq!((status, &error["code"]), (403, &json!("not_permitted")));
    assert_eq!(door.delete(&path).await.0, 403);
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    assert_eq!(door.get(&path).await.0, 404);
    assert_eq!(door.get("/api/conversations").await.1["total_sessions"], json!(0));
    world.service.shutdown().await;
}

#[tokio::test]
async fn bad_input_is_named_and_never_an_error_of_the_server() {
    let (world, door, _) = trusted().await;
    for (path, field) in [
        ("/api/conversations?limit=0", "limit"),
        ("/api/conversations?limit=501", "limit"),
        ("/api/conversations?offset=4294967295", "offset"),
    ] {
        let (status, error) = door.get(path).await;
        assert_eq!((status, &error["details"]["field"]), (400, &json!(field)), "{path}");
    }
    for path in ["/api/conversations?limit=x", "/api/conversations?limit=-1", "/api/conversation/%ff", "/api/conversation/a%20b"]
    {
        assert_eq!(door.get(path).await.0, 400, "{path}");
    }
    for path in
        ["/api/conversation/0198a1b2-0000-7000-8000-000000000000", "/api/conversation/session_1", "/api", "/", "/api/nothing"]
    {
        assert_eq!(door.get(path).await.0, 404, "{path}");
    }
    for body in [
        "",
        "[]",
        "{}",
        "{\"query\":1}",
        "{\"query\":\"\"}",
        "{\"query\":\"x\",\"more\":1}",
        "{\"query\":\"x\",\"context_id\":\"x\"}",
    ] {
        let (status, error) = Door::got(door.request("POST", "/api/v1/query").body(body)).await;
        assert!((400..500).contains(&status) && error["code"].is_string(), "{body}: {status} {error}");
    }
    let (status, error) = door.post("/api/v1/query", &json!({ "query": "x".repeat(2 << 20) })).await;
    assert_eq!((status, &error["code"]), (413, &json!("limit_reached")), "{error}");
    assert_eq!(error["details"]["field"], json!("query"));
    assert_eq!(door.delete("/api/v1/query").await.0, 405);
    assert_eq!(door.get("/api/v1/events").await.0, 426);
    world.service.vault_lock().await;
    assert_eq!(
        door.get("/api/v1/health").await,
        (200, json!({ "status": "ok", "vault": "locked", "version": env!("CARGO_PKG_VERSION") }))
    );
    let (status, error) = door.get("/api/conversations").await;
    assert_eq!((status, &error["code"]), (423, &json!("vault_locked")));
    world.service.shutdown().await;
}

/// A program that listens to what happens.
struct Listener {
    socket: TcpStream,
    heard: String,
}

impl Listener {
    async fn at(door: &Door) -> Self {
        let mut socket = TcpStream::connect(door.host()).await.unwrap();
        let head = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nUser-Agent: {NAME}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            door.host(),
            door.token
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut listener = Self { socket, heard: String::new() };
        assert!(listener.until("ready").await.starts_with("HTTP/1.1 101"));
        listener
    }

    /// Everything that was heard, once that is among it.
    async fn until(&mut self, told: &str) -> String {
        let mut bytes = [0; 4_096];
        while !self.heard.contains(told) {
            let count = self.socket.read(&mut bytes).await.unwrap();
            assert!(count > 0, "{}", self.heard);
            self.heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        self.heard.clone()
    }
}

#[tokio::test]
async fn what_is_said_anywhere_is_told_by_websocket_and_what_is_hidden_is_not() {
    let (world, door, context) = trusted().await;
    let mut listener = Listener::at(&door).await;
    let hidden = world.named("Hidden").await;
    let grant = ConnectionGrant { contexts: Some(vec![context.id]), ..ConnectionGrant::default() };
    world.service.connection_set_grant(NAME.into(), grant).await.unwrap();
    let (unseen, ..) = world.exchange(hidden.id, None, "Not for others", "Nor this.").await;
    world.service.operation_record(operation(&unseen, "look_away")).await.unwrap();
    let (conversation, _, reply) = world.exchange(context.id, None, "Hello", "Hi.").await;
    let told = listener.until(r#""content":"Hi.""#).await;
    assert!(told.contains(r#""type":"message.created""#) && told.contains(&conversation.id.to_string()), "{told}");
    assert!(told.contains(r#""role":"assistant","status":"complete""#) && told.contains(&context.name), "{told}");

    world.service.message_vote(reply.id, Some(Vote::Up)).await.unwrap();
    listener.until(r#""type":"message.changed""#).await;
    world.service.operation_record(operation(&conversation, "look_up")).await.unwrap();
    let told = listener.until(r#""tool_name":"look_up""#).await;
    assert!(told.contains(r#""type":"operation.created""#) && told.contains(r#""success":true,"duration_ms":7"#), "{told}");
    world.service.message_delete(reply.id).await.unwrap();
    let told = listener.until(r#""type":"message.deleted""#).await;
    assert!(told.contains(r#""type":"session.changed""#), "{told}");
    world.service.conversation_delete(vec![unseen.id, conversation.id]).await.unwrap();
    let told = listener.until(r#""type":"session.deleted""#).await;
    for secret in [&unseen.id.to_string(), "Not for others", "Nor this.", "look_away", "Hidden"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    world.service.shutdown().await;
}

/// A tool that did something in a conversation.
fn operation(conversation: &Conversation, tool: &str) -> OperationDraft {
    OperationDraft {
        conversation_id: conversation.id,
        context_id: conversation.context_id,
        message_id: None,
        query: "Look".into(),
        source: "Notes".into(),
        tool_name: tool.into(),
        arguments: json!({}),
        result: json!({ "found": 1 }),
        duration_ms: 7,
        error: None,
    }
}

#[tokio::test]
async fn an_answer_names_the_tool_that_ran_last_for_it_and_none_where_none_did() {
    let (world, door, context) = trusted().await;
    let (conversation, ..) = world.exchange(context.id, None, "Hello", "Hi.").await;
    world.service.operation_record(operation(&conversation, "look_up")).await.unwrap();
    for path in ["/api/v1/query", "/api/multi-agent/query"] {
        world.server.push(calls(&[("get_recent_context", json!({}))]));
        world.server.push(Answer::reply(&["It was looked up."]));
        let (_, answer) = door.post(path, &json!({ "query": "What was done?", "session_id": conversation.id })).await;
        assert_eq!((&answer["success"], &answer["tool_name"]), (&json!(true), &json!("get_recent_context")), "{answer}");
        world.server.push(Answer::reply(&["Nothing more."]));
        let (_, answer) = door.post(path, &json!({ "query": "And now?", "session_id": conversation.id })).await;
        assert_eq!((&answer["success"], answer.get("tool_name")), (&json!(true), None), "{answer}");
    }
    let log = world.service.connection_log(Some(NAME.into()), 100).await.unwrap();
    let ran: Vec<u32> = log.iter().filter(|it| it.kind == AccessKind::RunTools).map(|it| it.count).collect();
    assert_eq!(ran, [1, 1], "with which replies tools ran, and how many");
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_question_whose_program_has_gone_stops_its_reply_however_early_it_went() {
    let (world, door, context) = trusted().await;
    let body = json!({ "query": "Is anybody there?" }).to_string();
    let request = format!(
        "POST /api/v1/query HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nUser-Agent: {NAME}\r\nContent-Length: {}\r\n\r\n{body}",
        door.host(),
        door.token,
        body.len()
    );
    // Each goes a little later than the one before: before anything is read, before the message is stored, and after it.
    for wait in 0..40 {
        world.server.push(Answer::stream(vec![Piece::Text("Half".into()), Piece::Gate, Piece::Done]));
        let mut socket = TcpStream::connect(door.host()).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
    }
    let mut wait = 50;
    until("a question that was stored", async || {
        if !world.conversations(context.id).await.items.is_empty() {
            return true;
        }
        let mut socket = TcpStream::connect(door.host()).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        wait *= 2;
        false
    })
    .await;
    until("what the log has of it", async || {
        let log = world.service.connection_log(Some(NAME.into()), 100).await.unwrap();
        log.iter().any(|access| access.kind == AccessKind::Chat)
    })
    .await;
    // What is being written cannot be deleted.
    until("the end of every reply", async || {
        let all: Vec<_> = world.conversations(context.id).await.items.iter().map(|it| it.id).collect();
        world.service.conversation_delete(all).await.is_ok() && world.conversations(context.id).await.items.is_empty()
    })
    .await;
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_long_session_is_read_in_pages_from_either_end() {
    let (world, door, context) = trusted().await;
    let mut conversation = None;
    for turn in 0..3 {
        conversation = Some(world.exchange(context.id, conversation, &format!("Q{turn}"), &format!("A{turn}")).await.0.id);
    }
    let path = format!("/api/conversation/{}", conversation.unwrap());
    for (query, expected, has_more) in [
        ("", "Q0 A0 Q1 A1 Q2 A2", false),
        ("?limit=2&offset=1", "A0 Q1", true),
        ("?limit=2&offset=4", "Q2 A2", false),
        ("?limit=2&newest_first=true", "A2 Q2", true),
        ("?limit=500&offset=6", "", false),
    ] {
        let (status, read) = door.get(&format!("{path}{query}")).await;
        let said: Vec<_> = read["messages"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
        assert_eq!((status, said.join(" ").as_str()), (200, expected), "{query}");
        assert_eq!((&read["total"], &read["has_more"]), (&json!(6), &json!(has_more)), "{query}");
        assert_eq!(read["agents_used"], json!([context.name]), "of the whole session, whichever page is read");
    }
    for query in ["limit=0", "limit=501", "offset=4294967295"] {
        let (status, error) = door.get(&format!("{path}?{query}")).await;
        assert_eq!((status, &error["code"]), (400, &json!("invalid_parameter")), "{query}");
    }
    world.service.shutdown().await;
}

impl World {
    /// A companion with a name.
    async fn named(&self, name: &str) -> Context {
        let overrides = PresetOverrides { name: Some(name.into()), ..PresetOverrides::default() };
        self.service.context_create_from_preset(PresetId::new("preset-calm-counselor"), overrides).await.unwrap()
    }
}

/// `scripts/schemathesis` runs it: requests that are made up from the document, and answers that are held against it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs schemathesis, named by EVENKEEL_SCHEMATHESIS"]
async fn made_up_requests_get_no_error_of_the_server_and_no_answer_that_the_document_does_not_have() {
    let Some(program) = std::env::var_os("EVENKEEL_SCHEMATHESIS") else { return };
    let (world, door, context) = trusted().await;
    world.exchange(context.id, None, "Hello", "Hi.").await;
    let mut command = std::process::Command::new(program);
    command.args(["run", &format!("{}/api/openapi.json", door.address), "--header"]);
    command.args([&format!("Authorization: Bearer {}", door.token), "--header", &format!("User-Agent: {NAME}")]);
    command.args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"]);
    command.args(["--max-examples", "100", "--seed", "1", "--no-color", "--exclude-path", "/api/v1/events"]);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    world.service.shutdown().await;
}
