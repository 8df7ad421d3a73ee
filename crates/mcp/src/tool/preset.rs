//! `personality-preset-manage`.

use super::context::{first, ten, wanted};
use crate::caller::Caller;
use crate::record::{ErrorRecord, PresetRecord};
use evenkeel_domain::{AccessKind, DefaultSettings, ErrorBody, Preset, PresetDraft, PresetId, PresetQuery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Create,
    List,
    Get,
    Update,
    Delete,
}

/// Settings that a context made from the preset begins with; what is left out stays, and begins as the value named.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Settings {
    /// Sampling temperature; 0.7 for a new preset.
    #[schemars(range(min = 0.0, max = 1.0))]
    temperature: Option<f32>,
    /// Longest reply, in tokens; 1000 for a new preset.
    #[schemars(range(min = 1, max = 131_072))]
    max_tokens: Option<u32>,
    /// History that is sent with a message, in tokens at most; 15000 for a new preset.
    #[schemars(range(min = 500, max = 2_000_000))]
    max_history_tokens: Option<u32>,
    /// Days after the last interaction until a context expires, null = never; 7 for a new preset.
    #[serde(default, deserialize_with = "crate::schema::named")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 3_650))]
    expiry_days: Option<Option<u32>>,
}

impl Settings {
    fn onto(self, before: DefaultSettings) -> DefaultSettings {
        DefaultSettings {
            temperature: self.temperature.unwrap_or(before.temperature),
            max_tokens: self.max_tokens.unwrap_or(before.max_tokens),
            max_history_tokens: self.max_history_tokens.unwrap_or(before.max_history_tokens),
            expiry_days: self.expiry_days.unwrap_or(before.expiry_days),
        }
    }
}

/// Settings of a new preset.
const NEW: DefaultSettings =
    DefaultSettings { temperature: 0.7, max_tokens: 1_000, max_history_tokens: 15_000, expiry_days: Some(7) };

/// What `personality-preset-manage` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PresetManage {
    /// What to do. create needs name and systemPrompt; get, update and delete need presetId; update changes the fields
    /// that are given and leaves the others.
    action: Action,
    /// Id of the preset.
    preset_id: Option<String>,
    /// Name of the preset.
    #[schemars(length(min = 1, max = 120))]
    name: Option<String>,
    /// What it is for.
    #[schemars(length(max = 2_000))]
    description: Option<String>,
    /// Instructions to the model, best in the third person.
    #[schemars(length(min = 1, max = 32_000))]
    system_prompt: Option<String>,
    /// The personality in words, in English.
    #[schemars(length(max = 8_000))]
    default_personality: Option<String>,
    /// Settings that a context made from the preset begins with.
    default_settings: Option<Settings>,
    /// Shows the preset in lists, or hides it; for update.
    is_active: Option<bool>,
    /// Any JSON, as text of at most 65,536 bytes.
    metadata: Option<Value>,
    /// Page of the list, from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 1_000_000))]
    page: u32,
    /// Presets a page.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 500))]
    page_size: u32,
    /// Lists hidden presets too.
    #[serde(default)]
    include_inactive: bool,
}

/// What `personality-preset-manage` gives.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PresetManaged {
    success: bool,
    /// The preset that was made, read or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<PresetRecord>,
    /// The page of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    presets: Option<Vec<PresetRecord>>,
    /// Presets on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<u32>,
    /// What was done, in a sentence.
    message: String,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
}

