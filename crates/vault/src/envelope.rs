//! One text in a JSON object of its own, `{"alg":"AES-256-GCM","iv","ciphertext","tag"}` in base64: a form that other
//! programs write and read too.

use crate::{VaultError, seal};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

const ALGORITHM: &str = "AES-256-GCM";
/// Bytes of an envelope's JSON at most.
const LARGEST: usize = 48 << 20;

/// Why an envelope does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// It is no envelope.
    #[error("it is no envelope: {reason}")]
    Malformed {
        /// What does not fit.
        reason: &'static str,
    },
    /// The key is another one, or it was changed: the two cannot be told apart.
    #[error("the key does not open it, or it was changed")]
    WrongKey,
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    alg: String,
    iv: String,
    ciphertext: String,
    tag: String,
}

/// Puts `plain` into an envelope.
///
/// # Errors
/// As [`seal()`].
pub fn seal_envelope(key: &[u8; 32], plain: &[u8]) -> Result<String, VaultError> {
    let sealed = seal::seal(key, b"", plain)?;
    let (iv, rest) = sealed.split_at(seal::NONCE);
    let (ciphertext, tag) = rest.split_at(rest.len() - seal::TAG);
    let [iv, ciphertext, tag] = [iv, ciphertext, tag].map(|part| BASE64.encode(part));
    let envelope = Envelope { alg: ALGORITHM.to_owned(), iv, ciphertext, tag };
    serde_json::to_string(&envelope).map_err(|error| VaultError::damaged("An envelope", error.to_string()))
}

/// Takes what is in an envelope out of it. Fields that are not known are passed over.
///
/// # Errors
/// Every variant of [`EnvelopeError`].
pub fn open_envelope(key: &[u8; 32], json: &[u8]) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
    let malformed = |reason| EnvelopeError::Malformed { reason };
    if json.len() > LARGEST {
        return Err(malformed("it is larger than 48 MiB"));
    }
    let envelope: Envelope =
        serde_json::from_slice(json).map_err(|_| malformed("it has to be a JSON object with alg, iv, ciphertext and tag"))?;
    if envelope.alg != ALGORITHM {
        return Err(malformed("its alg is not AES-256-GCM"));
    }
    let decoded = |text: &str| BASE64.decode(text.as_bytes()).map_err(|_| malformed("a part of it is no base64"));
    let (iv, ciphertext, tag) = (decoded(&envelope.iv)?, decoded(&envelope.ciphertext)?, decoded(&envelope.tag)?);
    if iv.len() != seal::NONCE {
        return Err(malformed("its iv has not 12 bytes"));
    }
    if tag.len() != seal::TAG {
        return Err(malformed("its tag has not 16 bytes"));
    }
    seal::open_checked(key, b"", &[iv, ciphertext, tag].concat()).ok_or(EnvelopeError::WrongKey)
}

/// The key that is made from a configured string: its SHA-256.
#[must_use]
pub fn envelope_key_of(text: &str) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(Sha256::digest(text.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_in_comes_out_and_nothing_else_opens_it(
            key: [u8; 32], plain: Vec<u8>, at: prop::sample::Index, bit in 0u8..7,
        ) {
            let json = seal_envelope(&key, &plain).unwrap();
            prop_assert_eq!(&*open_envelope(&key, json.as_bytes()).unwrap(), &plain);
            let mut other = key;
            other[at.index(32)] ^= 1 << bit;
            prop_assert_eq!(open_envelope(&other, json.as_bytes()), Err(EnvelopeError::WrongKey));
            let mut changed = json.clone().into_bytes();
            changed[at.index(json.len())] ^= 1 << bit;
            prop_assert!(open_envelope(&key, &changed).is_err());
            prop_assert!(open_envelope(&key, &json.as_bytes()[..at.index(json.len())]).is_err());
        }
    }

    #[test]
    fn an_envelope_that_others_sealed_opens() {
        // Python's `cryptography`: AESGCM(sha256(b"a configured string").digest()).encrypt(bytes(12), b'{"role":"user"}', None).
        let json = br#"{"alg":"AES-256-GCM","iv":"AAAAAAAAAAAAAAAA","ciphertext":"jcQO7eDPGGQhSOtnpqVk","tag":"WijUWA2pLqQlxXS/YTN+jw=="}"#;
        let plain = open_envelope(&envelope_key_of("a configured string"), json).unwrap();
        assert_eq!(&**plain, br#"{"role":"user"}"#);
    }

    #[test]
    fn what_is_no_envelope_is_named() {
        let good = seal_envelope(&[1; 32], b"plain").unwrap();
        let value: serde_json::Value = serde_json::from_str(&good).unwrap();
        let refused = |field: &str, with: serde_json::Value| {
            let mut changed = value.clone();
            changed[field] = with;
            match open_envelope(&[1; 32], changed.to_string().as_bytes()) {
                Err(EnvelopeError::Malformed { reason }) => reason,
                other => panic!("{other:?}"),
            }
        };
        assert!(refused("alg", "AES-128-GCM".into()).contains("alg"));
        assert!(refused("alg", 1.into()).contains("JSON object"));
        assert!(refused("iv", BASE64.encode(&[0; 16]).into()).contains("12 bytes"));
        assert!(refused("tag", BASE64.encode(&[0; 12]).into()).contains("16 bytes"));
        assert!(refused("ciphertext", "&&&".into()).contains("base64"));
        for json in [&b""[..], b"[]", b"{}", b"null"] {
            assert!(matches!(open_envelope(&[1; 32], json), Err(EnvelopeError::Malformed { .. })));
        }
        assert!(matches!(open_envelope(&[1; 32], &vec![b' '; LARGEST + 1]), Err(EnvelopeError::Malformed { .. })));
    }
}
