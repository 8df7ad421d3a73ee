//! The one error shape, with a status of HTTP.

use axum::Json;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use evenkeel_domain::{ErrorBody, ErrorCode};

/// An answer that says why there is none.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    error: ErrorBody,
}

impl Refusal {
    pub fn new(status: StatusCode, code: ErrorCode, message: &str) -> Self {
        Self { status, error: ErrorBody::new(code, message) }
    }

    #[cfg(test)]
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<ErrorBody> for Refusal {
    fn from(error: ErrorBody) -> Self {
        Self { status: status_of(error.code), error }
    }
}

/// The status that goes with an error.
fn status_of(code: ErrorCode) -> StatusCode {
    let name = code.as_str();
    match code {
        ErrorCode::InvalidParameter => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::NotPermitted => StatusCode::FORBIDDEN,
        ErrorCode::LimitReached | ErrorCode::PromptTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::Busy | ErrorCode::ContextExpired | ErrorCode::NoModel | ErrorCode::LocalOnly => StatusCode::CONFLICT,
        _ if name.starts_with("vault_") || name.starts_with("keychain_") => StatusCode::LOCKED,
        _ if name.starts_with("provider_") || name.starts_with("engine_") || name.starts_with("model_") => {
            StatusCode::BAD_GATEWAY
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let is_unknown = self.status == StatusCode::UNAUTHORIZED;
        let mut response = (self.status, Json(self.error)).into_response();
        if is_unknown {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
