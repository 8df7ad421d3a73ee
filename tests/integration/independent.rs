//! A second server that nobody here wrote: llama.cpp's own, over the OpenAI-compatible path.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The server; it ends with its standard input.
struct Peer {
    child: Child,
    address: String,
}

impl Peer {
    fn start() -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/independent_server.py");
        let model = default_model::locate(None).expect("the model is missing: run ./scripts/setup");
        let mut child = Command::new(python())
            .arg(script)
            .arg(model)
            .args(["--window", "4096"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the Python environment is missing: run ./scripts/setup");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).expect("the server says its address");
        Self { child, address: said["address"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python() -> PathBuf {
    let cache = || {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from).join("evenkeel/venv/bin/python")
    };
    std::env::var_os("EVENKEEL_PYTHON").map_or_else(cache, PathBuf::from)
}

#[tokio::test(flavor = "multi_thread")]
async fn llama_cpps_own_server_lists_streams_and_stops() {
    let peer = tokio::task::spawn_blocking(Peer::start).await.unwrap();
    let world = World::new().await;
    let provider = world.provider_at(&peer.address, 120).await;
    let models = world.service.provider_test(provider.id).await.unwrap().models;
    world.use_model(provider.id, &models[0].name).await;
    let context = world.counselor().await;
    let patch = ContextPatch { max_tokens: Some(40), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();

    let events = world.say(context.id, None, "I am so angry at my neighbour!").await;
    let (conversation, _) = started(&events);
    let (reply, error) = ended(&events);
    assert_eq!(error, None);
    let reply = reply.unwrap();
    let streamed: usize = events.iter().filter(|event| matches!(event, ChatEvent::Text { .. })).count();
    assert!(!reply.content.trim().is_empty() && streamed > 1, "{streamed} pieces of {reply:?}");
    assert!(reply.usage.unwrap().prompt_tokens > 100, "{reply:?}");

    let service = world.service.clone();
    let long = ContextPatch { max_tokens: Some(1_000), ..ContextPatch::default() };
    world.service.context_update(context.id, long).await.unwrap();
    let text = "Tell a very long story.".to_owned();
    let request = SendRequest::New { context_id: context.id, conversation_id: Some(conversation.id), text, agent_id: None };
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let sending = tokio::spawn(async move { service.chat_send(request, move |event| drop(send.send(event))).await });
    while !matches!(heard.recv().await, Some(ChatEvent::Text { .. })) {}
    world.service.chat_stop(conversation.id).await.unwrap();
    sending.await.unwrap().unwrap();
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    let last = view.messages.last().unwrap();
    assert_eq!((last.role, last.status), (Role::Assistant, MessageStatus::Stopped));
}
