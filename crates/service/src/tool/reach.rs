//! The way to a server of tools: its secrets, and its requests through the app's one client.

use crate::session::Session;
use crate::{Service, ServiceError};
use async_trait::async_trait;
use evenkeel_domain::{ContextId, ErrorBody, ErrorCode, ProviderLocality, RequestPurpose, ToolServer, ToolTransport};
use evenkeel_provider::{Answer, Call, HttpClient};
use evenkeel_store::{StoreError, WriteHandle};
use evenkeel_tools::{Asked, Exchange, Given, Method, Program, Server, ToolError, Way};
use futures::stream;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

/// Longest time without a byte of an answer: a tool may take its time.
const SILENCE: Duration = Duration::from_secs(300);
/// The headers of an answer that the protocol reads.
const READ_HEADERS: [&str; 4] = ["content-type", "mcp-session-id", "www-authenticate", "retry-after"];

/// What is secret of a server.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Secrets {
    env: BTreeMap<String, String>,
    token: Option<String>,
}

impl Drop for Secrets {
    fn drop(&mut self) {
        self.env.values_mut().for_each(Zeroize::zeroize);
        self.token.zeroize();
    }
}

impl Secrets {
    /// With what was entered in the place of what is stored.
    pub fn changed(mut self, env: Option<BTreeMap<String, String>>, token: Option<String>) -> Self {
        if let Some(env) = env {
            self.env = env;
        }
        if let Some(token) = token {
            self.token = Some(token).filter(|token| !token.is_empty());
        }
        self
    }

    pub fn env_names(&self) -> Vec<String> {
        self.env.keys().cloned().collect()
    }

    /// The last four characters of the token, of one that is long enough not to be told by them.
    pub fn token_hint(&self) -> Option<String> {
        let letters: Vec<char> = self.token.as_ref()?.chars().collect();
        Some(if letters.len() < 12 { "…".to_owned() } else { letters[letters.len() - 4..].iter().collect() })
    }

    /// Sealed for this server at this place; `None` if there is nothing.
    pub fn sealed(&self, session: &Session, server: &ToolServer) -> Result<Option<Vec<u8>>, ServiceError> {
        if self.env.is_empty() && self.token.is_none() {
            return Ok(None);
        }
        let plain = serde_json::to_vec(self).map_err(|error| ServiceError::internal("sealing a server's secrets", &error))?;
        Ok(Some(evenkeel_vault::seal(&session.secrets, &bound(session.vault_id, server), &Zeroizing::new(plain))?))
    }
}

/// What is secret of a stored server.
///
/// # Errors
/// The server is no longer what it was, or what is stored does not open.
pub(super) async fn secrets(session: &Session, server: &ToolServer) -> Result<Secrets, ServiceError> {
    let id = server.id;
    let (now, sealed) = session.read(move |r| Ok((r.tool_server(id)?, r.sealed_tool_secrets(id)?))).await?;
    if now.is_none_or(|now| now.transport != server.transport) {
        return Err(ToolError::Stopped { server: server.name.clone() }.into());
    }
    let Some(sealed) = sealed else { return Ok(Secrets::default()) };
    let plain = evenkeel_vault::open(&session.secrets, &bound(session.vault_id, server), &sealed).map_err(|_| {
        let message = "what is secret of this server does not open; enter it again in Settings, Tools";
        ErrorBody::new(ErrorCode::ToolFailed, message).with("server", &server.name)
    })?;
    serde_json::from_slice(&plain).map_err(|error| ServiceError::internal("reading a server's secrets", &error))
}

/// What sealed secrets are bound to: they open for this server, started or called in this way, in this vault only.
fn bound(vault_id: Uuid, server: &ToolServer) -> Vec<u8> {
    format!("evenkeel/tool-secrets/v1\n{vault_id}\n{}\n{}", server.id, server.transport.shown()).into_bytes()
}

/// Seals what is secret of the servers anew, for a vault that gets another root key. What does not open stays as it is.
pub(crate) fn reseal_secrets(w: &mut WriteHandle<'_>, vault_id: Uuid, old: &[u8; 32], new: &[u8; 32]) -> Result<(), StoreError> {
    for server in w.tool_servers()? {
        let Some(sealed) = w.sealed_tool_secrets(server.id)? else { continue };
        let bound = bound(vault_id, &server);
        let Ok(plain) = evenkeel_vault::open(old, &bound, &sealed) else {
            tracing::warn!(server = %server.id, "stored secrets of a server do not open and are left as they are");
            continue;
        };
        let unsealed = |_| StoreError::DamagedValue { what: format!("the secrets of server {}", server.id) };
        let anew = evenkeel_vault::seal(new, &bound, &plain).map_err(unsealed)?;
        w.set_tool_secrets(server.id, Some(&anew), &server.env_names, server.token_hint.as_deref())?;
    }
    Ok(())
}

impl Service {
    /// A server, ready to be reached on behalf of a context.
    pub(crate) async fn tool_server_reached(
        &self,
        server: &ToolServer,
        context: Option<ContextId>,
    ) -> Result<Server, ServiceError> {
        let (stopped, session) = (self.tool_room().stopping(server.id), self.session()?);
        let mut secrets = secrets(&session, server).await?;
        let way = match &server.transport {
            ToolTransport::Stdio { command, args } => {
                let env = std::mem::take(&mut secrets.env);
                let env = env.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
                Way::Process(Program { command: command.clone(), args: args.clone(), env })
            }
            ToolTransport::Http { url } => Way::Http {
                url: url.clone(),
                token: secrets.token.take().map(SecretString::from),
                exchange: Arc::new(Line {
                    http: self.http_for(context, Some(RequestPurpose::Tool)),
                    stays_here: server.locality == ProviderLocality::Local,
                }),
            },
        };
        // The journal says for whom a request was made, which a shared connection could not tell.
        let behalf = context.filter(|_| matches!(way, Way::Http { .. }));
        Ok(Server { id: server.id, name: server.name.clone(), behalf, way, stopped })
    }
}

/// Makes the requests to one server.
struct Line {
    http: HttpClient,
    /// It was added as one of this machine, and is called nowhere else.
    stays_here: bool,
}

#[async_trait]
impl Exchange for Line {
    async fn send(&self, asked: Asked) -> Result<Given, ErrorBody> {
        let method = match asked.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        };
        let mut call = Call::to(method, &asked.url, RequestPurpose::Tool, SILENCE).map_err(|error| error.to_body())?;
        call.local_only = self.stays_here;
        call.headers.extend(asked.headers.into_iter().map(|(name, value)| (Some(name), value)));
        call.body = asked.body;
        if let Some(token) = asked.token {
            call.bear(token).map_err(|error| error.to_body())?;
        }
        let answer = self.http.send(call).await.map_err(|error| error.to_body())?;
        let read = |name: &str| answer.header(name).map(|value| (name.to_owned(), value.to_owned()));
        let headers = READ_HEADERS.into_iter().filter_map(read).collect();
        Ok(Given { status: answer.status(), headers, body: Box::pin(body(answer)) })
    }
}

/// The parts of an answer as they come. Dropping it closes the connection.
fn body(answer: Answer) -> impl futures::Stream<Item = Result<bytes::Bytes, ErrorBody>> + Send {
    stream::try_unfold(answer, |mut answer| async move {
        let part = answer.chunk().await.map_err(|error| error.to_body())?;
        Ok(part.map(|part| (part, answer)))
    })
}
