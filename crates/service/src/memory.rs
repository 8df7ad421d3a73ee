//! What is remembered, as the user sees and changes it: summaries, and the values of a state.

use crate::chat::plan::counted;
use crate::session::private::Item;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    ConversationId, ErrorBody, ErrorCode, FieldError, StandardStrategy, StateSchema, StateValue, StateValueId, Summary, SummaryId,
};
use evenkeel_prompt::{labels_in, pinned_lines};
use evenkeel_store::{Noun, StatePlace, StoreError, ToldValue};
use std::collections::HashSet;

impl Service {
    /// The summaries of a conversation, the newest first, stale ones among them.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn summary_list(&self, conversation_id: ConversationId) -> Result<Vec<Summary>, ServiceError> {
        self.conversation_get(conversation_id).await?;
        self.session()?.records(conversation_id).read(move |r| r.summaries(conversation_id, labels_in)).await
    }

    /// Puts the user's words in the place of a summary. The lines that are theirs have to stand in every
    /// summary after it; those that were made from the other do not count any more.
    ///
    /// # Errors
    /// There is no such summary, it is stale, or the text is empty or too long.
    pub async fn summary_edit(&self, id: SummaryId, text: String) -> Result<Summary, ServiceError> {
        Summary::check_text(&text)?;
        let (now, new) = (self.now(), SummaryId::from_parts(self.now(), self.random()));
        let records = self.session()?.records(id);
        let edited = records
            .write(move |w| {
                let old = w.summary(id, labels_in)?.ok_or_else(|| no_summary(id))?;
                let edited = Summary {
                    id: new,
                    pinned: pinned_lines(&text, &old.text, &old.pinned),
                    tokens: counted(&text),
                    text,
                    model: None,
                    created_at: now,
                    is_edited: true,
                    is_stale: false,
                    ..old
                };
                w.replace_summary(id, &edited)?;
                w.summary(new, labels_in)?.ok_or_else(|| no_summary(new))
            })
            .await?;
        self.summaries().forgive(edited.conversation_id);
        Ok(edited)
    }

    /// Forgets a summary, those that it replaced, and those that were made from it. The messages stay.
    ///
    /// # Errors
    /// There is no such summary.
    pub async fn summary_remove(&self, id: SummaryId) -> Result<(), ServiceError> {
        self.session()?.records(id).write(move |w| w.remove_summary(id)).await
    }

    /// The values that hold on the shown branch of a conversation, by name; with those that were superseded
    /// or only suggested, all of them, the newest first.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn state_get(
        &self,
        conversation_id: ConversationId,
        include_superseded: bool,
    ) -> Result<Vec<StateValue>, ServiceError> {
        let leaf = self.conversation_get(conversation_id).await?.active_leaf_id;
        let read = move |r: &evenkeel_store::ReadHandle<'_>| {
            let state = r.state(conversation_id, leaf)?;
            if !include_superseded {
                return Ok(state);
            }
            let held: HashSet<StateValueId> = state.iter().map(|value| value.id).collect();
            let mut all = r.state_history(conversation_id)?;
            all.iter_mut().filter(|value| held.contains(&value.id)).for_each(|value| value.valid_to = None);
            Ok(all)
        };
        self.session()?.records(conversation_id).read(read).await
    }

    /// Sets a value; no model supersedes it.
    ///
    /// # Errors
    /// There is no such conversation, or the value does not fit the schema of its context.
    pub async fn state_set(
        &self,
        conversation_id: ConversationId,
        name: String,
        value: String,
    ) -> Result<StateValue, ServiceError> {
        let json = StateValue::checked(&name, &value)?;
        let conversation = self.conversation_get(conversation_id).await?;
        let context = self.context_get(conversation.context_id).await?;
        if let Some(StandardStrategy::Extraction(settings)) = context.strategy.settings()? {
            StateSchema::parse(&settings.schema)?.allows(&name, &json).map_err(|why| FieldError {
                field: "value",
                value: value.chars().take(80).collect(),
                range: format!("what the context's schema allows: {why}"),
            })?;
        }
        let now = self.now();
        let id = StateValueId::from_parts(now, self.random());
        let place = StatePlace { context_id: context.id, conversation_id, leaf: conversation.active_leaf_id, now };
        let set = ToldValue { id, name, value: json.to_string(), evidence_id: None };
        let write = move |w: &mut evenkeel_store::WriteHandle<'_>| {
            w.set_state(place, &set)?;
            w.state_value(id)?.ok_or_else(|| no_value(id))
        };
        self.session()?.records(conversation_id).write(write).await
    }

    /// Pins a value that holds, so that no model supersedes it, or lets it go again.
    ///
    /// # Errors
    /// There is no such value, or it does not hold on the shown branch.
    pub async fn state_pin(&self, id: StateValueId, is_pinned: bool) -> Result<StateValue, ServiceError> {
        let session = self.session()?;
        let found = session.records(id).read(move |r| r.state_value(id)?.ok_or_else(|| no_value(id))).await?;
        if !self.state_get(found.conversation_id, false).await?.iter().any(|held| held.id == id) {
            let message = format!("this value of {} does not hold any more; set it anew instead", found.name);
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message)
                .with("field", "id")
                .with("value", id)
                .with("range", "the id of a value that holds")
                .into());
        }
        let write = move |w: &mut evenkeel_store::WriteHandle<'_>| {
            w.pin_state(id, is_pinned)?;
            w.state_value(id)?.ok_or_else(|| no_value(id))
        };
        session.records(Item::State(id)).write(write).await
    }

    /// Forgets a value for good, with those that it superseded.
    ///
    /// # Errors
    /// There is no such value.
    pub async fn state_forget(&self, id: StateValueId) -> Result<(), ServiceError> {
        self.session()?.records(id).write(move |w| w.forget_state(id)).await
    }
}

fn no_summary(id: SummaryId) -> StoreError {
    StoreError::NotFound { noun: Noun::Summary, id: id.to_string() }
}

fn no_value(id: StateValueId) -> StoreError {
    StoreError::NotFound { noun: Noun::State, id: id.to_string() }
}
