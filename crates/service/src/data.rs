//! The user's data: where it is, how large, and how it is moved and erased.

use crate::backup::blocking;
use crate::{Service, ServiceError, vault::ClosedVault};
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError};
use evenkeel_store::{Store, backup::set_aside_databases};
use evenkeel_vault::{Profile, Use, check_move, erase, move_profile};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// What has to be typed before everything is erased.
const ERASE: &str = "ERASE";

/// How much of the vault one kind of thing takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct KindUse {
    /// `messages`, `index`, `contexts`, `others` or `free`.
    pub kind: String,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Where the data is, and how large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DataSummary {
    /// The profile folder.
    pub profile_dir: String,
    /// The folder of backups in it.
    pub backups_dir: String,
    /// What the vault is made of.
    pub kinds: Vec<KindUse>,
    /// Bytes of the vault's database with its log.
    pub database_bytes: u64,
    /// Bytes of the backups, and of the databases that restores have set aside.
    pub backups_bytes: u64,
    /// Bytes of the profile's own folder of model files.
    pub models_bytes: u64,
}

impl Service {
    /// Where the data is, and how large by kind. Takes time in proportion to the vault.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn data_summary(&self) -> Result<DataSummary, ServiceError> {
        let sizes = self.session()?.read(|r| r.vault_statistics()).await?;
        let profile = self.profile();
        let summary = move || {
            let set_aside: u64 = set_aside_databases(&profile)?.iter().map(|path| with_log(path)).sum();
            Ok(DataSummary {
                profile_dir: profile.dir().display().to_string(),
                backups_dir: profile.backups().display().to_string(),
                kinds: kinds(&sizes),
                database_bytes: with_log(&profile.database()),
                backups_bytes: folder_bytes(&profile.backups()) + set_aside,
                models_bytes: folder_bytes(&profile.models()),
            })
        };
        blocking("measuring the data", summary).await
    }

    /// Erases the vault with its key slots, its backups, its key in the keychain and, if wished, the
    /// profile's own folder of model files. The profile's folder itself stays, and so does what the
    /// user saved elsewhere. Afterwards there is no vault. Once begun it is finished, by the next
    /// start if need be.
    ///
    /// Answers whether the key is gone too. A keychain that is locked or does not answer keeps it;
    /// each start then tries again to remove it.
    ///
    /// # Errors
    /// `confirmation` is not the word ERASE, the vault is locked, or another process uses it: nothing
    /// is erased then. A file cannot be removed: the next start tries again.
    pub async fn data_erase(&self, confirmation: String, models: bool) -> Result<bool, ServiceError> {
        if confirmation != ERASE {
            let value = confirmation.chars().take(80).collect();
            return Err(FieldError { field: "confirmation", value, range: ERASE.to_owned() }.into());
        }
        let closed = self.without_remains(self.close_for_change().await?).await?;
        let (profile, keychain) = (self.profile(), self.0.options.keychain.clone());
        let erasing = move || Ok(erase(&profile, &*keychain, &closed.key_file, models, &closed.lock)?);
        match blocking("erasing the vault", erasing).await {
            Ok(key_is_gone) => {
                if !key_is_gone {
                    tracing::warn!("the keychain kept its item; its removal will be tried again");
                }
                self.network().clear();
                self.vault_is_gone();
                Ok(key_is_gone)
            }
            Err(error) => {
                self.vault_failed(&error);
                Err(error)
            }
        }
    }

    /// Moves all data to a folder: to `folder` itself if it is new or empty, else to the folder
    /// `evenkeel` in it. The copy is compared and opened before it counts, then the old one is removed.
    /// Gives the folder that the data is in. The vault stays closed after that: start the app again,
    /// from the same profile as before, which leads to the new place from then on.
    ///
    /// # Errors
    /// The vault is locked, another process uses it, or the folder does not do, with the reason; the
    /// disk is full or cannot be written. The vault is where it was then, and open.
    pub async fn data_move(&self, folder: PathBuf) -> Result<PathBuf, ServiceError> {
        self.session()?;
        let (profile, wanted) = (self.profile(), folder.clone());
        blocking("looking at the folder", move || Ok(check_move(&profile, &wanted)?)).await?;
        let closed = self.close_for_change().await?;
        let (profile, now) = (self.profile(), self.now());
        let outcome = blocking("moving the data", move || {
            let key = closed.root.subkey(closed.key_file.vault_id(), Use::Database);
            let prove = |to: &Profile| -> Result<(), ServiceError> {
                Ok(Store::open(&to.database(), &key, now)?.read(|r| r.settings()).map(drop)?)
            };
            let moved = move_profile(&profile, &folder, &closed.lock, prove);
            Ok((closed, moved))
        });
        match outcome.await {
            Ok((closed, Ok(moved))) => {
                if !moved.is_cleared {
                    tracing::warn!("the old copy of the data could not be removed yet; the next start tries again");
                }
                drop(closed);
                self.vault_has_moved();
                Ok(moved.profile.dir().to_owned())
            }
            Ok((closed, Err(error))) => {
                self.open_again(closed).await;
                Err(error)
            }
            Err(error) => {
                self.vault_failed(&error);
                Err(error)
            }
        }
    }

    /// Removes what moves have left in other folders, so that nothing of the vault outlives it.
    async fn without_remains(&self, closed: ClosedVault) -> Result<ClosedVault, ServiceError> {
        let whereabouts = self.0.whereabouts.clone();
        let finished = blocking("finishing a move", move || {
            let outcome = whereabouts.look().and_then(|place| place.finish(Some(&closed.lock)));
            Ok((closed, outcome))
        });
        match finished.await {
            Ok((closed, Ok(()))) => Ok(closed),
            Ok((closed, Err(error))) => {
                self.open_again(closed).await;
                Err(error.into())
            }
            Err(error) => {
                self.vault_failed(&error);
                Err(error)
            }
        }
    }

    /// Refuses to store more once the vault is as large as it may be. Room that deleting has freed
    /// counts as free, though the disk may get it back only later.
    pub(crate) async fn check_vault_size(&self) -> Result<(), ServiceError> {
        let limit = self.limits().vault_bytes;
        let bytes = self.session()?.read(|r| r.used_bytes()).await?;
        if bytes < limit {
            return Ok(());
        }
        let message = format!("the vault has {bytes} bytes of the {limit} that it may have; delete something or raise the limit");
        Err(ErrorBody::new(ErrorCode::LimitReached, message).with("limit", limit).with("field", "limits.vaultBytes").into())
    }
}

fn kinds(sizes: &evenkeel_domain::VaultStatistics) -> Vec<KindUse> {
    let of = |kind: &str, rows, bytes| KindUse { kind: kind.to_owned(), rows, bytes };
    vec![
        of("messages", sizes.messages.rows, sizes.messages.bytes),
        of("index", sizes.index.rows, sizes.index.bytes),
        of("contexts", sizes.contexts.rows, sizes.contexts.bytes),
        of("others", sizes.others.rows, sizes.others.bytes),
        of("free", 0, sizes.free_bytes),
    ]
}

/// Bytes of a database and its log.
fn with_log(database: &Path) -> u64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    [database, Path::new(&log)].into_iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum()
}

/// Bytes of all files below a folder; links are not followed.
fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
