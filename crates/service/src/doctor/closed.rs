//! What can be told without opening the vault.

use super::Finding;
use crate::{Service, ServiceError};
use evenkeel_engine::default_model;
use evenkeel_vault::{KeyFile, KeychainError, KeychainState, Profile, SecretStore, SlotKind, VaultError, VaultLock};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that have to be free at the least, and those that should be.
const ROOM: (u64, u64) = (100 << 20, 1 << 30);
/// Advice for what an installation lacks.
const INSTALL: &str = "Install Evenkeel again.";

impl Service {
    pub(super) async fn without_vault(&self) -> Vec<Finding> {
        let (whereabouts, keychain) = (self.0.whereabouts.clone(), self.0.options.keychain.clone());
        let (resources, is_open) = (self.resources().map(Path::to_owned), self.session().is_ok());
        let looked = tokio::task::spawn_blocking(move || {
            let mut findings = match whereabouts.look() {
                Ok(place) => of_profile(place.profile(), &keychain, is_open),
                Err(error) => vec![Finding::failed("profile", error.to_string(), error.code().advice())],
            };
            findings.extend([libraries(), built_in_model(resources)]);
            findings
        });
        looked.await.unwrap_or_else(|error| {
            let error = ServiceError::internal("looking after the profile", &error);
            vec![Finding::failed("profile", error.to_string(), error.code().advice())]
        })
    }
}

fn of_profile(profile: &Profile, keychain: &Arc<dyn SecretStore>, is_open: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !profile.traces().any() {
        let message = format!("there is no vault in {}", profile.dir().display());
        findings.push(Finding::failed("profile", message, "Open Evenkeel once and make a vault."));
        findings.push(keychain_finding(keychain, None));
        return findings;
    }
    let slots = KeyFile::read(profile);
    findings.push(permissions(profile));
    findings.extend(room(profile.dir()));
    if !is_open {
        findings.push(others(profile));
    }
    findings.push(key_slots(profile, &slots));
    findings.push(keychain_finding(keychain, slots.ok().as_ref()));
    findings
}

#[cfg(unix)]
fn permissions(profile: &Profile) -> Finding {
    use std::os::unix::fs::PermissionsExt;
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let all =
        std::iter::once(profile.dir().to_owned()).chain(entries(profile.dir().to_owned())).chain(entries(profile.backups()));
    // Model files are no secret, and may belong to others.
    let open: Vec<String> = all
        .filter(|path| path.symlink_metadata().is_ok_and(|about| !about.is_symlink() && about.permissions().mode() & 0o077 != 0))
        .map(|path| path.display().to_string())
        .collect();
    match open.first() {
        None => Finding::ok("profile", format!("{} is its owner's alone", profile.dir().display())),
        Some(first) => {
            let message = format!("others may reach {first}, and {} more", open.len() - 1);
            Finding::warning("profile", message, "Take the rights of others away: chmod -R go-rwx on the profile folder.")
        }
    }
}

#[cfg(not(unix))]
fn permissions(profile: &Profile) -> Finding {
    Finding::ok("profile", format!("the data is in {}", profile.dir().display()))
}

/// Nothing where the system does not tell.
fn room(folder: &Path) -> Option<Finding> {
    let disks = sysinfo::Disks::new_with_refreshed_list().ok()?;
    let folder = folder.canonicalize().ok()?;
    let on = (&disks).into_iter().filter(|disk| folder.starts_with(disk.mount_point()));
    let free = on.max_by_key(|disk| disk.mount_point().as_os_str().len())?.available_space();
    let message = format!("{} MB are free on the disk", free / 1_000_000);
    Some(match free {
        free if free < ROOM.0 => Finding::failed("disk", message, "Free space on the disk before you go on."),
        free if free < ROOM.1 => Finding::warning("disk", message, "Free space on the disk; backups need room too."),
        _ => Finding::ok("disk", message),
    })
}

/// The lock is held for no longer than it takes to see that nobody else has it.
fn others(profile: &Profile) -> Finding {
    match VaultLock::exclusive(profile) {
        Ok(_) => Finding::ok("processes", "no other process has the vault open"),
        Err(VaultError::InUse) => Finding::ok("processes", "another process has the vault open, such as Evenkeel's window"),
        Err(error) => Finding::failed("processes", error.to_string(), error.code().advice()),
    }
}

fn key_slots(profile: &Profile, slots: &Result<KeyFile, VaultError>) -> Finding {
    let slots = match slots {
        Ok(slots) => slots,
        Err(error) => {
            let advice = "Restore the newest backup with its recovery code: evenkeel restore FILE.";
            return Finding::failed("keySlots", error.to_string(), advice);
        }
    };
    let kinds = [(SlotKind::Keychain, "keychain"), (SlotKind::Recovery, "recovery code"), (SlotKind::Passphrase, "passphrase")];
    let opens: Vec<&str> = kinds.into_iter().filter(|(kind, _)| slots.has(*kind)).map(|(_, name)| name).collect();
    let message = format!("the vault opens by {}", opens.join(", "));
    if profile.key_slots().is_file() && profile.key_slots_copy().is_file() && !slots.repaired() {
        return Finding::ok("keySlots", message);
    }
    let message = format!("{message}; one of the two copies of the key slots is missing or damaged");
    Finding::warning("keySlots", message, "Open Evenkeel and change a key in Settings, Security, which writes both again.")
}

fn keychain_finding(keychain: &Arc<dyn SecretStore>, slots: Option<&KeyFile>) -> Finding {
    let is_needed = slots.is_some_and(|slots| slots.has(SlotKind::Keychain));
    let state = keychain.state(slots.map(KeyFile::vault_id).unwrap_or_default());
    let finding = |message: &str, advice: &str| match is_needed {
        true => Finding::failed("keychain", message, advice),
        false => Finding::ok("keychain", format!("{message}; this vault does not need it")),
    };
    match state {
        Ok(KeychainState::Present) => Finding::ok("keychain", "the system's keychain opens this vault"),
        Ok(KeychainState::Missing) if !is_needed => Finding::ok("keychain", "the system's keychain answers"),
        Ok(KeychainState::Missing) => {
            finding("the system's keychain has no key of this vault", evenkeel_domain::ErrorCode::KeychainMissing.advice())
        }
        Ok(KeychainState::Locked) | Err(KeychainError::Locked) => {
            finding("the system's keychain is locked", evenkeel_domain::ErrorCode::KeychainLocked.advice())
        }
        Err(error) => {
            let error = VaultError::from(error);
            finding(&error.to_string(), error.code().advice())
        }
    }
}

fn libraries() -> Finding {
    match evenkeel_engine::child::libraries() {
        Some(folder) => Finding::ok("engine", format!("the engine's libraries are in {}", folder.display())),
        None => Finding::failed("engine", "the engine's libraries are not beside the program", INSTALL),
    }
}

fn built_in_model(resources: Option<PathBuf>) -> Finding {
    let found = default_model::locate(resources.as_deref());
    match found.and_then(|path| default_model::verify(&path).map(|()| path)) {
        Ok(path) => Finding::ok("builtInModel", format!("the built-in model is whole, in {}", path.display())),
        Err(error) => Finding::warning("builtInModel", error.to_string(), INSTALL),
    }
}
