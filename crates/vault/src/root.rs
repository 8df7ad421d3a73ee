//! The root key and the keys derived from it.

use crate::{VaultError, seal};
use hkdf::Hkdf;
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The 32 random bytes from which every key of a vault is derived. Wiped from memory when
/// dropped; it has no `Debug` and never leaves this crate but as a sub-key.
pub struct RootKey(SecretBox<[u8; 32]>);

/// What a sub-key is for. Keys of different uses are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The database.
    Database,
    /// API keys inside the database.
    Secrets,
    /// The database inside a backup.
    Backup,
    /// What a backup says about its database.
    BackupContents,
    /// Envelopes around exported files.
    Envelope,
}

impl Use {
    fn info(self) -> &'static [u8] {
        match self {
            Self::Database => b"evenkeel/db/v1",
            Self::Secrets => b"evenkeel/secrets/v1",
            Self::Backup => b"evenkeel/backup/v1",
            Self::BackupContents => b"evenkeel/backup-contents/v1",
            Self::Envelope => b"evenkeel/envelope/v1",
        }
    }
}

impl RootKey {
    /// The key for one use in the vault `vault_id`: HKDF-SHA256 (RFC 5869) with the vault's id
    /// as salt and `evenkeel/<use>/v1` as info.
    #[must_use]
    pub fn subkey(&self, vault_id: Uuid, purpose: Use) -> Zeroizing<[u8; 32]> {
        derive(vault_id.as_bytes(), self.0.expose_secret(), purpose.info())
    }

    pub(crate) fn generate() -> Result<Self, VaultError> {
        let mut key = Self(SecretBox::init_with_mut(|_: &mut [u8; 32]| {}));
        key.fill()?;
        Ok(key)
    }

    /// `None` unless `bytes` are 32.
    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 32] = bytes.try_into().ok()?;
        Some(Self(SecretBox::init_with_mut(|key: &mut [u8; 32]| *key = *bytes)))
    }

    pub(crate) fn expose(&self) -> &[u8; 32] {
        self.0.expose_secret()
    }

    fn fill(&mut self) -> Result<(), VaultError> {
        use secrecy::ExposeSecretMut;
        seal::fill_random(self.0.expose_secret_mut())
    }
}

/// HKDF-SHA256 to 32 bytes.
pub(crate) fn derive(salt: &[u8], secret: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    if Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut *key).is_err() {
        // RFC 5869 allows up to 255 blocks of 32 bytes; a key of zeros must never come out of here.
        unreachable!("HKDF refused an output of one block");
    }
    key
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use data_encoding::HEXLOWER;

    #[test]
    fn derivation_is_hkdf_of_rfc_5869() {
        // RFC 5869, test case 1, first 32 of its 42 bytes.
        let salt = HEXLOWER.decode(b"000102030405060708090a0b0c").unwrap();
        let info = HEXLOWER.decode(b"f0f1f2f3f4f5f6f7f8f9").unwrap();
        assert_eq!(
            HEXLOWER.encode(&*derive(&salt, &[0x0b; 22], &info)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        );
    }

    #[test]
    fn every_use_and_vault_has_its_own_key_and_it_never_changes() {
        let root = RootKey::from_slice(&[7; 32]).unwrap();
        let vault = Uuid::from_u128(1);
        let uses = [Use::Database, Use::Secrets, Use::Backup, Use::BackupContents, Use::Envelope];
        let mut keys: Vec<_> = uses.iter().map(|u| *root.subkey(vault, *u)).collect();
        keys.push(*root.subkey(Uuid::from_u128(2), Use::Database));
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        // A changed derivation would lock every existing vault.
        assert_eq!(HEXLOWER.encode(&keys[0]), "a56cee737afc2001077badf5539865e46508fc0a17fe13d2cd104dbb8c71ab24");
    }

    #[test]
    fn root_keys_are_random_and_whole() {
        let (a, b) = (RootKey::generate().unwrap(), RootKey::generate().unwrap());
        assert_ne!(a.expose(), b.expose());
        assert!(RootKey::from_slice(&[0; 31]).is_none() && RootKey::from_slice(&[0; 33]).is_none());
    }
}
