//! Models against a server on loopback that plays scripted answers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod server;

use evenkeel_domain::{ContextId, ErrorCode, ProviderKind, ProviderLocality, Role, Usage};
use evenkeel_provider::*;
use futures::StreamExt;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEY: &str = "sk-very-secret-1234";
const KINDS: [ProviderKind; 3] = [ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Ollama];

fn endpoint(kind: ProviderKind, base_url: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(kind, base_url);
    endpoint.key = Some(KEY.into());
    endpoint.timeout = Duration::from_secs(20);
    endpoint
}

fn request() -> ChatRequest {
    ChatRequest {
        model: "tiny".into(),
        messages: vec![ChatMessage::new(Role::System, "Calm."), ChatMessage::new(Role::User, "Hello")],
        temperature: Some(0.7),
        max_tokens: Some(64),
        window: Some(4_096),
        tools: Vec::new(),
        tools_are_over: false,
        response_schema: None,
        background: false,
    }
}

async fn ask(endpoint: Endpoint) -> (Vec<ModelEvent>, Option<ProviderError>) {
    let mut events = match connect(endpoint, HttpClient::new(None)).stream(request()).await {
        Ok(events) => events,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => found.push(event),
            Err(error) => {
                assert!(events.next().await.is_none(), "something follows an error");
                return (found, Some(error));
            }
        }
    }
    (found, None)
}

/// The error of a request that the server answers like this.
async fn error_of(kind: ProviderKind, reply: Reply) -> (Server, ProviderError) {
    let server = Server::start(move |_| reply.clone()).await;
    let (_, error) = ask(endpoint(kind, &server.base)).await;
    let error = error.expect("an error");
    let told = format!("{error} {error:?} {:?}", error.to_body());
    assert!(!told.contains(KEY), "the key shows: {told}");
    assert!(error.to_string().contains(&server.base), "no address: {error}");
    (server, error)
}

fn good(kind: ProviderKind) -> Reply {
    match kind {
        ProviderKind::Anthropic => Reply::events(&[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":3,"output_tokens":1}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Good "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"day."}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        ProviderKind::Ollama => Reply::lines(&[
            r#"{"message":{"content":"Good "},"done":false}"#,
            r#"{"message":{"content":"day."},"done":false}"#,
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}"#,
        ]),
        _ => Reply::events(&[
            r#"{"choices":[{"delta":{"content":"Good "}}]}"#,
            r#"{"choices":[{"delta":{"content":"day."},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}"#,
            "[DONE]",
        ]),
    }
}

