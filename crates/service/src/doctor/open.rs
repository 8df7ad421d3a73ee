//! The vault itself and what is in it.

use super::Finding;
use crate::backup::keys;
use crate::{Service, ServiceError, UnlockMethod, VaultState};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ErrorCode, Provider, ProviderKind};
use evenkeel_server::AppVault;
use evenkeel_store::backup::{self, BackupResult};
use evenkeel_vault::{KeyFile, KeychainState, SlotKind};
use std::path::Path;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How long the check of the vault may take; the weekly one takes as long as it needs.
const CHECK: Duration = Duration::from_secs(20);
/// How old the newest backup may be.
const BACKUP_AGE: TimeDelta = TimeDelta::days(3);

impl Service {
    /// Opens the vault where that asks nobody anything, and checks it.
    pub(super) async fn vault_finding(&self, secret: Option<Zeroizing<String>>) -> Finding {
        if self.session().is_err()
            && let Err(error) = self.open_quietly(secret).await
        {
            let body = error.to_body();
            let is_closed = matches!(body.code, ErrorCode::VaultLocked | ErrorCode::VaultInUse);
            let advice = body.code.advice();
            return match is_closed {
                true => Finding::warning("vault", body.message, advice),
                false => Finding::failed("vault", body.message, advice),
            };
        }
        self.integrity().await.unwrap_or_else(|error| Finding::failed("vault", error.to_string(), error.code().advice()))
    }

    async fn open_quietly(&self, secret: Option<Zeroizing<String>>) -> Result<(), ServiceError> {
        if matches!(crate::app_vault(self.0.options.profile.dir()).await, Some(AppVault::Opening | AppVault::Locked)) {
            let message = "the running app has the vault closed, so it was not opened here, and what is in it was not looked at";
            return Err(evenkeel_domain::ErrorBody::new(ErrorCode::VaultLocked, message).into());
        }
        let keychain = self.0.options.keychain.clone();
        let slots = KeyFile::read(&self.profile())?;
        let has_slot = slots.has(SlotKind::Keychain);
        let state = tokio::task::spawn_blocking(move || keychain.state(slots.vault_id())).await;
        let status = match secret {
            _ if has_slot && matches!(state, Ok(Ok(KeychainState::Present))) => self.vault_unlock(UnlockMethod::Keychain).await?,
            Some(secret) => self.vault_unlock_typed(secret).await?,
            None => {
                let message = "the vault was not opened, and what is in it was not looked at; give its passphrase or recovery \
                               code by --passphrase-file";
                return Err(evenkeel_domain::ErrorBody::new(ErrorCode::VaultLocked, message).into());
            }
        };
        match (status.state, status.error) {
            (VaultState::Open, _) => Ok(()),
            (_, Some(error)) => Err(error.into()),
            (state, None) => {
                let message = format!("the vault is not open ({state:?}); open Evenkeel to see why");
                Err(evenkeel_domain::ErrorBody::new(ErrorCode::VaultLocked, message).into())
            }
        }
    }

    async fn integrity(&self) -> Result<Finding, ServiceError> {
        let store = self.session()?.store();
        let began = Instant::now();
        let found =
            crate::backup::blocking("checking the vault", move || Ok(store.full_check_while(move || began.elapsed() < CHECK)?));
        let rescue = "Open Evenkeel, Settings, Data: it rescues what can be read; or restore the newest backup.";
        Ok(match found.await? {
            Some(found) if found.is_empty() => Finding::ok("vault", "the vault is open, and every page of it is whole"),
            Some(found) => Finding::failed("vault", format!("the vault is damaged in {} places", found.len()), rescue),
            None => match self.vault_health().await?.damage {
                0 => Finding::ok(
                    "vault",
                    "the vault is open; it is too large to be checked here, the weekly check found no damage",
                ),
                damage => Finding::failed("vault", format!("the last check found damage in {damage} places"), rescue),
            },
        })
    }

