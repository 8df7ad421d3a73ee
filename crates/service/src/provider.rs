//! Providers: where models run, and the keys to them.

use crate::{DetectedServer, ProviderDraft, ProviderTest, Service, ServiceError, session::Session};
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError, ModelInfo, Provider, ProviderId, ProviderKind, ProviderLocality};
use evenkeel_provider::{DetectTarget, Endpoint, check_address, detect_local, list_models, locality, no_address, origin};
use evenkeel_store::archive::{ProviderRecord, Unfit};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use uuid::Uuid;

impl Service {
    /// All providers, the engine first.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn provider_list(&self) -> Result<Vec<Provider>, ServiceError> {
        let mut providers = self.session()?.read(|r| r.providers()).await?;
        providers.sort_by_key(|provider| provider.kind != ProviderKind::Engine);
        Ok(providers)
    }

    /// Adds or changes a provider; its key is taken and never given back.
    ///
    /// # Errors
    /// A field is outside its range, the address is refused, or a stored key would go to another origin.
    pub async fn provider_save(&self, draft: ProviderDraft) -> Result<Provider, ServiceError> {
        check(&draft)?;
        let session = self.session()?;
        let before = match draft.id {
            Some(id) => Some(self.provider_get(id).await?),
            None => None,
        };
        if let Some(old) = &before {
            check_change(old, &draft)?;
        }
        let id = draft.id.unwrap_or_else(|| ProviderId::from_parts(self.now(), self.random()));
        let provider = provided(&draft, id, before.as_ref());
        // `None` keeps the key, `Some(None)` removes it.
        let key = match draft.key.as_deref() {
            None => None,
            Some("") => Some(None),
            Some(key) => Some(Some(evenkeel_vault::seal(&session.secrets, &bound(session.vault_id, &provider), key.as_bytes())?)),
        };
        let written = provider.clone();
        session
            .write(move |w| {
                w.upsert_provider(&written)?;
                match &key {
                    None => Ok(()),
                    Some(key) => w.set_provider_key(written.id, key.as_deref().zip(written.key_hint.as_deref())),
                }
            })
            .await?;
        self.windows().forget(provider.id);
        Ok(provider)
    }

    /// Removes a provider with its key. Contexts that used it ask for a model again.
    ///
    /// # Errors
    /// There is no such provider, or it is the engine.
    pub async fn provider_delete(&self, id: ProviderId) -> Result<(), ServiceError> {
        if self.provider_get(id).await?.kind == ProviderKind::Engine {
            let message = "the built-in engine cannot be removed; choose another default model instead";
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "id").into());
        }
        self.session()?.write(move |w| w.delete_provider(id)).await
    }

    /// The models of a provider, those entered by hand at the end.
    ///
    /// # Errors
    /// There is no such provider, or it does not answer and no model was entered by hand.
    pub async fn provider_models(&self, id: ProviderId) -> Result<Vec<ModelInfo>, ServiceError> {
        let provider = self.provider_get(id).await?;
        let mut models = match provider.kind {
            ProviderKind::Engine => self.engine_models().await?,
            _ => {
                let listed = list_models(&self.endpoint(&provider, false).await?, self.http()).await;
                match listed {
                    Err(error) if provider.manual_models.is_empty() => return Err(error.into()),
                    listed => listed.unwrap_or_default(),
                }
            }
        };
        for name in &provider.manual_models {
            if !models.iter().any(|model| &model.name == name) {
                models.push(by_hand(&provider, name));
            }
        }
        if let Some(window) = provider.window_override {
            models.iter_mut().for_each(|model| model.window = Some(window));
        }
        Ok(models)
    }

    /// Asks a provider for its models and says how long that took.
    ///
    /// # Errors
    /// What the provider answered, or that it did not.
    pub async fn provider_test(&self, id: ProviderId) -> Result<ProviderTest, ServiceError> {
        let provider = self.provider_get(id).await?;
        let began = Instant::now();
        let models = match provider.kind {
            ProviderKind::Engine => self.engine_models().await?,
            _ => list_models(&self.endpoint(&provider, false).await?, self.http()).await?,
        };
        Ok(ProviderTest { models, millis: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX) })
    }

    /// Model servers that run on this machine.
    pub async fn provider_detect(&self) -> Vec<DetectedServer> {
        let found = detect_local(self.http(), &DetectTarget::well_known()).await;
        found
            .into_iter()
            .map(|server| DetectedServer {
                kind: server.kind,
                name: server.name,
                base_url: server.base_url,
                models: server.models,
            })
            .collect()
    }

    pub(crate) async fn provider_get(&self, id: ProviderId) -> Result<Provider, ServiceError> {
        let (found, others) = self
            .session()?
            .read(move |r| match r.provider(id)? {
                Some(provider) => Ok((Some(provider), Vec::new())),
                None => Ok((None, r.providers()?)),
            })
            .await?;
        found.ok_or_else(|| {
            let known = others.iter().map(|p| format!("{} ({})", p.name, p.id)).collect::<Vec<_>>().join(", ");
            ErrorBody::new(ErrorCode::NotFound, format!("there is no provider {id}; there are: {known}"))
                .with("id", id)
                .with("existing", known)
                .into()
        })
    }

    /// A provider's address with its key, ready to be called.
    pub(crate) async fn endpoint(&self, provider: &Provider, local_only: bool) -> Result<Endpoint, ServiceError> {
        let id = provider.id;
        let sealed = self.session()?.read(move |r| r.sealed_provider_key(id)).await?;
        self.keyed_endpoint(provider, sealed.as_deref(), local_only)
    }

    /// A provider's address with the key that was read, ready to be called.
    pub(crate) fn keyed_endpoint(
        &self,
        provider: &Provider,
        sealed: Option<&[u8]>,
        local_only: bool,
    ) -> Result<Endpoint, ServiceError> {
        let session = self.session()?;
        let key = sealed.map(|sealed| opened(&session, provider, sealed)).transpose()?;
        Ok(Endpoint {
            kind: provider.kind,
            base_url: provider.base_url.clone(),
            key,
            extra_headers: provider.extra_headers.clone(),
            timeout: Duration::from_secs(provider.timeout_seconds.into()),
            local_only,
        })
    }
}

