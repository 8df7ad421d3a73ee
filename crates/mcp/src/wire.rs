//! JSON-RPC over lines of text, such as standard input and output.
//!
//! The protocol's own library drops a line that is too long or is no JSON without an answer, which leaves the caller
//! waiting, and ends when a notification comes before the first request. Here each of them is answered.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Bytes of a line that are kept: more than the arguments of a call may have, so that those are refused by name.
pub(crate) const LINE_BYTES: usize = 16 << 20;
/// Bytes of the end of a longer line that are kept, where many clients write the id.
const TAIL_BYTES: usize = 64;

/// Lines in, lines out.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    line: Line,
    write: Arc<Mutex<Option<W>>>,
    /// The first request that begins a session has come.
    is_begun: bool,
    /// Cancelled at the end of input.
    closed: CancellationToken,
}

/// A line as far as it has come.
#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    /// The last bytes of a line that is too long to keep.
    tail: Vec<u8>,
    is_too_long: bool,
}

impl Line {
    fn take(&mut self, bytes: &[u8]) {
        if !self.is_too_long && self.kept.len() + bytes.len() <= LINE_BYTES {
            self.kept.extend_from_slice(bytes);
            return;
        }
        if !self.is_too_long {
            self.is_too_long = true;
            self.kept.truncate(TAIL_BYTES);
            self.kept.shrink_to_fit();
        }
        self.tail.extend_from_slice(bytes);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
    }
}

/// What a line amounts to.
#[derive(Debug)]
enum Incoming {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Nothing to answer.
    Nothing,
    Refused(ErrorData, Option<RequestId>),
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub fn new(read: R, write: W, closed: CancellationToken) -> Self {
        Self {
            read: BufReader::with_capacity(64 << 10, read),
            line: Line::default(),
            write: Arc::new(Mutex::new(Some(write))),
            is_begun: false,
            closed,
        }
    }

    /// The next whole line; `None` at the end. What has come of one stays here when the call is dropped.
    async fn line(&mut self) -> Option<Line> {
        loop {
            let come = match self.read.fill_buf().await {
                Ok(come) if !come.is_empty() => come,
                Ok(_) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the input could not be read");
                    return None;
                }
            };
            let end = come.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(come.len(), |at| at + 1);
            self.line.take(come.get(..taken).unwrap_or_default());
            self.read.consume(taken);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    /// Whether a message is to be passed on: before the session has begun, only requests are.
    fn passes(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let opens = !matches!(request.request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_));
                self.is_begun |= opens;
                true
            }
            _ => self.is_begun,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        written(self.write.clone(), item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(line) = self.line().await else {
                self.closed.cancel();
                return None;
            };
            match incoming(&line) {
                Incoming::Message(message) if self.passes(&message) => return Some(*message),
                Incoming::Message(_) | Incoming::Nothing => {}
                Incoming::Refused(error, id) => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(error, id);
                    // Not waited for here: this call may be dropped at any time, and half a line with it.
                    tokio::spawn(written(self.write.clone(), answer));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.write.lock().await.take() {
            Some(mut write) => write.flush().await,
            None => Ok(()),
        }
    }
}

async fn written<W: AsyncWrite + Unpin + Send>(
    write: Arc<Mutex<Option<W>>>,
    item: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&item)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    write.write_all(&line).await?;
    write.flush().await
}

fn incoming(line: &Line) -> Incoming {
    if line.is_too_long {
        let message = format!("the message is longer than {LINE_BYTES} bytes; send less at once");
        let id = id_in(&line.tail).or_else(|| id_in(&line.kept));
        return Incoming::Refused(ErrorData::invalid_request(message, None), id);
    }
    let text = line.kept.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line.kept).trim_ascii();
    if text.is_empty() {
        return Incoming::Nothing;
    }
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => return Incoming::Refused(ErrorData::parse_error(format!("this is no JSON: {error}"), None), None),
    };
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
    let is_notification = method.is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(Box::new(message)),
        // Other protocols' notifications are nobody's fault.
        Err(_) if is_notification => Incoming::Nothing,
        Err(_) => {
            let unknown = || ErrorData::invalid_request("this is no message of the protocol", None);
            Incoming::Refused(method.map_or_else(unknown, |method| unreadable(&method)), id)
        }
    }
}

/// The id in a part of a message, where it stands there as most clients write it.
fn id_in(part: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(part);
    let after = text.rsplit_once("\"id\":")?.1.trim_start();
    let id: String = match after.strip_prefix('"') {
        Some(text) => return text.split_once('"').map(|(id, _)| RequestId::String(id.into())),
        None => after.chars().take_while(char::is_ascii_digit).collect(),
    };
    id.parse().ok().map(RequestId::Number)
}

/// The error for a method of the protocol whose parameters are not what the protocol says.
pub(crate) fn unreadable(method: &str) -> ErrorData {
    const KNOWN: [&str; 6] =
        ["tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "completion/complete"];
    if KNOWN.contains(&method) {
        let advice = match method {
            "tools/call" => "name must be a text and arguments an object",
            "prompts/get" => "name must be a text and arguments an object of texts",
            "resources/read" => "uri must be a text",
            _ => "see the protocol",
        };
        return ErrorData::invalid_params(format!("the parameters of {method} cannot be read: {advice}"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method}"), None)
}

#[cfg(test)]
#[path = "wire/tests.rs"]
mod tests;
