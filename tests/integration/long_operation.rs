//! Operations that took long: a real listener is told of them, and of nothing else.

use crate::mcp::until;
use crate::support::World;
use evenkeel_domain::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Answers one request with each of these statuses; gives its address and the bodies.
async fn listener(statuses: &'static [u16]) -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/done?secret=1", listener.local_addr().unwrap());
    let (heard, bodies) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for status in statuses {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = String::new();
            let body = loop {
                let mut bytes = [0; 4_096];
                let count = stream.read(&mut bytes).await.unwrap();
                request.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
                assert!(count > 0, "{request}");
                let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
                let length = head.to_lowercase().split_once("content-length: ").unwrap().1.lines().next().unwrap().to_owned();
                if body.len() == length.parse::<usize>().unwrap() {
                    assert!(head.starts_with("POST /done?secret=1 ") && head.contains("application/json"), "{head}");
                    break body.to_owned();
                }
            };
            drop(heard.send(serde_json::from_str(&body).unwrap()));
            let answer = format!("HTTP/1.1 {status} Answered\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, bodies)
}

impl World {
    async fn tell(&self, webhook: &str) {
        let settings = LongOperationSettings { seconds: 1, notifies: true, webhook: webhook.into() };
        assert_eq!(self.service.long_operation_save(settings.clone()).await.unwrap().settings, settings);
    }

    async fn ran(&self, conversation: &Conversation, tool: &str, duration_ms: u32) -> Operation {
        let draft = OperationDraft {
            conversation_id: conversation.id,
            context_id: conversation.context_id,
            message_id: None,
            query: "Zwetschgenknödel".into(),
            source: "Notes".into(),
            tool_name: tool.into(),
            arguments: json!({ "dish": "Zwetschgenknödel" }),
            result: json!({ "dish": "Zwetschgenknödel" }),
            duration_ms,
            error: None,
        };
        self.service.operation_record(draft).await.unwrap()
    }

    async fn notes(&self) -> Vec<Option<ContextId>> {
        let page = self.service.network_list(None, 1_000).await.unwrap();
        let notes = page.requests.iter().filter(|request| request.purpose == RequestPurpose::Webhook);
        notes.map(|request| request.context_id).collect()
    }
}

#[tokio::test]
async fn a_note_has_no_content_and_is_sent_again_where_it_did_not_arrive() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, ..) = world.exchange(context.id, None, "Hello", "Hi.").await;
    let (address, mut bodies) = listener(&[500, 204]).await;
    world.tell(&address).await;
    let mut desktop = world.service.long_operations();
    world.ran(&conversation, "quick", 999).await;
    let operation = world.ran(&conversation, "slow", 1_000).await;
    for _ in 0..2 {
        let body = bodies.recv().await.unwrap();
        let finished_at = operation.at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        let expected = json!({
            "event": "operation.finished", "operation_id": operation.id, "session_id": conversation.id, "tool_name": "slow",
            "success": true, "duration_ms": 1_000, "finished_at": finished_at
        });
        assert_eq!(body, expected);
    }
    assert_eq!(desktop.recv().await.unwrap().operation.id, operation.id);
    until("the note", async || world.notes().await == [Some(context.id), Some(context.id)]).await;
    assert_eq!(world.service.long_operation_status().await.unwrap().failure, None);
    world.service.shutdown().await;
}

#[tokio::test]
async fn a_note_that_is_refused_is_told_in_the_settings_until_another_address_is_set() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, ..) = world.exchange(context.id, None, "Hello", "Hi.").await;
    let (address, _bodies) = listener(&[404]).await;
    world.tell(&address).await;
    world.ran(&conversation, "slow", 5_000).await;
    let failure = async || world.service.long_operation_status().await.unwrap().failure;
    until("the refusal", async || failure().await.is_some_and(|failure| failure.status == Some(404))).await;
    world.tell("").await;
    assert_eq!(failure().await, None);
    for (webhook, code) in [
        ("http://example.com/done", ErrorCode::ProviderAddressRefused),
        ("https://169.254.169.254/", ErrorCode::ProviderAddressRefused),
        ("ftp://127.0.0.1/", ErrorCode::ProviderAddressRefused),
    ] {
        let settings = LongOperationSettings { webhook: webhook.into(), ..LongOperationSettings::default() };
        assert_eq!(world.service.long_operation_save(settings).await.unwrap_err().code(), code, "{webhook}");
    }
    world.service.shutdown().await;
}

#[tokio::test]
async fn of_what_stays_here_and_of_private_conversations_nothing_is_told_elsewhere() {
    let world = World::new().await;
    world.scripted_provider().await;
    let (here, open) = (world.counselor().await, world.counselor().await);
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(here.id, patch).await.unwrap();
    let (kept, ..) = world.exchange(here.id, None, "Hello", "Hi.").await;
    let (told, ..) = world.exchange(open.id, None, "Hello", "Hi.").await;
    let private = world.service.private_begin(open.id, "Private".into()).await.unwrap();
    // A name that leads nowhere: what is sent stands in the journal all the same.
    world.tell("https://evenkeel.invalid/done").await;
    world.ran(&kept, "slow", 5_000).await;
    world.ran(&told, "slow", 5_000).await;
    // Looking the name up takes as long as the system likes.
    while world.notes().await.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(world.notes().await.iter().all(|context| *context == Some(open.id)));

    let (address, mut bodies) = listener(&[204, 204]).await;
    world.tell(&address).await;
    world.ran(&private, "unseen", 5_000).await;
    world.ran(&kept, "slow", 5_000).await;
    assert_eq!(bodies.recv().await.unwrap()["session_id"], json!(kept.id), "this computer may be told");
    world.ran(&told, "slow", 5_000).await;
    assert_eq!(bodies.recv().await.unwrap()["session_id"], json!(told.id));
    world.service.shutdown().await;
}
