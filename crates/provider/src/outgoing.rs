//! A request as it goes over the wire, before anything is sent.

use crate::endpoint::Endpoint;
use crate::http::address;
use crate::wire::openai::LimitField;
use crate::wire::{anthropic, ollama, openai, sampling};
use crate::{ChatRequest, ProviderError, Report};
use bytes::Bytes;
use evenkeel_domain::ProviderKind;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// The host whose newer models demand another name for the limit of a reply.
const OPENAI_HOST: &str = "api.openai.com";
/// Stands for the key in a command.
const KEY_PLACE: &str = "$API_KEY";

/// What a request for a reply is on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where it goes: origin and path, without what may hold a key.
    pub address: String,
    /// The exact bytes of the body.
    pub body: Bytes,
}

/// The exact bytes that a provider of this kind is sent at this address. One of [`sampling`] is no provider's, and has a form
/// of its own.
///
/// # Errors
/// None in practice: a tool's schema that is no JSON cannot be built.
pub fn body(kind: ProviderKind, address: &str, request: &ChatRequest) -> Result<Vec<u8>, serde_json::Error> {
    match kind {
        _ if address.starts_with(sampling::SCHEME) => sampling::render(request),
        ProviderKind::OpenaiCompatible | ProviderKind::Engine => openai::render(request, limit_field(address)),
        ProviderKind::Anthropic => anthropic::render(request),
        ProviderKind::Ollama => ollama::render(request),
    }
}

fn limit_field(address: &str) -> LimitField {
    match Url::parse(address).ok().as_ref().and_then(Url::host_str) {
        Some(OPENAI_HOST) => LimitField::MaxCompletionTokens,
        _ => LimitField::MaxTokens,
    }
}

/// The path of replies below the base URL.
pub(crate) fn path(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenaiCompatible | ProviderKind::Engine => openai::PATH,
        ProviderKind::Anthropic => anthropic::PATH,
        ProviderKind::Ollama => ollama::PATH,
    }
}

impl Endpoint {
    /// What a request would be on the wire. Sends nothing.
    ///
    /// # Errors
    /// `AddressRefused` where the address cannot be read.
    pub fn outgoing(&self, request: &ChatRequest) -> Result<Outgoing, ProviderError> {
        let address = address(&self.chat_url()?);
        let body = body(self.kind, &address, request).map_err(|error| ProviderError::Rejected {
            at: Report { said: Some(error.to_string()), model: Some(request.model.clone()), ..Report::at(address.clone()) },
        })?;
        Ok(Outgoing { address, body: body.into() })
    }

    /// A request as a command for a shell. Where secrets go stand variables: `$API_KEY` for the key, and the
    /// name in capitals for each further header and each value of the address's query. Those are left out where
    /// `address` is not this endpoint's own.
    #[must_use]
    pub fn curl(&self, address: &str, body: &str) -> String {
        let own = self.chat_url().ok().filter(|url| crate::http::address(url) == address);
        let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let mut headers = vec![(CONTENT_TYPE, "application/json".to_owned())];
        headers.extend(self.version().map(|(name, version)| (name, version.to_owned())));
        if self.key.is_some() {
            let (name, value): (HeaderName, SecretString) = self.credential(&host, KEY_PLACE);
            headers.push((name, value.expose_secret().to_owned()));
        }
        for name in self.extra_headers.keys().filter(|_| own.is_some()) {
            let Ok(name) = HeaderName::from_bytes(name.trim().as_bytes()) else { continue };
            headers.retain(|(known, _)| *known != name);
            headers.push((name.clone(), variable(name.as_str())));
        }
        let headers = headers.iter().map(|(name, value)| format!(" \\\n  -H {}", quoted(&format!("{name}: "), value)));
        let query = own.as_ref().map(query).unwrap_or_default();
        format!("curl -N {}{query}{} \\\n  --data-raw {}\n", single(address), headers.collect::<String>(), single(body))
    }

    fn chat_url(&self) -> Result<Url, ProviderError> {
        let mut url = self.base()?;
        let path = format!("{}{}", url.path().trim_end_matches('/'), path(self.kind));
        url.set_path(&path);
        Ok(url)
    }
}

