//! Projects and applications: their ids, also where these stand in an object of that name.

use crate::extractor::Execution;
use crate::found::Found;
use crate::key::{is_id, words};
use crate::walk::{Walk, scalar};
use serde_json::Value;

/// Finds them in the result, and in what the tool was called with.
pub(crate) fn extract(execution: &Execution<'_>, found: &mut Found) {
    for value in [execution.result, execution.arguments] {
        let mut walk = Walk::of(value);
        for node in walk.by_ref() {
            let Some(key) = key(node.key) else { continue };
            let id = match node.value {
                Value::Object(fields) => ["id", "_id", "uuid", "key"].iter().find_map(|name| scalar(fields.get(*name)?)),
                one if is_id(&words(node.key)) => scalar(one),
                _ => None,
            };
            id.into_iter().for_each(|id| found.id(key, id));
        }
        if walk.is_cut() {
            found.cut();
        }
    }
}

/// The name that an id is kept under, where the field is of a project or an application.
fn key(name: &str) -> Option<&'static str> {
    let words = words(name);
    let is_of = usize::from(is_id(&words) && words.len() > 1);
    match words.iter().rev().nth(is_of)?.as_str() {
        "project" | "projects" | "projectid" | "projectids" => Some("projectId"),
        "application" | "applications" | "app" | "apps" | "applicationid" | "applicationids" | "appid" => Some("applicationId"),
        _ => None,
    }
}
