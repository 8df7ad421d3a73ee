//! Backups: made, listed, checked, compared and restored.

mod closed;
mod forgetting;
mod rescue_view;
mod view;

pub use rescue_view::RescueOffer;
pub use view::{
    BackupInfo, ClosedRestore, ForgetReport, NamedContext, RestorePreview, RestoreProgress, RestoreReport, RestoreStep,
    VaultCounts,
};

use crate::vault::Opened;
use crate::{Service, ServiceError};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ErrorCode, FieldError, generation};
use evenkeel_store::backup::{
    self, BackupError, BackupId, BackupKind, BackupRequest, BackupResult, BackupStamp, EXTENSION, Progress, RestoreRequest,
    VaultKeys,
};
use evenkeel_vault::{KeyFile, Profile};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How long what a restore has set aside is kept.
pub(crate) const SET_ASIDE_KEPT: TimeDelta = TimeDelta::days(7);
/// On how many later days a daily backup has to be made before one that was made for a reason goes.
/// Days are counted by their backups and not by the clock, which may be wrong.
const DAYS_WITH_REASON: usize = 7;
/// How many of those are kept at most, and how many that the user made.
const MOST_OF_A_KIND: usize = 10;
/// Backups that are opened until one is whole: each is read completely.
const TRIED: usize = 3;

/// Files outside the profile that the user chose in a dialog. A page may name no others.
#[derive(Default)]
pub(crate) struct Chosen(Mutex<BTreeSet<PathBuf>>);

impl Chosen {
    fn put(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    fn has(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }
}

impl Service {
    /// The backups in the profile, newest first; damaged and foreign files are listed as such.
    ///
    /// # Errors
    /// The vault is locked, or the folder cannot be read.
    pub async fn backup_list(&self) -> Result<Vec<BackupInfo>, ServiceError> {
        let opened = self.0.gate.opened()?;
        let profile = self.profile();
        let found = blocking("listing the backups", move || {
            profile.prepare()?;
            Ok(backup::list(&profile.backups(), Some(keys(&opened)))?)
        });
        Ok(BackupInfo::of_folder(&found.await?))
    }

    /// The backups in a folder that the user chose, newest first; of a vault that is not open, what can be said without
    /// its key.
    ///
    /// # Errors
    /// The folder is not there or cannot be read.
    pub async fn backup_list_in(&self, folder: PathBuf) -> Result<Vec<BackupInfo>, ServiceError> {
        let opened = self.0.gate.opened().ok();
        let found = blocking("listing the backups", move || Ok(backup::list(&folder, opened.as_ref().map(keys))?));
        Ok(found.await?.iter().map(|info| BackupInfo::of(info, false)).collect())
    }

    /// Makes a backup in the profile now.
    ///
    /// # Errors
    /// The vault is locked, the disk is full or cannot be written, or the backup did not pass its
    /// check; those that were there are as before.
    pub async fn backup_make(&self) -> Result<BackupInfo, ServiceError> {
        let _work = self.work().await;
        let made = self.make_backup(BackupKind::Manual, None).await?;
        Ok(BackupInfo::newest(&made))
    }

    /// Makes a backup in a folder that the user chose, best on another disk.
    ///
    /// # Errors
    /// As for [`Service::backup_make`], or the folder lies in the profile.
    pub async fn backup_save(&self, folder: PathBuf) -> Result<BackupInfo, ServiceError> {
        let _work = self.work().await;
        if lies_in(&folder, self.profile().dir()) {
            let range = "a folder outside the profile, best on another disk".to_owned();
            return Err(FieldError { field: "folder", value: shown(&folder), range }.into());
        }
        let made = self.make_backup(BackupKind::Manual, Some(folder)).await?;
        self.0.chosen_backups.put(&made.path);
        Ok(BackupInfo::of(&made, false))
    }

    /// Says what a file is that the user chose; it can be checked, compared and restored from then on.
    ///
    /// # Errors
    /// The vault is locked, or the file cannot be found or is named as no backup is.
    pub async fn backup_choose(&self, path: PathBuf) -> Result<BackupInfo, ServiceError> {
        check_name(&path)?;
        self.0.chosen_backups.put(&path);
        self.looked_at(path).await
    }

