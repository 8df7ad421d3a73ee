//! The ways in to the running app: which stand open, and their end.

use super::companions::{Desk, Face};
use crate::{Service, ServiceError, VaultState, next};
use async_trait::async_trait;
use evenkeel_domain::{Conversation, ConversationId, ErrorBody, NamedSession, ServerSettings, Sessions, SessionsShown};
use evenkeel_mcp::Companions;
use evenkeel_server::local::{AppStream, Listener, connect, serve};
use evenkeel_server::{App, AppVault, HttpDoor, ServerError, TokenDigest};
use evenkeel_store::Noun;
use evenkeel_vault::Profile;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, MutexGuard, broadcast};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The ways in that stand open.
#[derive(Default)]
pub(crate) struct WaysIn {
    stop: CancellationToken,
    /// Set in the process that is the running app.
    listening: OnceLock<()>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    http: Mutex<Http>,
}

/// The server over HTTP.
#[derive(Default)]
pub(super) struct Http {
    pub door: Option<HttpDoor>,
    /// What it was opened with.
    pub set: Option<(ServerSettings, TokenDigest)>,
    /// Why it is not open, although it is on.
    pub error: Option<ErrorBody>,
}

impl Http {
    /// Whether it listens already as it should.
    pub fn serves(&self, settings: ServerSettings, token: &TokenDigest) -> bool {
        self.door.is_some() && self.set.as_ref().is_some_and(|(set, of)| *set == settings && of == token)
    }
}

impl WaysIn {
    /// Whether this process is the running app.
    pub fn is_app(&self) -> bool {
        self.listening.get().is_some()
    }

    /// Whether the process is ending.
    pub fn is_ended(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(super) async fn http(&self) -> MutexGuard<'_, Http> {
        self.http.lock().await
    }

    pub async fn close_http(&self) {
        let http = std::mem::take(&mut *self.http().await);
        if let Some(door) = http.door {
            door.close().await;
        }
    }

    /// Ends every connection, and waits until nothing listens any more.
    pub async fn close(&self) {
        self.stop.cancel();
        self.close_http().await;
        for task in self.tasks.lock().await.drain(..) {
            let _ = task.await;
        }
    }
}

/// Connects to the running app of a profile, to speak MCP with it; `None` where none runs.
pub async fn app_of(profile: &Path) -> Option<AppStream> {
    connect(&Profile::new(profile.to_owned()).run()).await
}

/// Where the vault of the running app of a profile stands; `None` where none runs.
pub async fn app_vault(profile: &Path) -> Option<AppVault> {
    evenkeel_server::local::vault(&Profile::new(profile.to_owned()).run()).await
}

impl Service {
    /// Lets other processes of the user in, for as long as the service is there: what the running app does. The vault is
    /// never opened by them.
    ///
    /// # Errors
    /// Another process of the profile listens already, or the system gives no socket; HTTP is served all the same, if it
    /// is on.
    pub async fn listen_to_programs(&self) -> Result<(), ServerError> {
        let ways_in = &self.0.ways_in;
        if ways_in.listening.set(()).is_err() {
            return Err(ServerError::Taken);
        }
        let (stop, service) = (ways_in.stop.clone(), self.clone());
        let following = async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = service.follow_vault() => {}
            }
        };
        ways_in.tasks.lock().await.push(tokio::spawn(following));
        // The folder that the app was started with, since that is what other processes are told.
        let listener = Listener::bind(&self.0.options.profile.run())
            .inspect_err(|error| tracing::warn!(%error, "other processes cannot reach this one"))?;
        let listening = serve(Arc::new(self.clone()), listener, ways_in.stop.clone());
        ways_in.tasks.lock().await.push(tokio::spawn(listening));
        Ok(())
    }
}

fn body<T>(outcome: Result<T, ServiceError>) -> Result<T, ErrorBody> {
    outcome.map_err(|error| error.to_body())
}

#[async_trait]
impl App for Service {
    fn vault(&self) -> AppVault {
        match self.0.gate.state().0 {
            VaultState::Open => AppVault::Open,
            VaultState::Opening | VaultState::Waiting => AppVault::Opening,
            _ => AppVault::Locked,
        }
    }

    fn companions(&self) -> Arc<dyn Companions> {
        Arc::new(Desk::new(self.clone(), Face::App))
    }

    fn conversations_changed(&self) -> broadcast::Receiver<ConversationId> {
        let (told, heard) = broadcast::channel(256);
        let mut changes = self.changes();
        tokio::spawn(async move {
            loop {
                let change = tokio::select! {
                    // Whoever listened has gone.
                    () = told.closed() => return,
                    change = next(&mut changes) => change,
                };
                let Some(change) = change else { return };
                if let (Noun::Conversation, Ok(id)) = (change.noun, change.id.parse()) {
                    let _ = told.send(id);
                }
            }
        });
        heard
    }

    async fn sessions(&self, query: SessionsShown) -> Result<Sessions, ErrorBody> {
        body(self.sessions_shown(query).await)
    }

    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, ErrorBody> {
        body(self.conversation_there(id).await)
    }

    async fn named_session(&self, client: &str, name: &str) -> Result<Option<ConversationId>, ErrorBody> {
        body(self.session_named(client, name).await)
    }

    async fn name_session(&self, session: NamedSession) -> Result<(), ErrorBody> {
        body(self.session_name(session).await)
    }
}
