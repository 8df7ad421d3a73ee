//! Servers that run on this machine.

use crate::catalog::list_names;
use crate::endpoint::Endpoint;
use crate::http::{HttpClient, Purpose};
use evenkeel_domain::{ModelInfo, ProviderKind};
use futures::future::join_all;
use std::time::Duration;

/// Longest wait for one server, where nothing else is set. A loopback answer takes a few milliseconds; a port behind
/// which nothing listens is refused at once.
pub const DETECTION_LIMIT: Duration = Duration::from_millis(300);

/// Where to look for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectTarget {
    /// Wire format.
    pub kind: ProviderKind,
    /// Name of the program.
    pub name: String,
    /// Port on 127.0.0.1.
    pub port: u16,
    /// Longest wait for its list of models.
    pub limit: Duration,
}

impl DetectTarget {
    /// A target with the usual limit.
    pub fn new(kind: ProviderKind, name: impl Into<String>, port: u16) -> Self {
        Self { kind, name: name.into(), port, limit: DETECTION_LIMIT }
    }

    /// The programs that people run, at the ports they use by default.
    #[must_use]
    pub fn well_known() -> Vec<Self> {
        let compatible = |name, port| Self::new(ProviderKind::OpenaiCompatible, name, port);
        vec![
            Self::new(ProviderKind::Ollama, "Ollama", 11_434),
            compatible("LM Studio", 1_234),
            compatible("llama.cpp", 8_080),
            compatible("Jan", 1_337),
            compatible("KoboldCpp", 5_001),
            compatible("vLLM", 8_000),
        ]
    }

    fn base_url(&self) -> String {
        let path = if self.kind == ProviderKind::Ollama { "" } else { "/v1" };
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// A server that answered with a list of models.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectedServer {
    /// Wire format.
    pub kind: ProviderKind,
    /// Name of the program: by what the server says of itself, or else by its port.
    pub name: String,
    /// Base URL for an [`Endpoint`].
    pub base_url: String,
    /// Its models, possibly none; windows only where the list itself states them.
    pub models: Vec<ModelInfo>,
}

/// Looks for servers on loopback, all targets at once, one request each, without any key.
/// What does not answer within its limit, or not with a list of models, is left out.
/// The order is that of the targets.
pub async fn detect_local(client: &HttpClient, targets: &[DetectTarget]) -> Vec<DetectedServer> {
    join_all(targets.iter().map(|target| probe(client, target))).await.into_iter().flatten().collect()
}

async fn probe(client: &HttpClient, target: &DetectTarget) -> Option<DetectedServer> {
    let base_url = target.base_url();
    let mut endpoint = Endpoint::new(target.kind, &base_url);
    endpoint.timeout = target.limit;
    endpoint.local_only = true;
    // The endpoint's limit is the wait for each byte; this one is for the whole.
    let listing = list_names(&endpoint, client, Purpose::Detection);
    let listed = tokio::time::timeout(target.limit, listing).await.ok()?.ok()?;
    let name = known_owner(&listed.owner).unwrap_or(&target.name).to_owned();
    Some(DetectedServer { kind: target.kind, name, base_url, models: listed.models })
}

/// The program behind the `owned_by` of its models.
fn known_owner(owner: &str) -> Option<&'static str> {
    match owner {
        "llamacpp" => Some("llama.cpp"),
        "koboldcpp" => Some("KoboldCpp"),
        "vllm" => Some("vLLM"),
        _ => None,
    }
}
