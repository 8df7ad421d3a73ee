//! From a provider's refusal (status, headers, body, or an error inside a stream) to a typed
//! error.

use crate::ProviderError;
use crate::error::Site;
use crate::http::{Answer, address};
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// Bytes of an error's body that are read.
const BODY_LIMIT: usize = 64 << 10;

/// What a provider says about a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaint {
    /// Its name of the error, such as `model_not_found`.
    pub name: Option<String>,
    /// The HTTP status, where the error states one.
    pub status: Option<u16>,
    /// Its own words, not yet cleaned of secrets.
    pub text: Option<String>,
}

impl Complaint {
    /// Reads the body of a refusal: JSON of any of the usual shapes, a page, or plain text.
    pub(crate) fn read(body: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            return Self::from_json(&value);
        }
        let text = String::from_utf8_lossy(body);
        let text = if text.trim_start().starts_with('<') { title(&text) } else { Some(text.trim()) };
        Self { text: text.filter(|text| !text.is_empty()).map(str::to_owned), ..Self::default() }
    }

    /// Reads `{"error": {"message", "type", "code"}}` (OpenAI, Anthropic), `{"error": "…"}`
    /// (Ollama), `{"message"}` (Mistral), `{"detail"}` (FastAPI), `[{"error"}]` (Gemini).
    pub(crate) fn from_json(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let field = |name: &str| error.get(name).or_else(|| value.get(name));
        let text = match error {
            Value::String(text) => Some(text.as_str()),
            _ => ["message", "detail", "error"].iter().find_map(|name| words(field(name)?)),
        };
        // Gemini's numeric code is the status and its status is the name.
        let name = ["code", "type", "status"].iter().find_map(|name| field(name)?.as_str().filter(|name| *name != "error"));
        let status = ["code", "status"].iter().find_map(|name| field(name)?.as_u64());
        Self {
            name: name.map(str::to_owned),
            status: status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status)),
            text: text.filter(|text| !text.trim().is_empty()).map(str::to_owned),
        }
    }

    /// Whether the complaint is about a model that is not there.
    fn misses_model(&self) -> bool {
        let text = self.text.as_deref().unwrap_or("").to_lowercase();
        let missing = ["not found", "not exist", "unknown model", "no such model", "not a valid model", "not available"];
        self.name.as_deref() == Some("model_not_found")
            || (text.contains("model") && missing.iter().any(|words| text.contains(words)))
    }

    /// Whether the complaint is about more tokens than the model's window holds. The names and words are
    /// those of OpenAI, llama.cpp, Anthropic, vLLM, LM Studio and Ollama.
    fn is_about_length(&self) -> bool {
        let text = self.text.as_deref().unwrap_or("").to_lowercase();
        let words = [
            "maximum context length",
            "context window",
            "available context size",
            "prompt is too long",
            "context length exceeded",
            "context overflow",
            "exceeds the context length",
        ];
        let names = ["context_length_exceeded", "exceed_context_size_error"];
        self.name.as_deref().is_some_and(|name| names.contains(&name)) || words.iter().any(|words| text.contains(words))
    }

    /// The typed error of a complaint that came inside a stream.
    pub(crate) fn into_error(self, site: &Site) -> ProviderError {
        let status = self.status.or_else(|| self.implied_status());
        typed(site, status, &self, None)
    }

    /// The status that the error's name stands for (Anthropic's and OpenAI's names).
    fn implied_status(&self) -> Option<u16> {
        match self.name.as_deref()? {
            "authentication_error" | "permission_error" | "invalid_api_key" => Some(401),
            "not_found_error" | "model_not_found" => Some(404),
            "rate_limit_error" | "rate_limit_exceeded" | "overloaded_error" | "insufficient_quota" => Some(429),
            "invalid_request_error" | "request_too_large" | "context_length_exceeded" => Some(400),
            _ => None,
        }
    }
}

/// The words in a string, or in the first entry of a list of complaints (FastAPI).
fn words(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get(0)?.get("msg")?.as_str())
}

/// The title of a page: the rest of it is markup.
fn title(page: &str) -> Option<&str> {
    let start = page.find("<title>")? + "<title>".len();
    let length = page[start..].find("</title>")?;
    Some(page[start..start + length].trim())
}

