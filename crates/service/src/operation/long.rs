//! Operations that took long: the desktop and an address of the user's are told that they are over, without their content.

use crate::{Service, ServiceError};
use chrono::{DateTime, SecondsFormat, Utc};
use evenkeel_domain::{
    ContextId, ConversationId, FinishedOperation, LongOperationSettings, OperationId, ProviderLocality, RequestPurpose,
    WebhookFailure,
};
use evenkeel_provider::{Call, ProviderError, check_address, locality};
use evenkeel_store::{ReadHandle, StoreError, state_key};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// Nothing shorter can be set to be long, in milliseconds.
const SHORTEST: u32 = 1_000;
/// Longest wait for the answer to a note.
const PATIENCE: Duration = Duration::from_secs(15);
/// The waits before a note is sent, and sent again where it did not arrive.
const WAITS: [Duration; 4] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// Who is told of long operations, as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LongOperationStatus {
    /// What is set.
    pub settings: LongOperationSettings,
    /// The last note since the start that did not arrive, until one does.
    pub failure: Option<WebhookFailure>,
}

/// What is told of long operations, and what became of it.
pub(crate) struct Long {
    ended: broadcast::Sender<Arc<FinishedOperation>>,
    failure: Mutex<Option<WebhookFailure>>,
}

impl Default for Long {
    fn default() -> Self {
        Self { ended: broadcast::channel(64).0, failure: Mutex::default() }
    }
}

impl Long {
    fn set_failure(&self, failure: Option<WebhookFailure>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }
}

/// The note: what happened, and not what it was about.
#[derive(Serialize)]
struct Note<'a> {
    event: &'static str,
    operation_id: OperationId,
    session_id: ConversationId,
    tool_name: &'a str,
    success: bool,
    duration_ms: u32,
    finished_at: String,
}

impl<'a> Note<'a> {
    fn of(FinishedOperation { operation, is_success }: &'a FinishedOperation) -> Self {
        let stamp = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
        Self {
            event: "operation.finished",
            operation_id: operation.id,
            session_id: operation.conversation_id,
            tool_name: &operation.tool_name,
            success: *is_success,
            duration_ms: operation.duration_ms,
            finished_at: stamp(operation.at),
        }
    }
}

/// Why a note did not arrive.
enum Unheard {
    /// Another time it may.
    ForNow(Option<u16>),
    ForGood(Option<u16>),
}

