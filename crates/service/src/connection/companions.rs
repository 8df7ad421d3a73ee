//! The service as the MCP server sees it: each question is one call of a method that every face has.

use super::lent::Lent;
use crate::chat::Manner;
use crate::chat::wording::{before_sending, worded};
use crate::{PresetOverrides, Service, ServiceError, next};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Access, ChatEvent, ConnectionGrant, Context, ContextDraft, ContextId, ContextPatch, ContextQuery, Conversation,
    ConversationId, ConversationsShown, ErrorBody, Message, MessageQuery, MessageSelection, Operation, OperationQuery, Preset,
    PresetDraft, PresetId, PresetQuery, SendRequest, ToolUse,
};
use evenkeel_mcp::{Companions, Sampler, Turn};
use evenkeel_prompt::Redactor;
use evenkeel_store::Noun;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, broadcast, mpsc};
use tokio::task::JoinHandle;

/// How long the last time that a program was there may lie back before it is noted anew.
const SEEN: chrono::TimeDelta = chrono::TimeDelta::minutes(1);

/// How often it is looked for what other processes write, where one look reads a counter, and whether the app is locked.
const LOOK: Duration = Duration::from_secs(1);

/// Which process the vault was opened by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    /// One that a program started for itself, and that may ask the keychain.
    Own,
    /// The running app, where the user alone opens the vault.
    App,
}

/// The service behind the MCP server.
pub(super) struct Desk {
    service: Service,
    face: Face,
    /// Who finds the vault closed waits until it is open, or known to stay closed.
    opening: Mutex<()>,
    lists: broadcast::Sender<()>,
    _tasks: [Task; 2],
}

/// A task that ends with its owner.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Desk {
    /// Must be called inside a tokio runtime.
    pub fn new(service: Service, face: Face) -> Self {
        let (lists, _) = broadcast::channel(64);
        let (told, mut changes) = (lists.clone(), service.changes());
        let telling = tokio::spawn(async move {
            while let Some(change) = next(&mut changes).await {
                if matches!(change.noun, Noun::Context | Noun::Preset) {
                    let _ = told.send(());
                }
            }
        });
        let looked = service.clone();
        // The scheduler would do it too, but a process that another program starts and ends at will runs no jobs.
        let looking = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                if face == Face::Own && looked.session().is_ok() {
                    looked.follow_app().await;
                }
                if let Err(error) = looked.notice_others().await {
                    tracing::debug!(code = error.code().as_str(), %error, "what other processes write was not looked for");
                }
            }
        });
        Self { service, face, opening: Mutex::new(()), lists, _tasks: [Task(telling), Task(looking)] }
    }

    /// What the user wants to have taken out of what is sent is taken out of what other programs read too.
    fn redactor(&self) -> Option<Redactor> {
        self.service.session().ok().and_then(|session| before_sending(&session))
    }
}

/// A message without what the redactor finds in it.
pub(super) fn redacted(mut message: Message, redactor: Option<&Redactor>) -> Message {
    message.content = worded(&message.content, redactor).text;
    message
}

fn body<T>(outcome: Result<T, ServiceError>) -> Result<T, ErrorBody> {
    outcome.map_err(|error| error.to_body())
}

#[async_trait]
impl Companions for Desk {
    fn now(&self) -> DateTime<Utc> {
        self.service.now()
    }

    fn lists_changed(&self) -> broadcast::Receiver<()> {
        self.lists.subscribe()
    }

    async fn grant(&self, client: &str, version: &str) -> Result<ConnectionGrant, ErrorBody> {
        match self.face {
            Face::App => body(self.service.open_in_app())?,
            Face::Own => {
                let _turn = self.opening.lock().await;
                body(self.service.opened_for_others().await)?;
            }
        }
        body(self.service.connection_seen(client, version, SEEN).await)
    }

