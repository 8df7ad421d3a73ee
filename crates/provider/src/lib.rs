//! Places that run models: one trait, three wire formats, one HTTP client for all traffic.
//!
//! A request goes `LanguageModel::stream` → pure renderer of the wire format → [`HttpClient`]
//! (address check, journal) → stream reader of the wire format → [`ModelEvent`]s. A reply
//! ends with [`ModelEvent::End`] or with a [`ProviderError`], never silently.
//!
//! ```no_run
//! # async fn example() -> Result<(), evenkeel_provider::ProviderError> {
//! use evenkeel_provider::{ChatMessage, ChatRequest, Endpoint, HttpClient, connect};
//! use evenkeel_domain::{ProviderKind, Role};
//! use futures::StreamExt;
//!
//! let client = HttpClient::new(None);
//! let endpoint = Endpoint::new(ProviderKind::Ollama, "http://localhost:11434");
//! let request = ChatRequest {
//!     model: "llama3.2".into(),
//!     messages: vec![ChatMessage::new(Role::User, "Hello")],
//!     ..ChatRequest::default()
//! };
//! let mut events = connect(endpoint, client).stream(request).await?;
//! while let Some(event) = events.next().await {
//!     println!("{:?}", event?);
//! }
//! # Ok(()) }
//! ```

mod address;
mod catalog;
mod detect;
mod egress;
mod embed;
mod endpoint;
mod error;
pub mod fake;
mod http;
mod model;
mod outgoing;
mod refusal;
mod remote;
mod request;
pub mod wire;

pub use address::{check_address, no_address, origin};
pub use catalog::list_models;
pub use detect::{DETECTION_LIMIT, DetectTarget, DetectedServer, detect_local};
pub use egress::locality;
pub use embed::{Embedder, MOST_TEXTS, connect_embedder};
pub use endpoint::{DEFAULT_TIMEOUT, Endpoint};
pub use error::{ProviderError, Report};
pub use evenkeel_domain::ToolSchema;
pub use http::{Answer, Behalf, Call, HttpClient, Journal, JournalEntry, Purpose};
pub use model::{EndReason, EventStream, LanguageModel, ModelEvent};
pub use outgoing::{Outgoing, body};
pub use remote::connect;
pub use request::{ChatMessage, ChatRequest, DEFAULT_MAX_TOKENS, ToolCall};
