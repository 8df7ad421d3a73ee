//! The app's side: the service, as the window uses it.

use super::{ROUNDS_EACH, Seen, Tally};
use crate::error::BenchError;
use evenkeel_domain::{
    ChatEvent, ContextId, ContextPatch, ContextQuery, ConversationId, ConversationQuery, DefaultSettings, Message, PresetDraft,
    PresetId, PresetQuery, SendRequest,
};
use evenkeel_service::{PresetOverrides, Service};
use evenkeel_testkit::scripted_server::{Answer, ScriptedServer};
use std::sync::{Arc, Mutex, PoisonError};

/// This side, for the tally.
const SIDE: u8 = 1;
/// Things on one page of a list: the most there may be.
const PAGE: u32 = 500;

/// What the app writes to in these rounds.
#[derive(Clone)]
struct Place {
    context: ContextId,
    conversation: Option<ConversationId>,
    preset: PresetId,
}

/// The app, with what it was acknowledged.
pub struct AppSide<'a> {
    service: &'a Service,
    model: &'a ScriptedServer,
    shared: ContextId,
    tally: &'a Tally,
    place: Option<Place>,
    /// What was acknowledged.
    pub acknowledged: Seen,
}

impl<'a> AppSide<'a> {
    /// Nothing written yet.
    pub fn new(service: &'a Service, model: &'a ScriptedServer, shared: ContextId, tally: &'a Tally) -> Self {
        Self { service, model, shared, tally, place: None, acknowledged: Seen::new() }
    }

    /// Writes for so many rounds.
    pub async fn write(&mut self, rounds: u32) -> Result<(), BenchError> {
        for round in 0..rounds {
            let place = match self.place.take().filter(|_| !round.is_multiple_of(ROUNDS_EACH)) {
                Some(place) => place,
                None => self.begin(round).await?,
            };
            self.round(place, round).await?;
        }
        Ok(())
    }

    /// Makes a context and a preset of this side's own.
    async fn begin(&mut self, round: u32) -> Result<Place, BenchError> {
        let overrides = PresetOverrides { name: Some(format!("App {round}")), ..PresetOverrides::default() };
        let made = self.service.context_create_from_preset(PresetId::new("preset-rational-advisor"), overrides).await?;
        self.note(format!("context {}", made.id), made.system_prompt);
        let preset = self.service.preset_create(preset(round)).await?;
        self.note(format!("preset {}", preset.id), preset.system_prompt);
        Ok(Place { context: made.id, conversation: None, preset: preset.id })
    }

    async fn round(&mut self, place: Place, round: u32) -> Result<(), BenchError> {
        let prompt = Some(format!("A companion of the app, as it is in round {round}."));
        let changed =
            self.service.context_update(place.context, ContextPatch { system_prompt: prompt, ..ContextPatch::default() }).await?;
        self.note(format!("context {}", changed.id), changed.system_prompt);
        let preset = self.service.preset_update(place.preset.clone(), preset(round)).await?;
        self.note(format!("preset {}", preset.id), preset.system_prompt);
        // The program changes another field of the same context.
        let personality = Some(format!("Calm in round {round}."));
        let shared = self.service.context_update(self.shared, ContextPatch { personality, ..ContextPatch::default() }).await?;
        self.note(format!("personality {}", shared.id), shared.personality);
        let conversation = self.say(&place, format!("The app says {round}.")).await?;
        self.place = Some(Place { conversation: Some(conversation), ..place });
        Ok(())
    }

    async fn say(&mut self, place: &Place, text: String) -> Result<ConversationId, BenchError> {
        self.model.push(Answer::reply(&["A calm reply."]));
        let heard: Arc<Mutex<Vec<Message>>> = Arc::default();
        let kept = heard.clone();
        let sink = move |event| {
            let message = match event {
                ChatEvent::Started { user_message, .. } => Some(user_message),
                ChatEvent::Ended { message, error: None } => message,
                _ => None,
            };
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(message);
        };
        let (context_id, conversation_id) = (place.context, place.conversation);
        self.service.chat_send(SendRequest::New { context_id, conversation_id, text, agent_id: None }, sink).await?;
        let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        let [said, reply] = heard.try_into().map_err(|_| BenchError::Worthless("a reply broke off in the app".to_owned()))?;
        let conversation = said.conversation_id;
        for message in [said, reply] {
            self.note(format!("message {}", message.id), message.content);
        }
        Ok(conversation)
    }

    fn note(&mut self, thing: String, wording: String) {
        self.tally.wrote(SIDE, 1);
        self.acknowledged.insert(thing, wording);
    }

    /// Everything, as the app lists it.
    pub async fn sees(&self) -> Result<Seen, BenchError> {
        let mut seen = Seen::new();
        let contexts = self.service.context_list(ContextQuery { page_size: PAGE, ..ContextQuery::default() }).await?.contexts;
        for context in contexts {
            let query = ConversationQuery { context_id: Some(context.id), limit: PAGE, ..ConversationQuery::default() };
            for conversation in self.service.conversation_list(query).await?.items {
                let messages = self.service.conversation_open(conversation.id).await?.messages;
                seen.extend(messages.into_iter().map(|message| (format!("message {}", message.id), message.content)));
            }
            seen.insert(format!("context {}", context.id), context.system_prompt);
            seen.insert(format!("personality {}", context.id), context.personality);
        }
        let presets = self.service.preset_list(PresetQuery { page_size: PAGE, ..PresetQuery::default() }).await?.presets;
        seen.extend(presets.into_iter().map(|preset| (format!("preset {}", preset.id), preset.system_prompt)));
        Ok(seen)
    }
}

fn preset(round: u32) -> PresetDraft {
    PresetDraft {
        name: "Of the app".to_owned(),
        description: String::new(),
        system_prompt: format!("A preset of the app, as it is in round {round}."),
        default_personality: "Calm.".to_owned(),
        default_settings: DefaultSettings { temperature: 0.5, max_tokens: 700, max_history_tokens: 5_000, expiry_days: None },
        metadata: String::new(),
    }
}
