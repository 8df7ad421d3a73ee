//! The app without a window: the real service on a profile that is thrown away.

use crate::arguments::ENGINE_CHILD;
use crate::error::BenchError;
use evenkeel_domain::{ChatEvent, Context, ContextPatch, Message, ModelChoice, PresetId, SendRequest, Settings};
use evenkeel_service::{PresetOverrides, Service, ServiceOptions, VaultOptions, VaultState};
use evenkeel_vault::{KeychainError, SecretStore};
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tempfile::TempDir;
use uuid::Uuid;

/// A keychain that ends with the process, so that a benchmark asks the desktop for nothing.
#[derive(Default)]
struct MemoryKeychain(Mutex<HashMap<Uuid, SecretString>>);

impl MemoryKeychain {
    fn items(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, SecretString>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretStore for MemoryKeychain {
    fn get(&self, vault_id: Uuid) -> Result<SecretString, KeychainError> {
        self.items().get(&vault_id).map(|secret| SecretString::from(secret.expose_secret())).ok_or(KeychainError::Missing)
    }

    fn set(&self, vault_id: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        self.items().insert(vault_id, secret.clone());
        Ok(())
    }

    fn delete(&self, vault_id: Uuid) -> Result<(), KeychainError> {
        self.items().remove(&vault_id);
        Ok(())
    }
}

/// Keeps the vault's key in this process.
pub fn remember_in_memory(options: &mut ServiceOptions) {
    let keychain = Arc::new(MemoryKeychain::default());
    options.keychain = keychain.clone();
    options.patient_keychain = keychain;
}

/// Makes a vault and opens it, recovery code and all.
pub async fn create_vault(service: &Service) -> Result<(), BenchError> {
    service.vault_status().await;
    let sheet = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await?;
    let asked = sheet.ask_groups.iter().filter_map(|index| sheet.groups.get(*index as usize).cloned());
    let status = service.vault_confirm_recovery(asked.collect()).await?;
    if status.state != VaultState::Open {
        return Err(BenchError::Worthless(format!("the new vault is not open but {:?}", status.state)));
    }
    Ok(())
}

/// A service with an open vault.
pub struct App {
    /// The service.
    pub service: Service,
    // Dropped after the service, which holds files in it.
    _profile: TempDir,
}

/// A reply as the window would have got it.
pub struct Answered {
    /// The stored reply.
    pub message: Message,
    /// When the first text arrived.
    pub first_text: Instant,
}

impl App {
    /// Makes a vault and opens it, recovery code and all.
    pub async fn open() -> Result<Self, BenchError> {
        let profile = tempfile::tempdir().map_err(|source| BenchError::system("making a temporary profile", source))?;
        let mut options = ServiceOptions::new(profile.path().join("profile"), None)?;
        options.engine_args = vec![ENGINE_CHILD.to_owned()];
        remember_in_memory(&mut options);
        let service = Service::new(options)?;
        create_vault(&service).await?;
        // A title would be asked for between two messages, and answered in the place of one.
        let settings = service.settings_get().await?;
        service.settings_save(Settings { automatic_titles: false, ..settings }).await?;
        Ok(Self { service, _profile: profile })
    }

    /// A context from a built-in preset that a given model answers for.
    pub async fn companion(
        &self,
        preset: &str,
        overrides: PresetOverrides,
        model: ModelChoice,
        maintain_personality: bool,
    ) -> Result<Context, BenchError> {
        let context = self.service.context_create_from_preset(PresetId::new(preset), overrides).await?;
        let patch = ContextPatch {
            model: Some(Some(model)),
            maintain_personality: Some(maintain_personality),
            ..ContextPatch::default()
        };
        Ok(self.service.context_update(context.id, patch).await?)
    }

    /// Sends a message and waits until its reply is on disk.
    ///
    /// # Errors
    /// Also when the reply broke off or was empty.
    pub async fn ask(&self, request: SendRequest) -> Result<Answered, BenchError> {
        let first = Arc::new(OnceLock::new());
        let ended = Arc::new(Mutex::new(None));
        let (saw, kept) = (first.clone(), ended.clone());
        let sink = move |event| match event {
            ChatEvent::Text { .. } => {
                saw.get_or_init(Instant::now);
            }
            ChatEvent::Ended { message, error } => *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((message, error)),
            _ => {}
        };
        self.service.chat_send(request, sink).await?;
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (ended, first.get()) {
            (Some((_, Some(error))), _) => Err(BenchError::BrokenOff(error)),
            (Some((Some(message), None)), Some(first_text)) => Ok(Answered { message, first_text: *first_text }),
            _ => Err(BenchError::Worthless("a reply was empty".to_owned())),
        }
    }
}
