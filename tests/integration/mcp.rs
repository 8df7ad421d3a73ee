//! The MCP server on the real service, with the protocol library's own client, in both eras of the protocol.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::{Service, SlotName, UnlockMethod, VaultState};
use evenkeel_testkit::scripted_server::{Answer, Piece};
use rmcp::model::{
    ArgumentInfo, CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, CompleteRequestParams,
    GetPromptRequestParams, Implementation, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    Reference, ResourceContents,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const NAME: &str = "Test client";

/// What the client was told.
#[derive(Clone, Default)]
pub struct Heard {
    pub progress: Arc<Mutex<Vec<(f64, String)>>>,
    pub lists: Arc<AtomicUsize>,
}

impl ClientHandler for Heard {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(NAME, "1.2"))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push((progress.progress, progress.message.unwrap_or_default()));
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.lists.fetch_add(1, Ordering::SeqCst);
    }
}

/// A connected program.
pub struct Program {
    pub client: RunningService<RoleClient, Heard>,
    pub heard: Heard,
}

/// The two ways to begin.
pub fn eras() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28] },
    ]
}

impl Program {
    async fn of(service: &Service, era: ClientLifecycleMode) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let served = service.clone();
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(near);
            served.serve_mcp(read, write).await.unwrap();
        });
        let heard = Heard::default();
        let client = heard.clone().serve_with_lifecycle(far, era).await.unwrap();
        Self { client, heard }
    }

    /// One that speaks with the running app over HTTP.
    pub async fn over_http(address: &str, token: &str, era: ClientLifecycleMode) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{address}/mcp")).auth_header(token);
        let transport = StreamableHttpClientTransport::with_client(crate::mcp_http::client(), config);
        let heard = Heard::default();
        let client = heard.clone().serve_with_lifecycle(transport, era).await.unwrap();
        Self { client, heard }
    }

    async fn legacy(world: &World) -> Self {
        Self::of(&world.service, ClientLifecycleMode::Initialize).await
    }

    /// A program that may do everything.
    async fn trusted(world: &World) -> Self {
        let program = Self::legacy(world).await;
        program.read("evenkeel://contexts").await;
        world.grant(ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() }).await;
        program
    }

    pub async fn result(&self, tool: &'static str, arguments: Value) -> (bool, Value) {
        let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap());
        let result = self.client.peer().call_tool(params).await.unwrap();
        assert!(!result.content.is_empty());
        (result.is_error == Some(true), result.structured_content.unwrap())
    }

    /// What a tool gives where it goes well.
    pub async fn call(&self, tool: &'static str, arguments: Value) -> Value {
        let (is_error, given) = self.result(tool, arguments).await;
        assert!(!is_error && given["success"] == true, "{given}");
        given
    }

    /// The error of a tool that refuses.
    pub async fn refusal(&self, tool: &'static str, arguments: Value) -> Value {
        let (is_error, given) = self.result(tool, arguments).await;
        assert!(is_error && given["success"] == false, "{given}");
        given["error"].clone()
    }

    async fn read(&self, uri: &str) -> Value {
        let read = self.client.peer().read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
        match &read.contents[0] {
            ResourceContents::TextResourceContents { text, uri: of, .. } => {
                assert_eq!(of, uri);
                serde_json::from_str(text).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }
}

impl World {
    pub async fn grant(&self, grant: ConnectionGrant) {
        self.service.connection_set_grant(NAME.into(), grant).await.unwrap();
    }

    async fn log(&self) -> Vec<(AccessKind, u32, bool)> {
        let log = self.service.connection_log(None, 100).await.unwrap();
        log.into_iter().map(|access| (access.kind, access.count, access.is_refused)).collect()
    }
}

pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} never happened");
}