    async fn note(&self, access: Access) {
        let noted = match self.service.session() {
            Ok(session) => session.write(move |w| w.note_access(&access)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = noted {
            tracing::error!(code = error.code().as_str(), %error, "what another program did is not in the log");
        }
    }

    async fn contexts(&self, query: ContextQuery) -> Result<(Vec<Context>, u32), ErrorBody> {
        body(self.service.context_list(query).await).map(|page| (page.contexts, page.total_count))
    }

    async fn create_context(&self, draft: ContextDraft) -> Result<Context, ErrorBody> {
        body(self.service.context_create(draft).await)
    }

    async fn create_context_from_preset(
        &self,
        preset: PresetId,
        overrides: evenkeel_mcp::PresetOverrides,
    ) -> Result<Context, ErrorBody> {
        let overrides = PresetOverrides {
            name: overrides.name,
            temperature: overrides.temperature,
            max_tokens: overrides.max_tokens,
            max_history_tokens: overrides.max_history_tokens,
            expiry_days: overrides.expiry_days.map(|days| days.unwrap_or(0)),
        };
        body(self.service.context_create_from_preset(preset, overrides).await)
    }

    async fn update_context(&self, id: ContextId, patch: ContextPatch) -> Result<Context, ErrorBody> {
        body(self.service.context_update(id, patch).await)
    }

    async fn delete_context(&self, id: ContextId) -> Result<(), ErrorBody> {
        body(self.service.context_delete(id).await)
    }

    async fn presets(&self, query: PresetQuery) -> Result<(Vec<Preset>, u32), ErrorBody> {
        body(self.service.preset_list(query).await).map(|page| (page.presets, page.total_count))
    }

    async fn preset(&self, id: PresetId) -> Result<Preset, ErrorBody> {
        body(self.service.preset_get(id).await)
    }

    async fn create_preset(&self, draft: PresetDraft) -> Result<Preset, ErrorBody> {
        body(self.service.preset_create(draft).await)
    }

    async fn update_preset(&self, id: PresetId, draft: PresetDraft) -> Result<Preset, ErrorBody> {
        body(self.service.preset_update(id, draft).await)
    }

    async fn set_preset_active(&self, id: PresetId, is_active: bool) -> Result<Preset, ErrorBody> {
        body(self.service.preset_set_active(id, is_active).await)
    }

    async fn delete_preset(&self, id: PresetId) -> Result<(), ErrorBody> {
        body(self.service.preset_delete(id).await)
    }

    async fn conversations(&self, query: ConversationsShown) -> Result<Vec<Conversation>, ErrorBody> {
        let mut found = body(self.service.conversations_shown(query).await)?;
        let redactor = self.redactor();
        for conversation in &mut found {
            conversation.title = worded(&conversation.title, redactor.as_ref()).text;
        }
        Ok(found)
    }

    async fn messages(&self, query: MessageQuery) -> Result<(Vec<Message>, u32), ErrorBody> {
        let (page, total) = body(self.service.message_list(query).await)?;
        let redactor = self.redactor();
        Ok((page.into_iter().map(|message| redacted(message, redactor.as_ref())).collect(), total))
    }

    async fn operations(&self, query: OperationQuery) -> Result<Vec<Operation>, ErrorBody> {
        body(self.service.operation_told(query).await)
    }

    async fn delete_messages(&self, selection: MessageSelection) -> Result<(u32, u32), ErrorBody> {
        body(self.service.messages_delete(selection).await)
    }

    async fn clear(&self, query: ConversationsShown) -> Result<u32, ErrorBody> {
        body(self.service.conversations_clear(query).await)
    }

    async fn chat(
        &self,
        turn: Turn,
        lent: Option<Arc<dyn Sampler>>,
        events: mpsc::UnboundedSender<ChatEvent>,
    ) -> Result<(), ErrorBody> {
        let request = SendRequest::New {
            context_id: turn.context_id,
            conversation_id: turn.conversation_id,
            text: turn.text,
            agent_id: turn.agent_id,
        };
        let redactor = self.redactor();
        let heard = move |event: ChatEvent| {
            let redacted = |message| redacted(message, redactor.as_ref());
            let event = match event {
                ChatEvent::Started { conversation, user_message, reply_id, meter } => {
                    ChatEvent::Started { conversation, user_message: redacted(user_message), reply_id, meter }
                }
                ChatEvent::Ended { message, error } => ChatEvent::Ended { message: message.map(redacted), error },
                // What is to be taken out may lie over the border of two pieces: only their length is told.
                ChatEvent::Text { delta } if redactor.is_some() => ChatEvent::Text { delta: "…".repeat(delta.chars().count()) },
                // What tools were told and gave is no part of the reply, and may hold what is to be taken out.
                ChatEvent::ToolBegan { call } => ChatEvent::ToolBegan { call: ToolUse { arguments: String::new(), ..call } },
                ChatEvent::ToolQuestion { .. } | ChatEvent::ToolEnded { .. } => return,
                other => other,
            };
            drop(events.send(event));
        };
        let (reminds, lent, source) = (turn.maintain_personality, lent.map(Lent::new), Some(turn.client));
        let manner = Manner { reminds, lent, source, ..Manner::default() };
        body(self.service.chat_send_as(request, manner, heard).await)
    }

    async fn stop(&self, conversation: ConversationId) {
        if let Err(error) = self.service.chat_stop(conversation).await {
            tracing::debug!(code = error.code().as_str(), %error, "a reply could not be stopped");
        }
    }
}
