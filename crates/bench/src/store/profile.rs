//! A profile of the app with the messages of a seeded vault, so that what stands above the store can be
//! measured as it is used.

use super::raw::{Cache, Raw};
use super::vault::Vault;
use crate::app::create_vault;
use crate::error::BenchError;
use evenkeel_domain::{ContextQuery, ModelChoice, PresetId, ProviderKind, Settings};
use evenkeel_service::{PresetOverrides, ProviderDraft, Service, ServiceOptions, VaultState};
use evenkeel_vault::{KeyFile, Profile, Use, unlock_keychain};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

/// Tokens of the model that the history is measured against; nobody ever asks it anything.
const WINDOW: u32 = 32_768;

/// Makes the vault of a profile, which its keychain opens from then on: with what `vault` holds or,
/// without one, with a context that nothing was said to. Gives the service with the vault open.
pub async fn furnished(options: ServiceOptions, vault: Option<&Vault>) -> Result<Service, BenchError> {
    let service = Service::new(options.clone())?;
    create_vault(&service).await?;
    service.shutdown().await;
    drop(service);
    if let Some(vault) = vault {
        fill(&options, vault)?;
    }
    let service = Service::new(options)?;
    let status = service.vault_status().await;
    if status.state != VaultState::Open {
        return Err(BenchError::Worthless(format!("the vault is not open but {:?}", status.state)));
    }
    if vault.is_none() {
        service.context_create_from_preset(PresetId::new("preset-calm-counselor"), PresetOverrides::default()).await?;
    }
    settle(&service).await?;
    Ok(service)
}

/// Puts the seeded database in the place of the new one, encrypted with its key.
fn fill(options: &ServiceOptions, vault: &Vault) -> Result<(), BenchError> {
    let profile: &Profile = &options.profile;
    let key_file = KeyFile::read(profile)?;
    let root = unlock_keychain(&key_file, &*options.keychain)?;
    let key = root.subkey(key_file.vault_id(), Use::Database);
    let path = profile.database();
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(ending);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(BenchError::system("making a profile", error)),
            _ => {}
        }
    }
    vault.raw(Cache::Writer)?.export(&path, Some(&key))?;
    Raw::open(&path, Some(&key), Cache::Reader).map(drop)
}

/// Chooses a model, and sees to it that the first context can be talked to.
async fn settle(service: &Service) -> Result<(), BenchError> {
    let draft = ProviderDraft {
        id: None,
        kind: ProviderKind::OpenaiCompatible,
        name: "Never asked".to_owned(),
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        key: None,
        extra_headers: BTreeMap::new(),
        manual_models: vec!["never-asked".to_owned()],
        window_override: Some(WINDOW),
        timeout_seconds: 5,
    };
    let provider = service.provider_save(draft).await?;
    // The window begins with the first one, and an expired one has no field to write in.
    let first = ContextQuery { include_expired: true, page_size: 1, ..ContextQuery::default() };
    for context in service.context_list(first).await?.contexts {
        service.context_extend(context.id).await?;
    }
    let settings = Settings {
        automatic_titles: false,
        default_model: Some(ModelChoice { provider_id: provider.id, model: "never-asked".to_owned() }),
        ..service.settings_get().await?
    };
    service.settings_save(settings).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::app::remember_in_memory;
    use evenkeel_domain::ConversationQuery;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_app_opens_the_seeded_messages_and_measures_them() {
        let (folder, vault) = (tempfile::tempdir().unwrap(), Vault::fresh(1_000).unwrap());
        let mut options = ServiceOptions::new(folder.path().join("profile"), None).unwrap();
        remember_in_memory(&mut options);
        let service = furnished(options, Some(&vault)).await.unwrap();
        let listed = service.conversation_list(ConversationQuery { limit: 1, ..ConversationQuery::default() }).await.unwrap();
        assert_eq!(listed.total_count, 5);
        let view = service.conversation_open(listed.items[0].id).await.unwrap();
        assert_eq!((view.messages.len(), view.has_earlier), (50, true));
        assert!(view.meter.history_tokens > 0, "the meter has a model to measure against");
        service.shutdown().await;
    }
}