impl Service {
    /// Who is told of long operations, and whether the last note arrived.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn long_operation_status(&self) -> Result<LongOperationStatus, ServiceError> {
        let settings = self.session()?.read(settings).await?;
        let failure = *self.0.long.failure.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(LongOperationStatus { settings, failure })
    }

    /// Sets who is told of long operations.
    ///
    /// # Errors
    /// A value is outside its range, the address may not be called, or the vault is locked or cannot be written.
    pub async fn long_operation_save(&self, mut settings: LongOperationSettings) -> Result<LongOperationStatus, ServiceError> {
        settings.webhook = settings.webhook.trim().to_owned();
        settings.check()?;
        if !settings.webhook.is_empty() {
            check_address(&settings.webhook, false)?;
        }
        let text = serde_json::to_string(&settings).map_err(|error| ServiceError::internal("keeping the settings", &error))?;
        self.session()?.write(move |w| w.put_app_state(state_key::LONG_OPERATIONS, &text)).await?;
        // What was said of another address says nothing of this one.
        self.0.long.set_failure(None);
        self.long_operation_status().await
    }

    /// Each long operation, once it is over, where the desktop is to say so.
    #[must_use]
    pub fn long_operations(&self) -> broadcast::Receiver<Arc<FinishedOperation>> {
        self.0.long.ended.subscribe()
    }

    /// Tells of an operation, if it took long and the user wants that. Nobody waits for it.
    pub(super) fn tell_if_long(&self, done: Arc<FinishedOperation>) {
        if done.operation.duration_ms < SHORTEST {
            return;
        }
        let service = self.clone();
        tokio::spawn(async move {
            if let Err(error) = service.told_if_long(done).await {
                tracing::error!(code = error.code().as_str(), %error, "nobody was told of a long operation");
            }
        });
    }

    async fn told_if_long(&self, done: Arc<FinishedOperation>) -> Result<(), ServiceError> {
        let session = self.session()?;
        let settings = session.read(settings).await?;
        let is_private = session.is_private(done.operation.conversation_id);
        // A note may take a minute, and a vault that is to be locked does not wait for it.
        drop(session);
        if !settings.is_long(done.operation.duration_ms) {
            return Ok(());
        }
        if settings.notifies {
            // An error says that nobody listens.
            let _ = self.0.long.ended.send(done.clone());
        }
        // Of private conversations nothing is told to anything but the desktop.
        if settings.webhook.is_empty() || is_private {
            return Ok(());
        }
        self.deliver(settings.webhook, &done).await
    }

    /// Sends a note, and again where it did not arrive, for as long as it is wanted at this address.
    async fn deliver(&self, address: String, done: &FinishedOperation) -> Result<(), ServiceError> {
        let body = serde_json::to_vec(&Note::of(done)).map_err(|error| ServiceError::internal("writing a note", &error))?;
        let mut status = None;
        for wait in WAITS {
            tokio::time::sleep(wait).await;
            if self.session()?.read(settings).await?.webhook != address {
                return Ok(());
            }
            let stays_here = self.stays_here(done).await?;
            if stays_here && locality(&address) != ProviderLocality::Local {
                return Ok(());
            }
            match self.posted(&address, &body, (done.operation.context_id, stays_here)).await {
                Ok(()) => {
                    self.0.long.set_failure(None);
                    return Ok(());
                }
                Err(Unheard::ForNow(answered)) => status = answered,
                Err(Unheard::ForGood(answered)) => {
                    status = answered;
                    break;
                }
            }
        }
        tracing::warn!(status, "a note of a long operation did not arrive");
        self.0.long.set_failure(Some(WebhookFailure { at: self.now(), status }));
        Ok(())
    }

    async fn posted(&self, address: &str, body: &[u8], (context, stays_here): (ContextId, bool)) -> Result<(), Unheard> {
        let unsent = |error: ProviderError| match error {
            ProviderError::Unreachable { .. } | ProviderError::Timeout { .. } | ProviderError::BrokenOff { .. } => {
                Unheard::ForNow(None)
            }
            _ => Unheard::ForGood(None),
        };
        let mut call = Call::to("POST", address, RequestPurpose::Webhook, PATIENCE).map_err(unsent)?;
        call.local_only = stays_here;
        call.carry_json(body.to_vec());
        let client = self.http_for(Some(context), Some(RequestPurpose::Webhook));
        match client.send(call).await.map_err(unsent)?.status() {
            200..300 => Ok(()),
            status @ (408 | 429 | 500..) => Err(Unheard::ForNow(Some(status))),
            status => Err(Unheard::ForGood(Some(status))),
        }
    }

    /// Whether nothing of an operation may leave this machine: a context stays here, or is not there any more.
    async fn stays_here(&self, done: &FinishedOperation) -> Result<bool, ServiceError> {
        let (of, conversation) = (done.operation.context_id, done.operation.conversation_id);
        let read = move |r: &ReadHandle<'_>| {
            let home = r.conversation(conversation)?.map(|conversation| conversation.context_id);
            for id in [Some(of), home] {
                let context = id.map(|id| r.context(id)).transpose()?.flatten();
                if context.is_none_or(|context| context.local_only) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        self.session()?.read(read).await
    }
}

fn settings(r: &ReadHandle<'_>) -> Result<LongOperationSettings, StoreError> {
    let Some(text) = r.app_state(state_key::LONG_OPERATIONS)? else { return Ok(LongOperationSettings::default()) };
    let damaged = |_| StoreError::DamagedValue { what: "who is told of long operations".to_owned() };
    serde_json::from_str(&text).map_err(damaged)
}
