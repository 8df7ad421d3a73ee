//! Where a provider is and how its requests are signed.

use crate::egress;
use crate::http::{Call, Purpose};
use crate::{ProviderError, Report};
use evenkeel_domain::ProviderKind;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use url::Url;

/// Time without a byte after which a request counts as failed, where nothing else is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Version of Anthropic's wire format (<https://docs.anthropic.com/en/api/versioning>).
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// Headers that belong to the connection and may not be set by hand.
const CONNECTION_HEADERS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "proxy-authorization"];
/// Hosts of Azure, which take the key in a header of their own.
const AZURE_HOSTS: [&str; 3] = [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
/// A query value from this length on may be a key and is kept out of errors.
const SHORTEST_QUERY_SECRET: usize = 8;

/// A place that runs models.
///
/// `base_url` is taken as users paste it; a missing scheme becomes `http` on this machine and
/// `https` elsewhere, and trailing slashes do not matter:
/// - OpenAI-compatible and engine: with or without `/v1`. `/v1` is added only where there is
///   no path at all (`https://api.openai.com`), since some providers have another one
///   (`https://generativelanguage.googleapis.com/v1beta/openai`). A pasted
///   `…/chat/completions` is cut back.
/// - Anthropic: `/v1` is added unless the path ends with it.
/// - Ollama: a path that ends with `/api` or `/v1` is cut back.
///
/// The key and the extra headers are sent to the origin of `base_url` and nowhere else.
#[derive(Clone)]
pub struct Endpoint {
    /// Wire format.
    pub kind: ProviderKind,
    /// Where requests go.
    pub base_url: String,
    /// The key, or the engine's bearer token.
    pub key: Option<SecretString>,
    /// Headers sent beside the standard ones; one of the same name replaces the standard one.
    /// Their values are treated as secrets.
    pub extra_headers: BTreeMap<String, String>,
    /// Longest time without a byte.
    pub timeout: Duration,
    /// Refuses every address and model that is not on this machine.
    pub local_only: bool,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = egress::parse(&self.base_url).map_or_else(|_| "unreadable".into(), |url| crate::http::address(&url));
        f.debug_struct("Endpoint")
            .field("kind", &self.kind)
            .field("base_url", &address)
            .field("has_key", &self.key.is_some())
            .field("extra_headers", &self.extra_headers.keys())
            .field("timeout", &self.timeout)
            .field("local_only", &self.local_only)
            .finish()
    }
}

impl Endpoint {
    /// An endpoint without key and extra headers, with the default time limit.
    pub fn new(kind: ProviderKind, base_url: impl Into<String>) -> Self {
        Self {
            kind,
            base_url: base_url.into(),
            key: None,
            extra_headers: BTreeMap::new(),
            timeout: DEFAULT_TIMEOUT,
            local_only: false,
        }
    }

    /// The URL under which the wire format's paths lie, without a trailing slash.
    pub(crate) fn base(&self) -> Result<Url, ProviderError> {
        let mut url = egress::parse(&self.base_url).map_err(|error| ProviderError::AddressRefused {
            at: Report::at(shown(&self.base_url)),
            reason: format!("it is no address of the form https://host/path ({error})"),
        })?;
        let path = url.path().trim_end_matches('/').to_owned();
        let path = match self.kind {
            ProviderKind::OpenaiCompatible | ProviderKind::Engine => {
                let path = cut(&path, &["/chat/completions", "/embeddings", "/models"]);
                if path.is_empty() { "/v1".to_owned() } else { path.to_owned() }
            }
            ProviderKind::Anthropic => format!("{}/v1", cut(cut(&path, &["/messages"]), &["/v1"])),
            ProviderKind::Ollama => cut(cut(&path, &["/chat", "/tags"]), &["/api", "/v1"]).to_owned(),
        };
        url.set_path(&path);
        Ok(url)
    }

    /// A signed request to a path below the base (`/chat/completions`).
    pub(crate) fn call(&self, method: Method, path: &str, purpose: Purpose) -> Result<Call, ProviderError> {
        let mut url = self.base()?;
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        self.sign(method, url, purpose)
    }

    /// A signed request to a path of the base's origin (`/props`), outside the wire format.
    pub(crate) fn call_root(&self, method: Method, path: &str, purpose: Purpose) -> Result<Call, ProviderError> {
        let mut url = self.base()?;
        url.set_path(path);
        self.sign(method, url, purpose)
    }