#[tokio::test]
async fn a_new_program_reads_and_does_nothing_else_until_the_user_allows_it() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let id = context.id.to_string();
    for era in eras() {
        let program = Program::of(&world.service, era).await;
        let listed = program.call("context-manage", json!({ "action": "list" })).await;
        assert_eq!(listed["contexts"][0]["id"], json!(id));
        let wishes = [
            ("context-chat", json!({ "contextId": id, "message": "Hello" })),
            ("context-manage", json!({ "action": "create", "name": "A", "systemPrompt": "B" })),
            ("context-manage", json!({ "action": "update", "contextId": id, "name": "C" })),
            ("context-manage", json!({ "action": "delete", "contextId": id })),
            ("personality-preset-manage", json!({ "action": "create", "name": "A", "systemPrompt": "B" })),
            ("conversation-manage", json!({ "action": "clear", "contextId": id })),
        ];
        for (tool, wish) in wishes {
            let error = program.refusal(tool, wish.clone()).await;
            assert_eq!((&error["code"], &error["details"]["client"]), (&json!("not_permitted"), &json!(NAME)), "{wish}");
        }
    }
    assert!(world.server.requests().is_empty());
    assert_eq!(world.contexts().await, vec![context]);
    let known = world.service.connection_list().await.unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].name.as_str(), known[0].version.as_str()), (NAME, "1.2"));
    assert_eq!(known[0].grant, ConnectionGrant::default());
    let log = world.log().await;
    assert_eq!(log.iter().filter(|(.., is_refused)| *is_refused).count(), 12);
    assert!(log.contains(&(AccessKind::ReadContexts, 1, false)), "{log:?}");
}

#[tokio::test]
async fn contexts_are_made_listed_read_changed_and_deleted() {
    let world = World::new().await;
    let program = Program::trusted(&world).await;
    let wish =
        json!({ "action": "create", "name": "Mara", "systemPrompt": "Mara is calm.", "temperature": 0.3, "expiryDays": null });
    let made = program.call("context-manage", wish).await["context"].clone();
    assert_eq!(
        (&made["temperature"], &made["maxTokens"], &made["maxHistoryTokens"]),
        (&json!(0.3), &json!(1000), &json!(15_000))
    );
    assert_eq!((&made["expiryDays"], &made["expiresAt"], &made["isActive"]), (&Value::Null, &Value::Null, &json!(true)));
    let overrides = json!({ "name": "Second", "temperature": 1, "expiryDays": 3 });
    let wish = json!({ "action": "create_from_preset", "presetId": "preset-calm-counselor", "presetOverrides": overrides });
    let second = program.call("context-manage", wish).await["context"].clone();
    assert_eq!((&second["name"], &second["expiryDays"], &second["maxTokens"]), (&json!("Second"), &json!(3), &json!(1200)));

    let page = program.call("context-manage", json!({ "action": "list", "page": 2, "pageSize": 1 })).await;
    assert_eq!((page["contexts"].as_array().unwrap().len(), &page["totalCount"]), (1, &json!(2)));
    let wish = json!({ "action": "update", "contextId": made["id"], "personality": "Patient.", "expiryDays": 30 });
    let changed = program.call("context-manage", wish).await["context"].clone();
    assert_eq!(
        (&changed["personality"], &changed["name"], &changed["expiryDays"]),
        (&json!("Patient."), &json!("Mara"), &json!(30))
    );
    let read = program.call("context-manage", json!({ "action": "get", "contextId": made["id"] })).await;
    assert_eq!(read["context"], changed);
    program.call("context-manage", json!({ "action": "delete", "contextId": made["id"] })).await;
    let error = program.refusal("context-manage", json!({ "action": "get", "contextId": made["id"] })).await;
    assert_eq!(error["code"], json!("not_found"));
    assert!(error["details"]["existing"].as_str().unwrap().contains("Second ("), "{error}");
    assert_eq!(world.service.trash_list().await.unwrap().len(), 1, "what another program deletes can be restored");
}

