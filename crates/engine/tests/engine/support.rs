//! A child under test and a small HTTP client that shows exactly what went over the wire.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_evenkeel-engine");
pub const TOKEN: &str = "a-token-of-this-test";

/// The small model.
pub fn model() -> PathBuf {
    evenkeel_engine::default_model::locate(None)
        .unwrap_or_else(|error| panic!("{error}\nThese tests need the small model: run ./scripts/setup"))
}

/// One computing child at a time: two of them on the same cores take many times as long.
static COMPUTING: Mutex<()> = Mutex::new(());

pub fn computing() -> MutexGuard<'static, ()> {
    COMPUTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that has said its first line.
pub struct Engine {
    pub child: Child,
    pub first_line: Value,
}

impl Engine {
    pub fn start(model: &Path) -> Self {
        Self::start_with(
            Command::new(PROGRAM),
            &json!({"token": TOKEN, "modelPath": model, "contextTokens": null, "threads": null, "idleMinutes": 0}),
        )
    }

    pub fn start_with(mut command: Command, line: &Value) -> Self {
        let mut child = command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let first_line = serde_json::from_str(&first).unwrap_or_else(|error| panic!("{error}: the child said '{first}'"));
        Self { child, first_line }
    }

    pub fn port(&self) -> u16 {
        u16::try_from(self.first_line["port"].as_u64().unwrap_or_else(|| panic!("not ready: {}", self.first_line))).unwrap()
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::read(self.send(path, body))
    }

    pub fn get(&self, path: &str) -> Answer {
        Answer::read(request(
            self.port(),
            &format!(
                "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n",
                self.port()
            ),
            b"",
        ))
    }

    /// Sends without waiting for the answer.
    pub fn send(&self, path: &str, body: &Value) -> TcpStream {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port(),
            body.len()
        );
        request(self.port(), &head, body.as_bytes())
    }

    /// A whole reply; panics on an error.
    pub fn chat(&self, body: &Value) -> Value {
        let answer = self.post("/v1/chat/completions", body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn request(port: u16, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

/// An HTTP answer.
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status =
            line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("no HTTP answer: '{line}'"));
        let mut chunked = false;
        loop {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            chunked |= line.eq_ignore_ascii_case("transfer-encoding: chunked\r\n");
        }
        let mut body = Vec::new();
        if chunked {
            while let Some(chunk) = chunk(&mut reader) {
                body.extend(chunk);
            }
        } else {
            reader.read_to_end(&mut body).unwrap();
        }
        Self { status, body }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the answer is UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The error's code and message.
    pub fn error(&self) -> (u16, String, String) {
        let error = &self.json()["error"];
        (self.status, error["code"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
    }

    /// The events of a stream, the last one `[DONE]` as text.
    pub fn events(&self) -> Vec<Value> {
        let payloads = self.text().split("\n\n").filter_map(|event| event.strip_prefix("data: "));
        payloads.map(|payload| serde_json::from_str(payload).unwrap_or_else(|_| Value::String(payload.to_owned()))).collect()
    }
}

fn chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let length = usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("not a chunk: '{line}'"));
    let mut bytes = vec![0; length + 2];
    reader.read_exact(&mut bytes).unwrap();
    bytes.truncate(length);
    (length > 0).then_some(bytes)
}

/// The child that most tests share, with the lock that lets one of them compute.
pub struct Shared {
    _computing: MutexGuard<'static, ()>,
    pub engine: &'static Engine,
}

pub fn shared() -> Shared {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::start(&model()));
    let computing = computing();
    Shared { _computing: computing, engine: &ENGINE }
}

pub fn text_of(reply: &Value) -> &str {
    reply["choices"][0]["message"]["content"].as_str().unwrap()
}

pub fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub fn system(text: &str) -> Value {
    json!({"role": "system", "content": text})
}

pub fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}