    // The URL comes from `base()` with another path, so credentials stay with their origin.
    fn sign(&self, method: Method, url: Url, purpose: Purpose) -> Result<Call, ProviderError> {
        let mut call = Call::new(method, url, purpose, self.timeout);
        call.local_only = self.local_only;
        call.is_engine = self.kind == ProviderKind::Engine;
        call.secrets = self.secrets(&call.url);
        call.headers = self.headers(&call)?;
        Ok(call)
    }

    fn secrets(&self, url: &Url) -> Vec<SecretString> {
        let key = self.key.iter().map(|key| key.expose_secret().trim().to_owned());
        let headers = self.extra_headers.values().flat_map(|value| {
            // `Bearer abc`: a server that repeats `abc` alone must be caught too.
            let last = value.rsplit(' ').next().filter(|last| last.len() < value.len());
            [Some(value.as_str()), last].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        });
        let query = url.query_pairs().map(|(_, value)| value.into_owned());
        let query = query.filter(|value| value.len() >= SHORTEST_QUERY_SECRET);
        key.chain(headers).chain(query).map(SecretString::from).collect()
    }

    fn headers(&self, call: &Call) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, version)) = self.version() {
            headers.insert(name, HeaderValue::from_static(version));
        }
        if let Some(key) = self.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty()) {
            let (name, text) = self.credential(call.url.host_str().unwrap_or(""), key);
            let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| {
                let said = "the stored key holds characters that no key has; it was not sent";
                ProviderError::Unauthorized { at: call.site().report(None, Some(said)) }
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        for (name, value) in &self.extra_headers {
            let (name, value) = extra_header(name, value)
                .map_err(|fault| ProviderError::Rejected { at: call.site().report(None, Some(&fault.to_string())) })?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The header that names the version of the wire format, where there is one.
    pub(crate) fn version(&self) -> Option<(HeaderName, &'static str)> {
        let is_anthropic = self.kind == ProviderKind::Anthropic;
        is_anthropic.then(|| (HeaderName::from_static("anthropic-version"), ANTHROPIC_VERSION))
    }

    /// The header that carries the key.
    pub(crate) fn credential(&self, host: &str, key: &str) -> (HeaderName, SecretString) {
        if self.kind == ProviderKind::Anthropic {
            return (HeaderName::from_static("x-api-key"), key.into());
        }
        if AZURE_HOSTS.iter().any(|azure| host.ends_with(azure)) {
            return (HeaderName::from_static("api-key"), key.into());
        }
        (reqwest::header::AUTHORIZATION, format!("Bearer {key}").into())
    }
}

/// Cuts the first of the endings off that the path has.
fn cut<'a>(path: &'a str, endings: &[&str]) -> &'a str {
    endings.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

/// What of an unreadable address may be shown: nothing that could be a password or a query.
pub(crate) fn shown(base_url: &str) -> String {
    let text = base_url.split(['?', '#']).next().unwrap_or("");
    let text = text.rsplit('@').next().unwrap_or("");
    if text.trim().is_empty() { "an empty address".into() } else { text.trim().chars().take(200).collect() }
}

/// Why an extra header cannot be sent; names the header, never its value.
#[derive(Debug, thiserror::Error)]
enum HeaderFault {
    #[error("the extra header {0:?} has no valid name; nothing was sent")]
    Name(String),
    #[error("the extra header {0} belongs to the connection and cannot be set; nothing was sent")]
    Connection(HeaderName),
    #[error("the value of the extra header {0} holds characters that cannot be sent; nothing was sent")]
    Value(HeaderName),
}

fn extra_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderFault> {
    let Ok(parsed) = HeaderName::from_bytes(name.trim().as_bytes()) else {
        return Err(HeaderFault::Name(name.to_owned()));
    };
    if CONNECTION_HEADERS.contains(&parsed.as_str()) {
        return Err(HeaderFault::Connection(parsed));
    }
    let Ok(mut value) = HeaderValue::from_str(value.trim()) else {
        return Err(HeaderFault::Value(parsed));
    };
    value.set_sensitive(true);
    Ok((parsed, value))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::unwrap_in_result)]
    use super::*;

    fn base(kind: ProviderKind, text: &str) -> String {
        Endpoint::new(kind, text).base().unwrap().to_string()
    }

    #[test]
    fn base_urls_are_taken_as_users_paste_them() {
        let openai = |text| base(ProviderKind::OpenaiCompatible, text);
        assert_eq!(openai("https://api.openai.com"), "https://api.openai.com/v1");
        assert_eq!(openai("https://api.openai.com/v1/"), "https://api.openai.com/v1");
        assert_eq!(openai(" https://api.groq.com/openai/v1 "), "https://api.groq.com/openai/v1");
        assert_eq!(openai("localhost:1234"), "http://localhost:1234/v1");
        assert_eq!(openai("openrouter.ai/api/v1/chat/completions"), "https://openrouter.ai/api/v1");
        assert_eq!(
            openai("https://generativelanguage.googleapis.com/v1beta/openai/"),
            "https://generativelanguage.googleapis.com/v1beta/openai"
        );
        let anthropic = |text| base(ProviderKind::Anthropic, text);
        assert_eq!(anthropic("https://api.anthropic.com"), "https://api.anthropic.com/v1");
        assert_eq!(anthropic("https://api.anthropic.com/v1"), "https://api.anthropic.com/v1");
        assert_eq!(anthropic("https://api.deepseek.com/anthropic"), "https://api.deepseek.com/anthropic/v1");
        let ollama = |text| base(ProviderKind::Ollama, text);
        assert_eq!(ollama("http://localhost:11434/api/"), "http://localhost:11434/");
        assert_eq!(ollama("http://127.0.0.1:11434/v1"), "http://127.0.0.1:11434/");
        assert_eq!(ollama("https://example.com/ollama"), "https://example.com/ollama");
    }

    #[test]
    fn an_unreadable_address_is_refused_without_showing_a_password() {
        let error = Endpoint::new(ProviderKind::Ollama, "http://me:secret@host:99999/x?key=abc").base().unwrap_err();
        assert!(matches!(error, ProviderError::AddressRefused { .. }));
        assert!(!error.to_string().contains("secret") && !error.to_string().contains("abc"), "{error}");
    }

    #[test]
    fn debug_shows_no_secret() {
        let mut endpoint = Endpoint::new(ProviderKind::OpenaiCompatible, "https://u:pw@example.com/v1?token=qqqqqqqq");
        endpoint.key = Some("sk-hidden".into());
        endpoint.extra_headers.insert("X-Token".into(), "header-hidden".into());
        let text = format!("{endpoint:?}");
        for secret in ["hidden", "pw", "qqqq"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("X-Token"));
    }

    #[test]
    fn each_kind_signs_in_its_own_way() {
        let header = |kind, url: &str, name: &str| {
            let mut endpoint = Endpoint::new(kind, url);
            endpoint.key = Some(" sk-1\n".into());
            let call = endpoint.call(Method::GET, "/models", Purpose::Models).unwrap();
            let value = call.headers.get(name).unwrap();
            assert!(value.is_sensitive());
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(header(ProviderKind::OpenaiCompatible, "https://a.example", "authorization"), "Bearer sk-1");
        assert_eq!(header(ProviderKind::Anthropic, "https://a.example", "x-api-key"), "sk-1");
        assert_eq!(header(ProviderKind::OpenaiCompatible, "https://x.openai.azure.com/openai/v1", "api-key"), "sk-1");
    }

    #[test]
    fn extra_headers_replace_the_standard_ones_and_cannot_break_the_connection() {
        let mut endpoint = Endpoint::new(ProviderKind::OpenaiCompatible, "https://a.example");
        endpoint.key = Some("sk-1".into());
        endpoint.extra_headers.insert("Authorization".into(), "Basic abc".into());
        let call = endpoint.call(Method::GET, "/models", Purpose::Models).unwrap();
        assert_eq!(call.headers.get_all("authorization").iter().count(), 1);
        assert_eq!(call.headers["authorization"], "Basic abc");
        for (name, value) in [("Host", "evil"), ("bad name", "x"), ("X-A", "line\nbreak-secret")] {
            endpoint.extra_headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            let Err(error) = endpoint.call(Method::GET, "/models", Purpose::Models) else { panic!("{name} was sent") };
            assert!(matches!(error, ProviderError::Rejected { .. }), "{error}");
            assert!(!error.to_string().contains("break-secret"));
        }
    }
}
