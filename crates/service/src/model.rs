//! Models: which one answers, how it is reached, which ones are offered.

mod engines;
mod file;
mod found;
mod known_files;
mod offer;
mod tokenizer;
mod window;

pub(crate) use engines::Engines;
pub(crate) use found::find_moved_files;
pub(crate) use known_files::KnownFiles;
pub(crate) use window::Windows;

use crate::chat::found::first_local_only;
use crate::chat::wording::before_sending;
use crate::connection::Lent;
use crate::provider::{KeyedProvider, keyed_provider};
use crate::session::Session;
use crate::{EngineNotice, ModelOffer, Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, ErrorBody, ErrorCode, ModelChoice, ModelInfo, Provider, ProviderKind, ProviderLocality, RequestPurpose,
};
use evenkeel_engine::{EngineEndpoint, EngineEvent, EngineUse, ModelFile, default_model, inspect};
use evenkeel_prompt::Redactor;
use evenkeel_provider::{Endpoint, LanguageModel, connect};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Tokens assumed for a model that says nothing of its window: what 2024's smallest served models have.
const UNKNOWN_WINDOW: u32 = 8_192;
/// The engine holds at most this window unless the user sets more: 16K costs a 7B model about 2 GB.
const ENGINE_WINDOW: u32 = 16_384;
/// The name under which the shipped model is chosen.
pub(crate) const BUILT_IN: &str = "SmolLM2-135M-Instruct";

/// The model that will answer.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub choice: ModelChoice,
    /// The name under which it is asked for.
    pub model_name: String,
    pub provider: Provider,
    /// Tokens of request and reply together.
    pub window: u32,
    /// The window is assumed until the provider has been heard.
    pub window_is_guess: bool,
    /// Token counts in the store are this model's own; it may still have refused what they allowed.
    pub counts_exactly: bool,
    /// A small model of the engine, which is asked in a form of its own.
    pub is_small: bool,
    /// The model of a program that asks, in place of a provider's.
    pub lent: Option<Arc<Lent>>,
    /// The engine's file.
    pub file: Option<PathBuf>,
    /// The provider's API key, still wrapped.
    pub sealed_key: Option<Vec<u8>>,
}

/// A model that can be called.
pub(crate) struct Ready {
    pub model: Arc<dyn LanguageModel>,
    pub model_name: String,
    /// It is the built-in engine.
    pub is_engine: bool,
    /// The program that lends it.
    lender: Option<String>,
    /// What is taken out of texts before they are sent, where there is something.
    pub unwanted: Option<Redactor>,
    /// Keeps the engine from unloading while it is used.
    _in_use: Option<EngineUse>,
}

impl Ready {
    /// Says of a broken connection to the engine, and of a program that gives no reply, what it means.
    pub fn explain(&self, error: ErrorBody) -> ErrorBody {
        if let Some(lender) = &self.lender {
            let why = error.details.get("said").unwrap_or(&error.message);
            let message = format!(
                "{lender} gave no reply of its own model: {why}; ask again, or let its replies come from Evenkeel's models in \
                 Settings, Connections"
            );
            return ErrorBody { message, ..error };
        }
        let lost = matches!(error.code, ErrorCode::ProviderBrokenOff | ErrorCode::ProviderUnreachable);
        if !(self.is_engine && lost) {
            return error;
        }
        let message = "the built-in engine stopped while it was answering; what had arrived is kept, and it starts again with the next message";
        ErrorBody { code: ErrorCode::EngineCrashed, message: message.to_owned(), details: error.details }
    }
}

fn none_chosen() -> ServiceError {
    ErrorBody::new(ErrorCode::NoModel, "no model has been chosen yet; choose one under Settings, Models").into()
}

fn provider_removed(choice: &ModelChoice) -> ServiceError {
    let message = format!("the provider of {} was removed; choose another model", choice.model);
    ErrorBody::new(ErrorCode::NoModel, message).with("model", &choice.model).into()
}

impl Chosen {
    /// Whether the built-in engine runs it.
    pub fn is_engine(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it can be told of tools. The built-in engine and a program's model know none; of a provider's models that is for
    /// the provider to say.
    pub fn calls_tools(&self) -> bool {
        self.provider.kind != ProviderKind::Engine && self.lent.is_none()
    }

    /// The model as it is kept with a reply: one that is lent has its name from the program's answer.
    pub fn answering(&self) -> ModelChoice {
        let named = self.lent.as_ref().and_then(|lent| lent.model());
        named.map_or_else(|| self.choice.clone(), |model| ModelChoice { model: model.to_owned(), ..self.choice.clone() })
    }

    /// Whether what it is asked stays on this machine.
    pub fn is_local(&self) -> bool {
        self.provider.locality_of(&self.choice.model) == ProviderLocality::Local
    }
}

/// The words of a context that is local only are not sent elsewhere.
pub(crate) fn may_answer(kept_here_by: Option<&str>, chosen: &Chosen) -> Result<(), ServiceError> {
    let (provider, model) = (&chosen.provider.name, &chosen.choice.model);
    let Some(name) = kept_here_by.filter(|_| !chosen.is_local()) else { return Ok(()) };
    let message = format!("{name} answers on this machine only, and {model} of {provider} runs elsewhere; choose a local model");
    Err(ErrorBody::new(ErrorCode::LocalOnly, message).with("provider", provider).with("model", model).into())
}

impl Service {
    /// The model of a context, or the default one.
    pub(crate) async fn chosen_model(&self, context: &Context) -> Result<Chosen, ServiceError> {
        let chosen = self.chosen_for(context.model.clone()).await?;
        may_answer(context.local_only.then_some(&*context.name), &chosen)?;
        Ok(chosen)
    }

