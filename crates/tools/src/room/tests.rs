#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Asked, Exchange, Given, Method, Program};
use async_trait::async_trait;
use chrono::DateTime;
use evenkeel_domain::{ErrorBody, ErrorCode};
use futures::stream;
use secrecy::SecretString;
use serde_json::json;
use std::collections::BTreeMap;

fn server(way: Way) -> Server {
    let id = ToolServerId::from_parts(DateTime::UNIX_EPOCH, [1; 10]);
    Server { id, name: "Notes".into(), behalf: None, way, stopped: CancellationToken::new() }
}

fn shell(script: &str) -> Server {
    let args = vec!["-c".to_owned(), script.to_owned()];
    server(Way::Process(Program { command: "sh".into(), args, env: BTreeMap::new() }))
}

/// A server of the older era at an address, which answers one call as a stream.
#[derive(Default)]
struct Scripted {
    asked: Mutex<Vec<String>>,
    /// The description changes with each listing.
    listings: Mutex<u32>,
}

fn given(status: u16, kind: &str, body: String) -> Given {
    let headers = [("content-type", kind), ("mcp-session-id", "session-1")];
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Given { status, headers, body: Box::pin(stream::iter([Ok(body.into())])) }
}

impl Scripted {
    fn answer(&self, request: &Value) -> Given {
        let of = |result: Value| json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
        let plain = |result| given(200, "application/json", of(result));
        match request["method"].as_str().unwrap() {
            "initialize" => plain(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"}})),
            "tools/list" => {
                let mut listings = self.listings.lock().unwrap();
                *listings += 1;
                let schema = json!({"type": "object"});
                let description = format!("Tells the time, wording {listings}.");
                plain(json!({"tools": [{"name": "clock", "description": description, "inputSchema": schema}]}))
            }
            "tools/call" => {
                let result = json!({"content": [{"type": "text", "text": "noon"}]});
                given(200, "text/event-stream", format!("event: message\ndata: {}\n\n", of(result)))
            }
            // A server of the older era does not know how the newer one begins.
            "server/discover" => {
                let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown"}});
                given(400, "application/json", error.to_string())
            }
            _ => given(202, "", String::new()),
        }
    }
}

#[async_trait]
impl Exchange for Scripted {
    async fn send(&self, asked: Asked) -> Result<Given, ErrorBody> {
        let token = asked.token.as_ref().map_or("none", |token| token.expose_secret());
        if asked.method != Method::Post {
            return Ok(given(405, "", String::new()));
        }
        let request: Value = serde_json::from_slice(&asked.body).unwrap();
        self.asked.lock().unwrap().push(format!("{} {token}", request["method"].as_str().unwrap()));
        Ok(self.answer(&request))
    }
}

#[tokio::test]
async fn a_server_at_an_address_lists_and_answers_and_gets_its_token_each_time() {
    let scripted = Arc::new(Scripted::default());
    let token = Some(SecretString::from("secret"));
    let way = Way::Http { url: "https://tools.example/mcp".into(), token, exchange: scripted.clone() };
    let (room, server) = (ToolRoom::default(), server(way));
    let listing = room.tools(&server).await.unwrap();
    assert_eq!(listing.tools[0].name, "clock");
    let outcome = room.call(&server, "clock", Map::new(), Duration::from_secs(60)).await.unwrap();
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("noon", false));
    let again = room.tools(&server).await.unwrap();
    assert_ne!(listing, again, "what a server says is asked for anew each time");
    let asked = scripted.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|one| one.ends_with(" secret")), "{asked:?}");
    assert_eq!(asked.iter().filter(|one| one.starts_with("initialize")).count(), 1, "{asked:?}");
    assert_eq!(room.count(), 1);
    room.stop(server.id);
    assert_eq!(room.count(), 0);
}

/// What answers at an address that is no server's: each request gets the same.
struct Stubborn(Result<(u16, &'static str, &'static str), ErrorBody>);

#[async_trait]
impl Exchange for Stubborn {
    async fn send(&self, _asked: Asked) -> Result<Given, ErrorBody> {
        self.0.clone().map(|(status, kind, body)| given(status, kind, body.to_owned()))
    }
}

