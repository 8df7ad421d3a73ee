//! Contexts: made, listed, changed, extended. How they go and come back is in `trash`.

use crate::missing::{LISTED, full, in_trash, missing, named};
use crate::naming::{copy_name, original};
use crate::{ContextPage, PresetOverrides, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Context, ContextDraft, ContextId, ContextPatch, ContextQuery, FieldError, MemorySettings, ModelChoice, Preset, PresetId,
    Revision, StrategyChoice, checked_tags, longest_reply,
};
use evenkeel_store::{ReadHandle, StoreError};

impl Service {
    /// A page of contexts.
    ///
    /// # Errors
    /// Page or page size is outside its range, or the vault is locked or cannot be read.
    pub async fn context_list(&self, query: ContextQuery) -> Result<ContextPage, ServiceError> {
        query.check()?;
        let now = self.now();
        let (contexts, total) = self.session()?.read(move |r| r.contexts_page(&query, now)).await?;
        Ok(ContextPage { contexts, total_count: u32::try_from(total).unwrap_or(u32::MAX) })
    }

    /// One context, in the trash or not.
    ///
    /// # Errors
    /// There is none with this id; the error lists those that exist.
    pub async fn context_get(&self, id: ContextId) -> Result<Context, ServiceError> {
        let now = self.now();
        let (found, others) = self
            .session()?
            .read(move |r| match r.context(id)? {
                Some(context) => Ok((Some(context), Vec::new())),
                None => Ok((None, r.contexts_page(&every(LISTED), now)?.0)),
            })
            .await?;
        found.ok_or_else(|| missing("context", id, &names(&others)))
    }

    /// Makes a context.
    ///
    /// # Errors
    /// A field is outside its range, a reply might take more than half of the model's window, the vault
    /// holds as many contexts as it may, or it is as large as it may be.
    pub async fn context_create(&self, draft: ContextDraft) -> Result<Context, ServiceError> {
        draft.check()?;
        self.check_reply_fits(draft.model.clone(), draft.max_tokens).await?;
        self.context_insert(draft).await
    }

    async fn context_insert(&self, mut draft: ContextDraft) -> Result<Context, ServiceError> {
        draft.check()?;
        self.check_vault_size().await?;
        draft.tags = checked_tags(&draft.tags)?;
        let limit = self.limits().contexts;
        let now = self.now();
        let life = Life {
            id: ContextId::from_parts(now, self.random()),
            created_at: now,
            last_interaction_at: now,
            expires_at: Context::expiry(now, draft.expiry_days),
        };
        let (context, revision) = shaped(draft, life, now);
        let made = context.clone();
        let is_full = self
            .session()?
            .write(move |w| {
                if is_full(w, limit, now)? {
                    return Ok(true);
                }
                w.insert_context(&context, &revision)?;
                Ok(false)
            })
            .await?;
        if is_full { Err(too_many(limit)) } else { Ok(made) }
    }

    /// Makes a context from a preset. A reply that the preset lets grow beyond half of the model's
    /// window is held to that half.
    ///
    /// # Errors
    /// There is no such preset (the error lists those that exist), an override is outside its range, or
    /// there is no room for one more.
    pub async fn context_create_from_preset(
        &self,
        preset_id: PresetId,
        overrides: PresetOverrides,
    ) -> Result<Context, ServiceError> {
        let preset = self.preset_get(preset_id).await?;
        let is_chosen = overrides.max_tokens.is_some();
        let mut draft = drafted(&preset, overrides);
        if is_chosen {
            return self.context_create(draft).await;
        }
        if let Some(window) = self.known_window(None).await? {
            draft.max_tokens = draft.max_tokens.min(longest_reply(window));
        }
        self.context_insert(draft).await
    }

    /// Makes another context with the same persona, settings and tags, and no conversations.
    ///
    /// # Errors
    /// There is no such context, or the vault holds as many as it may.
    pub async fn context_duplicate(&self, id: ContextId) -> Result<Context, ServiceError> {
        let context = self.context_get(id).await?;
        let text = Some(original(&context.name).to_owned());
        let alike = self.context_list(ContextQuery { text, ..every(500) }).await?.contexts;
        let taken: Vec<String> = alike.into_iter().map(|other| other.name).collect();
        let patch = ContextPatch { name: Some(copy_name(&context.name, &taken)), ..ContextPatch::default() };
        // A copy is what the other one is, whatever its model takes.
        self.context_insert(patch.onto(&context)).await
    }