    /// Refuses a model elsewhere what was said to or by contexts that are local only.
    pub(crate) async fn check_kept_here(
        &self,
        session: &Session,
        chosen: &Chosen,
        contexts: Vec<ContextId>,
    ) -> Result<(), ServiceError> {
        if chosen.is_local() || contexts.is_empty() {
            return Ok(());
        }
        let local = session.read(move |r| first_local_only(r, contexts)).await?;
        may_answer(local.as_deref(), chosen)
    }

    /// The model of a choice, with what was read of it already. `kept_here_by` is the context, if
    /// there is one, whose words may not leave this machine.
    pub(crate) async fn chosen_from(
        &self,
        kept_here_by: Option<&str>,
        choice: Option<ModelChoice>,
        provider: Option<KeyedProvider>,
    ) -> Result<Chosen, ServiceError> {
        let choice = choice.ok_or_else(none_chosen)?;
        let provider = provider.ok_or_else(|| provider_removed(&choice))?;
        let chosen = self.looked_up(choice, provider).await?;
        may_answer(kept_here_by, &chosen)?;
        Ok(chosen)
    }

    /// The model that is named, or the default one.
    pub(crate) async fn chosen_for(&self, named: Option<ModelChoice>) -> Result<Chosen, ServiceError> {
        let session = self.session()?;
        let choice = named.or_else(|| session.settings().default_model).ok_or_else(none_chosen)?;
        let id = choice.provider_id;
        let provider = session.read(move |r| keyed_provider(r, id)).await?;
        let provider = provider.ok_or_else(|| provider_removed(&choice))?;
        self.looked_up(choice, provider).await
    }

    async fn looked_up(&self, choice: ModelChoice, keyed: KeyedProvider) -> Result<Chosen, ServiceError> {
        let KeyedProvider { provider, sealed_key } = keyed;
        let file = match provider.kind {
            ProviderKind::Engine => Some(self.engine_file(&choice.model).await?),
            _ => None,
        };
        let says = match file.clone() {
            Some(path) => Some(self.file_says(path).await?),
            None => None,
        };
        let window = self.window(&provider, &choice, says.as_ref().map(Option::as_ref)).await;
        let says = says.flatten();
        let is_small = says.as_ref().is_some_and(ModelFile::is_small);
        let model_name = says.map_or_else(|| choice.model.clone(), |says| says.name);
        let counts_exactly = tokenizer::counts_by_o200k(&provider, &choice.model);
        let (window, window_is_guess) = (window.tokens, window.is_guess);
        let lent = None;
        Ok(Chosen { counts_exactly, choice, model_name, provider, window, window_is_guess, is_small, lent, file, sealed_key })
    }

    /// Makes the chosen model ready to write replies, or for what is done with the same model; starts the engine
    /// where it is the one.
    pub(crate) async fn ready(&self, chosen: &Chosen, context: &Context, purpose: RequestPurpose) -> Result<Ready, ServiceError> {
        let engine = match &chosen.file {
            Some(file) => Some(self.engines().chat.endpoint(file, Some(chosen.window)).await?),
            None => None,
        };
        self.ready_at(chosen, context, engine, purpose)
    }

    /// The same for work beside the replies, which costs the model that writes them nothing.
    pub(crate) async fn ready_beside(
        &self,
        chosen: &Chosen,
        context: &Context,
        purpose: RequestPurpose,
    ) -> Result<Ready, ServiceError> {
        let engine = match &chosen.file {
            Some(file) => Some(self.engines().beside_chat(file, chosen.window).await?),
            None => None,
        };
        self.ready_at(chosen, context, engine, purpose)
    }

    fn ready_at(
        &self,
        chosen: &Chosen,
        context: &Context,
        engine: Option<EngineEndpoint>,
        purpose: RequestPurpose,
    ) -> Result<Ready, ServiceError> {
        let http = self.http_for(Some(context.id), Some(purpose));
        let unwanted = before_sending(&*self.session()?);
        if let Some(lent) = chosen.lent.clone() {
            let lender = Some(lent.client().to_owned());
            let model_name = chosen.model_name.clone();
            return Ok(Ready { model: lent, model_name, is_engine: false, lender, unwanted, _in_use: None });
        }
        let Some(engine) = engine else {
            let endpoint = self.keyed_endpoint(&chosen.provider, chosen.sealed_key.as_deref(), context.local_only)?;
            let model = connect(endpoint, http);
            return Ok(Ready {
                model,
                model_name: chosen.choice.model.clone(),
                is_engine: false,
                lender: None,
                unwanted,
                _in_use: None,
            });
        };
        let model = connect(engine_endpoint(&engine, &chosen.provider), http);
        Ok(Ready { model, model_name: engine.model.clone(), is_engine: true, lender: None, unwanted, _in_use: Some(engine.hold) })
    }

