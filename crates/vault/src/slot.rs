//! One key slot: the root key wrapped under a key that comes from the keychain, the recovery
//! code or a passphrase.

use crate::recovery::RecoveryCode;
use crate::root::derive;
use crate::{RootKey, VaultError, seal};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

const SALT: usize = 16;
/// Nonce, 32 bytes of root key, tag.
const WRAPPED: usize = seal::NONCE + 32 + seal::TAG;
const RECOVERY_INFO: &[u8] = b"evenkeel/recovery-slot/v1";

/// What opens a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SlotKind {
    /// A secret in the keychain of the operating system.
    Keychain,
    /// The recovery code; every vault has this slot.
    Recovery,
    /// A passphrase.
    Passphrase,
}

impl std::fmt::Display for SlotKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Keychain => "key in the keychain",
            Self::Recovery => "recovery code",
            Self::Passphrase => "passphrase",
        })
    }
}

/// Cost of turning a passphrase into a key with Argon2id (RFC 9106).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PassphraseCost {
    /// Memory in KiB, 65,536 (64 MiB) to 1,048,576 (1 GiB). A file that asks for more is
    /// refused, or it could exhaust the machine.
    pub memory_kib: u32,
    /// Passes over the memory, 3 to 32.
    pub passes: u32,
    /// Lanes, 4 to 16.
    pub lanes: u32,
}

impl PassphraseCost {
    /// The least that is accepted: 64 MiB, 3 passes, 4 lanes (RFC 9106, second recommended option).
    pub const FLOOR: Self = Self { memory_kib: 64 << 10, passes: 3, lanes: 4 };
    const CEILING: Self = Self { memory_kib: 1 << 20, passes: 32, lanes: 16 };

    fn check(self) -> Result<(), SlotFault> {
        let (floor, ceiling) = (Self::FLOOR, Self::CEILING);
        for (name, value, least, most) in [
            ("memory", self.memory_kib, floor.memory_kib, ceiling.memory_kib),
            ("passes", self.passes, floor.passes, ceiling.passes),
            ("lanes", self.lanes, floor.lanes, ceiling.lanes),
        ] {
            if !(least..=most).contains(&value) {
                return Err(SlotFault::Cost { name, value, least, most });
            }
        }
        Ok(())
    }
}

impl Default for PassphraseCost {
    /// 256 MiB, 3 passes, 4 lanes.
    fn default() -> Self {
        Self { memory_kib: 256 << 10, ..Self::FLOOR }
    }
}

/// Why a slot is not to be used although its file is whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SlotFault {
    #[error("the {name} of its key derivation is {value}, allowed is {least} to {most}")]
    Cost { name: &'static str, value: u32, least: u32, most: u32 },
    #[error("the slot for the {0} names a key derivation of another kind")]
    Derivation(SlotKind),
    #[error("it has two slots for the {0}")]
    Twice(SlotKind),
}

/// How the wrapping key comes from what the person or the keychain gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "name", deny_unknown_fields)]
pub(crate) enum Kdf {
    /// The keychain's 32 bytes are the key.
    None,
    /// HKDF-SHA256, enough for the 130 random bits of a recovery code.
    Hkdf {
        #[serde(with = "base64_text")]
        salt: [u8; SALT],
    },
    /// Argon2id version 0x13.
    Argon2id {
        #[serde(with = "base64_text")]
        salt: [u8; SALT],
        cost: PassphraseCost,
    },
}

/// A key slot as it stands in the key-slot file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Slot {
    kind: SlotKind,
    kdf: Kdf,
    #[serde(with = "base64_text")]
    wrapped: [u8; WRAPPED],
    /// Absent in files from before dates were kept. Not protected against change: it only informs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_at: Option<DateTime<Utc>>,
}

impl Slot {
    /// What opens this slot.
    #[must_use]
    pub fn kind(&self) -> SlotKind {
        self.kind
    }

    /// When it was made; `None` where that was not noted.
    #[must_use]
    pub fn made_at(&self) -> Option<DateTime<Utc>> {
        self.made_at
    }

    /// The cost of its passphrase, where it has one.
    pub(crate) fn passphrase_cost(&self) -> Option<PassphraseCost> {
        match &self.kdf {
            Kdf::Argon2id { cost, .. } => Some(*cost),
            _ => None,
        }
    }

    pub(crate) fn made(self, at: Option<DateTime<Utc>>) -> Self {
        Self { made_at: at, ..self }
    }

