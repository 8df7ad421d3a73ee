//! The Model Context Protocol under `/mcp`.

use super::refusal::Refusal;
use crate::App;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use evenkeel_domain::ErrorCode;
use evenkeel_mcp::{HTTP_BODY_BYTES, Sessions, over_http};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the body of a request may take.
const BODY: Duration = Duration::from_secs(30);
/// Bytes of what the protocol's own layer says of a refusal.
const REASON: usize = 4 << 10;
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Since this version there are no sessions; versions are days, so they sort as text.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// The route; everything on it ends with `closed`.
pub(crate) fn route(app: &Arc<dyn App>, closed: CancellationToken) -> Router {
    let (service, sessions) = over_http(app.companions(), closed);
    let answer = any(move |request: Request| {
        let (service, sessions) = (service.clone(), sessions.clone());
        async move {
            match whole(request, &sessions).await {
                Ok(request) => {
                    let is_end = request.method() == Method::DELETE;
                    told(service.handle(request).await.map(Body::new), is_end).await
                }
                Err(refusal) => refusal.into_response(),
            }
        }
    });
    Router::new().route("/mcp", answer)
}

/// The request once its body has come.
async fn whole(request: Request, sessions: &Sessions) -> Result<Request, Refusal> {
    if begins_session(&request) && sessions.is_full().await {
        let message = "too many sessions are open; end one, or wait until one is given up";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::LimitReached, message));
    }
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY, to_bytes(body, HTTP_BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => {
            let message = "the body of a request may have 16 MiB";
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::LimitReached, message))
        }
        Err(_) => {
            let message = "the body of the request did not come in time";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::InvalidParameter, message))
        }
    }
}

/// The answer as programs expect it: one of text says in the one error shape why it refuses, and a session that was ended
/// has ended, which `202` would leave open.
async fn told(answer: Response, is_end: bool) -> Response {
    let status = answer.status();
    if is_end && status == StatusCode::ACCEPTED {
        return StatusCode::NO_CONTENT.into_response();
    }
    if status.is_success() || answer.headers().contains_key(CONTENT_TYPE) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let text = to_bytes(body, REASON).await.unwrap_or_default();
    let code = match status {
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::LimitReached,
        status if status.is_server_error() => ErrorCode::Internal,
        _ => ErrorCode::InvalidParameter,
    };
    let mut refusal = Refusal::new(status, code, &String::from_utf8_lossy(&text)).into_response();
    if let Some(allowed) = parts.headers.remove(ALLOW) {
        refusal.headers_mut().insert(ALLOW, allowed);
    }
    refusal
}

fn begins_session(request: &Request) -> bool {
    let text = |name: &'static str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let is_sessionless = text(VERSION).is_some_and(|version| version >= WITHOUT_SESSIONS);
    request.method() == Method::POST && text(SESSION).is_none() && !is_sessionless
}
