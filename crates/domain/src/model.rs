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
}
