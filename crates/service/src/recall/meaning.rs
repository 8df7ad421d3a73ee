//! What messages mean: vectors of an embedding model, kept in the vault and compared here.

use crate::chat::wording::{before_sending, worded};
use crate::model::engine_endpoint;
use crate::provider::keyed_provider;
use crate::recent::Recent;
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, ErrorBody, ErrorCode, Meaning, MessageId, ModelChoice, ProviderKind, ProviderLocality,
};
use evenkeel_engine::EngineUse;
use evenkeel_prompt::Redactor;
use evenkeel_provider::{Embedder, MOST_TEXTS, ProviderError, connect_embedder};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages of a context that are compared, the newest ones: 30,000 of 768 dimensions are 23 MB.
const MOST: u32 = 30_000;
/// Contexts whose meanings are kept in memory.
const CONTEXTS: usize = 3;
/// Messages that a comparison gives.
const NEAREST: usize = 40;
/// Characters of a text that are compared. Most embedding models read 512 tokens; where these are more,
/// fewer characters are tried.
const CHARACTERS: [usize; 3] = [1_800, 700, 250];

type Known = Arc<Mutex<Vec<(MessageId, Meaning)>>>;

/// The meanings that are in memory, and the contexts of which more are being learnt.
pub(crate) struct Meanings {
    known: Mutex<Recent<(ContextId, ModelChoice), Known>>,
    learning: Mutex<HashSet<ContextId>>,
}

impl Default for Meanings {
    fn default() -> Self {
        Self { known: Mutex::new(Recent::new(CONTEXTS)), learning: Mutex::default() }
    }
}

/// The right to learn what the messages of a context mean; ends when dropped.
pub(crate) struct Turn<'a> {
    meanings: &'a Meanings,
    context: ContextId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        held(&self.meanings.learning).remove(&self.context);
    }
}

impl Meanings {
    /// Takes the turn; `None` while somebody has it.
    pub fn begin(&self, context: ContextId) -> Option<Turn<'_>> {
        held(&self.learning).insert(context).then_some(Turn { meanings: self, context })
    }

    fn get(&self, context: ContextId, model: &ModelChoice) -> Option<Known> {
        held(&self.known).get(&(context, model.clone())).cloned()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An embedding model that can be asked.
struct ReadyEmbedder {
    embedder: Arc<dyn Embedder>,
    /// What is taken out of texts before they are sent, where there is something.
    unwanted: Option<Redactor>,
    model: String,
    /// Keeps the engine from unloading while it is used.
    _in_use: Option<EngineUse>,
}

impl Service {
    /// The messages of these contexts that are nearest in meaning to a text, the nearest first.
    ///
    /// # Errors
    /// The model cannot be reached, or may not be asked.
    pub(super) async fn nearest(
        &self,
        contexts: &[ContextId],
        model: &ModelChoice,
        text: String,
        local_only: bool,
        asking: ContextId,
    ) -> Result<Vec<MessageId>, ServiceError> {
        let ready = self.ready_embedder(model, local_only, asking).await?;
        let asked = ready.meanings(&[text]).await?.pop().flatten();
        let Some(asked) = asked else { return Ok(Vec::new()) };
        let session = self.session()?;
        let mut sets = Vec::new();
        for context in contexts {
            sets.push(known(&session, *context, model).await?);
        }
        let task = tokio::task::spawn_blocking(move || nearest_of(&sets, &asked));
        task.await.map_err(|error| ServiceError::internal("comparing meanings", &error))
    }

    /// Learns what all messages of a context mean of which that is not known, the newest first.
    pub(super) async fn learn_all(&self, session: &Session, context: &Context, model: &ModelChoice) -> Result<(), ServiceError> {
        let mut ready = None;
        loop {
            let (id, choice) = (context.id, model.clone());
            let elsewhere = self.runs_elsewhere(session, model).await?;
            let most = u32::try_from(MOST_TEXTS).unwrap_or(u32::MAX);
            let missing = session.read(move |r| r.messages_without_meaning(id, &choice, elsewhere, most)).await?;
            if missing.is_empty() {
                return Ok(());
            }
            // Only where there is something to learn is a model loaded.
            let ready = match &mut ready {
                Some(ready) => ready,
                none => none.insert(self.ready_embedder(model, context.local_only, context.id).await?),
            };
            let (ids, texts): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
            let meanings = ready.meanings(&texts).await?;
            let learnt: Vec<_> = ids.into_iter().zip(meanings).filter_map(|(id, meaning)| Some((id, meaning?))).collect();
            let is_all = learnt.len() == texts.len();
            keep(session, id, model, learnt).await?;
            // What has no meaning would be asked about for ever.
            if !is_all {
                return Ok(());
            }
        }
    }

    async fn runs_elsewhere(&self, session: &Session, model: &ModelChoice) -> Result<bool, ServiceError> {
        let id = model.provider_id;
        let provider = session.read(move |r| r.provider(id)).await?;
        Ok(provider.is_none_or(|provider| provider.locality_of(&model.model) == ProviderLocality::Remote))
    }

    /// Makes an embedding model ready to be asked. One of the engine runs in a process of its own, so that
    /// the model that answers stays loaded, with what it remembers of the prompt.
    async fn ready_embedder(
        &self,
        choice: &ModelChoice,
        local_only: bool,
        context: ContextId,
    ) -> Result<ReadyEmbedder, ServiceError> {
        let http = self.http_for(Some(context), None);
        let id = choice.provider_id;
        let unwanted = before_sending(&*self.session()?);
        let keyed = self.session()?.read(move |r| keyed_provider(r, id)).await?;
        let keyed = keyed.ok_or_else(|| {
            let message = format!("the provider of {} was removed; choose another model for recall", choice.model);
            ErrorBody::new(ErrorCode::NoModel, message).with("model", &choice.model)
        })?;
        if local_only && keyed.provider.locality_of(&choice.model) == ProviderLocality::Remote {
            let message = format!("{} runs elsewhere, and the words of this companion stay on this machine", choice.model);
            return Err(ErrorBody::new(ErrorCode::LocalOnly, message).with("model", &choice.model).into());
        }
        if keyed.provider.kind != ProviderKind::Engine {
            let endpoint = self.keyed_endpoint(&keyed.provider, keyed.sealed_key.as_deref(), local_only)?;
            let embedder = connect_embedder(endpoint, http);
            return Ok(ReadyEmbedder { embedder, unwanted, model: choice.model.clone(), _in_use: None });
        }
        let file = self.engine_file(&choice.model).await?;
        let engine = self.engines().embedding.endpoint(&file, None).await?;
        if !engine.embedding {
            let message =
                format!("{} writes replies and compares no meanings; choose an embedding model for recall", choice.model);
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message).with("model", &choice.model).into());
        }
        let embedder = connect_embedder(engine_endpoint(&engine, &keyed.provider), http);
        Ok(ReadyEmbedder { embedder, unwanted, model: engine.model.clone(), _in_use: Some(engine.hold) })
    }
}

