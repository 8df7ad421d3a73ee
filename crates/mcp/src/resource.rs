//! Resources: contexts, presets and the persona texts that ship with the app, under two schemes.

use crate::caller::Caller;
use crate::record::{ContextRecord, MessageRecord, PresetRecord};
use crate::{caller, cursor};
use evenkeel_domain::{AccessKind, BUILT_IN_PRESETS, ErrorBody, MessageQuery, Preset, PresetId, PresetQuery};
use rmcp::model::{ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::{Value, json};

/// The scheme of the design that these come from, and our own: the same stands under both.
pub(crate) const SCHEMES: [&str; 2] = ["mcp-llm-generator", "evenkeel"];
/// Resources in one answer.
const PAGE: usize = 100;
/// Messages that are read with a context.
const RECENT: u32 = 20;
const JSON: &str = "application/json";

/// What is always there: name, title, what it is.
const FIXED: [(&str, &str, &str); 3] = [
    ("contexts", "Contexts", "All contexts that this program may use, with their settings"),
    ("personality-templates", "Persona texts as shipped", "The persona texts that ship with Evenkeel; they cannot be changed"),
    ("personality-presets", "Presets", "The presets in the vault, edited and own ones too"),
];

/// What an address names.
#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    Contexts,
    Context(&'a str),
    Templates,
    Presets,
    Preset(&'a str),
}

fn named(uri: &str) -> Option<Named<'_>> {
    let (scheme, path) = uri.split_once("://")?;
    if !SCHEMES.contains(&scheme) {
        return None;
    }
    match path.split_once('/') {
        Some(("context", id)) if !id.is_empty() => Some(Named::Context(id)),
        Some(("preset", id)) if !id.is_empty() => Some(Named::Preset(id)),
        None => match path {
            "contexts" => Some(Named::Contexts),
            "personality-templates" => Some(Named::Templates),
            "personality-presets" => Some(Named::Presets),
            _ => None,
        },
        _ => None,
    }
}

/// A page of resources: what is always there under both schemes, then each context and each preset. Without a caller, who
/// may not see those, what is always there alone.
pub(crate) async fn list(caller: Option<&Caller>, place: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let begin = place.as_deref().map(cursor::read).transpose()?;
    let mut all: Vec<(String, Resource)> = Vec::new();
    for (at, (name, title, description)) in FIXED.into_iter().enumerate() {
        for (under, scheme) in SCHEMES.into_iter().enumerate() {
            let resource = Resource::new(format!("{scheme}://{name}"), name)
                .with_title(title)
                .with_description(description)
                .with_mime_type(JSON);
            all.push((format!("0{under}{at}"), resource));
        }
    }
    if let Some(caller) = caller {
        all.extend(contexts(caller).await.unwrap_or_default());
        all.extend(presets(caller).await.unwrap_or_default());
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let from = begin.map_or(0, |begin| all.partition_point(|(key, _)| *key <= begin));
    let rest = all.len().saturating_sub(from);
    let page: Vec<_> = all.into_iter().skip(from).take(PAGE).collect();
    let next = page.last().filter(|_| rest > PAGE).map(|(key, _)| cursor::after(key));
    let mut result = ListResourcesResult::with_all_items(page.into_iter().map(|(_, resource)| resource).collect());
    result.next_cursor = next;
    Ok(result)
}

async fn contexts(caller: &Caller) -> Result<Vec<(String, Resource)>, ErrorBody> {
    let resource = |context: &evenkeel_domain::Context| {
        let uri = format!("{}://context/{}", SCHEMES[0], context.id);
        let resource = Resource::new(uri, context.name.clone())
            .with_title(context.name.clone())
            .with_description("A context with its settings and its most recent messages")
            .with_mime_type(JSON);
        (format!("1{}", context.id), resource)
    };
    Ok(caller.contexts(true).await?.iter().map(resource).collect())
}

async fn presets(caller: &Caller) -> Result<Vec<(String, Resource)>, ErrorBody> {
    let resource = |preset: &Preset| {
        let uri = format!("{}://preset/{}", SCHEMES[0], preset.id);
        let resource = Resource::new(uri, preset.name.clone())
            .with_title(preset.name.clone())
            .with_description(preset.description.clone())
            .with_mime_type(JSON);
        (format!("2{}", preset.id), resource)
    };
    Ok(all_presets(caller).await?.iter().map(resource).collect())
}

/// Every preset that is not hidden.
pub(crate) async fn all_presets(caller: &Caller) -> Result<Vec<Preset>, ErrorBody> {
    let mut all = Vec::new();
    let mut query = PresetQuery { page_size: 500, ..PresetQuery::default() };
    loop {
        let (page, total) = caller.companions.presets(query.clone()).await?;
        let is_last = page.is_empty();
        all.extend(page);
        if is_last || all.len() >= total as usize {
            return Ok(all);
        }
        query.page += 1;
    }
}

/// The addresses that are filled in, under both schemes.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let kinds = [
        ("context/{contextId}", "context", "A context", "A context with its settings and its most recent messages"),
        ("preset/{presetId}", "preset", "A preset", "A preset in the vault"),
    ];
    let under = |scheme: &'static str| {
        kinds.map(|(path, name, title, description)| {
            ResourceTemplate::new(format!("{scheme}://{path}"), name)
                .with_title(title)
                .with_description(description)
                .with_mime_type(JSON)
        })
    };
    SCHEMES.into_iter().flat_map(under).collect()
}

