//! Refusals because a thing is not there, with those that are.

use crate::ServiceError;
use evenkeel_domain::{ErrorBody, ErrorCode, MessageId};
use std::fmt::Display;

/// How many of those that exist a refusal lists.
pub(crate) const LISTED: u32 = 20;

/// How one that exists is listed.
pub(crate) fn named(name: &str, id: impl Display) -> String {
    format!("{name} ({id})")
}

/// There is no such thing, but there are these; the first [`LISTED`] are named.
pub(crate) fn missing(noun: &str, id: impl Display, existing: &[String]) -> ServiceError {
    let (known, id) = (listed(existing), id.to_string());
    ErrorBody::new(ErrorCode::NotFound, format!("there is no {noun} {id}; there are: {known}"))
        .with("id", id)
        .with("existing", known)
        .into()
}

/// There is no such message, but there are these conversations; the first [`LISTED`] are named.
pub(crate) fn missing_message(id: MessageId, conversations: &[String]) -> ServiceError {
    let known = listed(conversations);
    let message =
        format!("there is no message {id}; it may have been deleted in another window; there are the conversations: {known}");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id).with("existing", known).into()
}

fn listed(existing: &[String]) -> String {
    let shown = existing.get(..LISTED as usize).unwrap_or(existing).join(", ");
    if shown.is_empty() { "none".to_owned() } else { shown }
}

/// The thing is there, but in the trash.
pub(crate) fn in_trash(name: &str, id: impl Display) -> ServiceError {
    let message = format!("{name} lies in the trash; restore it first");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id).with("name", name).with("inTrash", true).into()
}

/// The thing was in the trash, and is being deleted for good.
pub(crate) fn being_purged(name: &str, id: impl Display) -> ServiceError {
    let message = format!("{name} is being deleted for good; the backup from before is listed under Settings, Backups");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id).with("name", name).with("beingPurged", true).into()
}

/// The context of what is to come back lies in the trash.
pub(crate) fn home_in_trash(name: &str, id: impl Display) -> ServiceError {
    let message = format!("the companion {name} lies in the trash too; restore it first, then its conversations can come back");
    ErrorBody::new(ErrorCode::NotFound, message).with("id", id).with("name", name).with("inTrash", true).into()
}

/// A number has reached its limit.
pub(crate) fn full(what: &str, limit: u32) -> ServiceError {
    let message = format!("{what} {limit}; delete what is no longer needed or raise the limit");
    ErrorBody::new(ErrorCode::LimitReached, message).with("limit", limit).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_twenty_are_listed_and_an_empty_list_says_so() {
        let many: Vec<String> = (0..30).map(|at| named("Mara", at)).collect();
        let body = missing("context", 99, &many).to_body();
        assert_eq!(body.details["existing"].matches("Mara").count(), LISTED as usize);
        assert_eq!(missing("context", 1, &[]).to_body().message, "there is no context 1; there are: none");
    }
}