#[tokio::test]
async fn bad_arguments_are_named_with_value_and_range_and_change_nothing() {
    let world = World::new().await;
    let program = Program::trusted(&world).await;
    let context = world.counselor().await;
    for (tool, wish, code, field) in [
        ("context-manage", json!({}), "invalid_parameter", "action"),
        ("context-manage", json!({ "action": "create", "systemPrompt": "x" }), "invalid_parameter", "name"),
        (
            "context-manage",
            json!({ "action": "create", "name": "x".repeat(121), "systemPrompt": "x" }),
            "invalid_parameter",
            "name",
        ),
        ("context-manage", json!({ "action": "list", "pageSize": "ten" }), "invalid_parameter", "pageSize"),
        (
            "context-manage",
            json!({ "action": "update", "contextId": context.id, "temperature": 2 }),
            "invalid_parameter",
            "temperature",
        ),
        ("context-manage", json!({ "action": "create_from_preset", "presetId": 7 }), "invalid_parameter", "presetId"),
        ("context-chat", json!({ "contextId": context.id }), "invalid_parameter", "message"),
        ("context-chat", json!({ "contextId": context.id, "message": " " }), "invalid_parameter", "message"),
        ("context-chat", json!({ "contextId": context.id, "message": "x".repeat(11 << 20) }), "limit_reached", "arguments"),
        ("context-chat", json!({ "contextId": context.id, "message": "x".repeat(2 << 20) }), "limit_reached", "message"),
        ("conversation-manage", json!({ "action": "delete", "contextId": context.id }), "invalid_parameter", "conversationIds"),
        (
            "conversation-manage",
            json!({ "action": "delete", "contextId": context.id, "olderThan": "soon" }),
            "invalid_parameter",
            "olderThan",
        ),
    ] {
        let error = program.refusal(tool, wish).await;
        assert_eq!((&error["code"], &error["details"]["field"]), (&json!(code), &json!(field)), "{error}");
        assert!(error["details"]["range"].is_string(), "{error}");
    }
    for (tool, wish) in [
        ("context-manage", json!({ "action": "get", "contextId": "nobody" })),
        ("context-manage", json!({ "action": "create_from_preset", "presetId": "preset-nothing" })),
        ("personality-preset-manage", json!({ "action": "get", "presetId": "preset-nothing" })),
        ("conversation-manage", json!({ "action": "list", "contextId": context.id, "sessionId": "nothing" })),
    ] {
        let error = program.refusal(tool, wish).await;
        assert!(error["code"] == "not_found" && error["details"]["existing"].is_string(), "{error}");
    }
    let unknown = program.client.peer().call_tool(CallToolRequestParams::new("context-dance")).await.unwrap_err();
    assert!(unknown.to_string().contains("context-manage, personality-preset-manage"), "{unknown}");
    assert_eq!(world.contexts().await, vec![context]);
}

#[tokio::test]
async fn presets_are_made_listed_changed_hidden_and_deleted() {
    let world = World::new().await;
    let program = Program::trusted(&world).await;
    let tool = "personality-preset-manage";
    let listed = program.call(tool, json!({ "action": "list", "pageSize": 2 })).await;
    assert_eq!((listed["presets"].as_array().unwrap().len(), &listed["totalCount"]), (2, &json!(6)));
    assert_eq!(listed["presets"][0]["metadata"]["experimental"], json!(true));
    let settings = json!({ "temperature": 0.2, "expiryDays": null });
    let wish = json!({ "action": "create", "name": "Own", "systemPrompt": "Own.", "defaultSettings": settings, "metadata": { "a": [1] } });
    let made = program.call(tool, wish).await["preset"].clone();
    let expected = json!({ "temperature": 0.2, "maxTokens": 1000, "maxHistoryTokens": 15_000, "expiryDays": null });
    assert_eq!((&made["defaultSettings"], &made["metadata"]), (&expected, &json!({ "a": [1] })));
    let wish = json!({ "action": "update", "presetId": made["id"], "defaultSettings": { "maxTokens": 7 } });
    let changed = program.call(tool, wish).await["preset"].clone();
    assert_eq!((&changed["defaultSettings"]["maxTokens"], &changed["defaultSettings"]["temperature"]), (&json!(7), &json!(0.2)));
    program.call(tool, json!({ "action": "delete", "presetId": made["id"] })).await;
    let shipped = "preset-calm-counselor";
    program.call(tool, json!({ "action": "delete", "presetId": shipped })).await;
    let left = program.call(tool, json!({ "action": "list", "includeInactive": true })).await;
    assert_eq!(left["totalCount"], json!(6), "what ships with the app is hidden and not deleted");
    program.call(tool, json!({ "action": "update", "presetId": shipped, "isActive": true })).await;
    let again = world.service.preset_get(PresetId::new(shipped)).await.unwrap();
    assert!(again.is_active && !again.is_edited);
}