#[tokio::test]
async fn each_format_streams_a_whole_reply() {
    for kind in KINDS {
        let server = Server::start(move |_| good(kind)).await;
        let (events, error) = ask(endpoint(kind, &server.base)).await;
        assert_eq!(error, None);
        let cached_tokens = (kind != ProviderKind::Ollama).then_some(3);
        let usage = Usage { prompt_tokens: 7, completion_tokens: 2, cached_tokens };
        let expected = [
            ModelEvent::Text("Good ".into()),
            ModelEvent::Text("day.".into()),
            ModelEvent::Usage(usage),
            ModelEvent::End(EndReason::Stop),
        ];
        assert_eq!(events, expected, "{kind:?}");

        let seen = server.seen();
        assert_eq!(seen.len(), 1);
        let (path, header, value) = match kind {
            ProviderKind::Anthropic => ("/v1/messages", "x-api-key", KEY.to_owned()),
            ProviderKind::Ollama => ("/api/chat", "authorization", format!("Bearer {KEY}")),
            _ => ("/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        };
        assert_eq!(seen[0].path, path);
        assert_eq!(seen[0].headers[header], value.as_str());
        let body: Value = serde_json::from_slice(&seen[0].body).unwrap();
        assert_eq!(body["model"], "tiny");
        if kind == ProviderKind::Ollama {
            assert_eq!(body["options"], json!({"num_ctx": 4096, "temperature": 0.7, "num_predict": 64}));
        }
    }
}

#[tokio::test]
async fn a_refused_key_is_unauthorized_and_never_told() {
    for kind in KINDS {
        let body = json!({"error": {"message": format!("Incorrect API key: {KEY}."), "type": "authentication_error"}});
        let (_, error) = error_of(kind, Reply::json(401, &body)).await;
        assert!(matches!(error, ProviderError::Unauthorized { .. }), "{error:?}");
        assert_eq!(error.report().said.as_deref(), Some("Incorrect API key: •••."));
        assert_eq!(error.to_body().details["status"], "401");
        assert_eq!(error.to_body().details["model"], "tiny");
    }
}

#[tokio::test]
async fn an_unknown_model_is_told_from_a_wrong_path() {
    for (kind, body) in [
        (
            ProviderKind::OpenaiCompatible,
            json!({"error": {"message": "The model `tiny` does not exist", "code": "model_not_found"}}),
        ),
        (ProviderKind::Anthropic, json!({"type": "error", "error": {"type": "not_found_error", "message": "model: tiny"}})),
        (ProviderKind::Ollama, json!({"error": "model 'tiny' not found"})),
    ] {
        let (_, error) = error_of(kind, Reply::json(404, &body)).await;
        assert_eq!(error.code(), ErrorCode::ProviderModelNotFound, "{error:?}");
        assert!(error.to_string().contains("tiny"), "{error}");
    }
    let (_, error) = error_of(ProviderKind::OpenaiCompatible, Reply::text(404, "<title>Not Found</title>")).await;
    assert_eq!(error.code(), ErrorCode::ProviderRejected);
    assert_eq!(error.report().said.as_deref(), Some("Not Found"));
}

#[tokio::test]
async fn a_rate_limit_says_how_long_in_seconds_and_as_a_date() {
    for kind in KINDS {
        let reply = Reply::json(429, &json!({"error": {"message": "slow down"}})).header("retry-after", "17");
        let (_, error) = error_of(kind, reply).await;
        let ProviderError::RateLimited { retry_after, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*retry_after, Some(Duration::from_secs(17)));
        assert_eq!(error.to_body().details["retryAfterSeconds"], "17");
    }
    let date = (chrono::Utc::now() + Duration::from_secs(3_600)).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let reply = Reply::json(429, &json!({})).header("retry-after", &date);
    let (_, error) = error_of(ProviderKind::OpenaiCompatible, reply).await;
    let ProviderError::RateLimited { retry_after: Some(wait), .. } = error else { panic!("{error:?}") };
    assert!((3_000..=3_600).contains(&wait.as_secs()), "{wait:?}");
    let (_, error) = error_of(ProviderKind::OpenaiCompatible, Reply::json(429, &json!({}))).await;
    assert!(matches!(error, ProviderError::RateLimited { retry_after: None, .. }), "{error:?}");
}

#[tokio::test]
async fn failures_and_refusals_carry_the_servers_words() {
    for kind in KINDS {
        let (_, error) = error_of(kind, Reply::json(500, &json!({"error": {"message": "GPU on fire"}}))).await;
        assert!(matches!(error, ProviderError::Failed { status: Some(500), .. }), "{error:?}");
        assert!(error.to_string().contains("GPU on fire"), "{error}");
        let (_, error) = error_of(kind, Reply::json(400, &json!({"error": {"message": "context too long"}}))).await;
        assert_eq!(error.code(), ErrorCode::ProviderRejected);
    }
    let (_, error) = error_of(ProviderKind::OpenaiCompatible, Reply::text(502, &"x".repeat(100_000))).await;
    assert_eq!(error.report().said.as_ref().unwrap().chars().count(), 500);
}

#[tokio::test]
async fn a_cut_stream_keeps_what_came_and_says_broken_off() {
    for kind in KINDS {
        for reply in [good(kind).cut(2), good(kind).short(2)] {
            let server = Server::start(move |_| reply.clone()).await;
            let (events, error) = ask(endpoint(kind, &server.base)).await;
            let error = error.expect("an error");
            assert_eq!(error.code(), ErrorCode::ProviderBrokenOff, "{kind:?} {error:?}");
            assert!(events.contains(&ModelEvent::Text("Good ".into())), "{kind:?} {events:?}");
        }
    }
}

#[tokio::test]
async fn what_is_no_stream_is_an_error() {
    for kind in KINDS {
        let code = async |reply| error_of(kind, reply).await.1.code();
        assert_eq!(code(Reply::text(200, "")).await, ErrorCode::ProviderBrokenOff, "{kind:?}");
        let answer = json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]});
        assert_eq!(code(Reply::json(200, &answer)).await, ErrorCode::ProviderBrokenOff, "{kind:?}");
        assert_eq!(code(Reply::text(200, "<html>Hello</html>")).await, ErrorCode::ProviderMalformed, "{kind:?}");
        // Text first: the garbage must end the reply, not be skipped.
        let garbage = if kind == ProviderKind::Ollama {
            "{\"mess\n{\"done\":true}\n"
        } else {
            "data: {\"choices\": [}\n\ndata: [DONE]\n\n"
        };
        let broken = good(kind).short(2).then(garbage);
        assert_eq!(code(broken).await, ErrorCode::ProviderMalformed, "{kind:?}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_before_and_after_the_first_byte() {
    for reply in [Reply::silence(), good(ProviderKind::OpenaiCompatible).hang(0), good(ProviderKind::OpenaiCompatible).hang(1)] {
        let server = Server::start(move |_| reply.clone()).await;
        let mut endpoint = endpoint(ProviderKind::OpenaiCompatible, &server.base);
        endpoint.timeout = Duration::from_millis(150);
        let (_, error) = ask(endpoint).await;
        let error = error.expect("an error");
        assert_eq!(error.code(), ErrorCode::ProviderTimeout, "{error:?}");
        assert!(error.to_string().contains("0.15 seconds"), "{error}");
    }
}

#[tokio::test]
async fn no_server_is_unreachable() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (_, error) = ask(endpoint(ProviderKind::Ollama, &format!("http://{free}"))).await;
    let Some(ProviderError::Unreachable { at, reason }) = error else { panic!("{error:?}") };
    assert_eq!(at.address, format!("http://{free}/api/chat"));
    assert!(reason.to_lowercase().contains("refused"), "{reason}");
}

