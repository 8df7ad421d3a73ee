//! Completion of arguments.

use crate::caller::Caller;
use crate::{prompt, resource};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

const SPANS: [&str; 6] = ["today", "yesterday", "the last 7 days", "the last 30 days", "the last year", "all time"];
const TRAITS: [&str; 8] = ["calm", "direct", "factual", "kind", "patient", "precise", "thorough", "warm"];
const SCENARIOS: [&str; 5] =
    ["a hard decision", "conflicts at work", "evenings after a hard day", "learning something new", "planning the week"];

/// Proposes values for an argument of a prompt or of a resource's address.
pub(crate) async fn complete(caller: Option<&Caller>, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let argument = request.argument.name.as_str();
    let values = match &request.r#ref {
        Reference::Prompt(of) => match (of.name.as_str(), argument) {
            (prompt::CREATOR, "role") => preset_names(caller).await,
            (prompt::CREATOR, "traits") => owned(&TRAITS),
            (prompt::CREATOR, "scenario") => owned(&SCENARIOS),
            (prompt::SUMMARY, "contextName") => contexts(caller, |context| context.name.clone()).await,
            (prompt::SUMMARY, "personality") => personalities(caller, request).await,
            (prompt::SUMMARY, "timeSpan") => owned(&SPANS),
            (prompt::SUMMARY, "interactionCount") => Vec::new(),
            (name, argument) => return Err(unknown(&format!("argument {argument} of the prompt {name}"))),
        },
        Reference::Resource(of) => match (of.uri.split_once("://").map(|(_, path)| path), argument) {
            (Some("context/{contextId}"), "contextId") => contexts(caller, |context| context.id.to_string()).await,
            (Some("preset/{presetId}"), "presetId") => preset_ids(caller).await,
            _ => return Err(unknown(&format!("argument {argument} of the address {}", of.uri))),
        },
        _ => return Err(unknown("completion of that kind")),
    };
    fitting(values, &request.argument.value)
}

/// Those that begin with what was typed, then those that hold it, each once.
fn fitting(values: Vec<String>, typed: &str) -> Result<CompleteResult, ErrorData> {
    let typed = typed.trim().to_lowercase();
    let (mut begin, mut hold) = (Vec::new(), Vec::new());
    for value in values {
        let folded = value.to_lowercase();
        if begin.contains(&value) || hold.contains(&value) {
            continue;
        }
        if folded.starts_with(&typed) {
            begin.push(value);
        } else if folded.contains(&typed) {
            hold.push(value);
        }
    }
    begin.append(&mut hold);
    let total = u32::try_from(begin.len()).unwrap_or(u32::MAX);
    let has_more = begin.len() > CompletionInfo::MAX_VALUES;
    begin.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(begin, Some(total), has_more);
    info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

async fn contexts(caller: Option<&Caller>, of: fn(&evenkeel_domain::Context) -> String) -> Vec<String> {
    match caller {
        Some(caller) => caller.contexts(true).await.unwrap_or_default().iter().map(of).collect(),
        None => Vec::new(),
    }
}

/// The personality of the context that was named already, or those of all.
async fn personalities(caller: Option<&Caller>, request: &CompleteRequestParams) -> Vec<String> {
    let Some(caller) = caller else { return Vec::new() };
    let named = request.context.as_ref().and_then(|context| context.get_argument("contextName")).cloned();
    let contexts = caller.contexts(true).await.unwrap_or_default();
    let meant = contexts.into_iter().filter(|context| named.as_ref().is_none_or(|name| *name == context.name));
    meant.map(|context| context.personality).filter(|personality| !personality.trim().is_empty()).collect()
}

async fn preset_names(caller: Option<&Caller>) -> Vec<String> {
    match caller {
        Some(caller) => resource::all_presets(caller).await.unwrap_or_default().into_iter().map(|one| one.name).collect(),
        None => Vec::new(),
    }
}

async fn preset_ids(caller: Option<&Caller>) -> Vec<String> {
    match caller {
        Some(caller) => resource::all_presets(caller).await.unwrap_or_default().iter().map(|one| one.id.to_string()).collect(),
        None => Vec::new(),
    }
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn unknown(what: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what}"), None)
}