#[tokio::test]
async fn a_reply_is_told_while_it_grows_and_the_next_message_goes_on_in_the_same_conversation() {
    for era in eras() {
        let world = World::new().await;
        world.scripted_provider().await;
        let context = world.counselor().await;
        let program = Program::of(&world.service, era).await;
        program.read("evenkeel://contexts").await;
        world.grant(ConnectionGrant { may_chat: true, ..ConnectionGrant::default() }).await;
        let text = |text: &str| Piece::Text(text.into());
        let wait = Piece::Wait(Duration::from_millis(150));
        world.server.push(Answer::stream(vec![text("Good "), wait.clone(), text("morning"), wait, text("."), Piece::Done]));
        let chatted = program.call("context-chat", json!({ "contextId": context.id, "message": "Hello" })).await;
        assert_eq!((&chatted["response"], &chatted["contextName"]), (&json!("Good morning."), &json!(context.name)));
        assert_eq!(chatted["personality"], json!(context.personality));
        assert_eq!((&chatted["userMessage"]["content"], &chatted["userMessage"]["role"]), (&json!("Hello"), &json!("user")));
        assert_eq!(chatted["assistantResponse"]["status"], json!("complete"));
        let said: MessageId = serde_json::from_value(chatted["userMessage"]["id"].clone()).unwrap();
        let said = world.store().read(|r| r.message(said)).unwrap().unwrap();
        assert_eq!(said.source.as_deref(), Some(NAME), "it is not the user who wrote it");
        let figures = &chatted["metadata"];
        assert_eq!(
            (&figures["tokensUsed"], &figures["historyTruncated"], &figures["isExpired"]),
            (&json!(45), &json!(false), &json!(false))
        );
        assert!(figures["contextExpiry"].as_str().unwrap().ends_with('Z'), "{figures}");
        until("all progress", async || program.heard.progress.lock().unwrap().len() >= 3).await;
        let progress = program.heard.progress.lock().unwrap().clone();
        assert_eq!(progress.iter().map(|(_, text)| text.as_str()).collect::<String>(), "Good morning.");
        assert!(progress.windows(2).all(|pair| pair[0].0 < pair[1].0), "{progress:?}");

        world.server.push(Answer::reply(&["Yes."]));
        let second = program
            .call("context-chat", json!({ "contextId": context.id, "message": "And now?", "maintainPersonality": false }))
            .await;
        assert_eq!(second["sessionId"], chatted["sessionId"]);
        assert_eq!(second["metadata"]["historyTokens"].as_u64().map(|tokens| tokens > 0), Some(true));
        let requests = world.server.requests();
        assert!(requests[1].to_string().contains("Good morning."));

        let (elsewhere, own, _) = world.exchange(context.id, None, "Another thread", "Indeed.").await;
        assert_eq!(own.source, None);
        world.server.push(Answer::reply(&["Back."]));
        let wish = json!({ "contextId": context.id, "message": "Here", "sessionId": chatted["sessionId"] });
        assert_eq!(program.call("context-chat", wish).await["sessionId"], chatted["sessionId"]);
        assert_ne!(chatted["sessionId"], json!(elsewhere.id));
        let chats = world.log().await.into_iter().filter(|(kind, ..)| *kind == AccessKind::Chat).count();
        assert_eq!(chats, 3);
    }
}

#[tokio::test]
async fn without_a_reminder_the_request_is_the_same_but_for_it() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let patch = ContextPatch { anchor: Some("ANCHOR-OF-MARA".into()), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let program = Program::trusted(&world).await;
    for at in 0..4 {
        world
            .exchange(
                context.id,
                world.conversations(context.id).await.items.first().map(|found| found.id),
                &format!("{at}"),
                "Yes.",
            )
            .await;
    }
    for reminds in [true, false] {
        let _ = world.server.take_requests();
        world.server.push(Answer::reply(&["Yes."]));
        let wish = json!({ "contextId": context.id, "message": "Really?", "maintainPersonality": reminds });
        program.call("context-chat", wish).await;
        assert_eq!(world.server.take_requests()[0].to_string().contains("ANCHOR-OF-MARA"), reminds);
    }
    let kept = world.service.context_get(context.id).await.unwrap();
    assert!(kept.maintain_personality, "the context keeps its setting");
}

