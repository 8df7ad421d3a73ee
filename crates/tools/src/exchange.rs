//! Servers at an address: the protocol's requests, made by whoever knows where requests may go.

use async_trait::async_trait;
use bytes::Bytes;
use evenkeel_domain::ErrorBody;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use secrecy::SecretString;
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::sync::Arc;

/// Most bytes of one message of a server.
pub(crate) const MOST_EVENT: usize = 16 << 20;
/// Most bytes of an answer that is no success.
const MOST_REFUSAL: usize = 64 << 10;
/// Both forms of an answer.
const ACCEPTED: &str = "text/event-stream, application/json";

/// A request's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Asks for what the server says by itself.
    Get,
    /// Sends a message.
    Post,
    /// Ends a session.
    Delete,
}

/// A request.
pub struct Asked {
    /// The method.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// Headers beside the token.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The bearer token.
    pub token: Option<SecretString>,
    /// The body; empty = none.
    pub body: Bytes,
}

/// An answer, whose body may still be coming.
pub struct Given {
    /// The status.
    pub status: u16,
    /// The headers that say what it is: `content-type`, `mcp-session-id`, `www-authenticate`, `retry-after`.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: BoxStream<'static, Result<Bytes, ErrorBody>>,
}

/// Makes requests, by rules of its own of where they may go.
#[async_trait]
pub trait Exchange: Send + Sync {
    /// Makes one request, and returns when status and headers of the answer are there.
    ///
    /// # Errors
    /// The address may not be called, or nothing answers there.
    async fn send(&self, asked: Asked) -> Result<Given, ErrorBody>;
}

/// The protocol's client over an [`Exchange`].
#[derive(Clone)]
pub(crate) struct Through(Arc<dyn Exchange>);

pub(crate) type Fault = StreamableHttpError<ErrorBody>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl Given {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn is(&self, kind: &str) -> bool {
        self.header("content-type").is_some_and(|given| given.starts_with(kind))
    }

    async fn whole(self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut body = self.body;
        let mut whole = Vec::new();
        while let Some(part) = body.try_next().await.map_err(Fault::Client)? {
            if whole.len() + part.len() > most {
                return Err(Fault::ResponseBodyTooLarge { max_size: most });
            }
            whole.extend_from_slice(&part);
        }
        Ok(whole)
    }

    /// The body as events, none of them larger than what one message may be.
    fn events(self) -> Events {
        let (mut in_event, mut line_is_empty) = (0, true);
        let bounded = self.body.map(move |part| {
            let part = part.map_err(std::io::Error::other)?;
            // An event ends with an empty line, whichever parts it comes in.
            for byte in &part {
                in_event += 1;
                match byte {
                    b'\n' if line_is_empty => in_event = 0,
                    b'\n' => line_is_empty = true,
                    b'\r' => {}
                    _ => line_is_empty = false,
                }
            }
            if in_event > MOST_EVENT {
                return Err(std::io::Error::other("a message of the server is too large"));
            }
            Ok::<Bytes, std::io::Error>(part)
        });
        SseStream::from_bytes_stream(bounded).boxed()
    }

    /// The refusal that a status stands for.
    async fn refusal(self) -> Fault {
        let status = self.status;
        if let (401, Some(challenge)) = (status, self.header("www-authenticate")) {
            return Fault::AuthRequired(AuthRequiredError::new(challenge.to_owned()));
        }
        HttpStatusError::new(status, self.header("retry-after").map(str::to_owned)).into()
    }
}

impl Through {
    pub fn new(exchange: Arc<dyn Exchange>) -> Self {
        Self(exchange)
    }

    async fn ask(&self, asked: Asked) -> Result<Given, Fault> {
        self.0.send(asked).await.map_err(Fault::Client)
    }
}

fn asked(method: Method, url: &str, session: Option<&str>, token: Option<String>, custom: Headers) -> Asked {
    let mut headers: Vec<_> = custom.into_iter().collect();
    headers.push((http::header::ACCEPT, HeaderValue::from_static(ACCEPTED)));
    if let Some(value) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
        headers.push((HeaderName::from_static("mcp-session-id"), value));
    }
    Asked { method, url: url.to_owned(), headers, token: token.map(SecretString::from), body: Bytes::new() }
}

impl StreamableHttpClient for Through {
    type Error = ErrorBody;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let has_session = session_id.is_some();
        let mut asked = asked(Method::Post, &uri, session_id.as_deref(), auth_header, custom_headers);
        asked.headers.push((http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")));
        asked.body = serde_json::to_vec(&message)?.into();
        let given = self.ask(asked).await?;
        let session = given.header("mcp-session-id").map(str::to_owned);
        match given.status {
            202 | 204 => return Ok(StreamableHttpPostResponse::Accepted),
            404 if has_session => return Err(Fault::SessionExpired),
            _ => {}
        }
        if !given.is_success() {
            return refused(given, &message).await;
        }
        if given.is("text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(given.events(), session));
        }
        if !given.is("application/json") {
            return Err(Fault::UnexpectedContentType(given.header("content-type").map(str::to_owned)));
        }
        let body = given.whole(MOST_EVENT).await?;
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&body)?, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Fault> {
        // A server need not be able to do it.
        self.ask(asked(Method::Delete, &uri, Some(&session_id), auth_header, custom_headers)).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Fault> {
        let mut asked = asked(Method::Get, &uri, session_id.as_deref(), auth_header, custom_headers);
        if let Some(value) = last_event_id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            asked.headers.push((HeaderName::from_static("last-event-id"), value));
        }
        let given = self.ask(asked).await?;
        match given.status {
            405 => Err(Fault::ServerDoesNotSupportSse),
            _ if !given.is_success() => Err(given.refusal().await),
            _ => Ok(given.events()),
        }
    }
}

/// An answer that is no success may still be one of the protocol, such as "I do not know this method", by which a server
/// of the older era is told.
async fn refused(given: Given, message: &ClientJsonRpcMessage) -> Result<StreamableHttpPostResponse, Fault> {
    if !(400..500).contains(&given.status) || [401, 403, 429].contains(&given.status) {
        return Err(given.refusal().await);
    }
    let status = given.status;
    let body = given.whole(MOST_REFUSAL).await?;
    let said = serde_json::from_slice(&body).ok();
    let ClientJsonRpcMessage::Request(request) = message else {
        return Err(HttpStatusError::new(status, None).into());
    };
    let error = match said {
        Some(ServerJsonRpcMessage::Error(said)) => said.error,
        _ => rmcp::ErrorData::invalid_request(format!("it answers with HTTP {status}"), None),
    };
    Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(request.id.clone())), None))
}