    /// Checks a backup completely, on a copy of it. What is wrong with it is told by its `problem`.
    ///
    /// # Errors
    /// The vault is locked, the file was not listed and not chosen, or it cannot be read.
    pub async fn backup_verify(&self, path: PathBuf) -> Result<BackupInfo, ServiceError> {
        self.check_known(&path)?;
        let _work = self.work().await;
        let (opened, profile, now) = (self.0.gate.opened()?, self.profile(), self.now());
        let stop = self.stop_of_jobs();
        let checked = path.clone();
        let outcome = blocking("checking a backup", move || {
            Ok(backup::verify(&checked, keys(&opened), &profile, now, &mut until(stop)).map(|_| ())?)
        });
        match outcome.await {
            Ok(()) => self.looked_at(path).await,
            Err(ServiceError::Backup(error)) if BackupInfo::problem_of(&error).is_some() => {
                let mut info = self.looked_at(path).await?;
                info.problem = BackupInfo::problem_of(&error).map(str::to_owned);
                Ok(info)
            }
            Err(error) => Err(error),
        }
    }

    /// What restoring a backup would change; it is checked completely for that. A vault that is damaged
    /// cannot be compared, and the preview says so.
    ///
    /// # Errors
    /// The vault is locked, the file was not listed and not chosen, or it is damaged, foreign, of
    /// another vault or of a newer version.
    pub async fn backup_preview(&self, path: PathBuf) -> Result<RestorePreview, ServiceError> {
        self.check_known(&path)?;
        let _work = self.work().await;
        let (opened, profile, stop) = (self.0.gate.opened()?, self.profile(), self.stop_of_jobs());
        let preview = blocking("comparing a backup", move || {
            let store = opened.session.store();
            let mut watch = until(stop);
            match backup::preview(&path, keys(&opened), &profile, Some(&store), &mut watch) {
                Err(BackupError::Store(error)) if error.code() == ErrorCode::VaultDamaged => {
                    tracing::warn!(code = error.code().as_str(), %error, "a damaged vault cannot be compared with a backup");
                    Ok(RestorePreview::of(backup::preview(&path, keys(&opened), &profile, None, &mut watch)?, true))
                }
                preview => Ok(RestorePreview::of(preview?, false)),
            }
        });
        preview.await
    }

    /// Puts a backup in the place of the vault, behind a backup of what is there now; the database
    /// from before stays beside it. Of a damaged vault no backup can be made, and the restore goes on
    /// without, since the database itself is kept. The vault is closed meanwhile, and its state tells of that.
    ///
    /// # Errors
    /// As for [`Service::backup_preview`]; another process uses the vault; the disk is full or cannot
    /// be written, also for the backup before. The vault is as before then, and open again.
    pub async fn backup_restore(&self, path: PathBuf) -> Result<RestoreReport, ServiceError> {
        self.check_known(&path)?;
        let without_backup = !self.back_up_before_restore().await?;
        let closed = self.close_for_change().await?;
        let (profile, now) = (self.profile(), self.now());
        let restored = blocking("restoring a backup", move || {
            let (root, lock) = (&*closed.root, &closed.lock);
            let request = RestoreRequest { path: &path, root, profile: &profile, lock, now };
            let outcome = backup::restore(&request, &mut |_| ControlFlow::Continue(()));
            Ok((closed, outcome))
        });
        match restored.await {
            Ok((closed, outcome)) => {
                self.open_again(closed).await;
                let set_aside = outcome?.set_aside.map(|path| path.display().to_string());
                self.0.health.forget();
                Ok(RestoreReport { without_backup, set_aside })
            }
            Err(error) => {
                self.vault_failed(&error);
                Err(error)
            }
        }
    }