#[tokio::test]
async fn cancelling_a_call_stops_the_reply_and_what_had_come_is_kept() {
    for era in eras() {
        let world = World::new().await;
        world.scripted_provider().await;
        let context = world.counselor().await;
        let program = Program::of(&world.service, era).await;
        program.read("evenkeel://contexts").await;
        world.grant(ConnectionGrant { may_chat: true, ..ConnectionGrant::default() }).await;
        world.server.push(Answer::stream(vec![Piece::Text("Half of".into()), Piece::Gate, Piece::Done]));
        let wish = json!({ "contextId": context.id, "message": "Tell me" }).as_object().cloned().unwrap();
        let request = CallToolRequest::new(CallToolRequestParams::new("context-chat").with_arguments(wish));
        let peer = program.client.peer();
        let options = PeerRequestOptions::no_options();
        let call = peer.send_cancellable_request(ClientRequest::CallToolRequest(request), options).await.unwrap();
        until("the first words", async || !program.heard.progress.lock().unwrap().is_empty()).await;
        call.cancel(Some("enough".into())).await.unwrap();
        let conversation = world.conversations(context.id).await.items[0].id;
        until("the end of the reply", async || {
            let view = world.service.conversation_open(conversation).await.unwrap();
            view.messages.last().is_some_and(|last| last.status == MessageStatus::Stopped && last.content == "Half of")
        })
        .await;
        // The connection goes on.
        program.call("context-manage", json!({ "action": "list" })).await;
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error_that_says_what_is_kept() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let program = Program::trusted(&world).await;
    world.server.push(Answer::stream(vec![Piece::Text("Half".into()), Piece::Wait(Duration::from_millis(200)), Piece::Cut]));
    let error = program.refusal("context-chat", json!({ "contextId": context.id, "message": "Hello" })).await;
    assert_eq!((&error["code"], &error["details"]["partialResponse"]), (&json!("provider_broken_off"), &json!("Half")));
    world.server.push(Answer::error(401, "no"));
    let error = program.refusal("context-chat", json!({ "contextId": context.id, "message": "Hello" })).await;
    assert_eq!(error["code"], json!("provider_unauthorized"));
    assert!(error["details"]["userMessageId"].is_string(), "{error}");
    world.clock.0.pass(chrono::TimeDelta::days(40));
    let error = program.refusal("context-chat", json!({ "contextId": context.id, "message": "Hello" })).await;
    assert_eq!(error["code"], json!("context_expired"));
}

#[tokio::test]
async fn messages_are_listed_by_page_and_deleted_by_id_by_age_and_all_together() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let program = Program::trusted(&world).await;
    let tool = "conversation-manage";
    let (first, ..) = world.exchange(context.id, None, "one", "two").await;
    world.clock.0.pass(chrono::TimeDelta::hours(2));
    let (second, ..) = world.exchange(context.id, None, "three", "four").await;
    let of = |given: &Value| -> Vec<String> {
        given["conversations"].as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    let listed = program.call(tool, json!({ "action": "list", "contextId": context.id })).await;
    assert_eq!(
        (of(&listed), &listed["totalCount"]),
        (vec!["four".into(), "three".into(), "two".into(), "one".into()], &json!(4))
    );
    let page = program
        .call(tool, json!({ "action": "list", "contextId": context.id, "reverse": false, "page": 2, "pageSize": 3 }))
        .await;
    assert_eq!(of(&page), ["four"]);
    let session = program.call(tool, json!({ "action": "list", "contextId": context.id, "sessionId": first.id })).await;
    assert_eq!(of(&session), ["two", "one"]);

    let message = &listed["conversations"][2];
    let unknown = json!({ "action": "delete", "contextId": context.id, "conversationIds": [message["id"], second.id] });
    let error = program.refusal(tool, unknown).await;
    assert!(error["code"] == "not_found" && error["details"]["existing"].as_str().unwrap().contains("user ("), "{error}");
    let deleted =
        program.call(tool, json!({ "action": "delete", "contextId": context.id, "conversationIds": [message["id"]] })).await;
    assert_eq!(deleted["deletedCount"], json!(1));
    let before = (world.clock.0.now() - chrono::TimeDelta::hours(1)).to_rfc3339();
    let deleted = program.call(tool, json!({ "action": "delete", "contextId": context.id, "olderThan": before })).await;
    assert_eq!(deleted["deletedCount"], json!(1));
    let left = program.call(tool, json!({ "action": "list", "contextId": context.id })).await;
    assert_eq!(of(&left), ["four", "three"]);
    let cleared = program.call(tool, json!({ "action": "clear", "contextId": context.id, "sessionId": second.id })).await;
    assert_eq!(cleared["deletedCount"], json!(2));
    let left = program.call(tool, json!({ "action": "list", "contextId": context.id })).await;
    assert_eq!(left["totalCount"], json!(0));
}

#[tokio::test]
async fn of_a_context_that_is_local_only_or_was_not_chosen_nothing_is_in_any_answer() {
    let world = World::new().await;
    world.scripted_provider().await;
    let (open, secret) = (world.counselor().await, world.counselor().await);
    world.exchange(secret.id, None, "MARKER of a secret", "MARKER too").await;
    let patch = ContextPatch { name: Some("MARKER".into()), local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(secret.id, patch).await.unwrap();
    let program = Program::trusted(&world).await;
    let conversation = world.conversations(secret.id).await.items[0].id;
    let id = secret.id.to_string();
    let attempts = [
        ("context-manage", json!({ "action": "list", "includeExpired": true })),
        ("context-manage", json!({ "action": "get", "contextId": id })),
        ("context-manage", json!({ "action": "delete", "contextId": id })),
        ("context-chat", json!({ "contextId": id, "message": "Hello" })),
        ("context-chat", json!({ "contextId": open.id, "message": "Hello", "sessionId": conversation })),
        ("conversation-manage", json!({ "action": "list", "contextId": id })),
        ("conversation-manage", json!({ "action": "list", "contextId": open.id, "sessionId": conversation })),
        ("conversation-manage", json!({ "action": "clear", "contextId": id })),
    ];
    for (tool, wish) in &attempts {
        let (_, given) = program.result(tool, wish.clone()).await;
        assert!(!given.to_string().contains("MARKER"), "{wish}: {given}");
    }
    assert!(!program.read("evenkeel://contexts").await.to_string().contains("MARKER"));
    let resources = program.client.peer().list_all_resources().await.unwrap();
    assert!(resources.iter().all(|resource| !resource.name.contains("MARKER") && !resource.uri.contains(&id)));
    let read = program.client.peer().read_resource(ReadResourceRequestParams::new(format!("evenkeel://context/{id}"))).await;
    assert!(!read.unwrap_err().to_string().contains("MARKER"));

    // Named by the user, it is there, and then it alone.
    world.grant(ConnectionGrant { contexts: Some(vec![secret.id]), ..ConnectionGrant::default() }).await;
    let listed = program.call("context-manage", json!({ "action": "list" })).await;
    assert_eq!((&listed["totalCount"], &listed["contexts"][0]["id"]), (&json!(1), &json!(id)));
    assert!(program.read(&format!("evenkeel://context/{id}")).await.to_string().contains("MARKER of a secret"));
    world.grant(ConnectionGrant { is_blocked: true, ..ConnectionGrant::default() }).await;
    let error = program.refusal("context-manage", json!({ "action": "list" })).await;
    assert_eq!(error["code"], json!("not_permitted"));
    let log = world.service.connection_log(None, 10).await.unwrap();
    assert!(log[0].is_refused && log[0].count == 0, "{:?}", log[0]);
}

#[tokio::test]
async fn a_vault_that_its_keychain_opens_no_longer_is_closed_for_programs_that_had_it_open() {
    let world = World::new().await;
    world.counselor().await;
    let program = Program::trusted(&world).await;
    program.call("context-manage", json!({ "action": "list" })).await;
    world.service.vault_set_passphrase("correct horse battery".into()).await.unwrap();
    world.service.vault_remove_slot(SlotName::Keychain, Some(world.recovery.join("-"))).await.unwrap();
    let error = program.refusal("context-manage", json!({ "action": "list" })).await;
    assert_eq!(error["code"], json!("vault_locked"));
    assert_eq!(world.service.vault_status().await.state, VaultState::LockedByUser);
}

#[tokio::test]
async fn what_is_taken_out_before_sending_is_taken_out_of_what_programs_read() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.exchange(context.id, None, "Write to mara@example.org", "Done.").await;
    let mut settings = world.service.settings_get().await.unwrap();
    (settings.redaction.before_sending, settings.redaction.emails) = (true, true);
    world.service.settings_save(settings).await.unwrap();
    let program = Program::trusted(&world).await;
    let listed = program.call("conversation-manage", json!({ "action": "list", "contextId": context.id })).await;
    let read = program.read(&format!("evenkeel://context/{}", context.id)).await;
    for text in [listed.to_string(), read.to_string()] {
        assert!(text.contains("Write to") && !text.contains("mara@example.org"), "{text}");
    }
}

#[tokio::test]
async fn resources_are_listed_by_page_read_under_both_schemes_and_their_changes_told() {
    let world = World::new().await;
    let program = Program::trusted(&world).await;
    for at in 0..150 {
        let preset = PresetId::new("preset-calm-counselor");
        let overrides = evenkeel_service::PresetOverrides { name: Some(format!("Mara {at}")), ..Default::default() };
        world.service.context_create_from_preset(preset, overrides).await.unwrap();
    }
    until("news of the list", async || program.heard.lists.load(Ordering::SeqCst) > 0).await;
    let peer = program.client.peer();
    let (mut uris, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = peer.list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))).await.unwrap();
        pages += 1;
        uris.extend(page.resources.into_iter().map(|resource| resource.uri));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut once = uris.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!((pages, uris.len(), once.len()), (2, 6 + 150 + 6, 162));
    let foreign = peer.list_resources(Some(PaginatedRequestParams::default().with_cursor(Some("nonsense!".into())))).await;
    assert!(foreign.unwrap_err().to_string().contains("cursor"));

    for scheme in ["mcp-llm-generator", "evenkeel"] {
        assert!(uris.contains(&format!("{scheme}://contexts")));
        assert_eq!(program.read(&format!("{scheme}://contexts")).await["totalCount"], json!(150));
        assert_eq!(program.read(&format!("{scheme}://personality-templates")).await["templates"].as_array().unwrap().len(), 6);
        assert_eq!(program.read(&format!("{scheme}://personality-presets")).await["totalCount"], json!(6));
        let preset = program.read(&format!("{scheme}://preset/preset-calm-counselor")).await;
        assert_eq!(preset["preset"]["name"], json!("Calm Counselor"));
    }
    let templates = peer.list_all_resource_templates().await.unwrap();
    assert_eq!(templates.len(), 4);
    assert!(peer.read_resource(ReadResourceRequestParams::new("file:///etc/passwd")).await.is_err());
}

