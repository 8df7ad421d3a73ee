//! Addresses as users type them: whether they may be called, and what a key is bound to.

use crate::egress::{self, Barred};
use crate::endpoint::shown;
use crate::{ProviderError, Report};

/// Checks an address by the rules that hold for every request, before it is stored.
///
/// # Errors
/// [`ProviderError::AddressRefused`] with the rule that forbids it, [`ProviderError::LocalOnly`].
pub fn check_address(base_url: &str, local_only: bool) -> Result<(), ProviderError> {
    let refused = |reason: String| ProviderError::AddressRefused { at: Report::at(shown(base_url)), reason };
    let url =
        egress::parse(base_url).map_err(|error| refused(format!("it is no address of the form https://host/path ({error})")))?;
    let at = Report::at(url.origin().ascii_serialization());
    match egress::check(&url, local_only) {
        Ok(_) => Ok(()),
        Err(Barred::NotLocal) => Err(ProviderError::LocalOnly { at }),
        Err(Barred::Forbidden(reason)) => Err(ProviderError::AddressRefused { at, reason: reason.into() }),
    }
}

/// What may be shown of a text that is no address of a server at all: not of the form `https://host/path`, or of another
/// scheme. `None` of one that is; whether it may be called is another question.
#[must_use]
pub fn no_address(base_url: &str) -> Option<String> {
    let is_one = |url: url::Url| matches!(url.scheme(), "http" | "https") && url.host().is_some();
    (!egress::parse(base_url).is_ok_and(is_one)).then(|| shown(base_url))
}

/// Scheme, host and port of an address: what a key is bound to. `None` if it is no address.
#[must_use]
pub fn origin(base_url: &str) -> Option<String> {
    egress::parse(base_url).ok().map(|url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_no_address_is_told_from_one_that_may_not_be_called() {
        for text in ["", "not a url", "ftp://models.example", "https://", "http://host:99999/x"] {
            assert!(no_address(text).is_some(), "{text}");
        }
        for text in ["localhost:11434", "https://a:b@models.example", "http://models.example", "https://169.254.169.254/v1"] {
            assert_eq!(no_address(text), None, "{text}");
        }
        assert_eq!(no_address("ftp://me:hidden@host/?key=hidden").unwrap(), "host/");
    }

    #[test]
    fn a_refusal_shows_neither_password_nor_query() {
        for address in ["http://me:hidden@host:99999/x?key=hidden", "https://me:hidden@example.com/v1?key=hidden"] {
            let error = check_address(address, false).unwrap_err();
            assert!(matches!(error, ProviderError::AddressRefused { .. }), "{error:?}");
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
        }
    }
}
