//! Values that the user tells, taken from their words before they are answered.

use crate::background::{Wish, answer_of, is_named};
use crate::chat::plan::Plan;
use crate::model::{Chosen, Ready};
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    EXTRACTION, ExtractionSettings, MessageId, RequestPurpose, Role, StandardStrategy, StateSchema, StateValueId,
};
use evenkeel_prompt::{FormTask, FormValues, Origin, likeliest_source};
use evenkeel_store::{BranchText, ReadHandle, StatePlace, StoreError, ToldValue};
use std::collections::HashSet;
use std::time::Duration;

/// Messages that are looked back over for some that no values were taken from yet.
const LOOK_BACK: u32 = 24;
/// Most of them that are read at once.
const UNREAD: usize = 6;
/// Tokens of the model's answer.
const TOKENS: u32 = 800;
/// Times that it is asked.
const TRIES: usize = 2;

/// What is to be read.
struct Material {
    schema: StateSchema,
    /// Names and values.
    known: Vec<(String, String)>,
    /// Messages of the user that nothing was taken from yet, oldest first.
    unread: Vec<(MessageId, String)>,
}

impl Service {
    /// Takes from the user's message, and from those that were missed before it, what they tell; waits no
    /// longer than the context's time limit, and leaves the state as it is where that is too short or
    /// anything fails. Says whether the context keeps a state.
    pub(crate) async fn extract(&self, session: &Session, plan: &Plan) -> bool {
        if plan.context.strategy.plugin_id != EXTRACTION {
            return false;
        }
        let Ok(Some(StandardStrategy::Extraction(settings))) = plan.context.strategy.settings() else { return true };
        let limit = Duration::from_millis(settings.time_limit_ms.into());
        match tokio::time::timeout(limit, self.update_state(session, plan, &settings)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::info!(code = error.code().as_str(), "a state was not brought up to date"),
            Err(_) => tracing::info!("a state was not brought up to date in time"),
        }
        true
    }

    async fn update_state(&self, session: &Session, plan: &Plan, settings: &ExtractionSettings) -> Result<(), ServiceError> {
        let schema = StateSchema::parse(&settings.schema)?;
        let chosen = self.work_model(settings.model.as_ref(), &plan.chosen, &plan.context).await?;
        let is_named = is_named(settings.model.as_ref());
        if schema.properties().next().is_none() || !(is_named || may_read(&chosen, plan)) {
            return Ok(());
        }
        let (id, asked) = (plan.conversation.id, plan.user_message.id);
        let seen = (!is_named && !chosen.is_local()).then(|| sent(plan));
        let read = move |r: &ReadHandle<'_>| {
            let known = r.state(id, Some(asked))?.into_iter().map(|value| (value.name, value.value)).collect();
            let unread = unread(r, asked, seen.as_ref())?;
            let mut contexts = r.state_contexts(id)?;
            contexts.extend(unread.iter().map(|text| text.context_id));
            Ok((known, unread.into_iter().map(|text| (text.id, text.content)).collect::<Vec<_>>(), contexts))
        };
        let (known, unread, mut contexts) = session.records(id).read(read).await?;
        contexts.push(plan.context.id);
        contexts.sort_unstable();
        contexts.dedup();
        self.check_kept_here(session, &chosen, contexts).await?;
        let material = Material { schema, known, unread };
        if material.unread.is_empty() {
            return Ok(());
        }
        let purpose = RequestPurpose::Extraction;
        let ready = if chosen.choice == plan.chosen.choice {
            // As it was made ready for the reply: another window would have to wait for that.
            self.ready(&plan.chosen, &plan.context, purpose).await?
        } else {
            self.ready_beside(&chosen, &plan.context, purpose).await?
        };
        let values = values_by(&ready, &chosen, &material).await?;
        drop(ready);
        // What cannot be read now is tried again with the next message.
        let Some(values) = values else { return Ok(()) };
        let told = self.told(values, &material);
        let messages: Vec<MessageId> = material.unread.iter().map(|(message, _)| *message).collect();
        let place = StatePlace { context_id: plan.context.id, conversation_id: id, leaf: Some(asked), now: self.now() };
        session.records(id).write(move |w| w.tell_state(place, &told, &messages)).await
    }

    fn told(&self, values: FormValues, material: &Material) -> Vec<ToldValue> {
        let texts: Vec<&str> = material.unread.iter().map(|(_, text)| text.as_str()).collect();
        let told = |(name, value): (String, serde_json::Value)| ToldValue {
            id: StateValueId::from_parts(self.now(), self.random()),
            name,
            evidence_id: likeliest_source(&value, &texts).and_then(|at| material.unread.get(at)).map(|(message, _)| *message),
            value: value.to_string(),
        };
        values.fitting.into_iter().map(told).collect()
    }
}

/// A model elsewhere that nobody has named may read what its provider is sent anyway.
fn may_read(chosen: &Chosen, plan: &Plan) -> bool {
    chosen.is_local() || (chosen.provider.id == plan.chosen.provider.id && !plan.chosen.is_local())
}

/// The messages that the answering model is about to be sent.
fn sent(plan: &Plan) -> HashSet<MessageId> {
    let of_history = plan.prompt.blocks.iter().filter(|block| block.included).filter_map(|block| match block.origin {
        Origin::Message { id } => Some(id),
        _ => None,
    });
    of_history.chain([plan.user_message.id]).collect()
}

/// The newest messages of the user that no values were taken from, back to the first that they were
/// taken from; `seen` are the only ones that may be read, where there is such a bound.
fn unread(r: &ReadHandle<'_>, asked: MessageId, seen: Option<&HashSet<MessageId>>) -> Result<Vec<BranchText>, StoreError> {
    let mut unread = Vec::new();
    for text in r.branch_texts(asked, None, LOOK_BACK)?.into_iter().rev().filter(|text| text.role == Role::User) {
        if unread.len() == UNREAD || r.is_read_for_state(text.id)? {
            break;
        }
        if !text.content.trim().is_empty() && seen.is_none_or(|seen| seen.contains(&text.id)) {
            unread.push(text);
        }
    }
    unread.reverse();
    Ok(unread)
}

/// What a model reads in the messages; `None` if it gives no JSON. It is asked once more where its first
/// answer does not fit, with the reason; of the second what fits is taken.
async fn values_by(ready: &Ready, chosen: &Chosen, material: &Material) -> Result<Option<FormValues>, ServiceError> {
    let texts: Vec<&str> = material.unread.iter().map(|(_, text)| text.as_str()).collect();
    let task = FormTask { schema: &material.schema, known: &material.known, messages: &texts };
    let schema = material.schema.of_an_answer();
    let (mut messages, mut read) = (task.messages(), None);
    for _ in 0..TRIES {
        let wish = Wish { messages: messages.clone(), temperature: 0.0, max_tokens: TOKENS, response_schema: Some(&schema) };
        let answer = answer_of(ready, chosen, wish).await?;
        let fault = match task.values(&answer.text) {
            Ok(values) if values.faults.is_empty() => return Ok(Some(values)),
            Ok(values) => {
                let faults = values.faults.join("; ");
                read = Some(values);
                faults
            }
            Err(not_json) => not_json.to_string(),
        };
        messages.push((Role::Assistant, answer.text));
        messages.push((
            Role::User,
            format!("That does not fit: {fault}. The answer is one JSON object that fits, and nothing else."),
        ));
    }
    Ok(read)
}