/// A model of which only the name is known.
fn by_hand(provider: &Provider, name: &str) -> ModelInfo {
    let locality = provider.locality_of(name);
    ModelInfo { name: name.to_owned(), window: None, size_bytes: None, for_trying_out: false, locality, embedding: false }
}

/// A provider with its API key, still wrapped.
pub(crate) struct KeyedProvider {
    pub provider: Provider,
    pub sealed_key: Option<Vec<u8>>,
}

/// Reads a provider with its key.
pub(crate) fn keyed_provider(r: &ReadHandle<'_>, id: ProviderId) -> Result<Option<KeyedProvider>, StoreError> {
    let Some(provider) = r.provider(id)? else { return Ok(None) };
    Ok(Some(KeyedProvider { provider, sealed_key: r.sealed_provider_key(id)? }))
}

fn opened(session: &Session, provider: &Provider, sealed: &[u8]) -> Result<SecretString, ServiceError> {
    let plain = evenkeel_vault::open(&session.secrets, &bound(session.vault_id, provider), sealed)?;
    let text = std::str::from_utf8(&plain).map_err(|error| ServiceError::internal("reading a stored API key", &error))?;
    Ok(SecretString::from(text.to_owned()))
}

/// What a wrapped key is bound to: it opens for this provider at this address in this vault only.
fn bound(vault_id: Uuid, provider: &Provider) -> Vec<u8> {
    format!("evenkeel/provider-key/v1\n{vault_id}\n{}\n{}", provider.id, origin(&provider.base_url).unwrap_or_default())
        .into_bytes()
}

/// Wraps every API key anew, for a vault that gets another root key. One that does not open is of no use under any key and
/// stays as it is.
pub(crate) fn reseal_keys(w: &mut WriteHandle<'_>, vault_id: Uuid, old: &[u8; 32], new: &[u8; 32]) -> Result<(), StoreError> {
    for provider in w.providers()? {
        let Some(sealed) = w.sealed_provider_key(provider.id)? else { continue };
        let bound = bound(vault_id, &provider);
        let Ok(key) = evenkeel_vault::open(old, &bound, &sealed) else {
            tracing::warn!(provider = %provider.id, "a stored API key does not open and is left as it is");
            continue;
        };
        let unsealed = |_| StoreError::DamagedValue { what: format!("the API key of provider {}", provider.id) };
        let anew = evenkeel_vault::seal(new, &bound, &key).map_err(unsealed)?;
        w.set_provider_key(provider.id, Some((&anew, provider.key_hint.as_deref().unwrap_or_default())))?;
    }
    Ok(())
}

