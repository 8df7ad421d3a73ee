//! Files whose header is sound and whose contents llama.cpp cannot run.

use crate::supervisor::{answers, next, options};
use crate::support::{PROGRAM, computing, model};
use evenkeel_domain::ErrorCode;
use evenkeel_engine::{EngineError, EngineEvent, Supervisor, inspect};
use secrecy::ExposeSecret;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use tempfile::TempDir;

/// The small model with a change, which its header does not show.
struct Hostile {
    _folder: TempDir,
    path: PathBuf,
}

impl Hostile {
    fn new(change: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = std::fs::read(model()).unwrap();
        change(&mut bytes);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hostile.gguf");
        std::fs::write(&path, bytes).unwrap();
        assert!(inspect(&path).is_ok_and(|file| file.has_chat_template), "the header gives it away");
        Self { _folder: folder, path }
    }
}

/// Where the bytes after `key` begin.
fn after(bytes: &[u8], key: &str) -> usize {
    bytes.windows(key.len()).position(|part| part == key.as_bytes()).unwrap() + key.len()
}

/// Two entries of the vocabulary with the same text: llama.cpp aborts.
fn with_a_word_twice(bytes: &mut [u8]) {
    let length_at = |bytes: &[u8], at: usize| usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    // The kinds of the list and of its elements, and their count.
    let mut at = after(bytes, "tokenizer.ggml.tokens") + 4 + 4 + 8;
    let mut words = Vec::new();
    for _ in 0..1000 {
        words.push((at + 8, length_at(bytes, at)));
        at += 8 + length_at(bytes, at);
    }
    let (last, length) = *words.last().unwrap();
    let (first, _) = *words[500..999].iter().find(|(_, other)| *other == length).unwrap();
    bytes.copy_within(first..first + length, last);
}

/// A tensor of another length than the model needs: llama.cpp refuses.
fn with_another_shape(bytes: &mut [u8]) {
    let at = after(bytes, "output_norm.weight") + 4;
    bytes[at..at + 8].copy_from_slice(&544_u64.to_le_bytes());
}

/// A number that no real model has, found only when a prompt is read: llama.cpp aborts.
fn with_a_negative_epsilon(bytes: &mut [u8]) {
    let at = after(bytes, "llama.attention.layer_norm_rms_epsilon") + 4;
    bytes[at..at + 4].copy_from_slice(&(-1.0_f32).to_le_bytes());
}

async fn a_good_file_runs(supervisor: &Supervisor) {
    assert!(answers(&supervisor.endpoint(&model(), None).await.unwrap()));
    supervisor.shutdown().await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn a_file_that_aborts_llama_cpp_ends_only_the_child() {
    let _computing = computing();
    let hostile = Hostile::new(with_a_word_twice);
    let supervisor = Supervisor::new(options(PROGRAM));
    let mut events = supervisor.events();
    let error = supervisor.endpoint(&hostile.path, None).await.unwrap_err();
    assert!(matches!(error, EngineError::KeepsCrashing { times: 3, .. }), "{error}");
    assert_eq!(error.code(), ErrorCode::EngineCrashed);
    let said = error.to_string();
    for part in ["hostile.gguf", "signal 6", "GGML_ASSERT", "choose another model"] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    for _ in 0..3 {
        assert_eq!(next(&mut events).await, EngineEvent::Crashed { code: None, signal: Some(6) });
    }
    a_good_file_runs(&supervisor).await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn a_file_that_llama_cpp_refuses_is_refused_once() {
    let _computing = computing();
    let hostile = Hostile::new(with_another_shape);
    let supervisor = Supervisor::new(options(PROGRAM));
    let mut events = supervisor.events();
    let error = supervisor.endpoint(&hostile.path, None).await.unwrap_err();
    assert!(matches!(error, EngineError::Refused { code: ErrorCode::ModelFileInvalid, .. }), "{error}");
    assert!(error.to_string().contains("hostile.gguf is not a usable model file"), "{error}");
    assert!(events.try_recv().is_err(), "a refusal is no crash");
    a_good_file_runs(&supervisor).await;
}

#[tokio::test]
#[allow(clippy::await_holding_lock)]
async fn a_file_that_aborts_at_its_first_message_breaks_only_that() {
    let _computing = computing();
    let hostile = Hostile::new(with_a_negative_epsilon);
    let supervisor = Supervisor::new(options(PROGRAM));
    let mut events = supervisor.events();
    let endpoint = supervisor.endpoint(&hostile.path, None).await.unwrap();
    assert!(matches!(next(&mut events).await, EngineEvent::Started { .. }));
    let address = endpoint.base_url.strip_prefix("http://").unwrap();
    let body = r#"{"messages": [{"role": "user", "content": "Hello"}]}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        endpoint.token.expose_secret(),
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(!answer.contains("choices"), "{answer}");
    assert_eq!(next(&mut events).await, EngineEvent::Crashed { code: None, signal: Some(6) });
    assert!(endpoint.hold.has_crashed());
    drop(endpoint);
    a_good_file_runs(&supervisor).await;
}
