//! Presets: templates for contexts.

use crate::missing::{missing, named};
use crate::naming::copy_name;
use crate::{PresetPage, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    BUILT_IN_PRESETS, ContextId, DefaultSettings, ErrorBody, ErrorCode, Preset, PresetDraft, PresetId, PresetQuery,
};

impl Service {
    /// A page of presets, experimental ones first.
    ///
    /// # Errors
    /// Page or page size is outside its range, or the vault is locked or cannot be read.
    pub async fn preset_list(&self, query: PresetQuery) -> Result<PresetPage, ServiceError> {
        query.check()?;
        let (presets, total) = self.session()?.read(move |r| r.presets_page(&query)).await?;
        Ok(PresetPage { presets, total_count: u32::try_from(total).unwrap_or(u32::MAX) })
    }

    /// One preset, hidden or not.
    ///
    /// # Errors
    /// There is none with this id; the error lists those that exist.
    pub async fn preset_get(&self, id: PresetId) -> Result<Preset, ServiceError> {
        let wanted = id.clone();
        let (found, others) = self
            .session()?
            .read(move |r| match r.preset(&wanted)? {
                Some(preset) => Ok((Some(preset), Vec::new())),
                None => Ok((None, r.presets(true)?)),
            })
            .await?;
        found.ok_or_else(|| {
            let known: Vec<String> = others.iter().map(|preset| named(&preset.name, &preset.id)).collect();
            missing("preset", &id, &known)
        })
    }

    /// Makes a preset.
    ///
    /// # Errors
    /// A field is outside its range, or the vault is as large as it may be.
    pub async fn preset_create(&self, draft: PresetDraft) -> Result<Preset, ServiceError> {
        draft.check()?;
        self.check_vault_size().await?;
        let now = self.now();
        self.preset_put(born(draft, self.new_preset_id(now), now)).await
    }

    /// Changes a preset; contexts that were made from it stay as they are.
    ///
    /// # Errors
    /// There is no such preset, or a field is outside its range.
    pub async fn preset_update(&self, id: PresetId, draft: PresetDraft) -> Result<Preset, ServiceError> {
        draft.check()?;
        let before = self.preset_get(id.clone()).await?;
        let preset = Preset { created_at: before.created_at, is_active: before.is_active, ..born(draft, id, self.now()) };
        self.preset_put(preset).await
    }

    /// Hides a preset, or shows it again.
    ///
    /// # Errors
    /// There is no such preset.
    pub async fn preset_set_active(&self, id: PresetId, is_active: bool) -> Result<Preset, ServiceError> {
        let before = self.preset_get(id).await?;
        if before.is_active == is_active {
            return Ok(before);
        }
        let preset = Preset { is_active, updated_at: self.now(), ..before };
        // One that was only hidden counts as unedited again, so that later versions may refresh it.
        if is_active && is_as_shipped(&preset) {
            return self.preset_reset(preset.id).await;
        }
        self.preset_put(preset).await
    }

    /// Deletes a preset; one that ships with the app is hidden instead. Contexts made from it stay.
    ///
    /// # Errors
    /// There is no such preset.
    pub async fn preset_delete(&self, id: PresetId) -> Result<(), ServiceError> {
        self.preset_get(id.clone()).await?;
        self.session()?.write(move |w| w.delete_preset(&id)).await
    }

    /// Makes a preset of the user's own with the same text and settings.
    ///
    /// # Errors
    /// There is no such preset, or the vault is as large as it may be.
    pub async fn preset_duplicate(&self, id: PresetId) -> Result<Preset, ServiceError> {
        let preset = self.preset_get(id).await?;
        self.check_vault_size().await?;
        let taken = self.session()?.read(|r| r.presets(true)).await?;
        let taken: Vec<String> = taken.into_iter().map(|other| other.name).collect();
        let now = self.now();
        let draft = PresetDraft {
            name: copy_name(&preset.name, &taken),
            description: preset.description,
            system_prompt: preset.system_prompt,
            default_personality: preset.default_personality,
            default_settings: preset.default_settings,
            metadata: without_origin(&preset.metadata),
        };
        self.preset_put(born(draft, self.new_preset_id(now), now)).await
    }

    /// Gives a built-in preset its shipped text and settings again, and shows it.
    ///
    /// # Errors
    /// There is no such preset, or it does not ship with the app.
    pub async fn preset_reset(&self, id: PresetId) -> Result<Preset, ServiceError> {
        let preset = self.preset_get(id.clone()).await?;
        if !preset.is_built_in {
            let message = format!("{} does not ship with the app, so there is no shipped text to go back to", preset.name);
            let range = "a preset that ships with the app";
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message)
                .with("field", "id")
                .with("value", &id)
                .with("range", range)
                .into());
        }
        let (now, wanted) = (self.now(), id.clone());
        self.session()?.write(move |w| w.reset_preset(&wanted, now)).await?;
        self.preset_get(id).await
    }

    /// Makes a preset of a context's persona and settings.
    ///
    /// # Errors
    /// There is no such context, or the name has not 1–120 characters.
    pub async fn preset_from_context(&self, context: ContextId, name: String) -> Result<Preset, ServiceError> {
        let context = self.context_get(context).await?;
        self.preset_create(PresetDraft {
            name,
            description: String::new(),
            system_prompt: context.system_prompt,
            default_personality: context.personality,
            default_settings: DefaultSettings {
                temperature: context.temperature,
                max_tokens: context.max_tokens,
                max_history_tokens: context.max_history_tokens,
                expiry_days: context.expiry_days,
            },
            metadata: String::new(),
        })
        .await
    }

    async fn preset_put(&self, preset: Preset) -> Result<Preset, ServiceError> {
        let id = preset.id.clone();
        self.session()?.write(move |w| w.upsert_preset(&preset)).await?;
        self.preset_get(id).await
    }

    fn new_preset_id(&self, now: DateTime<Utc>) -> PresetId {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or(0);
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &self.random()).into_uuid();
        PresetId::new(format!("preset-{id}"))
    }
}

/// A preset of the user's own.
fn born(draft: PresetDraft, id: PresetId, now: DateTime<Utc>) -> Preset {
    Preset {
        id,
        metadata: draft.metadata_or_empty().to_owned(),
        name: draft.name,
        description: draft.description,
        system_prompt: draft.system_prompt,
        default_personality: draft.default_personality,
        default_settings: draft.default_settings,
        created_at: now,
        updated_at: now,
        is_active: true,
        use_count: 0,
        thumbs_up: 0,
        thumbs_down: 0,
        is_built_in: false,
        is_edited: false,
    }
}

/// Whether a built-in preset has the text and settings that it ships with.
fn is_as_shipped(preset: &Preset) -> bool {
    let shipped = BUILT_IN_PRESETS.iter().find(|shipped| shipped.id == preset.id.as_str());
    shipped.map(|shipped| shipped.to_preset(preset.created_at)).is_some_and(|shipped| {
        let text = |preset: &Preset| {
            let texts = [&preset.name, &preset.description, &preset.system_prompt, &preset.default_personality];
            (texts.map(Clone::clone), preset.default_settings, preset.metadata.clone())
        };
        text(&shipped) == text(preset)
    })
}

/// The metadata of a copy, which no longer ships with the app.
fn without_origin(metadata: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(metadata) {
        Ok(serde_json::Value::Object(mut fields)) => {
            fields.remove("builtIn");
            serde_json::Value::Object(fields).to_string()
        }
        _ => metadata.to_owned(),
    }
}