#[tokio::test]
async fn in_the_newer_era_changes_are_told_to_who_listens() {
    let world = World::new().await;
    let [_, era] = eras();
    let program = Program::of(&world.service, era).await;
    let filter = rmcp::model::SubscriptionFilter::builder().resources_list_changed().build();
    let mut news = program.client.peer().listen(filter).await.unwrap();
    // The first is about what may have changed while it began.
    for made in 0..2 {
        let told = tokio::time::timeout(Duration::from_secs(10), news.next()).await.unwrap().unwrap();
        assert!(matches!(told, Some(rmcp::model::ServerNotification::ResourceListChangedNotification(_))), "{made} {told:?}");
        world.counselor().await;
    }
}

#[tokio::test]
async fn prompts_are_filled_in_and_their_arguments_completed() {
    let world = World::new().await;
    world.counselor().await;
    let program = Program::legacy(&world).await;
    let peer = program.client.peer();
    let prompts = peer.list_all_prompts().await.unwrap();
    assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["personality-creator", "context-summary"]);
    let arguments =
        json!({ "contextName": "Calm Counselor", "personality": "Calm", "interactionCount": "3", "timeSpan": "today" });
    let wish = GetPromptRequestParams::new("context-summary").with_arguments(arguments.as_object().cloned().unwrap());
    let prompt = peer.get_prompt(wish).await.unwrap();
    let text = &prompt.messages[0].content.as_text().unwrap().text;
    assert!(text.contains("companion Calm Counselor") && text.contains("Time: today"), "{text}");
    let missing = peer.get_prompt(GetPromptRequestParams::new("personality-creator")).await.unwrap_err();
    assert!(missing.to_string().contains("role"), "{missing}");
    for (reference, argument, typed, expected) in [
        (Reference::for_prompt("context-summary"), "contextName", "calm", "Calm Counselor"),
        (Reference::for_prompt("context-summary"), "timeSpan", "7", "the last 7 days"),
        (Reference::for_prompt("personality-creator"), "role", "Rational", "Rational Advisor"),
        (Reference::for_resource("evenkeel://preset/{presetId}"), "presetId", "preset-search", "preset-search-key-advisor"),
    ] {
        let wish = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
        let completed = peer.complete(wish).await.unwrap();
        assert_eq!(completed.completion.values.first().map(String::as_str), Some(expected), "{argument}");
    }
}

