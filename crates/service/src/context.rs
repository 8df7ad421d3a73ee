//! Contexts and presets.

use crate::{PresetOverrides, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextDraft, ContextId, ContextPatch, ErrorBody, ErrorCode, Preset, PresetId, Revision};

/// How many names a not-found error lists.
const LISTED: u32 = 20;

impl Service {
    /// All active contexts, last used first.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn context_list(&self) -> Result<Vec<Context>, ServiceError> {
        let limit = self.limits().contexts;
        self.session()?.read(move |r| r.contexts(false, limit, 0)).await
    }

    /// One context.
    ///
    /// # Errors
    /// There is none with this id; the error lists those that exist.
    pub async fn context_get(&self, id: ContextId) -> Result<Context, ServiceError> {
        let (found, others) = self
            .session()?
            .read(move |r| match r.context(id)? {
                Some(context) => Ok((Some(context), Vec::new())),
                None => Ok((None, r.contexts(false, LISTED, 0)?)),
            })
            .await?;
        found.ok_or_else(|| {
            let known = others.iter().map(|c| format!("{} ({})", c.name, c.id)).collect::<Vec<_>>().join(", ");
            ErrorBody::new(ErrorCode::NotFound, format!("there is no context {id}; there are: {known}"))
                .with("id", id)
                .with("existing", known)
                .into()
        })
    }

    /// Makes a context.
    ///
    /// # Errors
    /// A field is outside its range, or the vault holds as many contexts as it may.
    pub async fn context_create(&self, draft: ContextDraft) -> Result<Context, ServiceError> {
        draft.check()?;
        let limit = self.limits().contexts;
        let (context, revision) = self.born(draft);
        let made = context.clone();
        let full = self
            .session()?
            .write(move |w| {
                if w.context_count(false)? >= u64::from(limit) {
                    return Ok(true);
                }
                w.insert_context(&context, &revision)?;
                Ok(false)
            })
            .await?;
        if full {
            let message = format!("the vault holds {limit} contexts, as many as it may; delete one or raise the limit");
            return Err(ErrorBody::new(ErrorCode::LimitReached, message).with("limit", limit).into());
        }
        Ok(made)
    }

    /// Makes a context from a preset.
    ///
    /// # Errors
    /// There is no such preset (the error lists those that exist), or an override is outside its range.
    pub async fn context_create_from_preset(
        &self,
        preset_id: PresetId,
        overrides: PresetOverrides,
    ) -> Result<Context, ServiceError> {
        let presets = self.preset_list().await?;
        let preset = presets.iter().find(|preset| preset.id == preset_id).ok_or_else(|| {
            let known = presets.iter().map(|p| p.id.as_str()).collect::<Vec<_>>().join(", ");
            ErrorBody::new(ErrorCode::NotFound, format!("there is no preset {preset_id}; there are: {known}"))
                .with("id", &preset_id)
                .with("existing", known)
        })?;
        self.context_create(drafted(preset, overrides)).await
    }

    /// Changes a context. Another name, prompt or personality makes a new revision.
    ///
    /// # Errors
    /// There is no such context, or a field is outside its range.
    pub async fn context_update(&self, id: ContextId, patch: ContextPatch) -> Result<Context, ServiceError> {
        patch.clone().onto(&self.context_get(id).await?).check()?;
        let (now, patch_extends) = (self.now(), patch.expiry_days.is_some());
        // Read and written in one transaction: a reply that ends meanwhile renews the lifetime too.
        let changed = self
            .session()?
            .write(move |w| {
                let Some(before) = w.context(id)? else { return Ok(None) };
                // Naming the lifetime begins it anew: that is how an expired context is extended.
                let alive_from = if patch.expiry_days.is_some() { now } else { before.last_interaction_at };
                let (mut context, revision) = shaped(patch.onto(&before), before.id, before.created_at, alive_from, now);
                let is_extended = patch_extends && before.deleted_at.is_none();
                (context.is_active, context.deleted_at) = (before.is_active || is_extended, before.deleted_at);
                w.update_context(&context, &revision)?;
                Ok(Some(context))
            })
            .await?;
        match changed {
            Some(context) => Ok(context),
            None => self.context_get(id).await,
        }
    }

    /// Puts a context into the trash, with its conversations.
    ///
    /// # Errors
    /// There is no such context.
    pub async fn context_delete(&self, id: ContextId) -> Result<(), ServiceError> {
        self.context_get(id).await?;
        let now = self.now();
        self.session()?.write(move |w| w.trash_context(id, now)).await
    }

    /// All active presets.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn preset_list(&self) -> Result<Vec<Preset>, ServiceError> {
        self.session()?.read(|r| r.presets(false)).await
    }

    fn born(&self, draft: ContextDraft) -> (Context, Revision) {
        let now = self.now();
        shaped(draft, ContextId::from_parts(now, self.random()), now, now, now)
    }
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
    }
}

/// A context with the revision that its persona text amounts to.
fn shaped(
    draft: ContextDraft,
    id: ContextId,
    created_at: DateTime<Utc>,
    last_interaction_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> (Context, Revision) {
    let revision = Revision::new(&draft.name, &draft.system_prompt, &draft.personality, draft.anchor.as_deref(), now);
    let context = Context {
        id,
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
        created_at,
        updated_at: now,
        last_interaction_at,
        expires_at: Context::expiry(last_interaction_at, draft.expiry_days),
        is_active: true,
        deleted_at: None,
        tags: draft.tags,
    };
    (context, revision)
}
