//! Which models a provider has, and how large their windows are.

use crate::ProviderError;
use crate::egress;
use crate::endpoint::Endpoint;
use crate::error::Site;
use crate::http::{Call, HttpClient, Purpose};
use crate::refusal::{self, Complaint};
use chrono::Utc;
use evenkeel_domain::{ModelInfo, ProviderKind, ProviderLocality, runs_in_cloud};
use futures::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Longest list in bytes; the largest known (OpenRouter) has about 1 MB.
const LIST_LIMIT: usize = 16 << 20;
/// Ollama is asked for the windows of this many models at a time.
const PARALLEL_QUESTIONS: usize = 4;
/// Names under which OpenAI-compatible servers state the window: OpenRouter and Together, vLLM,
/// Groq, Mistral, Anthropic; the engine uses the first.
const WINDOW_FIELDS: [&str; 5] = ["context_length", "max_model_len", "context_window", "max_context_length", "max_input_tokens"];
/// Parts of the names of models that make embeddings and do not say so.
const EMBEDDING_NAMES: [&str; 5] = ["embed", "bge-", "minilm", "gte-", "e5-"];
/// Window of Anthropic's models where the list does not say: all since Claude 2.1 have at least
/// this (<https://docs.anthropic.com/en/docs/build-with-claude/context-windows>).
const CLAUDE_WINDOW: u32 = 200_000;

/// Lists the models of a provider in its own order, each name once.
///
/// Windows come from the list itself, or from llama.cpp's `/props` (the window the server runs
/// with, not the one the model was trained for), LM Studio's `/api/v0/models`, KoboldCpp's
/// `/api/extra/true_max_context_length`, Ollama's `/api/show`. A window that cannot be found
/// is `None`, never an error. With `local_only`, models that
/// a server on this machine hands on to a cloud are left out.
///
/// # Errors
/// Everything of [`HttpClient::send`], the typed refusals, and `Malformed` for an answer that
/// is no list of models.
pub async fn list_models(endpoint: &Endpoint, client: &HttpClient) -> Result<Vec<ModelInfo>, ProviderError> {
    let listed = list_names(endpoint, client, Purpose::Models).await?;
    match endpoint.kind {
        ProviderKind::Ollama => Ok(ask_ollama(endpoint, client, listed.models).await),
        ProviderKind::Anthropic => Ok(listed.models),
        ProviderKind::OpenaiCompatible | ProviderKind::Engine => Ok(ask_server(endpoint, client, listed).await),
    }
}

/// A list as the server gave it.
pub(crate) struct Listed {
    /// The models, with what the list itself says of them.
    pub models: Vec<ModelInfo>,
    /// The server's word for itself (`owned_by` of the first model).
    pub owner: String,
}

/// The list by a single request.
pub(crate) async fn list_names(endpoint: &Endpoint, client: &HttpClient, purpose: Purpose) -> Result<Listed, ProviderError> {
    let call = match endpoint.kind {
        ProviderKind::Ollama => endpoint.call(Method::GET, "/api/tags", purpose)?,
        ProviderKind::Anthropic => {
            let mut call = endpoint.call(Method::GET, "/models", purpose)?;
            call.url.query_pairs_mut().append_pair("limit", "1000");
            call
        }
        ProviderKind::OpenaiCompatible | ProviderKind::Engine => endpoint.call(Method::GET, "/models", purpose)?,
    };
    let (value, site) = fetch(client, call).await?;
    let entries = match endpoint.kind {
        ProviderKind::Ollama => value["models"].as_array(),
        // Together answers with a bare array.
        _ => value["data"].as_array().or_else(|| value.as_array()),
    };
    let Some(entries) = entries else {
        let said = Complaint::from_json(&value).text.unwrap_or_else(|| "it holds no list of models".into());
        return Err(ProviderError::Malformed { at: site.bare(), reason: site.clean(&said) });
    };
    let owner = entries.first().and_then(|entry| entry["owned_by"].as_str()).unwrap_or("").to_owned();
    let mut seen = HashSet::new();
    let models = entries.iter().filter_map(|entry| model(endpoint, entry)).filter(|model| seen.insert(model.name.clone()));
    Ok(Listed { models: models.collect(), owner })
}

