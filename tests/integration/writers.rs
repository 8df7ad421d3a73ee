//! The app and the real `evenkeel mcp` write to one vault at the same time, by both ways that there are: what was
//! acknowledged is there, and each sees all of it. `./scripts/bench writes` is the long form.
#![cfg(target_os = "linux")]

use crate::mcp_process::{DIR, Place, Raw, granted, service_of_session};
use crate::support::{ended, engine_program, started};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::Store;
use evenkeel_testkit::keyring::KeyringHome;
use evenkeel_testkit::scripted_server::{Answer, ScriptedServer};
use evenkeel_vault::{KeyFile, Keychain, Profile, Use, unlock_keychain};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Rounds of each side, of five writes each, by each of the two ways.
const ROUNDS: u32 = 10;

/// Of each thing its wording.
type Seen = BTreeMap<String, String>;

/// Both sides, in the session of the keychain that opens the vault for each of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
async fn writing_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let service = service_of_session(&dir);
    assert_eq!(service.vault_status().await.state, VaultState::Open);
    let shared: ContextId = std::fs::read_to_string(dir.join("context")).unwrap().parse().unwrap();
    let model = Arc::new(ScriptedServer::start().await.unwrap());
    use_model(&service, &model).await;
    let mut acknowledged = Seen::new();
    // Beside the app first: nobody listens yet, so that the program opens the vault itself.
    for way in ["files", "socket"] {
        if way == "socket" {
            service.listen_to_programs().await.unwrap();
        }
        let (mut program, answers) = (program(&dir), model.clone());
        list(&mut program, 1, "context-manage", "contexts", &json!({}));
        granted(&service).await;
        let theirs = tokio::task::spawn_blocking(move || {
            let seen = program_writes(&mut program, shared, &answers, way);
            (program, seen)
        });
        acknowledged.extend(app_writes(&service, shared, &model, way).await);
        let (mut program, seen) = theirs.await.unwrap();
        acknowledged.extend(seen);
        assert_holds(&app_sees(&service).await, &acknowledged, &format!("the app, by {way}"));
        assert_holds(&program_sees(&mut program), &acknowledged, &format!("the program, by {way}"));
        program.close();
    }
    // Each wording of the context that both have changed: its first one, and one of each side in each round.
    assert_eq!(service.context_revisions(shared).await.unwrap().len() as u32, 1 + 4 * ROUNDS);
    service.shutdown().await;

    let again = service_of_session(&dir);
    assert_eq!(again.vault_status().await.state, VaultState::Open);
    assert_holds(&app_sees(&again).await, &acknowledged, "the app, once started again");
    again.shutdown().await;
    let checked = tokio::task::spawn_blocking(move || {
        let profile = Profile::new(dir.join("profile"));
        let key_file = KeyFile::read(&profile).unwrap();
        let root = unlock_keychain(&key_file, &Keychain::new()).unwrap();
        let key = root.subkey(key_file.vault_id(), Use::Database);
        Store::open(&profile.database(), &key, chrono::Utc::now()).unwrap().full_check().unwrap()
    });
    assert_eq!(checked.await.unwrap(), Vec::<String>::new());
}

async fn use_model(service: &Service, model: &ScriptedServer) {
    let draft = ProviderDraft {
        id: None,
        kind: ProviderKind::OpenaiCompatible,
        name: "Scripted".into(),
        base_url: model.base_url(),
        key: None,
        extra_headers: BTreeMap::new(),
        manual_models: vec![],
        window_override: Some(8_192),
        timeout_seconds: 30,
    };
    let provider_id = service.provider_save(draft).await.unwrap().id;
    let settings = service.settings_get().await.unwrap();
    let default_model = Some(ModelChoice { provider_id, model: "scripted".into() });
    service.settings_save(Settings { default_model, ..settings }).await.unwrap();
}

fn program(dir: &Path) -> Raw {
    Raw::start(Command::new(engine_program()).arg("mcp").arg("--profile").arg(dir.join("profile")))
}

fn assert_holds(view: &Seen, acknowledged: &Seen, who: &str) {
    for (thing, wording) in acknowledged {
        assert_eq!(view.get(thing), Some(wording), "{thing}, as seen by {who}");
    }
}

