//! AES-256-GCM for small secrets: 12 random bytes of nonce, then ciphertext with its tag.

use crate::VaultError;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use zeroize::Zeroizing;

/// Bytes of nonce before the ciphertext.
pub(crate) const NONCE: usize = 12;
/// Bytes of tag after the ciphertext.
pub(crate) const TAG: usize = 16;

/// Encrypts `plain` under `key` and binds it to `aad`, which is not stored and has to be given
/// again to [`open`]. The result is 28 bytes longer than `plain`.
///
/// A random 96-bit nonce is safe for at most 2³² messages under one key (NIST SP 800-38D, 8.3).
///
/// # Errors
/// [`VaultError::Io`] if the system gives no random bytes or `plain` is over 64 GiB.
pub fn seal(key: &[u8; 32], aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, VaultError> {
    let nonce: [u8; NONCE] = random()?;
    let cipher = Aes256Gcm::new(key.into());
    let sealed = cipher
        .encrypt(&Nonce::from(nonce), Payload { msg: plain, aad })
        .map_err(|_| VaultError::Io { what: "Encrypting".to_owned(), source: std::io::ErrorKind::FileTooLarge.into() })?;
    let mut out = Vec::with_capacity(NONCE + sealed.len());
    out.extend_from_slice(&nonce);
    out.extend_from_slice(&sealed);
    Ok(out)
}

/// Decrypts what [`seal`] made.
///
/// # Errors
/// [`VaultError::Damaged`] if the bytes, the key or `aad` are not those of the sealing; the
/// three cannot be told apart.
pub fn open(key: &[u8; 32], aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    open_checked(key, aad, sealed)
        .ok_or_else(|| VaultError::damaged("A sealed value", "it does not fit the key and place it was sealed for"))
}

/// `None` where the tag does not fit.
pub(crate) fn open_checked(key: &[u8; 32], aad: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
    let cipher = Aes256Gcm::new(key.into());
    cipher.decrypt(&Nonce::from(*nonce), Payload { msg: sealed, aad }).ok().map(Zeroizing::new)
}

/// Random bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    fill_random(&mut bytes)?;
    Ok(bytes)
}

/// Fills `bytes` from the system's generator.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), VaultError> {
    getrandom::fill(bytes).map_err(|e| VaultError::Io {
        what: "Asking the system for random bytes".to_owned(),
        source: std::io::Error::other(e.to_string()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_sealed_opens_and_nothing_else_does(
            key: [u8; 32], aad: Vec<u8>, plain: Vec<u8>, at: prop::sample::Index, bit in 0u8..8,
        ) {
            let sealed = seal(&key, &aad, &plain).unwrap();
            prop_assert_eq!(sealed.len(), plain.len() + NONCE + TAG);
            prop_assert_eq!(&*open(&key, &aad, &sealed).unwrap(), &plain);

            let mut flipped = sealed.clone();
            flipped[at.index(sealed.len())] ^= 1 << bit;
            prop_assert!(open(&key, &aad, &flipped).is_err());
            prop_assert!(open(&key, &aad, &sealed[..at.index(sealed.len())]).is_err());

            let mut other_key = key;
            other_key[at.index(32)] ^= 1 << bit;
            prop_assert!(open(&other_key, &aad, &sealed).is_err());
            let mut other_aad = aad.clone();
            other_aad.push(bit);
            prop_assert!(open(&key, &other_aad, &sealed).is_err());
        }
    }

    #[test]
    fn the_same_text_is_never_sealed_the_same_way() {
        assert_ne!(seal(&[1; 32], b"", b"x").unwrap(), seal(&[1; 32], b"", b"x").unwrap());
    }
}
