//! `context-manage`.

use crate::caller::Caller;
use crate::companions::PresetOverrides;
use crate::record::{ContextRecord, ErrorRecord};
use crate::schema::misfit;
use evenkeel_domain::{AccessKind, Context, ContextDraft, ContextPatch, ErrorBody, MemorySettings, PresetId, StrategyChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Create,
    CreateFromPreset,
    List,
    Get,
    Update,
    Delete,
}

/// What `context-manage` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContextManage {
    /// What to do. create needs name and systemPrompt; create_from_preset needs presetId; get, update and delete need
    /// contextId; update changes the fields that are given and leaves the others.
    action: Action,
    /// Id of the context.
    context_id: Option<String>,
    /// Name of the context.
    #[schemars(length(min = 1, max = 120))]
    name: Option<String>,
    /// Instructions to the model. Best in the third person: who the companion is, what it does, and that it keeps its own
    /// stance.
    #[schemars(length(min = 1, max = 32_000))]
    system_prompt: Option<String>,
    /// The personality in words, in English. A new context begins without.
    #[schemars(length(max = 8_000))]
    personality: Option<String>,
    /// Sampling temperature; 0.7 for a new context.
    #[schemars(range(min = 0.0, max = 1.0))]
    temperature: Option<f32>,
    /// Longest reply, in tokens; 1000 for a new context.
    #[schemars(range(min = 1, max = 131_072))]
    max_tokens: Option<u32>,
    /// History that is sent with a message, in tokens at most; 15000 for a new context. The model's window less 1000 is
    /// a good value.
    #[schemars(range(min = 500, max = 2_000_000))]
    max_history_tokens: Option<u32>,
    /// Days after the last interaction until the context expires, null = never; 7 for a new context.
    #[serde(default, deserialize_with = "crate::schema::named")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 3_650))]
    expiry_days: Option<Option<u32>>,
    /// Id of the preset to make the context from.
    preset_id: Option<String>,
    /// What the context has different from the preset.
    preset_overrides: Option<PresetOverrides>,
    /// Page of the list, from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 1_000_000))]
    page: u32,
    /// Contexts a page.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 500))]
    page_size: u32,
    /// Lists expired contexts too.
    #[serde(default)]
    include_expired: bool,
}

pub(super) fn first() -> u32 {
    1
}

pub(super) fn ten() -> u32 {
    10
}

/// What `context-manage` gives.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContextManaged {
    success: bool,
    /// The context that was made, read or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextRecord>,
    /// The page of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<Vec<ContextRecord>>,
    /// Contexts on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<usize>,
    /// What was done, in a sentence.
    message: String,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
}

/// Does what was asked for.
pub(super) async fn manage(caller: &Caller, wish: ContextManage) -> Result<ContextManaged, ErrorBody> {
    match wish.action {
        Action::Create => {
            caller.check_create().await?;
            let made = caller.companions.create_context(draft(wish)?).await?;
            Ok(changed(caller, &made, "was made").await)
        }
        Action::CreateFromPreset => {
            caller.check_create().await?;
            let preset = PresetId::new(wanted("presetId", wish.preset_id)?);
            let mut overrides = wish.preset_overrides.unwrap_or_default();
            overrides.name = overrides.name.or(wish.name);
            let made = caller.companions.create_context_from_preset(preset, overrides).await?;
            Ok(changed(caller, &made, "was made from the preset").await)
        }
        Action::List => list(caller, &wish).await,
        Action::Get => {
            let context = caller.context(&wanted("contextId", wish.context_id)?).await?;
            caller.note(AccessKind::ReadContexts, Some(context.id), 1).await;
            Ok(one(caller, &context, context.name.clone()))
        }
        Action::Update => {
            let id = wanted("contextId", wish.context_id.clone())?;
            let context = caller.context(&id).await?;
            caller.check_change(AccessKind::ChangeContext, Some(context.id)).await?;
            let updated = caller.companions.update_context(context.id, patch(wish)).await?;
            Ok(changed(caller, &updated, "was changed").await)
        }
        Action::Delete => {
            let context = caller.context(&wanted("contextId", wish.context_id)?).await?;
            caller.check_change(AccessKind::DeleteContext, Some(context.id)).await?;
            caller.companions.delete_context(context.id).await?;
            caller.note(AccessKind::DeleteContext, Some(context.id), 1).await;
            let message = format!("{} is in the trash of Evenkeel, from where it can be restored", context.name);
            Ok(ContextManaged { success: true, message, ..ContextManaged::default() })
        }
    }
}

async fn list(caller: &Caller, wish: &ContextManage) -> Result<ContextManaged, ErrorBody> {
    let all = caller.contexts(wish.include_expired).await?;
    let now = caller.companions.now();
    let skipped = (wish.page as usize - 1).saturating_mul(wish.page_size as usize);
    let page: Vec<_> =
        all.iter().skip(skipped).take(wish.page_size as usize).map(|context| ContextRecord::of(context, now)).collect();
    caller.note(AccessKind::ReadContexts, None, page.len()).await;
    Ok(ContextManaged {
        success: true,
        message: format!("{} of {} contexts", page.len(), all.len()),
        total_count: Some(all.len()),
        contexts: Some(page),
        ..ContextManaged::default()
    })
}

async fn changed(caller: &Caller, context: &Context, what: &str) -> ContextManaged {
    caller.note(AccessKind::ChangeContext, Some(context.id), 1).await;
    one(caller, context, format!("{} {what}", context.name))
}

fn one(caller: &Caller, context: &Context, message: String) -> ContextManaged {
    let context = Some(ContextRecord::of(context, caller.companions.now()));
    ContextManaged { success: true, context, message, ..ContextManaged::default() }
}

/// A field that this action needs.
pub(super) fn wanted(field: &str, value: Option<String>) -> Result<String, ErrorBody> {
    value.ok_or_else(|| misfit(field, &Value::Null, "given for this action"))
}

fn draft(wish: ContextManage) -> Result<ContextDraft, ErrorBody> {
    Ok(ContextDraft {
        name: wanted("name", wish.name)?,
        system_prompt: wanted("systemPrompt", wish.system_prompt)?,
        personality: wish.personality.unwrap_or_default(),
        temperature: wish.temperature.unwrap_or(0.7),
        max_tokens: wish.max_tokens.unwrap_or(1_000),
        max_history_tokens: wish.max_history_tokens.unwrap_or(15_000),
        expiry_days: wish.expiry_days.unwrap_or(Some(7)),
        model: None,
        local_only: false,
        maintain_personality: true,
        preset_id: None,
        anchor: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    })
}

fn patch(wish: ContextManage) -> ContextPatch {
    ContextPatch {
        name: wish.name,
        system_prompt: wish.system_prompt,
        personality: wish.personality,
        temperature: wish.temperature,
        max_tokens: wish.max_tokens,
        max_history_tokens: wish.max_history_tokens,
        // A patch says 0 where a context is never to expire.
        expiry_days: wish.expiry_days.map(|days| days.unwrap_or(0)),
        ..ContextPatch::default()
    }
}