    /// The engine's models: the shipped one and the files that were added.
    pub(crate) async fn engine_models(&self) -> Result<Vec<ModelInfo>, ServiceError> {
        let files = self.session()?.read(|r| r.model_files()).await?;
        let built_in = self.built_in_path().map(|path| (BUILT_IN.to_owned(), path, true));
        let added = files.into_iter().map(|row| (row.name, PathBuf::from(row.path), false));
        let listed = built_in.into_iter().chain(added);
        let look = move || {
            listed
                .filter_map(|(name, path, for_trying_out)| {
                    let file = inspect(&path).ok()?;
                    Some(file_info(name, &file, for_trying_out))
                })
                .collect()
        };
        tokio::task::spawn_blocking(look).await.map_err(|error| ServiceError::internal("reading model files", &error))
    }

    /// What a new user can begin with on this machine.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn model_offers(&self) -> Result<Vec<ModelOffer>, ServiceError> {
        let engine = self.engine_provider().await?;
        let mut offers: Vec<ModelOffer> = self.provider_detect().await.into_iter().map(offer::server_offer).collect();
        let files = self.engine_models().await?.into_iter().filter(|model| !model.embedding);
        offers.extend(files.map(|model| offer::engine_offer(engine.id, model)));
        offers.extend([offer::recommended(), offer::cloud_offer()]);
        Ok(offers)
    }

    async fn file_says(&self, path: PathBuf) -> Result<Option<evenkeel_engine::ModelFile>, ServiceError> {
        let service = self.clone();
        let looked = tokio::task::spawn_blocking(move || service.known_files().look(&path)).await;
        looked.map_err(|error| ServiceError::internal("reading a model file", &error))
    }

    async fn engine_provider(&self) -> Result<Provider, ServiceError> {
        let providers = self.provider_list().await?;
        providers.into_iter().find(|provider| provider.kind == ProviderKind::Engine).ok_or_else(|| {
            ErrorBody::new(ErrorCode::Internal, "the vault does not list the built-in engine; restart Evenkeel").into()
        })
    }

    /// The file of a model of the engine.
    pub(crate) async fn engine_file(&self, name: &str) -> Result<PathBuf, ServiceError> {
        let missing = |place: String| {
            let message =
                format!("the model file {place} is not there; add it again under Settings, Models, or choose another model");
            ServiceError::from(ErrorBody::new(ErrorCode::ModelFileMissing, message).with("path", place))
        };
        if name == BUILT_IN {
            return self.built_in_path().ok_or_else(|| missing(default_model::FILE_NAME.to_owned()));
        }
        let files = self.session()?.read(|r| r.model_files()).await?;
        let row = files.into_iter().find(|row| row.name == name).ok_or_else(|| missing(name.to_owned()))?;
        let path = PathBuf::from(row.path);
        if path.is_file() { Ok(path) } else { Err(missing(path.display().to_string())) }
    }

    fn built_in_path(&self) -> Option<PathBuf> {
        default_model::locate(self.resources()).ok()
    }
}

/// The window to load a model with, from what its file says (0 = nothing).
fn usable_window(stated: u32) -> u32 {
    if stated == 0 { UNKNOWN_WINDOW } else { stated.min(ENGINE_WINDOW) }
}

/// What the lists show of a model file.
fn file_info(name: String, file: &ModelFile, for_trying_out: bool) -> ModelInfo {
    ModelInfo {
        name,
        window: Some(usable_window(file.window)),
        size_bytes: Some(file.size_bytes),
        for_trying_out,
        locality: ProviderLocality::Local,
        embedding: file.embedding,
    }
}

/// Where a process of the engine is reached.
pub(crate) fn engine_endpoint(engine: &EngineEndpoint, provider: &Provider) -> Endpoint {
    Endpoint {
        kind: ProviderKind::Engine,
        base_url: engine.base_url.clone(),
        key: Some(engine.token.clone()),
        extra_headers: std::collections::BTreeMap::new(),
        timeout: Duration::from_secs(provider.timeout_seconds.into()),
        local_only: true,
    }
}

/// What the window is told of the engine.
pub(crate) fn notice(event: &EngineEvent) -> EngineNotice {
    match event {
        EngineEvent::Started { .. } => EngineNotice { kind: crate::EngineNoticeKind::Started, message: String::new() },
        EngineEvent::Unloaded => EngineNotice { kind: crate::EngineNoticeKind::Unloaded, message: String::new() },
        EngineEvent::Crashed { .. } => EngineNotice {
            kind: crate::EngineNoticeKind::Crashed,
            message: "the built-in engine stopped; it starts again with the next message".into(),
        },
    }
}
