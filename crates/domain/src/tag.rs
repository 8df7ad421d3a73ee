//! Tags: the user's own words for contexts and conversations.

use crate::FieldError;
use crate::limits::{characters, number};

/// A text in lower case, by which tags and search words are compared. Each character is folded by
/// itself, so that places in the folded text can be traced back to the text.
#[must_use]
pub fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The tags without space around them, checked: at most 20, each of 1–40 characters without NUL,
/// no two the same in lower case.
///
/// # Errors
/// The first rule that is broken, with value and range.
pub fn checked_tags(tags: &[String]) -> Result<Vec<String>, FieldError> {
    number("tags", tags.len(), 0, 20)?;
    let mut checked: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = tag.trim();
        characters("tags", tag, 1, 40)?;
        if checked.iter().any(|other| folded(other) == folded(tag)) {
            let value = format!("{tag:?} twice");
            return Err(FieldError { field: "tags", value, range: "each tag once, upper and lower case alike".into() });
        }
        checked.push(tag.to_owned());
    }
    Ok(checked)
}
