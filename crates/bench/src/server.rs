//! The workload `server`: many programs read over HTTP while one conversation is written to. Nothing that was written is
//! lost, nothing is told backwards, and nobody is refused.

use crate::app::App;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::statistics::percentile;
use evenkeel_domain::{ContextId, ConversationId, ModelChoice, ProviderKind, RequestPurpose, SendRequest, ServerSettings};
use evenkeel_provider::{Call, HttpClient};
use evenkeel_service::{PresetOverrides, ProviderDraft};
use evenkeel_testkit::scripted_server::{Answer, ScriptedServer};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Programs that read at the same time; the listener takes 256.
const READERS: usize = 200;
/// Seconds unless told otherwise.
pub const SECONDS: u64 = 60;
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
const ANSWER: usize = 8 << 20;
/// Messages a page.
const PAGE: usize = 500;
/// Errors that are shown.
const SHOWN: usize = 3;

/// What one reader has seen.
#[derive(Default)]
struct Read {
    /// How long each answer took, in milliseconds.
    took: Vec<f64>,
    /// The messages that were counted first and last.
    first: u64,
    last: u64,
    /// How often fewer were counted than before.
    shrank: u64,
    errors: Vec<String>,
}

/// Where the readers ask.
struct Place {
    http: HttpClient,
    address: String,
    token: SecretString,
    conversation: ConversationId,
}

impl Place {
    async fn get(&self, path: &str) -> Result<(u16, Value), BenchError> {
        let mut call = Call::to("GET", &format!("{}{path}", self.address), RequestPurpose::Detection, PATIENCE)?;
        call.local_only = true;
        call.bear(SecretString::from(self.token.expose_secret()))?;
        let mut answer = self.http.send(call).await?;
        let body = answer.body(ANSWER).await?;
        Ok((answer.status(), serde_json::from_slice(&body)?))
    }

    /// The number of messages, by the list or by the conversation itself.
    async fn count(&self, by_list: bool) -> Result<u64, BenchError> {
        let (path, pointer) = if by_list {
            ("/api/conversations".to_owned(), "/conversations/0/message_count")
        } else {
            (format!("/api/conversation/{}?limit=20&newest_first=true", self.conversation), "/total")
        };
        let (status, body) = self.get(&path).await?;
        let count = body.pointer(pointer).and_then(Value::as_u64).filter(|_| status == 200);
        count.ok_or_else(|| BenchError::Worthless(format!("{path} answered {status}: {body}")))
    }

    /// The texts of all messages.
    async fn texts(&self) -> Result<HashSet<String>, BenchError> {
        let mut texts = HashSet::new();
        for page in 0.. {
            let offset = page * PAGE;
            let (_, body) = self.get(&format!("/api/conversation/{}?limit={PAGE}&offset={offset}", self.conversation)).await?;
            let messages = body["messages"].as_array().cloned().unwrap_or_default();
            texts.extend(messages.iter().filter_map(|message| Some(message["content"].as_str()?.to_owned())));
            if body["has_more"] != Value::Bool(true) {
                break;
            }
        }
        Ok(texts)
    }
}

/// Reads and writes for so many seconds.
pub async fn run(seconds: u64, progress: Progress) -> Result<Report, BenchError> {
    progress.say(&format!("{READERS} readers and one writer for {seconds} s …"));
    measured(READERS, Duration::from_secs(seconds)).await
}

async fn measured(readers: usize, time: Duration) -> Result<Report, BenchError> {
    let app = App::open().await?;
    let model = ScriptedServer::start().await.map_err(|source| BenchError::system("starting the scripted server", source))?;
    let mut writer = Writer::begin(&app, &model).await?;
    let place = Arc::new(opened(&app, writer.conversation).await?);
    let (ready, over) = (Arc::new(Barrier::new(readers + 1)), CancellationToken::new());
    let mut reading = JoinSet::new();
    for reader in 0..readers {
        reading.spawn(read(place.clone(), ready.clone(), over.clone(), reader));
    }
    // Each has counted once before more is written, and counts once more when all is written: so each can see it grow.
    ready.wait().await;
    let began = Instant::now();
    while began.elapsed() < time {
        writer.write(&app, &model).await?;
    }
    over.cancel();
    let read = reading.join_all().await;
    let there = place.texts().await?;
    let lost = writer.written.iter().filter(|text| !there.contains(*text)).count();
    app.service.shutdown().await;
    Ok(told(&read, writer.written.len(), lost))
}

