//! The ways in to the running app: which stand open, and their end.

use super::companions::{Desk, Face};
use crate::{Service, ServiceError, VaultState};
use async_trait::async_trait;
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ErrorBody, Message, MessageId, NamedSession, ServerSettings, SessionPart,
    SessionQuery, Sessions, SessionsShown,
};
use evenkeel_mcp::Companions;
use evenkeel_server::local::{AppStream, Listener, connect, serve};
use evenkeel_server::{App, AppVault, Happened, HttpDoor, ServerError, TokenDigest};
use evenkeel_store::{Change, Deed, Noun};
use evenkeel_vault::Profile;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast::error::RecvError;
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

/// What a change means to those who listen, where it means anything to them.
fn happened(change: &Change) -> Option<Happened> {
    match (change.noun, change.deed) {
        // With a message its conversation has changed, and is told of by itself.
        (Noun::Conversation, _) if change.id.is_empty() => Some(Happened::Much),
        (Noun::Conversation, _) => change.id.parse().ok().map(Happened::Session),
        (Noun::Message, Deed::Made) => change.id.parse().ok().map(Happened::MessageMade),
        (Noun::Message, Deed::Changed) => change.id.parse().ok().map(Happened::MessageChanged),
        (Noun::Message, Deed::Gone) => change.id.parse().ok().map(Happened::MessageGone),
        _ => None,
    }
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

    fn happenings(&self) -> broadcast::Receiver<Happened> {
        let (told, heard) = broadcast::channel(256);
        let (mut changes, mut operations) = (self.changes(), self.operations_recorded());
        tokio::spawn(async move {
            loop {
                let happened = tokio::select! {
                    // Whoever listened has gone.
                    () = told.closed() => return,
                    change = changes.recv() => change.map(|change| happened(&change)),
                    operation = operations.recv() => operation.map(|operation| Some(Happened::Operation(operation))),
                };
                match happened {
                    Ok(Some(happened)) => drop(told.send(happened)),
                    Ok(None) => {}
                    Err(RecvError::Lagged(count)) => drop(told.send(Happened::Missed(count))),
                    Err(RecvError::Closed) => return,
                }
            }
        });
        heard
    }

    async fn session_part(&self, query: SessionQuery) -> Result<Option<SessionPart>, ErrorBody> {
        body(self.session_part_told(query).await)
    }

    async fn sessions_there(&self, query: SessionsShown, ids: Vec<ConversationId>) -> Result<Vec<ConversationId>, ErrorBody> {
        body(self.sessions_there_of(query, ids).await)
    }

    async fn trashed_session(&self, query: SessionsShown, id: ConversationId) -> Result<Option<ContextId>, ErrorBody> {
        let read = async { self.session()?.read(move |r| r.trashed_session(&query, id)).await };
        body(read.await)
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>, ErrorBody> {
        body(self.message_told(id).await)
    }

    async fn deleted_message_place(&self, id: MessageId) -> Result<Option<(ConversationId, ContextId)>, ErrorBody> {
        let read = async { self.session()?.read(move |r| r.deleted_message_place(id)).await };
        body(read.await)
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

    async fn session_names(&self, client: &str) -> Result<HashMap<ConversationId, String>, ErrorBody> {
        body(self.session_names_of(client).await)
    }

    async fn name_session(&self, session: NamedSession) -> Result<(), ErrorBody> {
        body(self.session_name(session).await)
    }
}