/// Does what was asked for.
pub(super) async fn manage(caller: &Caller, wish: PresetManage) -> Result<PresetManaged, ErrorBody> {
    let companions = &caller.companions;
    match wish.action {
        Action::Create => {
            caller.check_change(AccessKind::ChangePreset, None).await?;
            let made = companions.create_preset(draft(wish)?).await?;
            Ok(changed(caller, &made, "was made").await)
        }
        Action::List => {
            let query = PresetQuery { include_inactive: wish.include_inactive, page: wish.page, page_size: wish.page_size };
            let (page, total) = companions.presets(query).await?;
            caller.note(AccessKind::ReadPresets, None, page.len()).await;
            Ok(PresetManaged {
                success: true,
                message: format!("{} of {total} presets", page.len()),
                total_count: Some(total),
                presets: Some(page.iter().map(PresetRecord::of).collect()),
                ..PresetManaged::default()
            })
        }
        Action::Get => {
            let preset = companions.preset(PresetId::new(wanted("presetId", wish.preset_id)?)).await?;
            caller.note(AccessKind::ReadPresets, None, 1).await;
            Ok(one(&preset, preset.name.clone()))
        }
        Action::Update => {
            let before = companions.preset(PresetId::new(wanted("presetId", wish.preset_id.clone())?)).await?;
            caller.check_change(AccessKind::ChangePreset, None).await?;
            let updated = update(caller, before, wish).await?;
            Ok(changed(caller, &updated, "was changed").await)
        }
        Action::Delete => {
            let before = companions.preset(PresetId::new(wanted("presetId", wish.preset_id)?)).await?;
            caller.check_change(AccessKind::DeletePreset, None).await?;
            companions.delete_preset(before.id).await?;
            caller.note(AccessKind::DeletePreset, None, 1).await;
            let what = if before.is_built_in { "ships with Evenkeel and was hidden" } else { "was deleted" };
            let message = format!("{} {what}; contexts made from it stay as they are", before.name);
            Ok(PresetManaged { success: true, message, ..PresetManaged::default() })
        }
    }
}

/// Hiding and showing alone leave the text as it is, so that one which ships with the app stays unedited.
async fn update(caller: &Caller, before: Preset, wish: PresetManage) -> Result<Preset, ErrorBody> {
    let (id, is_active) = (before.id.clone(), wish.is_active);
    let is_edit = wish.name.is_some()
        || wish.description.is_some()
        || wish.system_prompt.is_some()
        || wish.default_personality.is_some()
        || wish.default_settings.is_some()
        || wish.metadata.is_some();
    let edited = if is_edit { caller.companions.update_preset(id.clone(), edited(before, wish)).await? } else { before };
    match is_active {
        Some(is_active) => caller.companions.set_preset_active(id, is_active).await,
        None => Ok(edited),
    }
}

async fn changed(caller: &Caller, preset: &Preset, what: &str) -> PresetManaged {
    caller.note(AccessKind::ChangePreset, None, 1).await;
    one(preset, format!("{} {what}", preset.name))
}

fn one(preset: &Preset, message: String) -> PresetManaged {
    PresetManaged { success: true, preset: Some(PresetRecord::of(preset)), message, ..PresetManaged::default() }
}

fn draft(wish: PresetManage) -> Result<PresetDraft, ErrorBody> {
    Ok(PresetDraft {
        name: wanted("name", wish.name)?,
        description: wish.description.unwrap_or_default(),
        system_prompt: wanted("systemPrompt", wish.system_prompt)?,
        default_personality: wish.default_personality.unwrap_or_default(),
        default_settings: wish.default_settings.unwrap_or_default().onto(NEW),
        metadata: text_of(wish.metadata).unwrap_or_default(),
    })
}

fn edited(before: Preset, wish: PresetManage) -> PresetDraft {
    PresetDraft {
        name: wish.name.unwrap_or(before.name),
        description: wish.description.unwrap_or(before.description),
        system_prompt: wish.system_prompt.unwrap_or(before.system_prompt),
        default_personality: wish.default_personality.unwrap_or(before.default_personality),
        default_settings: wish.default_settings.unwrap_or_default().onto(before.default_settings),
        metadata: text_of(wish.metadata).unwrap_or(before.metadata),
    }
}

fn text_of(metadata: Option<Value>) -> Option<String> {
    metadata.map(|metadata| metadata.to_string())
}
