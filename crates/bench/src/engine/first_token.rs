//! What the app adds before the first token: vault, prompt, provider and events, beside the same
//! bytes sent by hand over a connection that stays open.

use crate::app::App;
use crate::error::BenchError;
use crate::report::{Report, Row};
use crate::statistics::{median, percentile};
use evenkeel_domain::{ConversationId, ModelChoice, ProviderKind, SendRequest};
use evenkeel_service::{PresetOverrides, ProviderDraft};
use evenkeel_testkit::scripted_server::{Answer, ScriptedServer};
use std::collections::BTreeMap;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Counted alternations.
const PAIRS: usize = 120;
/// Alternations before them, which open connections and caches.
const WARM_UP: usize = 8;
/// Milliseconds that the app may add (95th percentile).
const MOST_ADDED: f64 = 3.0;
/// What stands in the first piece of text of an answer.
const FIRST_WORDS: &str = "Good morning";
/// End of a body sent in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Measures on a server that answers at once.
pub async fn measure(app: &App) -> Result<Report, BenchError> {
    let server = ScriptedServer::start().await.map_err(|source| BenchError::system("starting the scripted server", source))?;
    let mut chat = Chat::begin(app, &server).await?;
    let mut direct = Direct::connect(&server.base_url()).await?;
    let (mut added, mut app_times, mut direct_times) = (Vec::new(), Vec::new(), Vec::new());
    // The app's first message also gives the bytes that are sent by hand.
    chat.send(app, &server).await?;
    for pair in 0..WARM_UP + PAIRS {
        let (by_app, by_hand) = if pair % 2 == 0 {
            let by_app = chat.send(app, &server).await?;
            (by_app, direct.send(&server, &chat.sent).await?)
        } else {
            let by_hand = direct.send(&server, &chat.sent).await?;
            (chat.send(app, &server).await?, by_hand)
        };
        if pair >= WARM_UP {
            added.push(by_app - by_hand);
            app_times.push(by_app);
            direct_times.push(by_hand);
        }
    }
    Ok(Report {
        rows: vec![
            Row::at_most(format!("first token: added by the app, p95 of {PAIRS} (ms)"), percentile(&added, 0.95), MOST_ADDED),
            Row::reported("first token: added by the app, median (ms)", median(&added)),
            Row::reported("first token: through the app, median (ms)", median(&app_times)),
            Row::reported("first token: direct request, median (ms)", median(&direct_times)),
        ],
        preface: String::new(),
    })
}

fn answer() -> Answer {
    Answer::reply(&[FIRST_WORDS, ". How can I help?"])
}

/// A conversation in the app.
struct Chat {
    context: evenkeel_domain::ContextId,
    conversation: Option<ConversationId>,
    /// The body that the app sent last.
    sent: Vec<u8>,
}

impl Chat {
    async fn begin(app: &App, server: &ScriptedServer) -> Result<Self, BenchError> {
        let draft = ProviderDraft {
            id: None,
            kind: ProviderKind::OpenaiCompatible,
            name: "Scripted".to_owned(),
            base_url: server.base_url(),
            key: None,
            extra_headers: BTreeMap::new(),
            manual_models: vec!["scripted".to_owned()],
            window_override: None,
            timeout_seconds: 30,
        };
        let provider = app.service.provider_save(draft).await?;
        let model = ModelChoice { provider_id: provider.id, model: "scripted".to_owned() };
        let context = app.companion("preset-calm-counselor", PresetOverrides::default(), model, true).await?;
        Ok(Self { context: context.id, conversation: None, sent: Vec::new() })
    }

    /// Milliseconds from the call to the first text event.
    async fn send(&mut self, app: &App, server: &ScriptedServer) -> Result<f64, BenchError> {
        server.push(answer());
        let text = "Good morning. What shall I begin with today?".to_owned();
        let request = SendRequest::New { context_id: self.context, conversation_id: self.conversation, text, agent_id: None };
        let began = Instant::now();
        let answered = app.ask(request).await?;
        self.conversation = Some(answered.message.conversation_id);
        // Kept and copied for each message, the requests would fill the caches that are measured.
        self.sent = serde_json::to_vec(server.take_requests().last().unwrap_or(&serde_json::Value::Null))?;
        Ok(milliseconds(began, answered.first_text))
    }
}

/// A request by hand: HTTP/1.1 over one open connection, the least that a client can do.
struct Direct {
    stream: TcpStream,
    host: String,
}

impl Direct {
    async fn connect(base_url: &str) -> Result<Self, BenchError> {
        let host = base_url.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
        let stream =
            TcpStream::connect(&host).await.map_err(|source| BenchError::system("connecting to the scripted server", source))?;
        stream.set_nodelay(true).map_err(|source| BenchError::system("setting up a connection", source))?;
        Ok(Self { stream, host })
    }

    /// Milliseconds from the request to the first text.
    async fn send(&mut self, server: &ScriptedServer, body: &[u8]) -> Result<f64, BenchError> {
        server.push(answer());
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        let began = Instant::now();
        self.exchange(&request, began).await.map_err(|source| BenchError::system("sending a direct request", source))
    }

    async fn exchange(&mut self, request: &[u8], began: Instant) -> Result<f64, std::io::Error> {
        self.stream.write_all(request).await?;
        let (mut answer, mut first) = (Vec::new(), None);
        while !answer.ends_with(LAST_CHUNK) {
            if self.stream.read_buf(&mut answer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if first.is_none() && holds(&answer, FIRST_WORDS.as_bytes()) {
                first = Some(Instant::now());
            }
        }
        first.map(|first| milliseconds(began, first)).ok_or_else(|| std::io::Error::other("the answer has no text"))
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn milliseconds(began: Instant, ended: Instant) -> f64 {
    ended.duration_since(began).as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn a_direct_request_is_answered_again_and_again_on_one_connection() {
        let server = ScriptedServer::start().await.unwrap();
        let mut direct = Direct::connect(&server.base_url()).await.unwrap();
        for round in 1..=3 {
            assert!(direct.send(&server, br#"{"messages":[]}"#).await.unwrap() > 0.0);
            assert_eq!(server.requests().len(), round);
        }
    }

    #[tokio::test]
    async fn an_answer_without_text_is_an_error() {
        let server = ScriptedServer::start().await.unwrap();
        let mut direct = Direct::connect(&server.base_url()).await.unwrap();
        server.push(Answer::stream(vec![]));
        assert!(
            direct
                .exchange(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", Instant::now())
                .await
                .is_err()
        );
    }
}