fn told(read: &[Read], written: usize, lost: usize) -> Report {
    let took: Vec<f64> = read.iter().flat_map(|reader| reader.took.iter().copied()).collect();
    let errors: Vec<&String> = read.iter().flat_map(|reader| &reader.errors).collect();
    let shrank: u64 = read.iter().map(|reader| reader.shrank).sum();
    let grew = read.iter().filter(|reader| reader.last > reader.first).count();
    let preface = errors.iter().take(SHOWN).map(|error| format!("{error}\n")).collect();
    let rows = vec![
        Row::reported(format!("answers to {} readers", read.len()), took.len() as f64),
        Row::reported("an answer, median (ms)", percentile(&took, 0.5)),
        Row::reported("an answer, p99 (ms)", percentile(&took, 0.99)),
        Row::at_most("errors", errors.len() as f64, 0.0),
        Row::at_least("messages written meanwhile", written as f64, 1.0),
        Row::at_most("of them lost", lost as f64, 0.0),
        Row::at_least("readers that saw the conversation grow", grew as f64, read.len() as f64),
        Row::at_most("counts that were smaller than the one before", shrank as f64, 0.0),
    ];
    Report { rows, preface }
}

/// Turns HTTP on, on a port that is free.
async fn opened(app: &App, conversation: ConversationId) -> Result<Place, BenchError> {
    app.service.listen_to_programs().await.map_err(|error| BenchError::Worthless(format!("nothing listens: {error}")))?;
    let status = app.service.server_save(ServerSettings { enabled: true, port: 0 }).await?;
    let address = status.address.ok_or_else(|| BenchError::Worthless(format!("HTTP is not on: {:?}", status.error)))?;
    let token = SecretString::from(app.service.server_token().await?.as_str());
    Ok(Place { http: HttpClient::new(None), address, token, conversation })
}

async fn read(place: Arc<Place>, ready: Arc<Barrier>, over: CancellationToken, reader: usize) -> Read {
    let mut seen = Read::default();
    for turn in 0.. {
        // Looked at first: what is counted after the end has everything.
        let is_last = over.is_cancelled();
        let began = Instant::now();
        match place.count((reader + turn).is_multiple_of(2)).await {
            Ok(count) => {
                seen.took.push(began.elapsed().as_secs_f64() * 1_000.0);
                seen.first = if turn == 0 { count } else { seen.first };
                seen.shrank += u64::from(count < seen.last);
                seen.last = count;
            }
            Err(error) => seen.errors.push(error.to_string()),
        }
        if turn == 0 {
            ready.wait().await;
        }
        if is_last {
            break;
        }
    }
    seen
}

/// Says one thing after the other in a conversation; a model that is scripted answers.
struct Writer {
    context: ContextId,
    conversation: ConversationId,
    /// What was acknowledged, questions and answers.
    written: Vec<String>,
}

impl Writer {
    async fn begin(app: &App, model: &ScriptedServer) -> Result<Self, BenchError> {
        let draft = ProviderDraft {
            id: None,
            kind: ProviderKind::OpenaiCompatible,
            name: "Scripted".into(),
            base_url: model.base_url(),
            key: None,
            extra_headers: BTreeMap::new(),
            manual_models: vec!["scripted".into()],
            window_override: None,
            timeout_seconds: 30,
        };
        let provider = app.service.provider_save(draft).await?;
        let choice = ModelChoice { provider_id: provider.id, model: "scripted".into() };
        let context = app.companion("preset-calm-counselor", PresetOverrides::default(), choice, false).await?;
        model.push(Answer::reply(&["Good morning."]));
        let begun = app.ask(said(context.id, None, "Good day")).await?.message.conversation_id;
        Ok(Self { context: context.id, conversation: begun, written: Vec::new() })
    }

    async fn write(&mut self, app: &App, model: &ScriptedServer) -> Result<(), BenchError> {
        let number = self.written.len() / 2;
        let (question, answer) = (format!("Question {number}"), format!("Answer {number}"));
        model.push(Answer::reply(&[&answer]));
        app.ask(said(self.context, Some(self.conversation), &question)).await?;
        self.written.extend([question, answer]);
        Ok(())
    }
}

fn said(context_id: ContextId, conversation_id: Option<ConversationId>, text: &str) -> SendRequest {
    SendRequest::New { context_id, conversation_id, text: text.to_owned(), agent_id: None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The short form of the workload.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn readers_see_a_conversation_grow_and_nothing_of_it_is_lost() {
        let report = measured(20, Duration::from_secs(3)).await.unwrap();
        for row in &report.rows {
            assert!(row.ok, "{}", report.text());
        }
    }
}
