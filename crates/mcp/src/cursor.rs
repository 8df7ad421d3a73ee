//! Places in long lists.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::model::{ErrorData, PaginatedRequestParams};

/// The cursor of a request.
pub(crate) fn of(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

/// Refuses a cursor for a list that has one page.
pub(crate) fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match of(request) {
        Some(_) => Err(invalid()),
        None => Ok(()),
    }
}

/// The cursor that stands for what comes after a key.
pub(crate) fn after(key: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(key)
}

/// The key that a cursor stands for.
///
/// # Errors
/// It is none that was given out here.
pub(crate) fn read(cursor: &str) -> Result<String, ErrorData> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let key = String::from_utf8(bytes).map_err(|_| invalid())?;
    // Every key begins with the number of its kind.
    if key.starts_with(|first: char| first.is_ascii_digit()) { Ok(key) } else { Err(invalid()) }
}

fn invalid() -> ErrorData {
    ErrorData::invalid_params("the cursor is none of this list; begin without one", None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_given_out_is_read_and_anything_else_is_refused(key in "[0-2][ -~]{0,60}", other in "[ -~]{0,40}") {
            prop_assert_eq!(read(&after(&key)).unwrap(), key);
            if let Ok(key) = read(&other) {
                prop_assert!(key.starts_with(|first: char| first.is_ascii_digit()));
            }
        }
    }
}