/// Reads a refusal to its end and makes a typed error of it. `now` dates `Retry-After`.
pub(crate) async fn read(mut answer: Answer, url: &Url, now: DateTime<Utc>) -> ProviderError {
    let status = answer.status();
    let retry_after = answer.header("retry-after").and_then(|value| retry_after(value, now));
    if (300..400).contains(&status) {
        let target = answer.header("location").and_then(|target| url.join(target).ok());
        let target = target.map_or_else(|| "another address".to_owned(), |target| answer.site().clean(&address(&target)));
        let reason = format!("it redirects to {target}, and redirects are not followed so that keys stay with their address");
        return ProviderError::AddressRefused { at: answer.site().report(Some(status), None), reason };
    }
    let complaint = Complaint::read(&answer.some_body(BODY_LIMIT).await);
    typed(answer.site(), Some(status), &complaint, retry_after)
}

fn typed(site: &Site, status: Option<u16>, complaint: &Complaint, retry_after: Option<Duration>) -> ProviderError {
    let at = site.report(status, complaint.text.as_deref());
    match status {
        Some(401 | 403) => ProviderError::Unauthorized { at },
        Some(429 | 529) => ProviderError::RateLimited { at, retry_after },
        Some(503) if retry_after.is_some() => ProviderError::RateLimited { at, retry_after },
        None | Some(400 | 404 | 422 | 500..) if complaint.misses_model() && at.model.is_some() => {
            ProviderError::ModelNotFound { at }
        }
        Some(404) if complaint.name.as_deref() == Some("not_found_error") && at.model.is_some() => {
            ProviderError::ModelNotFound { at }
        }
        None | Some(400 | 413 | 422 | 500) if complaint.is_about_length() => ProviderError::TooLong { at },
        Some(400..500) => ProviderError::Rejected { at },
        _ => ProviderError::Failed { at, status },
    }
}

/// Reads `Retry-After` (RFC 9110, section 10.2.3): seconds or an HTTP date. A date in the past
/// means now.
fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?;
    Some((date.with_timezone(&Utc) - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(body: &str) -> Option<String> {
        Complaint::read(body.as_bytes()).text
    }

    #[test]
    fn the_words_are_found_in_every_usual_shape() {
        assert_eq!(text(r#"{"error":{"message":"a","type":"t"}}"#).as_deref(), Some("a"));
        assert_eq!(text(r#"{"error":"b"}"#).as_deref(), Some("b"));
        assert_eq!(text(r#"{"object":"error","message":"c","code":404}"#).as_deref(), Some("c"));
        assert_eq!(text(r#"{"detail":[{"msg":"d"}]}"#).as_deref(), Some("d"));
        assert_eq!(text(r#"[{"error":{"message":"e","code":400}}]"#).as_deref(), Some("e"));
        assert_eq!(text("<html><head><title>502 Bad Gateway</title>").as_deref(), Some("502 Bad Gateway"));
        assert_eq!(text(" plain ").as_deref(), Some("plain"));
        assert_eq!(text("{}"), None);
        assert_eq!(text(""), None);
    }

    #[test]
    fn errors_inside_a_stream_are_typed_by_name_or_number() {
        let site = Site { model: Some("m".into()), ..Site::default() };
        let code = |json: &str| Complaint::read(json.as_bytes()).into_error(&site).code().as_str();
        assert_eq!(code(r#"{"error":{"type":"overloaded_error","message":"busy"}}"#), "provider_rate_limited");
        assert_eq!(code(r#"{"error":{"type":"authentication_error","message":"x"}}"#), "provider_unauthorized");
        assert_eq!(code(r#"{"error":{"code":502,"message":"upstream"}}"#), "provider_failed");
        assert_eq!(code(r#"{"error":{"code":400,"message":"too long"}}"#), "provider_rejected");
        assert_eq!(code(r#"{"error":"model 'x' not found"}"#), "provider_model_not_found");
        assert_eq!(code(r#"{"error":"out of memory"}"#), "provider_failed");
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(retry_after("30", now), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("Fri, 02 Jan 2026 03:05:05 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Fri, 02 Jan 2026 03:00:00 GMT", now), Some(Duration::ZERO));
        for nonsense in ["", "soon", "-5", "inf", "NaN"] {
            assert_eq!(retry_after(nonsense, now), None, "{nonsense}");
        }
    }
}