#[tokio::test]
async fn while_the_vault_is_not_open_lists_are_given_and_every_tool_says_what_to_do() {
    let world = World::new().await;
    let context = world.counselor().await;
    // Nothing there yet, as after installing.
    let empty = tempfile::tempdir().unwrap();
    let fresh = Service::new(options(empty.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    // A keychain that has forgotten.
    let other = Service::new(options(world.dir.path(), Arc::default(), world.clock.clone())).unwrap();
    for (service, code, hint) in [(&fresh, "vault_locked", "make one"), (&other, "keychain_missing", "open Evenkeel")] {
        let program = Program::of(service, ClientLifecycleMode::Initialize).await;
        assert_eq!(program.client.peer().list_all_tools().await.unwrap().len(), 5);
        assert_eq!(program.client.peer().list_all_resources().await.unwrap().len(), 6);
        assert_eq!(program.client.peer().list_all_prompts().await.unwrap().len(), 2);
        for (tool, wish) in [
            ("context-manage", json!({ "action": "list" })),
            ("context-chat", json!({ "contextId": context.id, "message": "Hello" })),
            ("conversation-manage", json!({ "action": "list", "contextId": context.id })),
            ("personality-preset-manage", json!({ "action": "list" })),
        ] {
            let error = program.refusal(tool, wish).await;
            assert_eq!(error["code"], json!(code), "{error}");
            assert!(error["message"].as_str().unwrap().contains(hint), "{error}");
        }
    }
    assert!(!empty.path().join("profile/vault.db").exists(), "no vault is made by asking");

    // The key comes back, and the same program goes on.
    let program = Program::of(&other, ClientLifecycleMode::Initialize).await;
    assert_ne!(other.vault_status().await.state, VaultState::Open);
    other.vault_unlock(evenkeel_service::UnlockMethod::RecoveryCode { code: world.recovery.join("-") }).await.unwrap();
    let listed = program.call("context-manage", json!({ "action": "list" })).await;
    assert_eq!(listed["totalCount"], json!(1));
}

#[tokio::test]
async fn a_process_that_opened_the_vault_itself_is_locked_with_the_app_that_runs_beside_it() {
    let world = World::new().await;
    let other = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    let program = Program::of(&other, ClientLifecycleMode::Initialize).await;
    program.call("context-manage", json!({ "action": "list" })).await;
    world.service.listen_to_programs().await.unwrap();
    world.service.vault_lock().await;
    let refused = program.refusal("context-manage", json!({ "action": "list" })).await;
    assert_eq!(refused["code"], json!("vault_locked"));
    assert_ne!(other.vault_status().await.state, VaultState::Open, "its keys are gone too");
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    program.call("context-manage", json!({ "action": "list" })).await;
}
