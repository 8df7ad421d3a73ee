//! Addresses as users type them: whether they may be called, and what a key is bound to.

use crate::egress::{self, Barred};
use crate::{ProviderError, Report};

/// Checks an address by the rules that hold for every request, before it is stored.
///
/// # Errors
/// [`ProviderError::AddressRefused`] with the rule that forbids it, [`ProviderError::LocalOnly`].
pub fn check_address(base_url: &str, local_only: bool) -> Result<(), ProviderError> {
    let refused = |reason: String| ProviderError::AddressRefused { at: Report::at(base_url), reason };
    let url = egress::parse(base_url).map_err(|error| refused(format!("it is no address of the form https://host/path ({error})")))?;
    let at = Report::at(url.origin().ascii_serialization());
    match egress::check(&url, local_only) {
        Ok(_) => Ok(()),
        Err(Barred::NotLocal) => Err(ProviderError::LocalOnly { at }),
        Err(Barred::Forbidden(reason)) => Err(ProviderError::AddressRefused { at, reason: reason.into() }),
    }
}

/// Scheme, host and port of an address: what a key is bound to. `None` if it is no address.
#[must_use]
pub fn origin(base_url: &str) -> Option<String> {
    egress::parse(base_url).ok().map(|url| url.origin().ascii_serialization())
}