#[tokio::test]
async fn a_redirect_is_refused_and_the_key_stays() {
    let other = Server::start(|_| good(ProviderKind::OpenaiCompatible)).await;
    let target = format!("{}/v1/chat/completions?token=abc", other.base);
    for status in [301, 302, 307, 308] {
        let reply = Reply::text(status, "").header("location", &target);
        let (_, error) = error_of(ProviderKind::OpenaiCompatible, reply).await;
        let ProviderError::AddressRefused { reason, .. } = &error else { panic!("{error:?}") };
        assert!(reason.contains(&other.base) && !reason.contains("abc"), "{reason}");
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn dropping_the_reply_closes_the_connection() {
    for kind in KINDS {
        let server = Server::start(move |_| good(kind).hang(2)).await;
        let mut events = connect(endpoint(kind, &server.base), HttpClient::new(None)).stream(request()).await.unwrap();
        assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("Good ".into()))));
        drop(events);
        tokio::time::timeout(Duration::from_secs(20), server.body_dropped()).await.expect("the server keeps on sending");
    }
    // A request that has no answer yet.
    let server = Server::start(|_| Reply::silence()).await;
    let model = connect(endpoint(ProviderKind::OpenaiCompatible, &server.base), HttpClient::new(None));
    let mut asking = model.stream(request());
    tokio::select! {
        _ = &mut asking => panic!("an answer out of silence"),
        () = server.request_seen() => {}
    }
    drop(asking);
    tokio::time::timeout(Duration::from_secs(20), server.body_dropped()).await.expect("the server keeps on waiting");
}

#[derive(Default)]
struct Entries(Mutex<Vec<JournalEntry>>);

impl Journal for Entries {
    fn record(&self, entry: JournalEntry) {
        self.0.lock().unwrap().push(entry);
    }
}