fn provided(draft: &ProviderDraft, id: ProviderId, before: Option<&Provider>) -> Provider {
    let hint = |key: &str| {
        let last: Vec<char> = key.chars().rev().take(4).collect();
        last.into_iter().rev().collect::<String>()
    };
    Provider {
        id,
        kind: draft.kind,
        name: draft.name.trim().to_owned(),
        base_url: draft.base_url.trim().trim_end_matches('/').to_owned(),
        locality: if draft.kind == ProviderKind::Engine { ProviderLocality::Local } else { locality(&draft.base_url) },
        key_hint: match draft.key.as_deref() {
            None => before.and_then(|old| old.key_hint.clone()),
            Some("") => None,
            Some(key) => Some(hint(key)),
        },
        extra_headers: draft.extra_headers.clone(),
        manual_models: draft.manual_models.clone(),
        window_override: draft.window_override,
        timeout_seconds: draft.timeout_seconds,
    }
}

/// What may not change silently: where secrets go, and that text stays on this machine.
fn check_change(old: &Provider, draft: &ProviderDraft) -> Result<(), ServiceError> {
    let refuse = |field, value: String, range: &str| -> Result<(), ServiceError> {
        Err(FieldError { field, value, range: range.into() }.into())
    };
    if (old.kind == ProviderKind::Engine) != (draft.kind == ProviderKind::Engine) {
        return refuse("kind", draft.kind.as_str().into(), "as it was; the built-in engine stays what it is");
    }
    let moves = origin(&old.base_url) != origin(&draft.base_url);
    let has_secrets = old.key_hint.is_some() || !old.extra_headers.is_empty();
    if moves && has_secrets && draft.key.is_none() {
        let why = "the old address, to which the stored key and headers belong; to use another one, enter the key again";
        return refuse("baseUrl", draft.base_url.clone(), why);
    }
    let leaves = old.locality == ProviderLocality::Local && locality(&draft.base_url) == ProviderLocality::Remote;
    if leaves && draft.kind != ProviderKind::Engine {
        let why = "an address on this machine, since contexts rely on that; add the other address as a provider of its own";
        return refuse("baseUrl", draft.base_url.clone(), why);
    }
    Ok(())
}

/// Whether a provider in an archive is one that could have been entered here. Where it is follows from its address
/// alone: what calls itself local and is not would get what is to stay on this machine.
pub(crate) fn examine(record: &ProviderRecord) -> Result<(), Unfit> {
    let kinds = [ProviderKind::Engine, ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Ollama];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == record.kind).ok_or("the kind of a provider is unknown")?;
    let draft = ProviderDraft {
        id: Some(record.id),
        kind,
        name: record.name.clone(),
        base_url: record.base_url.clone(),
        key: None,
        extra_headers: BTreeMap::new(),
        manual_models: record.manual_models.clone(),
        window_override: record.window_override,
        timeout_seconds: record.timeout_seconds,
    };
    check(&draft).map_err(|error| error.to_string())?;
    let named = provided(&draft, record.id, None).locality == ProviderLocality::Local;
    if named == (record.locality == "local") { Ok(()) } else { Err("a provider is not where it says it is".into()) }
}

fn check(draft: &ProviderDraft) -> Result<(), ServiceError> {
    let refuse = |field, value: String, range: &str| -> Result<(), ServiceError> {
        Err(FieldError { field, value, range: range.into() }.into())
    };
    let name = draft.name.trim().chars().count();
    if !(1..=120).contains(&name) {
        return refuse("name", format!("{name} characters"), "1 to 120 characters");
    }
    if !(5..=3_600).contains(&draft.timeout_seconds) {
        return refuse("timeoutSeconds", draft.timeout_seconds.to_string(), "5 to 3600");
    }
    if draft.window_override.is_some_and(|window| !(512..=10_000_000).contains(&window)) {
        return refuse("windowOverride", draft.window_override.unwrap_or_default().to_string(), "512 to 10000000");
    }
    if draft.kind == ProviderKind::Engine {
        return if draft.id.is_some() {
            Ok(())
        } else {
            refuse("kind", "engine".into(), "there is one engine, and it is built in")
        };
    }
    reachable("baseUrl", draft.base_url.trim())
}

/// Refuses what is no address, as a value that `field` cannot have, and one that may not be called.
pub(crate) fn reachable(field: &'static str, address: &str) -> Result<(), ServiceError> {
    if let Some(shown) = no_address(address) {
        let value = shown.chars().take(80).collect();
        return Err(FieldError { field, value, range: "https://host/path, or http://localhost:port/path".into() }.into());
    }
    Ok(check_address(address, false)?)
}
