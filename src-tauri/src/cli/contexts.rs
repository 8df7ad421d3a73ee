//! `evenkeel contexts`.

use super::Caller;
use super::failure::Failure;
use super::print::{fields, shortened, table, when};
use crate::options::{ContextChange, ContextDescription, ContextsWish, Persona};
use chrono::Utc;
use evenkeel_domain::{Context, ContextDraft, ContextPatch, ContextQuery, MemorySettings, StrategyChoice};
use evenkeel_service::{ContextPage, PresetOverrides};
use std::io::{self, Read};
use std::path::Path;

/// What a context begins with where nothing else is said.
const TEMPERATURE: f32 = 0.7;
const REPLY_TOKENS: u32 = 1_000;
const HISTORY_TOKENS: u32 = 15_000;
const EXPIRY_DAYS: u32 = 7;
/// The longest file that is read for a system prompt, in bytes; the service says how long the text may be.
const LONGEST: u64 = 1 << 20;

pub(super) async fn contexts(caller: &Caller, wish: &ContextsWish) -> Result<(), Failure> {
    caller.open().await?;
    let service = &caller.service;
    match wish {
        ContextsWish::List { .. } => caller.print.value(&service.context_list(query(wish)).await?, listed),
        ContextsWish::Show { context } => caller.print.value(&service.context_named(context).await?, shown),
        ContextsWish::Create(description) => caller.print.value(&created(caller, description).await?, shown),
        ContextsWish::Update(change) => {
            let id = service.context_named(&change.context).await?.id;
            caller.print.value(&service.context_update(id, patch(change)?).await?, shown)
        }
        ContextsWish::Delete { context } => {
            let id = service.context_named(context).await?.id;
            service.context_delete(id).await?;
            let gone = service.context_get(id).await?;
            caller.print.value(&gone, |gone| format!("{} is in the trash, with its conversations.", gone.name))
        }
        ContextsWish::Extend { context } => {
            let id = service.context_named(context).await?.id;
            caller.print.value(&service.context_extend(id).await?, |context| match context.expires_at {
                Some(end) => format!("{} expires {}.", context.name, when(end)),
                None => format!("{} never expires.", context.name),
            })
        }
    }
}

fn query(wish: &ContextsWish) -> ContextQuery {
    let ContextsWish::List { all, trash, tag, search, page, page_size } = wish else { return ContextQuery::default() };
    ContextQuery {
        include_expired: *all,
        only_deleted: *trash,
        tag: tag.clone(),
        text: search.clone(),
        page: *page,
        page_size: *page_size,
        ..ContextQuery::default()
    }
}

async fn created(caller: &Caller, wish: &ContextDescription) -> Result<Context, Failure> {
    let numbers = wish.numbers;
    if let Some(preset) = &wish.preset {
        let overrides = PresetOverrides {
            name: wish.name.clone(),
            temperature: numbers.temperature,
            max_tokens: numbers.max_tokens,
            max_history_tokens: numbers.max_history_tokens,
            expiry_days: numbers.expiry_days,
        };
        let preset = caller.service.preset_named(preset).await?.id;
        return Ok(caller.service.context_create_from_preset(preset, overrides).await?);
    }
    let draft = ContextDraft {
        name: wish.name.clone().unwrap_or_default(),
        system_prompt: system_prompt(&wish.persona)?.unwrap_or_default(),
        personality: wish.persona.personality.clone().unwrap_or_default(),
        temperature: numbers.temperature.unwrap_or(TEMPERATURE),
        max_tokens: numbers.max_tokens.unwrap_or(REPLY_TOKENS),
        max_history_tokens: numbers.max_history_tokens.unwrap_or(HISTORY_TOKENS),
        expiry_days: Some(numbers.expiry_days.unwrap_or(EXPIRY_DAYS)).filter(|days| *days > 0),
        model: None,
        local_only: wish.local_only,
        maintain_personality: true,
        preset_id: None,
        anchor: None,
        tags: wish.tags.clone(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    Ok(caller.service.context_create(draft).await?)
}

fn patch(change: &ContextChange) -> Result<ContextPatch, Failure> {
    Ok(ContextPatch {
        name: change.name.clone(),
        system_prompt: system_prompt(&change.persona)?,
        personality: change.persona.personality.clone(),
        temperature: change.numbers.temperature,
        max_tokens: change.numbers.max_tokens,
        max_history_tokens: change.numbers.max_history_tokens,
        expiry_days: change.numbers.expiry_days,
        local_only: change.local_only,
        maintain_personality: change.maintain_personality,
        tags: (change.no_tags || !change.tags.is_empty()).then(|| change.tags.clone()),
        ..ContextPatch::default()
    })
}

fn system_prompt(persona: &Persona) -> Result<Option<String>, Failure> {
    let Some(path) = &persona.system_prompt_file else { return Ok(persona.system_prompt.clone()) };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().take(LONGEST).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::of_file("Reading", path, &error))?;
    Ok(Some(text.trim_end().to_owned()))
}

fn listed(page: &ContextPage) -> String {
    let row = |context: &Context| {
        [shortened(&context.name, 40), expiry(context), when(context.last_interaction_at), model(context), context.id.to_string()]
    };
    let table = table(["NAME", "EXPIRES", "LAST USED", "MODEL", "ID"], page.contexts.iter().map(row));
    if page.contexts.len() < page.total_count as usize {
        return format!("{table}{} of {} are shown; --page shows others.\n", page.contexts.len(), page.total_count);
    }
    table
}

fn expiry(context: &Context) -> String {
    match context.expires_at {
        Some(end) if end <= Utc::now() => "expired".to_owned(),
        Some(end) => when(end),
        None => "never".to_owned(),
    }
}

fn model(context: &Context) -> String {
    context.model.as_ref().map_or_else(|| "default".to_owned(), |choice| choice.model.clone())
}

fn shown(context: &Context) -> String {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let head = fields([
        ("Name", Some(context.name.clone())),
        ("Id", Some(context.id.to_string())),
        ("Expires", Some(expiry(context))),
        ("Last used", Some(when(context.last_interaction_at))),
        ("In the trash since", context.deleted_at.map(when)),
        ("Model", Some(model(context))),
        ("This machine only", context.local_only.then(|| "yes".to_owned())),
        ("Temperature", Some(context.temperature.to_string())),
        ("Tokens of a reply", Some(context.max_tokens.to_string())),
        ("Tokens of history", Some(context.max_history_tokens.to_string())),
        ("Tags", some(&context.tags.join(", "))),
        ("Personality", some(&context.personality)),
    ]);
    format!("{head}\n{}\n", context.system_prompt.trim_end())
}