    /// Makes the backup that is the way back from a restore; false where the vault is too damaged for one.
    /// Any other failure, such as a full disk, is no reason to go on without it.
    async fn back_up_before_restore(&self) -> Result<bool, ServiceError> {
        let _work = self.work().await;
        // Without rotation: it could delete the very backup that is to be restored.
        match self.make_backup(BackupKind::BeforeRestore, None).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::VaultDamaged => {
                tracing::warn!(code = error.code().as_str(), %error, "the vault is too damaged for a backup before its restore; its database is set aside");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes the backup without which nothing is deleted for good.
    pub(crate) async fn back_up_before_purge(&self) -> Result<(), ServiceError> {
        self.make_backup(BackupKind::BeforePurge, None).await.map(drop)
    }

    /// Makes a backup in a folder, or in the profile's own, where old ones are then rotated out.
    pub(crate) async fn make_backup(
        &self,
        kind: BackupKind,
        folder: Option<PathBuf>,
    ) -> Result<backup::BackupInfo, ServiceError> {
        let (opened, profile, now) = (self.0.gate.opened()?, self.profile(), self.now());
        let (id, stop) = (BackupId::from_parts(now, self.random()), self.stop_of_jobs());
        blocking("making a backup", move || {
            let rotates = folder.is_none() && kind != BackupKind::BeforeRestore;
            let folder = match folder {
                Some(folder) => folder,
                None => {
                    profile.prepare()?;
                    profile.backups()
                }
            };
            let key_file = present_slots(&profile, &opened);
            let keep = |stamps: &[BackupStamp]| kept(stamps, now);
            let request = BackupRequest {
                folder: &folder,
                kind,
                id,
                root: &opened.root,
                key_file: &key_file,
                app_version: env!("CARGO_PKG_VERSION"),
                now,
                keep: if rotates { Some(&keep) } else { None },
            };
            Ok(opened.session.store().backup_to(&request, &mut until(stop))?)
        })
        .await
    }

    async fn looked_at(&self, path: PathBuf) -> Result<BackupInfo, ServiceError> {
        let opened = self.0.gate.opened()?;
        self.looked_at_with(path, Some(opened)).await
    }

    /// What can be said of one file, with the keys of the open vault or without any.
    async fn looked_at_with(&self, path: PathBuf, opened: Option<Opened>) -> Result<BackupInfo, ServiceError> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let is_own = folder == self.profile().backups();
        let named = path.clone();
        let all = blocking("reading a backup", move || Ok(backup::list(&folder, opened.as_ref().map(keys))?)).await?;
        let place = all.iter().position(|info| info.path == named);
        let infos = if is_own { BackupInfo::of_folder(&all) } else { all.iter().map(|i| BackupInfo::of(i, false)).collect() };
        place.and_then(|place| infos.into_iter().nth(place)).ok_or_else(|| BackupError::FolderMissing { path }.into())
    }

    /// Refuses a path that is neither in the profile's folder of backups nor was chosen by the user.
    fn check_known(&self, path: &Path) -> Result<(), ServiceError> {
        check_name(path)?;
        let is_own = path.parent() == Some(&*self.profile().backups());
        if is_own || self.0.chosen_backups.has(path) {
            return Ok(());
        }
        let range = "a backup from the list, or one that was chosen in the dialog".to_owned();
        Err(FieldError { field: "path", value: shown(path), range }.into())
    }
}

fn check_name(path: &Path) -> Result<(), ServiceError> {
    if path.extension().is_some_and(|extension| extension == EXTENSION) {
        return Ok(());
    }
    Err(FieldError { field: "path", value: shown(path), range: format!("a file whose name ends with .{EXTENSION}") }.into())
}

fn shown(path: &Path) -> String {
    path.display().to_string().chars().take(80).collect()
}

fn lies_in(folder: &Path, profile: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(folder).starts_with(real(profile))
}

/// Those of a list that may be whole, as far as they are tried; the newest first, as they are listed.
pub(crate) fn hopeful(listed: &[backup::BackupInfo]) -> impl Iterator<Item = &backup::BackupInfo> {
    let may_be_whole = |info: &&backup::BackupInfo| matches!(info.result, BackupResult::Verified | BackupResult::Unverified);
    listed.iter().filter(may_be_whole).take(TRIED)
}

pub(crate) fn keys(opened: &Opened) -> VaultKeys<'_> {
    VaultKeys { root: &opened.root, vault_id: opened.key_file.vault_id() }
}

/// The key slots as they are on the disk: another process may have changed them since.
fn present_slots(profile: &Profile, opened: &Opened) -> KeyFile {
    let present = KeyFile::read(profile).ok().filter(|present| present.vault_id() == opened.key_file.vault_id());
    present.unwrap_or_else(|| opened.key_file.clone())
}

/// Lets the work go on until the vault is to be closed.
pub(crate) fn until(stop: CancellationToken) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |_| if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The backups that stay: those of the last days, weeks and months; for seven more days with a
/// backup those that were made for a reason, since the next daily one of that day would otherwise
/// take their place; and the last ones that the user made.
fn kept(stamps: &[BackupStamp], now: DateTime<Utc>) -> Vec<BackupId> {
    let plain: Vec<_> =
        stamps.iter().map(|stamp| generation::BackupStamp { at: stamp.made_at, verified: stamp.verified }).collect();
    let of_days = generation::kept(&plain, now);
    let of_days = stamps.iter().zip(of_days).filter(|(_, is_kept)| *is_kept).map(|(stamp, _)| stamp.id);
    let with_reason = |stamp: &BackupStamp| {
        !matches!(stamp.kind, BackupKind::Daily | BackupKind::Manual) && later_days(stamps, stamp) < DAYS_WITH_REASON
    };
    let of_user = newest(stamps, |stamp| stamp.kind == BackupKind::Manual);
    of_days.chain(newest(stamps, with_reason)).chain(of_user).collect()
}

/// The days after that of a backup on which a daily one was made.
fn later_days(stamps: &[BackupStamp], of: &BackupStamp) -> usize {
    let later = |stamp: &&BackupStamp| stamp.kind == BackupKind::Daily && stamp.made_at.date_naive() > of.made_at.date_naive();
    stamps.iter().filter(later).map(|stamp| stamp.made_at.date_naive()).collect::<BTreeSet<_>>().len()
}

/// The newest of those that are wanted.
fn newest(stamps: &[BackupStamp], wanted: impl Fn(&BackupStamp) -> bool) -> Vec<BackupId> {
    let mut found: Vec<&BackupStamp> = stamps.iter().filter(|stamp| wanted(stamp)).collect();
    found.sort_by_key(|stamp| std::cmp::Reverse(stamp.made_at));
    found.into_iter().take(MOST_OF_A_KIND).map(|stamp| stamp.id).collect()
}

/// Runs what may take long in a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let task = tokio::task::spawn_blocking(work);
    task.await.unwrap_or_else(|error| Err(ServiceError::internal(what, &error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(hours_ago: i64, kind: BackupKind, n: u8) -> BackupStamp {
        let made_at = now() - TimeDelta::hours(hours_ago);
        BackupStamp { id: BackupId::from_parts(made_at, [n; 10]), kind, made_at, verified: true }
    }

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(23)
    }

    #[test]
    fn a_backup_with_a_reason_outlives_the_daily_one_of_its_day_for_a_week() {
        let young = stamp(5, BackupKind::BeforePurge, 1);
        let stamps = [stamp(1, BackupKind::Daily, 2), young, stamp(6, BackupKind::Daily, 3)];
        let ids = kept(&stamps, now());
        assert!(ids.contains(&young.id) && ids.contains(&stamps[0].id) && !ids.contains(&stamps[2].id));
        let (old, own) = (stamp(24 * 40 + 3, BackupKind::BeforePurge, 4), stamp(24 * 40 + 4, BackupKind::Manual, 6));
        let mut stamps = vec![old, own];
        stamps.extend((0..60).map(|day| stamp(24 * day, BackupKind::Daily, 5)));
        let ids = kept(&stamps, now());
        assert!(!ids.contains(&old.id), "its time is over");
        assert!(ids.contains(&own.id), "the user's own stay");
    }

    #[test]
    fn a_clock_that_jumps_takes_none_with_a_reason() {
        let (made, slot) = (stamp(5, BackupKind::BeforePurge, 1), stamp(1, BackupKind::Daily, 2));
        for jump in [24 * 8, 24 * 400, -24 * 365 * 3] {
            let after = stamp(-jump, BackupKind::Daily, 3);
            assert!(kept(&[made, slot, after], now() + TimeDelta::hours(jump)).contains(&made.id), "{jump} hours");
        }
    }

    #[test]
    fn reasons_do_not_pile_up() {
        for kind in [BackupKind::Manual, BackupKind::BeforePurge] {
            let stamps: Vec<_> = (0..40).map(|n| stamp(1, kind, n)).collect();
            assert!(kept(&stamps, now()).len() <= MOST_OF_A_KIND + 1);
        }
    }
}