#[tokio::test]
async fn every_request_is_in_the_journal_without_its_content() {
    let server = Server::start(|_| good(ProviderKind::OpenaiCompatible)).await;
    let journal = Arc::new(Entries::default());
    let client = HttpClient::new(Some(Arc::clone(&journal) as Arc<dyn Journal>));
    let model = connect(endpoint(ProviderKind::OpenaiCompatible, &format!("{}/v1?token=abcdefgh", server.base)), client.clone());
    let events: Vec<_> = model.stream(request()).await.unwrap().collect().await;
    assert!(events.iter().all(Result::is_ok));
    // It is written when the rest of the answer was read, in the background.
    let written = async {
        while journal.0.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), written).await.expect("an entry for the answered request");
    let refused = connect(endpoint(ProviderKind::OpenaiCompatible, "http://example.com"), client.clone());
    assert_eq!(refused.stream(request()).await.err().unwrap().code(), ErrorCode::ProviderAddressRefused);
    let context = ContextId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10]);
    let behalf = Behalf { context: Some(context), purpose: Some(Purpose::Title) };
    let cloud = Endpoint { local_only: true, ..endpoint(ProviderKind::Ollama, &server.base) };
    let cloud = connect(cloud, client.on_behalf(behalf));
    let asked = ChatRequest { model: "gpt-oss:120b-cloud".into(), ..request() };
    assert_eq!(cloud.stream(asked).await.err().unwrap().code(), ErrorCode::LocalOnly);
    let entries = journal.0.lock().unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!((entries[2].context, entries[2].purpose, entries[2].bytes_out), (Some(context), Purpose::Title, 0));
    assert_eq!((entries[2].failure, entries[2].locality), (Some(ErrorCode::LocalOnly), ProviderLocality::Remote));
    assert_eq!((entries[0].context, entries[0].failure, entries[0].locality), (None, None, ProviderLocality::Local));
    assert_eq!(entries[1].rule, Some("beyond this machine only https is allowed"));
    assert_eq!(entries[1].failure, Some(ErrorCode::ProviderAddressRefused));
    assert_eq!((entries[0].method.as_str(), entries[0].status, entries[0].purpose), ("POST", Some(200), Purpose::Chat));
    assert_eq!(entries[0].origin, server.base);
    assert_eq!(entries[0].bytes_out, server.seen()[0].body.len() as u64);
    assert!(entries[0].bytes_in > 0 && !entries[0].duration.is_zero() && !entries[0].refused);
    assert!(entries[1].refused && entries[1].status.is_none() && entries[1].bytes_out == 0);
    assert_eq!(entries[1].origin, "http://example.com");
    assert_eq!(server.seen()[0].path, "/v1/chat/completions?token=abcdefgh");
}

#[tokio::test]
async fn local_only_refuses_what_is_elsewhere() {
    let code = async |kind, base_url: &str, model: &str| {
        let mut endpoint = endpoint(kind, base_url);
        endpoint.local_only = true;
        let request = ChatRequest { model: model.into(), ..request() };
        connect(endpoint, HttpClient::new(None)).stream(request).await.err().map(|error| error.code())
    };
    assert_eq!(code(ProviderKind::OpenaiCompatible, "https://api.openai.com", "x").await, Some(ErrorCode::LocalOnly));
    let server = Server::start(|_| good(ProviderKind::Ollama)).await;
    // The same server speaks several formats, and hands the model on in each.
    for kind in [ProviderKind::Ollama, ProviderKind::OpenaiCompatible, ProviderKind::Anthropic] {
        assert_eq!(code(kind, &server.base, "gpt-oss:120b-cloud").await, Some(ErrorCode::LocalOnly), "{kind:?}");
    }
    assert!(server.seen().is_empty());
    assert_eq!(code(ProviderKind::Ollama, &server.base, "llama3.2:1b").await, None);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_name_is_resolved_to_this_machine_only() {
    let server = Server::start(|_| good(ProviderKind::OpenaiCompatible)).await;
    let by_name = server.base.replace("127.0.0.1", "localhost");
    let (events, error) = ask(endpoint(ProviderKind::OpenaiCompatible, &by_name)).await;
    assert_eq!((events.len(), error), (4, None));
}

/// Runs in a process of its own, whose proxy settings lead nowhere.
#[tokio::test]
async fn loopback_passes_by_the_proxy() {
    if std::env::var_os("EVENKEEL_TEST_PROXIED").is_some() {
        let server = Server::start(|_| good(ProviderKind::OpenaiCompatible)).await;
        let (events, error) = ask(endpoint(ProviderKind::OpenaiCompatible, &server.base)).await;
        assert_eq!((events.len(), error), (4, None));
        // The settings do work: what is elsewhere goes to the proxy, where nothing answers.
        let (_, error) = ask(endpoint(ProviderKind::OpenaiCompatible, "https://198.51.100.7")).await;
        let Some(ProviderError::Unreachable { reason, .. }) = error else { panic!("{error:?}") };
        assert!(reason.to_lowercase().contains("refused"), "{reason}");
        return;
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = format!("http://{closed}");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "loopback_passes_by_the_proxy", "--nocapture"]).env("EVENKEEL_TEST_PROXIED", "1");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, &proxy);
    }
    let output = child.env_remove("NO_PROXY").env_remove("no_proxy").env_remove("REQUEST_METHOD").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

fn names(models: &[evenkeel_domain::ModelInfo]) -> Vec<(&str, Option<u32>)> {
    models.iter().map(|model| (model.name.as_str(), model.window)).collect()
}

