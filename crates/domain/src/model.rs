//! Providers and the models they run.

use crate::ProviderId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The wire format a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// The built-in llama.cpp engine.
    Engine,
    /// OpenAI-compatible chat completions.
    OpenaiCompatible,
    /// Anthropic messages.
    Anthropic,
    /// Ollama's own API.
    Ollama,
}

impl ProviderKind {
    /// The kind's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::OpenaiCompatible => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }
}

/// Where a provider's models run, from its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum ProviderLocality {
    /// On this machine (the engine, or a loopback address).
    Local,
    /// Anywhere else: text leaves the machine.
    Remote,
}

/// Whether a model's name says that Ollama hands its requests on to a cloud (`gpt-oss:120b-cloud`,
/// `glm-4.6:cloud`). Such a model is listed and asked like one of this machine, in Ollama's own
/// format and in the OpenAI-compatible one.
#[must_use]
pub fn runs_in_cloud(model: &str) -> bool {
    let tag = model.trim().rsplit_once(':').map(|(_, tag)| tag.to_ascii_lowercase());
    tag.is_some_and(|tag| tag == "cloud" || tag.ends_with("-cloud"))
}

/// A place that runs models, as the window sees it: its key never comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// The provider's id.
    pub id: ProviderId,
    /// Wire format.
    pub kind: ProviderKind,
    /// Shown name, 1–120 characters.
    pub name: String,
    /// Where requests go, without a trailing slash; empty for the engine.
    pub base_url: String,
    /// Whether text sent to it leaves the machine.
    pub locality: ProviderLocality,
    /// The last four characters of the stored key; `None` without a key.
    pub key_hint: Option<String>,
    /// Headers sent beside the standard ones.
    pub extra_headers: BTreeMap<String, String>,
    /// Models entered by hand, beside those the provider lists.
    pub manual_models: Vec<String>,
    /// Context window in tokens that replaces the one the provider reports.
    pub window_override: Option<u32>,
    /// Seconds without a byte before a request counts as failed, 5–3,600.
    pub timeout_seconds: u32,
}

impl Provider {
    /// Where a model of this provider runs: elsewhere if the provider does, or if it hands the
    /// model's requests on. What the engine runs is a file of this machine, whatever its name.
    #[must_use]
    pub fn locality_of(&self, model: &str) -> ProviderLocality {
        let handed_on = self.kind != ProviderKind::Engine && runs_in_cloud(model);
        if handed_on { ProviderLocality::Remote } else { self.locality }
    }
}

/// A model at a provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ModelChoice {
    /// The provider.
    pub provider_id: ProviderId,
    /// The model's name at that provider.
    pub model: String,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The model's name at its provider.
    pub name: String,
    /// Context window in tokens, where known.
    pub window: Option<u32>,
    /// Size of the model file in bytes, where known.
    #[cfg_attr(feature = "specta", specta(type = Option<f64>))]
    pub size_bytes: Option<u64>,
    /// True for the model that ships with the app: small, for trying out.
    pub for_trying_out: bool,
    /// Where it runs: a server on this machine may hand its requests on.
    pub locality: ProviderLocality,
    /// It makes embeddings and cannot chat, as far as its name or its server says.
    pub embedding: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderId;

    #[test]
    fn cloud_models_of_ollama_are_known_by_name() {
        for name in ["gpt-oss:120b-cloud", "glm-4.6:cloud", "GPT-OSS:120B-Cloud", " gpt-oss:20b:cloud "] {
            assert!(runs_in_cloud(name), "{name}");
        }
        for name in ["cloud", "llama3.2:3b", "x/cloud:latest", "cloudy:7b", ""] {
            assert!(!runs_in_cloud(name), "{name}");
        }
    }

    #[test]
    fn a_model_runs_where_its_provider_does_unless_its_name_says_otherwise() {
        use ProviderLocality::{Local, Remote};
        let provider = |kind, locality| Provider {
            id: ProviderId::from_parts(chrono::DateTime::UNIX_EPOCH, [1; 10]),
            kind,
            name: "A".into(),
            base_url: String::new(),
            locality,
            key_hint: None,
            extra_headers: BTreeMap::new(),
            manual_models: Vec::new(),
            window_override: None,
            timeout_seconds: 120,
        };
        for kind in [ProviderKind::Ollama, ProviderKind::OpenaiCompatible, ProviderKind::Anthropic] {
            assert_eq!(provider(kind, Local).locality_of("gpt-oss:120b-cloud"), Remote);
            assert_eq!(provider(kind, Local).locality_of("llama3.2:3b"), Local);
            assert_eq!(provider(kind, Remote).locality_of("llama3.2:3b"), Remote);
        }
        assert_eq!(provider(ProviderKind::Engine, Local).locality_of("my:cloud"), Local);
    }
}