/// Reads a resource.
pub(crate) async fn read(caller: &Caller, uri: &str) -> Result<ReadResourceResult, ErrorBody> {
    let value = match named(uri) {
        Some(Named::Contexts) => {
            let (contexts, now) = (caller.contexts(true).await?, caller.companions.now());
            caller.note(AccessKind::ReadContexts, None, contexts.len()).await;
            let records: Vec<_> = contexts.iter().map(|context| ContextRecord::of(context, now)).collect();
            json!({ "contexts": records, "totalCount": records.len() })
        }
        Some(Named::Context(id)) => context(caller, id).await?,
        Some(Named::Templates) => {
            let shipped = BUILT_IN_PRESETS.iter().map(|shipped| PresetRecord::of(&shipped.to_preset(caller.companions.now())));
            json!({ "templates": shipped.map(without_times).collect::<Vec<_>>() })
        }
        Some(Named::Presets) => {
            let presets = all_presets(caller).await?;
            caller.note(AccessKind::ReadPresets, None, presets.len()).await;
            let records: Vec<_> = presets.iter().map(PresetRecord::of).collect();
            json!({ "presets": records, "totalCount": records.len() })
        }
        Some(Named::Preset(id)) => {
            let preset = caller.companions.preset(PresetId::new(id)).await?;
            caller.note(AccessKind::ReadPresets, None, 1).await;
            json!({ "preset": PresetRecord::of(&preset) })
        }
        None => {
            let known = SCHEMES.into_iter().flat_map(|scheme| {
                let fixed = FIXED.map(|(name, ..)| format!("{scheme}://{name}"));
                fixed.into_iter().chain([format!("{scheme}://context/{{contextId}}"), format!("{scheme}://preset/{{presetId}}")])
            });
            return Err(caller::missing("resource", uri, known));
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(value.to_string(), uri).with_mime_type(JSON)]))
}

async fn context(caller: &Caller, id: &str) -> Result<Value, ErrorBody> {
    let context = caller.context(id).await?;
    let query = MessageQuery {
        context_id: context.id,
        conversation_id: None,
        among: caller.among(),
        newest_first: true,
        page: 1,
        page_size: RECENT,
    };
    let (mut messages, total) = caller.companions.messages(query).await?;
    caller.note(AccessKind::ReadContexts, Some(context.id), 1).await;
    caller.note(AccessKind::ReadMessages, Some(context.id), messages.len()).await;
    messages.reverse();
    let recent: Vec<_> = messages.iter().map(MessageRecord::of).collect();
    let record = ContextRecord::of(&context, caller.companions.now());
    Ok(json!({ "context": record, "recentMessages": recent, "messageCount": total }))
}

/// A text that ships with the app was neither made nor edited at any time.
fn without_times(record: impl Serialize) -> Value {
    let mut value = serde_json::to_value(record).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        for field in ["createdAt", "updatedAt", "isActive"] {
            fields.remove(field);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_name_the_same_and_nothing_else_names_anything() {
        for scheme in SCHEMES {
            assert_eq!(named(&format!("{scheme}://contexts")), Some(Named::Contexts));
            assert_eq!(named(&format!("{scheme}://personality-templates")), Some(Named::Templates));
            assert_eq!(named(&format!("{scheme}://personality-presets")), Some(Named::Presets));
            assert_eq!(named(&format!("{scheme}://context/abc")), Some(Named::Context("abc")));
            assert_eq!(named(&format!("{scheme}://preset/preset-x")), Some(Named::Preset("preset-x")));
        }
        for stranger in ["", "contexts", "file://contexts", "evenkeel://", "evenkeel://context/", "evenkeel://contexts/1"] {
            assert_eq!(named(stranger), None, "{stranger}");
        }
    }
}