#[tokio::test]
async fn models_are_listed_with_their_windows() {
    let client = HttpClient::new(None);
    let list = async |kind, server: &Server| list_models(&endpoint(kind, &server.base), &client).await;

    let server = Server::start(|path| match path {
        "/v1/models" => Reply::json(
            200,
            &json!({"data": [{"id": "a", "context_length": 8192}, {"id": "b", "max_model_len": 4096}, {"id": "a"}, {"id": "c"}]}),
        ),
        _ => Reply::text(404, ""),
    })
    .await;
    let models = list(ProviderKind::OpenaiCompatible, &server).await.unwrap();
    assert_eq!(names(&models), [("a", Some(8192)), ("b", Some(4096)), ("c", None)]);

    let server = Server::start(|path| match path {
        "/v1/models" => Reply::json(
            200,
            &json!({"data": [{"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072, "size": 77}}]}),
        ),
        "/props" => Reply::json(200, &json!({"default_generation_settings": {"n_ctx": 2048}})),
        _ => Reply::text(404, ""),
    })
    .await;
    let models = list(ProviderKind::OpenaiCompatible, &server).await.unwrap();
    assert_eq!((names(&models), models[0].size_bytes), (vec![("m.gguf", Some(2048))], Some(77)));

    let server = Server::start(|path| match path {
        "/v1/models?limit=1000" => Reply::json(
            200,
            &json!({"data": [{"id": "claude-a"}, {"id": "claude-b", "max_input_tokens": 1_000_000}], "has_more": false}),
        ),
        _ => Reply::text(404, ""),
    })
    .await;
    let models = list(ProviderKind::Anthropic, &server).await.unwrap();
    assert_eq!(names(&models), [("claude-a", Some(200_000)), ("claude-b", Some(1_000_000))]);

    let server = ollama().await;
    let models = list(ProviderKind::Ollama, &server).await.unwrap();
    assert_eq!(names(&models), [("llama3.2:1b", Some(131_072)), ("big:120b-cloud", Some(131_072))]);
    assert_eq!(models[0].size_bytes, Some(1_300));
    assert_eq!(
        models.iter().map(|model| model.locality).collect::<Vec<_>>(),
        [ProviderLocality::Local, ProviderLocality::Remote]
    );
    let mut local = endpoint(ProviderKind::Ollama, &server.base);
    local.local_only = true;
    assert_eq!(names(&list_models(&local, &client).await.unwrap()), [("llama3.2:1b", Some(131_072))]);
}

#[tokio::test]
async fn a_list_tells_what_runs_elsewhere_and_what_cannot_chat() {
    let server = Server::start(|_| {
        Reply::json(200, &json!({"data": [{"id": "llama3.2:1b"}, {"id": "gpt-oss:20b-cloud"}, {"id": "nomic-embed-text"}]}))
    })
    .await;
    let mut endpoint = endpoint(ProviderKind::OpenaiCompatible, &server.base);
    let models = list_models(&endpoint, &HttpClient::new(None)).await.unwrap();
    let told: Vec<_> = models.iter().map(|model| (model.locality, model.embedding)).collect();
    let (local, remote) = (ProviderLocality::Local, ProviderLocality::Remote);
    assert_eq!(told, [(local, false), (remote, false), (local, true)]);
    endpoint.local_only = true;
    let models = list_models(&endpoint, &HttpClient::new(None)).await.unwrap();
    assert_eq!(names(&models), [("llama3.2:1b", None), ("nomic-embed-text", None)]);
}

#[tokio::test]
async fn windows_outside_the_list_are_asked_for() {
    let client = HttpClient::new(None);
    let list =
        async |server: &Server| list_models(&endpoint(ProviderKind::OpenaiCompatible, &server.base), &client).await.unwrap();

    let server = Server::start(|path| match path {
        "/v1/models" => Reply::json(200, &json!({"data": [{"id": "a", "owned_by": "organization_owner"}, {"id": "b", "owned_by": "organization_owner"}]})),
        "/api/v0/models" => Reply::json(200, &json!({"data": [{"id": "b", "max_context_length": 32_768}, {"id": "a", "max_context_length": 32_768, "loaded_context_length": 4_096}]})),
        _ => Reply::text(404, ""),
    })
    .await;
    assert_eq!(names(&list(&server).await), [("a", Some(4_096)), ("b", Some(32_768))]);

    let server = Server::start(|path| match path {
        "/v1/models" => Reply::json(200, &json!({"data": [{"id": "k", "owned_by": "koboldcpp"}]})),
        "/api/extra/true_max_context_length" => Reply::json(200, &json!({"value": 8_192})),
        _ => Reply::text(404, ""),
    })
    .await;
    assert_eq!(names(&list(&server).await), [("k", Some(8_192))]);

    // A question that fails is no error.
    let server = Server::start(|path| match path {
        "/v1/models" => Reply::json(200, &json!({"data": [{"id": "m", "owned_by": "llamacpp"}]})),
        _ => Reply::text(500, ""),
    })
    .await;
    assert_eq!(names(&list(&server).await), [("m", None)]);
}

async fn ollama() -> Server {
    Server::start(|path| match path {
        "/api/tags" => Reply::json(200, &json!({"models": [{"name": "llama3.2:1b", "size": 1_300}, {"name": "big:120b-cloud", "remote_host": "https://ollama.com"}]})),
        "/api/show" => Reply::json(200, &json!({"model_info": {"general.architecture": "llama", "llama.context_length": 131_072, "x.context_length": 5}})),
        _ => Reply::text(404, ""),
    })
    .await
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_a_typed_error() {
    let code = async |reply: Reply| {
        let server = Server::start(move |_| reply.clone()).await;
        let error =
            list_models(&endpoint(ProviderKind::OpenaiCompatible, &server.base), &HttpClient::new(None)).await.unwrap_err();
        assert!(!format!("{error:?}").contains(KEY));
        error.code()
    };
    assert_eq!(code(Reply::json(401, &json!({"error": KEY}))).await, ErrorCode::ProviderUnauthorized);
    assert_eq!(code(Reply::text(200, "<html>")).await, ErrorCode::ProviderMalformed);
    assert_eq!(code(Reply::json(200, &json!({"error": KEY}))).await, ErrorCode::ProviderMalformed);
    assert_eq!(code(Reply::text(404, "")).await, ErrorCode::ProviderRejected);
}

#[tokio::test]
async fn servers_on_this_machine_are_detected() {
    let ollama = ollama().await;
    let llama = Server::start(|_| Reply::json(200, &json!({"data": [{"id": "m", "owned_by": "llamacpp"}]}))).await;
    let page = Server::start(|_| Reply::text(200, "<html>a web site</html>")).await;
    let mute = Server::start(|_| Reply::silence()).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // Long limits where an answer comes: a busy machine must not fail the test.
    let target =
        |kind, name, port, seconds| DetectTarget { limit: Duration::from_secs(seconds), ..DetectTarget::new(kind, name, port) };
    let compatible = |name, port| target(ProviderKind::OpenaiCompatible, name, port, 20);
    let targets = [
        target(ProviderKind::Ollama, "Ollama", ollama.port(), 20),
        compatible("vLLM", llama.port()),
        compatible("Jan", page.port()),
        DetectTarget::new(ProviderKind::OpenaiCompatible, "KoboldCpp", mute.port()),
        compatible("LM Studio", closed),
    ];
    let found = detect_local(&HttpClient::new(None), &targets).await;
    let shown: Vec<_> =
        found.iter().map(|server| (server.name.as_str(), server.base_url.clone(), names(&server.models))).collect();
    let expected = [
        ("Ollama", ollama.base.clone(), vec![("llama3.2:1b", None)]),
        ("llama.cpp", format!("{}/v1", llama.base), vec![("m", None)]),
    ];
    assert_eq!(shown, expected);
    assert!(ollama.seen().iter().all(|seen| !seen.headers.contains_key("authorization")));
}

/// Answers each request of each connection with one short reply, and gives the number of connections.
async fn keep_alive_server() -> (String, Arc<std::sync::atomic::AtomicUsize>) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut received = Vec::new();
                while stream.read_buf(&mut received).await.is_ok_and(|read| read > 0) {
                    // The request's body is JSON of one line that ends the request.
                    if !received.ends_with(b"}") {
                        continue;
                    }
                    received.clear();
                    let text =
                        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                    let reply = format!("{head}{:x}\r\n{text}\r\n", text.len());
                    stream.write_all(reply.as_bytes()).await.unwrap();
                    // The end of the body comes in a packet of its own, as from real servers.
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    stream.write_all(b"0\r\n\r\n").await.unwrap();
                }
            });
        }
    });
    (base, connections)
}

#[tokio::test]
async fn the_next_message_uses_the_same_connection() {
    let (base, connections) = keep_alive_server().await;
    let model = connect(endpoint(ProviderKind::OpenaiCompatible, &base), HttpClient::new(None));
    for _ in 0..3 {
        let mut events = model.stream(request()).await.unwrap();
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.unwrap());
        }
        assert_eq!(last, Some(ModelEvent::End(EndReason::Stop)));
        drop(events);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 1);
}