fn model(endpoint: &Endpoint, entry: &Value) -> Option<ModelInfo> {
    let name = ["id", "name", "model"].iter().find_map(|field| entry[*field].as_str()).filter(|name| !name.is_empty())?;
    let elsewhere = entry["remote_host"].as_str().is_some_and(|host| !host.is_empty()) || runs_in_cloud(name);
    if endpoint.local_only && elsewhere {
        return None;
    }
    let mut window = WINDOW_FIELDS.iter().find_map(|field| number(&entry[*field]));
    if endpoint.kind == ProviderKind::Anthropic && name.starts_with("claude-") {
        window = window.or(Some(CLAUDE_WINDOW));
    }
    let size_bytes = entry["size"].as_u64().or_else(|| entry["meta"]["size"].as_u64());
    let locality = if elsewhere { ProviderLocality::Remote } else { egress::locality(&endpoint.base_url) };
    let embedding = makes_embeddings(name, entry);
    Some(ModelInfo { name: name.to_owned(), window, size_bytes, for_trying_out: false, locality, embedding })
}

/// Whether a model makes embeddings: by LM Studio's word for it, by the family that Ollama states, or
/// by the names that such models have.
fn makes_embeddings(name: &str, entry: &Value) -> bool {
    let family = entry["details"]["family"].as_str().unwrap_or("");
    let name = name.to_ascii_lowercase();
    entry["type"] == "embeddings" || family.ends_with("bert") || EMBEDDING_NAMES.iter().any(|part| name.contains(part))
}

/// A window: a positive number of tokens.
fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

/// Sends and reads JSON.
async fn fetch(client: &HttpClient, call: Call) -> Result<(Value, Site), ProviderError> {
    let url = call.url.clone();
    let mut answer = client.send(call).await?;
    if !(200..300).contains(&answer.status()) {
        return Err(refusal::read(answer, &url, Utc::now()).await);
    }
    let body = answer.body(LIST_LIMIT).await?;
    let site = answer.site().clone();
    match serde_json::from_slice(&body) {
        Ok(value) => Ok((value, site)),
        Err(error) => Err(ProviderError::Malformed { at: site.bare(), reason: format!("it is no JSON: {error}") }),
    }
}

/// Asks Ollama for the window each model was made for: requests name their own window
/// (`num_ctx`), so the default that its author set does not count.
async fn ask_ollama(endpoint: &Endpoint, client: &HttpClient, models: Vec<ModelInfo>) -> Vec<ModelInfo> {
    stream::iter(models)
        .map(|model| async move {
            let window = show(endpoint, client, &model.name).await;
            ModelInfo { window: window.or(model.window), ..model }
        })
        .buffered(PARALLEL_QUESTIONS)
        .collect()
        .await
}

async fn show(endpoint: &Endpoint, client: &HttpClient, name: &str) -> Option<u32> {
    let mut call = endpoint.call(Method::POST, "/api/show", Purpose::Models).ok()?;
    call.body = json!({ "model": name }).to_string().into();
    let (value, _) = fetch(client, call).await.ok()?;
    let info = value["model_info"].as_object()?;
    let architecture = info.get("general.architecture").and_then(Value::as_str).unwrap_or("");
    let own = info.get(&format!("{architecture}.context_length"));
    own.or_else(|| info.iter().find(|(key, _)| key.ends_with(".context_length")).map(|(_, value)| value)).and_then(number)
}

/// Asks servers that keep the window outside their list.
async fn ask_server(endpoint: &Endpoint, client: &HttpClient, listed: Listed) -> Vec<ModelInfo> {
    let Listed { mut models, owner } = listed;
    match owner.as_str() {
        "llamacpp" => {
            let props = ask(endpoint, client, "/props").await;
            let window = props.and_then(|props| number(&props["default_generation_settings"]["n_ctx"]));
            set_all(&mut models, window);
        }
        "koboldcpp" => {
            let answer = ask(endpoint, client, "/api/extra/true_max_context_length").await;
            set_all(&mut models, answer.and_then(|answer| number(&answer["value"])));
        }
        "organization_owner" => {
            if let Some(answer) = ask(endpoint, client, "/api/v0/models").await {
                set_lm_studio(&mut models, &answer);
            }
        }
        _ => {}
    }
    models
}

async fn ask(endpoint: &Endpoint, client: &HttpClient, path: &str) -> Option<Value> {
    let call = endpoint.call_root(Method::GET, path, Purpose::Models).ok()?;
    fetch(client, call).await.ok().map(|(value, _)| value)
}

/// These servers run one model.
fn set_all(models: &mut [ModelInfo], window: Option<u32>) {
    for model in models {
        model.window = window.or(model.window);
    }
}

/// LM Studio names the window a model is loaded with, or else the largest it can be loaded with.
fn set_lm_studio(models: &mut [ModelInfo], answer: &Value) {
    for model in models {
        let entry = answer["data"].as_array().into_iter().flatten().find(|entry| entry["id"] == model.name.as_str());
        let window =
            entry.and_then(|entry| number(&entry["loaded_context_length"]).or_else(|| number(&entry["max_context_length"])));
        model.window = window.or(model.window);
    }
}