async fn app_writes(service: &Service, shared: ContextId, model: &ScriptedServer, way: &str) -> Seen {
    let mut seen = Seen::new();
    for round in 0..ROUNDS {
        let preset = PresetId::new("preset-calm-counselor");
        let made = service.context_create_from_preset(preset, PresetOverrides::default()).await.unwrap();
        let patch = ContextPatch { system_prompt: Some(format!("App, {way}, {round}.")), ..ContextPatch::default() };
        let made = service.context_update(made.id, patch).await.unwrap();
        seen.insert(format!("context {}", made.id), made.system_prompt);
        let patch = ContextPatch { personality: Some(format!("Calm, {way}, {round}.")), ..ContextPatch::default() };
        let changed = service.context_update(shared, patch).await.unwrap();
        seen.insert(format!("personality {shared}"), changed.personality);
        model.push(Answer::reply(&["A calm reply."]));
        let events = Arc::new(Mutex::new(Vec::new()));
        let (heard, text) = (events.clone(), format!("The app says {way} {round}."));
        let request = SendRequest::New { context_id: made.id, conversation_id: None, text, agent_id: None };
        service.chat_send(request, move |event| heard.lock().unwrap().push(event)).await.unwrap();
        let events = std::mem::take(&mut *events.lock().unwrap());
        for message in [started(&events).1, ended(&events).0.unwrap()] {
            seen.insert(format!("message {}", message.id), message.content);
        }
    }
    seen
}

async fn app_sees(service: &Service) -> Seen {
    let mut seen = Seen::new();
    let query = ContextQuery { page_size: 500, ..ContextQuery::default() };
    for context in service.context_list(query).await.unwrap().contexts {
        let query = ConversationQuery { context_id: Some(context.id), ..ConversationQuery::default() };
        for conversation in service.conversation_list(query).await.unwrap().items {
            let messages = service.conversation_open(conversation.id).await.unwrap().messages;
            seen.extend(messages.into_iter().map(|message| (format!("message {}", message.id), message.content)));
        }
        seen.insert(format!("context {}", context.id), context.system_prompt);
        seen.insert(format!("personality {}", context.id), context.personality);
    }
    seen
}

fn called(program: &mut Raw, id: u32, tool: &str, arguments: &Value) -> Value {
    program.call(id, tool, arguments);
    let answer = program.answer(id)["result"]["structuredContent"].clone();
    assert_eq!(answer["success"], json!(true), "{answer}");
    answer
}

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap_or_else(|| panic!("no {field} in {record}")).to_owned()
}

fn program_writes(program: &mut Raw, shared: ContextId, model: &ScriptedServer, way: &str) -> Seen {
    let mut seen = Seen::new();
    for round in 0..ROUNDS {
        let (first, prompt) = (100 + 10 * round, format!("Program, {way}, {round}."));
        let wish = json!({ "action": "create", "name": "Of the program", "systemPrompt": "At first." });
        let made = text(&called(program, first, "context-manage", &wish)["context"], "id");
        for (at, context) in [(1, made.clone()), (2, shared.to_string())] {
            let wish = json!({ "action": "update", "contextId": context, "systemPrompt": prompt });
            called(program, first + at, "context-manage", &wish);
            seen.insert(format!("context {context}"), prompt.clone());
        }
        model.push(Answer::reply(&["A calm reply."]));
        let wish = json!({ "contextId": made, "message": format!("The program says {way} {round}.") });
        let chatted = called(program, first + 3, "context-chat", &wish);
        for message in [&chatted["userMessage"], &chatted["assistantResponse"]] {
            seen.insert(format!("message {}", text(message, "id")), text(message, "content"));
        }
    }
    seen
}

fn list(program: &mut Raw, id: u32, tool: &str, field: &str, beside: &Value) -> Vec<Value> {
    let mut wish = json!({ "action": "list", "pageSize": 500 });
    wish.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    called(program, id, tool, &wish)[field].as_array().unwrap().clone()
}

fn program_sees(program: &mut Raw) -> Seen {
    let mut seen = Seen::new();
    for (at, context) in (1_001..).zip(list(program, 1_000, "context-manage", "contexts", &json!({}))) {
        let id = text(&context, "id");
        let messages = list(program, at, "conversation-manage", "conversations", &json!({ "contextId": id }));
        seen.extend(messages.iter().map(|message| (format!("message {}", text(message, "id")), text(message, "content"))));
        seen.insert(format!("context {id}"), text(&context, "systemPrompt"));
        seen.insert(format!("personality {id}"), text(&context, "personality"));
    }
    seen
}

#[test]
fn of_what_the_app_and_a_program_write_at_the_same_time_nothing_is_lost_and_each_sees_all() {
    let home = KeyringHome::new().unwrap();
    Place::new(&home, None).child("writers::writing_child", None);
}