    /// A slot for the secret that the keychain keeps.
    pub(crate) fn for_keychain(vault_id: Uuid, root: &RootKey, secret: &[u8; 32]) -> Result<Self, VaultError> {
        Self::wrap(SlotKind::Keychain, Kdf::None, vault_id, root, secret)
    }

    /// A slot for a recovery code.
    pub(crate) fn for_recovery(vault_id: Uuid, root: &RootKey, code: &RecoveryCode) -> Result<Self, VaultError> {
        let salt = seal::random()?;
        let key = derive(&salt, code.secret(), RECOVERY_INFO);
        Self::wrap(SlotKind::Recovery, Kdf::Hkdf { salt }, vault_id, root, &key)
    }

    /// A slot for a passphrase, which is taken as its UTF-8 bytes.
    pub(crate) fn for_passphrase(
        vault_id: Uuid,
        root: &RootKey,
        passphrase: &SecretString,
        cost: PassphraseCost,
    ) -> Result<Self, VaultError> {
        if passphrase.expose_secret().is_empty() {
            return Err(VaultError::PassphraseRefused { reason: "it is empty".to_owned() });
        }
        cost.check().map_err(|fault| VaultError::PassphraseRefused { reason: fault.to_string() })?;
        let salt = seal::random()?;
        let key = argon2id(passphrase, &salt, cost)?;
        Self::wrap(SlotKind::Passphrase, Kdf::Argon2id { salt, cost }, vault_id, root, &key)
    }

    pub(crate) fn open_with_keychain(&self, vault_id: Uuid, secret: &[u8; 32]) -> Result<RootKey, VaultError> {
        self.unwrap_root(vault_id, secret)
    }

    pub(crate) fn open_with_recovery(&self, vault_id: Uuid, code: &RecoveryCode) -> Result<RootKey, VaultError> {
        let Kdf::Hkdf { salt } = &self.kdf else { return Err(VaultError::NoSlot(SlotKind::Recovery)) };
        self.unwrap_root(vault_id, &derive(salt, code.secret(), RECOVERY_INFO))
    }

    pub(crate) fn open_with_passphrase(&self, vault_id: Uuid, passphrase: &SecretString) -> Result<RootKey, VaultError> {
        let Kdf::Argon2id { salt, cost } = &self.kdf else { return Err(VaultError::NoSlot(SlotKind::Passphrase)) };
        self.unwrap_root(vault_id, &*argon2id(passphrase, salt, *cost)?)
    }

    /// Whether kind and derivation belong together and the cost is within its range.
    pub(crate) fn check(&self) -> Result<(), SlotFault> {
        match (self.kind, &self.kdf) {
            (SlotKind::Keychain, Kdf::None) | (SlotKind::Recovery, Kdf::Hkdf { .. }) => Ok(()),
            (SlotKind::Passphrase, Kdf::Argon2id { cost, .. }) => cost.check(),
            (kind, _) => Err(SlotFault::Derivation(kind)),
        }
    }

    fn wrap(kind: SlotKind, kdf: Kdf, vault_id: Uuid, root: &RootKey, key: &[u8; 32]) -> Result<Self, VaultError> {
        let sealed = seal::seal(key, &associated_data(vault_id, kind, &kdf), root.expose())?;
        let unfit = |_| VaultError::damaged("A new key slot", "it has the wrong length");
        let slot = Self { kind, kdf, wrapped: sealed.try_into().map_err(unfit)?, made_at: None };
        // Before a slot replaces another one it has proved that it opens.
        if slot.unwrap_root(vault_id, key)?.expose() != root.expose() {
            return Err(VaultError::damaged("A new key slot", "it opens to another key"));
        }
        Ok(slot)
    }

    fn unwrap_root(&self, vault_id: Uuid, key: &[u8; 32]) -> Result<RootKey, VaultError> {
        seal::open_checked(key, &associated_data(vault_id, self.kind, &self.kdf), &self.wrapped)
            .and_then(|root| RootKey::from_slice(&root))
            .ok_or(VaultError::WrongKey(self.kind))
    }
}

