//! Providers, and their keys, which come here sealed and leave sealed.

use crate::column::{bytes, id, json, of_json, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{Provider, ProviderId, ProviderKind, ProviderLocality};
use rusqlite::{Row, params};

const KINDS: [ProviderKind; 4] =
    [ProviderKind::Engine, ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Ollama];
const LOCALITIES: [ProviderLocality; 2] = [ProviderLocality::Local, ProviderLocality::Remote];

macro_rules! select_providers {
    ($rest:literal) => {
        concat!(
            "SELECT id, kind, name, base_url, locality, key_hint, extra_headers, manual_models, window_override, timeout_seconds
             FROM providers ",
            $rest
        )
    };
}

fn locality_name(locality: ProviderLocality) -> &'static str {
    match locality {
        ProviderLocality::Local => "local",
        ProviderLocality::Remote => "remote",
    }
}

fn provider(row: &Row<'_>) -> Result<Provider, StoreError> {
    Ok(Provider {
        id: id(row, 0)?,
        kind: variant(row, 1, &KINDS, ProviderKind::as_str)?,
        name: row.get(2)?,
        base_url: row.get(3)?,
        locality: variant(row, 4, &LOCALITIES, locality_name)?,
        key_hint: row.get(5)?,
        extra_headers: json(row, 6)?,
        manual_models: json(row, 7)?,
        window_override: row.get(8)?,
        timeout_seconds: row.get(9)?,
    })
}

impl ReadHandle<'_> {
    /// One provider, without its key.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn provider(&self, provider_id: ProviderId) -> Result<Option<Provider>, StoreError> {
        self.one(select_providers!("WHERE id = ?1"), [bytes(provider_id.uuid())], provider)
    }

    /// All providers in the order of their making, without their keys.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn providers(&self) -> Result<Vec<Provider>, StoreError> {
        self.all(select_providers!("ORDER BY id"), [], provider)
    }

    /// A provider's key as it was sealed; `None` if it has none or does not exist.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn sealed_provider_key(&self, provider_id: ProviderId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed_key FROM providers WHERE id = ?1";
        Ok(self.one(sql, [bytes(provider_id.uuid())], |row| Ok(row.get::<_, Option<Vec<u8>>>(0)?))?.flatten())
    }
}

impl WriteHandle<'_> {
    /// Stores a provider, new or edited. Its key stays as it is and `key_hint` is not read;
    /// [`WriteHandle::set_provider_key`] sets both. A key is sealed to the address, so whoever
    /// changes the address has to set or clear the key too.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn upsert_provider(&mut self, provider: &Provider) -> Result<(), StoreError> {
        let (headers, models) = (of_json(&provider.extra_headers)?, of_json(&provider.manual_models)?);
        self.execute(
            "INSERT INTO providers (id, kind, name, base_url, locality, extra_headers, manual_models, window_override, timeout_seconds)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, base_url = excluded.base_url,
                 locality = excluded.locality, extra_headers = excluded.extra_headers, manual_models = excluded.manual_models,
                 window_override = excluded.window_override, timeout_seconds = excluded.timeout_seconds",
            params![
                bytes(provider.id.uuid()),
                provider.kind.as_str(),
                provider.name,
                provider.base_url,
                locality_name(provider.locality),
                headers,
                models,
                provider.window_override,
                provider.timeout_seconds,
            ],
        )?;
        self.changed(Noun::Provider, provider.id);
        Ok(())
    }

    /// Sets a provider's key: the sealed bytes and the last four characters to show; `None` removes it.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_provider_key(&mut self, id: ProviderId, key: Option<(&[u8], &str)>) -> Result<(), StoreError> {
        let (sealed, hint) = key.unzip();
        self.execute_on(
            Noun::Provider,
            &id,
            "UPDATE providers SET sealed_key = ?2, key_hint = ?3 WHERE id = ?1",
            params![bytes(id.uuid()), sealed, hint],
        )
    }

    /// Deletes a provider with its key. Contexts and messages that name it keep the name.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_provider(&mut self, id: ProviderId) -> Result<(), StoreError> {
        self.execute_on(Noun::Provider, &id, "DELETE FROM providers WHERE id = ?1", [bytes(id.uuid())])
    }
}
