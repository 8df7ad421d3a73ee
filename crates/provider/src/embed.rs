//! Embeddings: what texts mean, as vectors.

use crate::endpoint::Endpoint;
use crate::error::Site;
use crate::http::{HttpClient, Purpose};
use crate::{ProviderError, refusal};
use async_trait::async_trait;
use chrono::Utc;
use evenkeel_domain::{ProviderKind, runs_in_cloud};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most texts of one request; servers take from 100 to 2,048.
pub const MOST_TEXTS: usize = 64;
/// Longest answer in bytes: 64 vectors of 8,192 numbers in full digits.
const ANSWER_LIMIT: usize = 16 << 20;

/// Something that says what texts mean.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector for each text, in their order, all equally long. At most [`MOST_TEXTS`] texts, none of
    /// them empty; none at all gives none.
    ///
    /// # Errors
    /// Everything of [`HttpClient::send`], the typed refusals, and `Malformed` for an answer that is
    /// no list of that many vectors.
    async fn embed(&self, model: &str, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError>;
}

/// The embedding models of a provider: OpenAI-compatible servers and the engine by `/v1/embeddings`,
/// Ollama by `/api/embed`. Nothing is sent before the first request.
#[must_use]
pub fn connect_embedder(endpoint: Endpoint, client: HttpClient) -> Arc<dyn Embedder> {
    Arc::new(RemoteEmbedder { endpoint, client })
}

struct RemoteEmbedder {
    endpoint: Endpoint,
    client: HttpClient,
}

#[async_trait]
impl Embedder for RemoteEmbedder {
    async fn embed(&self, model: &str, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let kind = self.endpoint.kind;
        let path = if kind == ProviderKind::Ollama { "/api/embed" } else { "/embeddings" };
        let mut call = self.endpoint.call(Method::POST, path, Purpose::Embedding)?;
        call.model = Some(model.to_owned());
        if kind == ProviderKind::Anthropic {
            let said = "this provider has no embedding models";
            return Err(ProviderError::Rejected { at: call.site().report(None, Some(said)) });
        }
        if self.endpoint.local_only && kind != ProviderKind::Engine && runs_in_cloud(model) {
            return Err(self.client.refuse_elsewhere(&call));
        }
        call.body = body(kind, model, texts).to_string().into();
        let url = call.url.clone();
        let mut answer = self.client.send(call).await?;
        if !(200..300).contains(&answer.status()) {
            return Err(refusal::read(answer, &url, Utc::now()).await);
        }
        let read = answer.body(ANSWER_LIMIT).await?;
        vectors(kind, &read, texts.len()).map_err(|reason| malformed(answer.site(), answer.status(), &reason))
    }
}

fn body(kind: ProviderKind, model: &str, texts: &[String]) -> Value {
    match kind {
        // Ollama cuts what is too long for the model.
        ProviderKind::Ollama => json!({ "model": model, "input": texts, "truncate": true }),
        _ => json!({ "model": model, "input": texts, "encoding_format": "float" }),
    }
}

/// Reads `{"embeddings": [[…]]}` (Ollama) or `{"data": [{"index", "embedding": […]}]}`.
fn vectors(kind: ProviderKind, body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| format!("it is no JSON: {error}"))?;
    let listed = |field: &str| value[field].as_array().ok_or_else(|| format!("it has no list {field}"));
    let found: Vec<Vec<f32>> = if kind == ProviderKind::Ollama {
        listed("embeddings")?.iter().map(vector).collect::<Result<_, _>>()?
    } else {
        let mut entries: Vec<(u64, &Value)> = Vec::new();
        for (place, entry) in (0..).zip(listed("data")?) {
            entries.push((entry["index"].as_u64().unwrap_or(place), &entry["embedding"]));
        }
        entries.sort_by_key(|(index, _)| *index);
        entries.into_iter().map(|(_, one)| vector(one)).collect::<Result<_, _>>()?
    };
    let length = found.first().map_or(0, Vec::len);
    if found.len() != count || found.iter().any(|one| one.len() != length) {
        return Err(format!("{} vectors for {count} texts, or not equally long ones", found.len()));
    }
    Ok(found)
}

#[allow(clippy::cast_possible_truncation)] // an embedding has no more digits
fn vector(value: &Value) -> Result<Vec<f32>, String> {
    let numbers = value.as_array().filter(|numbers| !numbers.is_empty()).ok_or("an embedding is no list of numbers")?;
    let number = |value: &Value| value.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    numbers.iter().map(|value| number(value).ok_or_else(|| "an embedding holds what is no number".to_owned())).collect()
}

fn malformed(site: &Site, status: u16, reason: &str) -> ProviderError {
    ProviderError::Malformed { at: site.report(Some(status), None), reason: site.clean(reason) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_shapes_are_read_in_the_order_of_the_texts() {
        let openai = br#"{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2.5]}]}"#;
        assert_eq!(vectors(ProviderKind::OpenaiCompatible, openai, 2).unwrap(), [[1.0, 2.5], [3.0, 4.0]]);
        let ollama = br#"{"embeddings":[[1,2.5],[3,4]]}"#;
        assert_eq!(vectors(ProviderKind::Ollama, ollama, 2).unwrap(), [[1.0, 2.5], [3.0, 4.0]]);
    }

    #[test]
    fn what_is_no_list_of_that_many_vectors_is_refused() {
        for body in [
            "nothing",
            "{}",
            r#"{"data":[]}"#,
            r#"{"data":[{"embedding":[1]}]}"#,
            r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
            r#"{"data":[{"embedding":[1]},{"embedding":[]}]}"#,
            r#"{"data":[{"embedding":[1]},{"embedding":"AAAA"}]}"#,
            r#"{"data":[{"embedding":[1]},{"embedding":[1e60]}]}"#,
        ] {
            assert!(vectors(ProviderKind::Engine, body.as_bytes(), 2).is_err(), "{body}");
        }
    }
}
