//! The secret that a program shows.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A token as far as it has to be known to recognise it: the token itself cannot be had from it.
#[derive(Clone)]
pub struct TokenDigest([u8; 32]);

impl PartialEq for TokenDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl TokenDigest {
    /// The digest of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Whether this is the token; how long that takes tells nothing of it.
    #[must_use]
    pub fn is_of(&self, token: &str) -> bool {
        *self == Self::of(token)
    }
}