#[tokio::test]
async fn an_address_that_is_no_servers_is_told_in_plain_words() {
    let refused = ErrorBody::new(ErrorCode::ProviderUnreachable, "raw").with("reason", "connection refused");
    let page = "<html></html>";
    let expected = [
        (Err(refused), "Nothing answers at http://127.0.0.1:1/mcp: connection refused"),
        (Ok((200, "text/html", page)), "http://127.0.0.1:1/mcp is no MCP server: it answers with text/html"),
        (Ok((404, "text/html", page)), "http://127.0.0.1:1/mcp is no MCP server: it answers with HTTP 404"),
        (Ok((500, "text/html", page)), "http://127.0.0.1:1/mcp is no MCP server: it answers with HTTP 500"),
        (Ok((200, "application/json", "[1]")), "http://127.0.0.1:1/mcp is no MCP server: what it answers is no MCP"),
        (Ok((401, "text/plain", "")), "http://127.0.0.1:1/mcp wants a token, or another one than it was shown"),
        (Ok((403, "text/plain", "")), "http://127.0.0.1:1/mcp wants a token, or another one than it was shown"),
    ];
    for (answer, sentence) in expected {
        let way = Way::Http { url: "http://127.0.0.1:1/mcp".into(), token: None, exchange: Arc::new(Stubborn(answer)) };
        let failed = ToolRoom::default().tools(&server(way)).await.unwrap_err();
        assert_eq!(failed.to_string(), sentence);
        assert_eq!(failed.to_body().details["server"], "Notes");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_is_no_server_is_told_by_its_end_and_its_last_words() {
    let room = ToolRoom::default();
    let failed = room.tools(&shell("echo starting >&2; echo no such folder >&2; exit 3")).await.unwrap_err();
    let ToolError::NoServer { reason, said, .. } = &failed else { panic!("{failed:?}") };
    assert_eq!((reason.as_str(), said.as_str()), ("it has ended, exit status: 3", "no such folder"));
    assert!(failed.to_string().starts_with("sh is no MCP server: it has ended"), "{failed}");
    let missing = server(Way::Process(Program { command: "no-such-program-here".into(), args: vec![], env: BTreeMap::new() }));
    assert!(matches!(room.tools(&missing).await, Err(ToolError::Start { .. })));
}

/// A server that never answers a call. It and what it has started hold the pipe open that it is given.
#[cfg(unix)]
const SILENT: &str = r#"
exec 3>"$1"
sleep 600 &
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"silent","version":"1"}}}\n' "$id" ;;
    *'"tools/call"'*) echo called >&3 ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    esac
done
"#;

#[cfg(unix)]
#[tokio::test]
async fn stopping_a_server_ends_the_calls_that_are_under_way_with_all_its_processes() {
    use std::io::{BufRead, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (room, mut server) = (ToolRoom::default(), shell(SILENT));
    let Way::Process(program) = &mut server.way else { unreachable!() };
    program.args.extend(["sh".to_owned(), pipe.display().to_string()]);
    server.stopped = room.stopping(server.id);
    let calling = {
        let (room, server) = (room.clone(), server.clone());
        tokio::spawn(async move { room.call(&server, "wait", Map::new(), Duration::from_secs(600)).await })
    };
    let (told, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let reading = std::thread::spawn(move || {
        let pipe = BufReader::new(std::fs::File::open(pipe).unwrap());
        pipe.lines().for_each(|line| drop(told.send(line.unwrap())));
    });
    assert_eq!(lines.recv().await.as_deref(), Some("called"));
    room.stop(server.id);
    assert!(matches!(calling.await.unwrap(), Err(ToolError::Stopped { .. })));
    // The pipe is open for as long as anybody of the group lives.
    assert_eq!(lines.recv().await, None);
    reading.join().unwrap();
    let late = room.call(&server, "wait", Map::new(), Duration::from_secs(600)).await;
    assert!(matches!(late, Err(ToolError::Stopped { .. })), "what was read before it was stopped starts nothing");
    assert_eq!(room.count(), 0);
}

#[cfg(unix)]
mod programs {
    use crate::{Program, process};
    use secrecy::SecretString;
    use std::collections::BTreeMap;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

    #[tokio::test]
    async fn a_program_sees_a_few_variables_and_those_that_were_added() {
        let env = BTreeMap::from([("NOTES_KEY".to_owned(), SecretString::from("k"))]);
        let (running, mut output, _input) = process::start(&Program { command: "env".into(), args: vec![], env }).unwrap();
        let mut said = String::new();
        output.read_to_string(&mut said).await.unwrap();
        let names: Vec<&str> = said.lines().filter_map(|line| line.split('=').next()).collect();
        assert!(names.contains(&"NOTES_KEY") && names.contains(&"PATH"), "{names:?}");
        let known = ["PATH", "HOME", "LANG", "TMPDIR", "NOTES_KEY"];
        assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
        drop(running);
    }

    #[tokio::test]
    async fn what_a_program_has_started_ends_with_it() {
        let script = "sleep 600 & echo $!; wait";
        let program = Program { command: "sh".into(), args: vec!["-c".into(), script.into()], env: BTreeMap::new() };
        let (running, output, _input) = process::start(&program).unwrap();
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).await.unwrap();
        assert!(line.trim().parse::<u32>().is_ok(), "{line}");
        drop(running);
        // The pipe is open for as long as anybody of the group lives.
        let mut rest = String::new();
        output.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "");
    }
}
