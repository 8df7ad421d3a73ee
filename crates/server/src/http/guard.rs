//! Who is let in: programs on this machine that have the token, and no page of a browser that was led here.

use super::refusal::Refusal;
use super::token::TokenDigest;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use evenkeel_domain::ErrorCode;
use std::sync::Arc;

/// The names that this machine has for itself.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What a request is held against.
pub(crate) struct Guard {
    pub port: u16,
    pub token: TokenDigest,
}

/// Lets a request pass, or refuses it before anything else looks at it.
pub(crate) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.admits(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl Guard {
    /// A name that leads here by way of a foreign name server, or a page from elsewhere, is refused whatever it shows.
    fn admits(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let is_own = |host: &str| NAMES.iter().any(|name| host.eq_ignore_ascii_case(&format!("{name}:{}", self.port)));
        let named = uri.authority().is_none_or(|authority| is_own(authority.as_str()));
        if hosts.next().is_some() || !named || !host.is_some_and(is_own) {
            return Err(foreign("the Host header names another machine; ask 127.0.0.1 with the port of Evenkeel"));
        }
        let is_own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
        if headers.get_all(ORIGIN).iter().any(|origin| !origin.to_str().is_ok_and(is_own_origin)) {
            return Err(foreign("pages of other origins are not answered"));
        }
        let shown = headers.get(AUTHORIZATION).and_then(|shown| shown.to_str().ok()).and_then(bearer);
        if shown.is_some_and(|token| self.token.is_of(token)) {
            return Ok(());
        }
        let message =
            "the token is missing or wrong; send Authorization: Bearer with the token of Evenkeel, Settings, Connections";
        Err(Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::NotPermitted, message))
    }
}

fn foreign(message: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, ErrorCode::NotPermitted, message)
}

fn bearer(shown: &str) -> Option<&str> {
    let (scheme, token) = shown.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn status(uri: &str, pairs: &[(&str, &str)]) -> Option<u16> {
        let guard = Guard { port: 4_000, token: TokenDigest::of("secret") };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard.admits(&uri.parse().unwrap(), &headers).err().map(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn whoever_names_this_machine_and_shows_the_token_is_let_in() {
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000", "[::1]:4000"] {
            for shown in ["Bearer secret", "bearer secret", "BEARER  secret"] {
                assert_eq!(status("/", &[("host", host), ("authorization", shown)]), None, "{host} {shown}");
            }
        }
        let own = [("host", "127.0.0.1:4000"), ("origin", "http://localhost:4000"), ("authorization", "Bearer secret")];
        assert_eq!(status("/", &own), None);
    }

    #[test]
    fn a_foreign_name_or_origin_is_refused_even_with_the_token() {
        let token = ("authorization", "Bearer secret");
        for host in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "127.0.0.1:4000.evil.example", "", "localhost:4000@evil"]
        {
            assert_eq!(status("/", &[("host", host), token]), Some(403), "{host}");
        }
        assert_eq!(status("/", &[token]), Some(403));
        assert_eq!(status("/", &[("host", "localhost:4000"), ("host", "evil.example"), token]), Some(403));
        assert_eq!(status("http://evil.example/", &[("host", "localhost:4000"), token]), Some(403));
        for origin in ["https://evil.example", "null", "https://localhost:4000", "http://localhost", "http://localhost:4001"] {
            assert_eq!(status("/", &[("host", "localhost:4000"), ("origin", origin), token]), Some(403), "{origin}");
        }
    }

    #[test]
    fn a_missing_or_wrong_token_is_refused() {
        let host = ("host", "localhost:4000");
        assert_eq!(status("/", &[host]), Some(401));
        for shown in ["Bearer", "Bearer ", "Bearer wrong", "Basic secret", "secret", "Bearer secretly"] {
            assert_eq!(status("/", &[host, ("authorization", shown)]), Some(401), "{shown}");
        }
    }
}