    /// Changes a context. Another name, prompt or personality makes a new revision; another number of
    /// days begins the lifetime anew, and an expired context answers again.
    ///
    /// # Errors
    /// There is no such context, it has expired and gets no other number of days, a field is outside its range, or another model or length of replies
    /// is wished that do not fit each other.
    pub async fn context_update(&self, id: ContextId, mut patch: ContextPatch) -> Result<Context, ServiceError> {
        let before = self.context_get(id).await?;
        let draft = patch.clone().onto(&before);
        draft.check()?;
        if draft.expiry_days == before.expiry_days {
            self.check_lifetime(&before)?;
        }
        // What was so before the window was known may stay.
        if (draft.max_tokens, &draft.model) != (before.max_tokens, &before.model) {
            self.check_reply_fits(draft.model, draft.max_tokens).await?;
        }
        patch.tags = patch.tags.as_deref().map(checked_tags).transpose()?;
        let now = self.now();
        // Read and written in one transaction: a reply that ends meanwhile renews the lifetime too.
        let changed = self
            .session()?
            .write(move |w| {
                let Some(before) = w.context(id)? else { return Ok(None) };
                let draft = patch.onto(&before);
                let begins_anew = draft.expiry_days != before.expiry_days;
                let expires_at = if begins_anew { Context::expiry(now, draft.expiry_days) } else { before.expires_at };
                let (created_at, last_interaction_at) = (before.created_at, before.last_interaction_at);
                let (mut context, revision) = shaped(draft, Life { id, created_at, last_interaction_at, expires_at }, now);
                context.is_active = before.deleted_at.is_none() && (before.is_active || begins_anew);
                context.deleted_at = before.deleted_at;
                w.update_context(&context, &revision)?;
                Ok(Some(context))
            })
            .await?;
        match changed {
            Some(context) => Ok(context),
            None => self.context_get(id).await,
        }
    }

    /// Half of a known window is the most that a reply may take: the other half is for what it answers.
    async fn check_reply_fits(&self, model: Option<ModelChoice>, max_tokens: u32) -> Result<(), ServiceError> {
        let Some(window) = self.known_window(model).await? else { return Ok(()) };
        let most = longest_reply(window);
        if max_tokens <= most {
            return Ok(());
        }
        let range = format!("1 to {most}, half of the model's window of {window}");
        Err(FieldError { field: "maxTokens", value: max_tokens.to_string(), range }.into())
    }

    /// Begins a context's lifetime anew from now; one that has expired answers again.
    ///
    /// # Errors
    /// There is no such context, or it lies in the trash.
    pub async fn context_extend(&self, id: ContextId) -> Result<Context, ServiceError> {
        let now = self.now();
        let extended = self
            .session()?
            .write(move |w| {
                let Some(mut context) = w.context(id)?.filter(|context| context.deleted_at.is_none()) else { return Ok(None) };
                let Some(revision) = w.revision(&context.revision_id)? else { return Ok(None) };
                context.is_active = true;
                context.expires_at = Context::expiry(now, context.expiry_days);
                w.update_context(&context, &revision)?;
                Ok(Some(context))
            })
            .await?;
        match extended {
            Some(context) => Ok(context),
            None => {
                let context = self.context_get(id).await?;
                Err(in_trash(&context.name, id))
            }
        }
    }
}

/// The first contexts that are not in the trash.
fn every(page_size: u32) -> ContextQuery {
    ContextQuery { include_expired: true, page_size, ..ContextQuery::default() }
}

/// Contexts as a refusal lists them.
pub(crate) fn names(contexts: &[Context]) -> Vec<String> {
    contexts.iter().map(|context| named(&context.name, context.id)).collect()
}

/// Whether the vault holds as many contexts as it may; those in the trash do not count.
pub(crate) fn is_full(read: &ReadHandle<'_>, limit: u32, now: DateTime<Utc>) -> Result<bool, StoreError> {
    Ok(read.contexts_page(&every(1), now)?.1 >= u64::from(limit))
}

pub(crate) fn too_many(limit: u32) -> ServiceError {
    full("the number of contexts in the vault has reached its limit of", limit)
}

fn drafted(preset: &Preset, overrides: PresetOverrides) -> ContextDraft {
    let settings = preset.default_settings;
    ContextDraft {
        name: overrides.name.unwrap_or_else(|| preset.name.clone()),
        system_prompt: preset.system_prompt.clone(),
        personality: preset.default_personality.clone(),
        temperature: overrides.temperature.unwrap_or(settings.temperature),
        max_tokens: overrides.max_tokens.unwrap_or(settings.max_tokens),
        max_history_tokens: overrides.max_history_tokens.unwrap_or(settings.max_history_tokens),
        expiry_days: match overrides.expiry_days {
            Some(0) => None,
            Some(days) => Some(days),
            None => settings.expiry_days,
        },
        model: None,
        local_only: false,
        maintain_personality: true,
        preset_id: Some(preset.id.clone()),
        anchor: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    }
}

/// What a context keeps whatever its persona and settings are.
struct Life {
    id: ContextId,
    created_at: DateTime<Utc>,
    last_interaction_at: DateTime<Utc>,
    expires_at: Option<DateTime<Utc>>,
}

/// A context with the revision that its persona text amounts to.
fn shaped(draft: ContextDraft, life: Life, now: DateTime<Utc>) -> (Context, Revision) {
    let revision = Revision::new(&draft.name, &draft.system_prompt, &draft.personality, draft.anchor.as_deref(), now);
    let context = Context {
        id: life.id,
        name: draft.name,
        system_prompt: draft.system_prompt,
        personality: draft.personality,
        anchor: draft.anchor,
        revision_id: revision.id.clone(),
        temperature: draft.temperature,
        max_tokens: draft.max_tokens,
        max_history_tokens: draft.max_history_tokens,
        expiry_days: draft.expiry_days,
        model: draft.model,
        local_only: draft.local_only,
        maintain_personality: draft.maintain_personality,
        preset_id: draft.preset_id,
        created_at: life.created_at,
        updated_at: now,
        last_interaction_at: life.last_interaction_at,
        expires_at: life.expires_at,
        is_active: true,
        deleted_at: None,
        tags: draft.tags,
        strategy: draft.strategy,
        memory: draft.memory,
    };
    (context, revision)
}