impl ReadyEmbedder {
    /// What texts mean; `None` for one that has no meaning. Long ones are cut.
    async fn meanings(&self, texts: &[String]) -> Result<Vec<Option<Meaning>>, ServiceError> {
        let mut refused = None;
        for most in CHARACTERS {
            let sent = |text: &String| worded(text, self.unwanted.as_ref()).text.trim().chars().take(most).collect();
            let cut: Vec<String> = texts.iter().map(sent).collect();
            match self.embedder.embed(&self.model, &cut).await {
                Ok(vectors) => return Ok(vectors.iter().map(|vector| Meaning::of(vector)).collect()),
                Err(error @ ProviderError::TooLong { .. }) => refused = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        refused.map_or_else(|| Ok(Vec::new()), |error| Err(error.into()))
    }
}

/// The meanings of a context, read once.
async fn known(session: &Session, context: ContextId, model: &ModelChoice) -> Result<Known, ServiceError> {
    if let Some(known) = session.meanings.get(context, model) {
        return Ok(known);
    }
    let choice = model.clone();
    let read = session.read(move |r| r.meanings(context, &choice, MOST)).await?;
    let known: Known = Arc::new(Mutex::new(read));
    held(&session.meanings.known).insert((context, model.clone()), known.clone());
    Ok(known)
}

async fn keep(
    session: &Session,
    context: ContextId,
    model: &ModelChoice,
    learnt: Vec<(MessageId, Meaning)>,
) -> Result<(), ServiceError> {
    let (choice, stored) = (model.clone(), learnt.clone());
    session.write(move |w| w.put_meanings(&choice, &stored)).await?;
    if let Some(known) = session.meanings.get(context, model) {
        let mut known = held(&known);
        known.extend(learnt);
        if known.len() > MOST as usize {
            // Ids begin with the time of birth: the oldest go.
            known.sort_unstable_by_key(|(message, _)| std::cmp::Reverse(*message));
            known.truncate(MOST as usize);
        }
    }
    Ok(())
}

/// Every one is compared: at this number that takes milliseconds.
fn nearest_of(sets: &[Known], asked: &Meaning) -> Vec<MessageId> {
    let mut found: Vec<(f32, MessageId)> = Vec::new();
    for set in sets {
        let set = held(set);
        found.extend(set.iter().filter_map(|(id, meaning)| Some((meaning.similarity(asked)?, *id))));
    }
    found.retain(|(similarity, _)| *similarity > 0.0);
    found.sort_unstable_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
    found.truncate(NEAREST);
    found.into_iter().map(|(_, id)| id).collect()
}