    /// Its backups, which are listed without a key too, and, where it is open, models and providers.
    pub(super) async fn vault_contents(&self, network: bool) -> Vec<Finding> {
        let mut findings = vec![self.backups_finding().await];
        if self.session().is_ok() {
            findings.push(self.default_model_finding().await);
            findings.extend(self.model_file_findings().await);
            findings.extend(self.provider_findings(network).await);
        }
        findings
    }

    async fn backups_finding(&self) -> Finding {
        let (folder, opened, now) = (self.profile().backups(), self.0.gate.opened().ok(), self.now());
        let listed = crate::backup::blocking("listing the backups", move || {
            if !folder.is_dir() {
                return Ok(Vec::new());
            }
            Ok(backup::list(&folder, opened.as_ref().map(keys))?)
        });
        match listed.await {
            Ok(listed) => backups(&listed, now),
            Err(error) => Finding::failed("backups", error.to_string(), error.code().advice()),
        }
    }

    async fn default_model_finding(&self) -> Finding {
        let choice = self.settings_get().await.ok().and_then(|settings| settings.default_model);
        let Some(choice) = choice else {
            return Finding::warning("model", "no model has been chosen", ErrorCode::NoModel.advice());
        };
        match self.chosen_for(Some(choice.clone())).await {
            Ok(_) => Finding::ok("model", format!("{} answers by default", choice.model)),
            Err(error) => Finding::failed("model", error.to_string(), error.code().advice()),
        }
    }

    async fn model_file_findings(&self) -> Vec<Finding> {
        let Ok(session) = self.session() else { return Vec::new() };
        let files = session.read(|r| r.model_files()).await.unwrap_or_default();
        let gone = files.into_iter().filter(|file| !Path::new(&file.path).is_file());
        gone.map(|file| {
            let message = format!("the file of the model {} is not in {}", file.name, file.path);
            Finding::warning("modelFile", message, ErrorCode::ModelFileMissing.advice())
        })
        .collect()
    }

    async fn provider_findings(&self, network: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        let providers = self.provider_list().await.unwrap_or_default();
        for provider in providers.into_iter().filter(|provider| provider.kind != ProviderKind::Engine) {
            findings.push(if network { self.asked(&provider).await } else { unasked(&provider) });
        }
        findings
    }

    async fn asked(&self, provider: &Provider) -> Finding {
        match self.provider_test(provider.id).await {
            Ok(test) => {
                let message = format!("{} lists {} models after {} ms", provider.name, test.models.len(), test.millis);
                Finding::ok("provider", message)
            }
            Err(error) => Finding::failed("provider", format!("{}: {error}", provider.name), error.code().advice()),
        }
    }
}

fn unasked(provider: &Provider) -> Finding {
    Finding::ok("provider", format!("{} at {} was not asked; --network does", provider.name, provider.base_url))
}

fn backups(listed: &[backup::BackupInfo], now: DateTime<Utc>) -> Finding {
    let make = "Make one: evenkeel backup now.";
    let whole = |info: &&backup::BackupInfo| info.result == BackupResult::Verified;
    let newest = listed.iter().find(whole).and_then(|info| info.about.as_ref());
    let others = listed.iter().filter(|info| !whole(info)).count();
    let Some(newest) = newest else {
        let message = format!("no backup is known to be whole; there are {} files", listed.len());
        return Finding::warning("backups", message, make);
    };
    let made = newest.made_at.format("%Y-%m-%d %H:%M UTC");
    let message = format!("the newest of {} that are whole was made and checked on {made}", listed.len() - others);
    if now - newest.made_at > BACKUP_AGE {
        return Finding::warning("backups", message, make);
    }
    match others {
        0 => Finding::ok("backups", message),
        others => {
            let advice = "Look at them: evenkeel backup list.";
            Finding::warning("backups", format!("{message}; {others} cannot be relied on"), advice)
        }
    }
}