/// Binds a wrapped key to its place: magic, format, vault, slot type and derivation parameters.
fn associated_data(vault_id: Uuid, kind: SlotKind, kdf: &Kdf) -> Vec<u8> {
    let mut data = Vec::with_capacity(80);
    data.extend_from_slice(crate::key_file::MAGIC.as_bytes());
    data.extend_from_slice(&crate::key_file::VERSION.to_le_bytes());
    data.extend_from_slice(vault_id.as_bytes());
    data.push(match kind {
        SlotKind::Keychain => 1,
        SlotKind::Recovery => 2,
        SlotKind::Passphrase => 3,
    });
    match kdf {
        Kdf::None => data.push(0),
        Kdf::Hkdf { salt } => {
            data.push(1);
            data.extend_from_slice(salt);
        }
        Kdf::Argon2id { salt, cost } => {
            data.push(2);
            data.extend_from_slice(salt);
            for number in [cost.memory_kib, cost.passes, cost.lanes] {
                data.extend_from_slice(&number.to_le_bytes());
            }
        }
    }
    data
}

fn argon2id(passphrase: &SecretString, salt: &[u8; SALT], cost: PassphraseCost) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    let refused = |e: argon2::Error| VaultError::PassphraseRefused { reason: e.to_string() };
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).map_err(refused)?;
    let mut memory: Vec<Block> = Vec::new();
    memory.try_reserve_exact(params.block_count()).map_err(|_| VaultError::Io {
        what: format!("Reserving {} MiB of memory for the passphrase", cost.memory_kib >> 10),
        source: std::io::ErrorKind::OutOfMemory.into(),
    })?;
    memory.resize(params.block_count(), Block::new());
    let mut memory = Zeroizing::new(memory);
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(passphrase.expose_secret().as_bytes(), salt, &mut *key, memory.as_mut_slice())
        .map_err(refused)?;
    Ok(key)
}

/// Byte arrays of fixed length as base64 text.
pub(crate) mod base64_text {
    use data_encoding::BASE64;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer, const N: usize>(bytes: &[u8; N], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(deserializer: D) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(D::Error::custom)?;
        let length = bytes.len();
        bytes.try_into().map_err(|_| D::Error::custom(format!("{length} bytes instead of {N}")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const VAULT: Uuid = Uuid::from_u128(5);

    fn root() -> RootKey {
        RootKey::from_slice(&[9; 32]).unwrap()
    }

    #[test]
    fn a_slot_opens_only_in_its_vault_as_its_kind_and_with_its_derivation() {
        let slot = Slot::for_keychain(VAULT, &root(), &[3; 32]).unwrap();
        assert_eq!(slot.open_with_keychain(VAULT, &[3; 32]).ok().unwrap().expose(), root().expose());
        let wrong = |slot: &Slot, vault, key| matches!(slot.open_with_keychain(vault, &key), Err(VaultError::WrongKey(_)));
        assert!(wrong(&slot, VAULT, [4; 32]));
        assert!(wrong(&slot, Uuid::from_u128(6), [3; 32]));
        assert!(wrong(&Slot { kind: SlotKind::Recovery, ..slot.clone() }, VAULT, [3; 32]));
        assert!(wrong(&Slot { kdf: Kdf::Hkdf { salt: [0; 16] }, ..slot }, VAULT, [3; 32]));
    }

    #[test]
    fn argon2id_gives_the_key_of_the_reference() {
        // argon2 20171227 (libargon2): echo -n 'correct horse' | argon2 'sixteen byte slt' -id -t 3 -m 16 -p 4 -l 32
        let key = argon2id(&SecretString::from("correct horse"), b"sixteen byte slt", PassphraseCost::FLOOR).unwrap();
        assert_eq!(data_encoding::HEXLOWER.encode(&*key), "bceb0416ffad1656759af927248aa4135597d91c10c47a53bc27b33675edf3e5");
    }

    #[test]
    fn costs_outside_the_range_are_refused() {
        let floor = PassphraseCost::FLOOR;
        for cost in [
            PassphraseCost { memory_kib: floor.memory_kib - 1, ..floor },
            PassphraseCost { memory_kib: (1 << 20) + 1, ..floor },
            PassphraseCost { passes: 2, ..floor },
            PassphraseCost { passes: 33, ..floor },
            PassphraseCost { lanes: 3, ..floor },
            PassphraseCost { lanes: 17, ..floor },
        ] {
            let made = Slot::for_passphrase(VAULT, &root(), &SecretString::from("x"), cost);
            assert!(matches!(made, Err(VaultError::PassphraseRefused { .. })), "{cost:?}");
        }
        let empty = Slot::for_passphrase(VAULT, &root(), &SecretString::from(""), floor);
        assert!(matches!(empty, Err(VaultError::PassphraseRefused { .. })));
        assert_eq!(PassphraseCost::default().memory_kib, 256 * 1024);
    }
}