/// The names of a query, each with a variable for its value; goes on in the word that the address is.
fn query(url: &Url) -> String {
    let pairs = url.query_pairs().enumerate().map(|(at, (name, _))| {
        let joint = if at == 0 { '?' } else { '&' };
        quoted(&format!("{joint}{name}="), &variable(&name))
    });
    pairs.collect()
}

/// `$NAME` for a name.
fn variable(name: &str) -> String {
    let letter = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(letter).collect();
    let first = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    format!("${first}{name}")
}

/// A text and a value as one word; of the value, what follows a `$` is a variable.
fn quoted(text: &str, value: &str) -> String {
    match value.split_once('$') {
        Some((before, name)) => format!("{}\"${name}\"", single(&format!("{text}{before}"))),
        None => single(&format!("{text}{value}")),
    }
}

/// A text as one word in which nothing has a meaning.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ChatMessage;
    use evenkeel_domain::Role;
    use std::process::Command;

    fn request(text: &str) -> ChatRequest {
        let messages = vec![ChatMessage::new(Role::User, text)];
        ChatRequest { model: "m".into(), messages, max_tokens: Some(5), ..ChatRequest::default() }
    }

    #[test]
    fn the_name_of_the_limit_follows_the_address() {
        for (url, name) in [("https://api.openai.com", "max_completion_tokens"), ("http://localhost:1234/v1", "max_tokens")] {
            let outgoing = Endpoint::new(ProviderKind::OpenaiCompatible, url).outgoing(&request("x")).unwrap();
            assert!(String::from_utf8_lossy(&outgoing.body).contains(&format!("\"{name}\":5")), "{url}");
            let again = body(ProviderKind::OpenaiCompatible, &outgoing.address, &request("x")).unwrap();
            assert_eq!(outgoing.body, again, "the address alone leads to the same bytes");
        }
    }

    #[test]
    fn the_address_holds_no_secret() {
        let endpoint = Endpoint::new(ProviderKind::Anthropic, "https://me:secret@models.example/v1?key=qqqqqqqq");
        assert_eq!(endpoint.outgoing(&request("x")).unwrap().address, "https://models.example/v1/messages");
    }

    /// The words of a command as a shell reads them.
    #[cfg(unix)]
    fn words(command: &str) -> Vec<String> {
        let script = format!("curl() {{ for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }}\n{command}");
        let values = [("API_KEY", "sk-1"), ("X_TOKEN", "t"), ("API_VERSION", "2")];
        let out = Command::new("sh").args(["-c", &script]).env_clear().envs(values).output().unwrap();
        assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
        let text = String::from_utf8(out.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    #[cfg(unix)]
    fn a_command_says_the_same_and_holds_no_key() {
        let mut endpoint = Endpoint::new(ProviderKind::OpenaiCompatible, "https://a.example/v1?api-version=hidden-version");
        endpoint.key = Some("sk-hidden".into());
        endpoint.extra_headers.insert("X-Token".into(), "hidden".into());
        let text = "it's \"$HOME\" `id` $(id) \\ !! \n %s 🫠";
        let Outgoing { address, body } = endpoint.outgoing(&request(text)).unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        let command = endpoint.curl(&address, &body);
        assert!(!command.contains("hidden") && command.contains("\"$API_KEY\""), "{command}");
        let content = "content-type: application/json";
        let expected = ["-N", "https://a.example/v1/chat/completions?api-version=2", "-H", content, "-H"];
        let expected: Vec<&str> =
            [&expected[..], &["authorization: Bearer sk-1", "-H", "x-token: t", "--data-raw", &body]].concat();
        assert_eq!(words(&command), expected);

        let elsewhere = words(&endpoint.curl("https://b.example/v1/chat/completions", "{}"));
        assert!(elsewhere.iter().all(|word| !word.contains("x-token") && !word.contains("api-version")), "{elsewhere:?}");
        let anthropic = Endpoint::new(ProviderKind::Anthropic, "https://c.example");
        let plain = words(&anthropic.curl("https://c.example/v1/messages", "{}"));
        assert_eq!(plain[4..], ["-H", "anthropic-version: 2023-06-01", "--data-raw", "{}"]);
    }
}
