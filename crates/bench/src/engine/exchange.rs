//! One request to a model server with the times of its reply.

use crate::error::BenchError;
use evenkeel_domain::{ProviderKind, Usage};
use evenkeel_provider::{ChatMessage, ChatRequest, Endpoint, HttpClient, LanguageModel, ModelEvent, connect};
use futures::StreamExt;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that both sides of a comparison are asked through, by the same client.
pub struct Server {
    model: Arc<dyn LanguageModel>,
    name: String,
}

/// What a reply was and how long it took.
#[derive(Debug)]
pub struct Exchange {
    /// The reply.
    pub text: String,
    /// From the request to the first text.
    pub first_text: Duration,
    /// From the first text to the last.
    pub writing: Duration,
    /// Tokens as the server counted them.
    pub usage: Usage,
}

impl Server {
    /// A server at an address.
    pub fn new(base_url: &str, key: Option<SecretString>, model: &str) -> Self {
        let endpoint = Endpoint { key, local_only: true, ..Endpoint::new(ProviderKind::OpenaiCompatible, base_url) };
        Self { model: connect(endpoint, HttpClient::new(None)), name: model.to_owned() }
    }

    /// Asks at temperature 0.
    ///
    /// # Errors
    /// Also when there is no text or no usage.
    pub async fn ask(&self, messages: Vec<ChatMessage>, max_tokens: u32) -> Result<Exchange, BenchError> {
        let request = ChatRequest {
            model: self.name.clone(),
            messages,
            temperature: Some(0.0),
            max_tokens: Some(max_tokens),
            ..ChatRequest::default()
        };
        let began = Instant::now();
        let mut events = self.model.stream(request).await?;
        let (mut text, mut usage, mut first, mut last) = (String::new(), None, None, None);
        while let Some(event) = events.next().await {
            match event? {
                ModelEvent::Text(delta) => {
                    let now = Instant::now();
                    first.get_or_insert(now);
                    last = Some(now);
                    text.push_str(&delta);
                }
                ModelEvent::Usage(counted) => usage = Some(counted),
                _ => {}
            }
        }
        match (first, last, usage) {
            (Some(first), Some(last), Some(usage)) => {
                Ok(Exchange { text, first_text: first - began, writing: last - first, usage })
            }
            _ => Err(BenchError::Worthless(format!("{} answered without text or usage", self.name))),
        }
    }
}

impl Exchange {
    /// Prompt tokens that were computed, not taken from the cache.
    pub fn computed(&self) -> u32 {
        self.usage.prompt_tokens.saturating_sub(self.usage.cached_tokens.unwrap_or_default())
    }

    /// Computed prompt tokens a second, up to the first text.
    pub fn prompt_rate(&self) -> f64 {
        f64::from(self.computed()) / self.first_text.as_secs_f64()
    }

    /// Tokens a second after the first.
    pub fn generation_rate(&self) -> f64 {
        f64::from(self.usage.completion_tokens.saturating_sub(1)) / self.writing.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_count_only_what_was_computed() {
        let usage = Usage { prompt_tokens: 1_500, completion_tokens: 101, cached_tokens: Some(500) };
        let exchange =
            Exchange { text: String::new(), first_text: Duration::from_secs(4), writing: Duration::from_secs(2), usage };
        assert_eq!(exchange.prompt_rate(), 250.0);
        assert_eq!(exchange.generation_rate(), 50.0);
    }
}
