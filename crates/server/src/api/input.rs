//! What a request brings, read with the one error shape.

use crate::http::refusal::Refusal;
use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use evenkeel_domain::{ErrorBody, ErrorCode};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// Bytes of a body: a message may have 1 MiB, and JSON may write each byte as six.
const BYTES: usize = 8 << 20;
/// What a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A value that a field may not have.
pub(super) fn misfit(field: &str, value: impl ToString, range: &str) -> ErrorBody {
    let value: String = value.to_string().chars().take(80).collect();
    let message = format!("{field} is {value}; it has to be {range}");
    ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", field).with("value", value).with("range", range)
}

/// A body of JSON.
pub(super) struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refusal> {
        let bytes = match tokio::time::timeout(PATIENCE, to_bytes(request.into_body(), BYTES)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => return Err(ErrorBody::new(ErrorCode::LimitReached, "the body of a request may have 8 MiB").into()),
            Err(_) => {
                let message = "the body of the request did not come in time";
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::InvalidParameter, message));
            }
        };
        let unfit =
            |error: serde_json::Error| ErrorBody::new(ErrorCode::InvalidParameter, format!("the body does not fit: {error}"));
        Ok(Self(serde_json::from_slice(&bytes).map_err(unfit)?))
    }
}

/// What stands behind the question mark.
pub(super) struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let unfit = |error: axum::extract::rejection::QueryRejection| {
            ErrorBody::new(ErrorCode::InvalidParameter, format!("what stands behind the question mark does not fit: {error}"))
        };
        Ok(Self(Query::from_request_parts(parts, state).await.map_err(unfit)?.0))
    }
}

/// The id in the path.
pub(super) struct Id(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let unfit = |_| ErrorBody::new(ErrorCode::InvalidParameter, "the id in the address is no text");
        Ok(Self(Path::from_request_parts(parts, state).await.map_err(unfit)?.0))
    }
}
