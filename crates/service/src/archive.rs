//! Archives: everything in one file that other programs open too, and back into a vault.

mod view;

pub use view::{
    ArchiveCounts, ArchiveExport, ArchiveFile, ArchiveKept, ArchiveLock, ArchivePlace, ArchiveProgress, ArchiveProtection,
    ArchiveReport, ArchiveSecret, ArchiveStep, ArchiveUndo, EnvelopeExport, EnvelopeImport, EnvelopeKey, PendingArchive,
};

use crate::backup::blocking;
use crate::settings::idle_time;
use crate::{Service, ServiceError, provider};
use chrono::{DateTime, SecondsFormat, Utc};
use evenkeel_domain::{ErrorBody, ErrorCode, FieldError};
use evenkeel_store::Store;
use evenkeel_store::archive::{self, ArchiveError, ExportRequest, ImportReport, ImportRequest, PluginReference};
use evenkeel_vault::{AgeError, AgeSecret, write_key_file};
use secrecy::SecretString;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The paths that the user has chosen in dialogs, since a page may name no others, and how the work under way is stopped.
#[derive(Default)]
pub(crate) struct Archives {
    chosen: Mutex<BTreeSet<PathBuf>>,
    stop: Mutex<CancellationToken>,
}

impl Archives {
    fn chosen(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) -> MutexGuard<'_, CancellationToken> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Notes a place that the user chose in a dialog for an archive, a key file or a folder of envelopes.
    ///
    /// # Errors
    /// It lies in the profile folder, where the vault is.
    pub async fn archive_place(&self, path: PathBuf) -> Result<ArchivePlace, ServiceError> {
        let profile = self.profile_dir();
        let (path, exists) = blocking("looking at a place", move || {
            let path = std::path::absolute(&path).unwrap_or(path);
            if crate::transfer::is_inside(&path, &profile) {
                let message =
                    format!("{} is inside the profile folder, where the vault is; choose a place outside", path.display());
                return Err(ErrorBody::new(ErrorCode::PlaceRefused, message).with("path", path.display()).into());
            }
            let exists = std::fs::symlink_metadata(&path).is_ok();
            Ok((path, exists))
        })
        .await?;
        self.0.archives.chosen().insert(path.clone());
        Ok(ArchivePlace { path: path.display().to_string(), exists })
    }

    /// Says what an archive is sealed to that the user chose in a dialog.
    ///
    /// # Errors
    /// It is no `age` file, or cannot be read.
    pub async fn archive_choose(&self, path: PathBuf) -> Result<ArchiveFile, ServiceError> {
        let path = std::path::absolute(&path).unwrap_or(path);
        let looked_at = path.clone();
        let (lock, size_bytes) = blocking("looking at an archive", move || {
            let lock = archive::lock_of(&looked_at)?;
            Ok((lock, std::fs::metadata(&looked_at).map(|file| file.len()).unwrap_or_default()))
        })
        .await?;
        self.0.archives.chosen().insert(path.clone());
        Ok(ArchiveFile { path: path.display().to_string(), lock: lock.into(), size_bytes })
    }

    /// Writes everything into an archive, and reads it back before it has its name. A new key file is written first,
    /// so that no archive is without its key; it never takes the place of another file.
    ///
    /// # Errors
    /// The vault is locked; a path was not chosen in a dialog; a file stands there and may not be replaced; the
    /// passphrase is too short; the disk refuses; the file did not pass its check.
    pub async fn archive_export(
        &self,
        path: PathBuf,
        protection: ArchiveProtection,
        replace: bool,
        watch: impl FnMut(ArchiveProgress) + Send + 'static,
    ) -> Result<ArchiveExport, ServiceError> {
        self.check_chosen(&path)?;
        if let ArchiveProtection::NewKey { key_path } | ArchiveProtection::KeyFile { key_path } = &protection {
            self.check_chosen(Path::new(key_path))?;
        }
        let plugins = self.plugin_list().await?;
        let plugins = plugins.into_iter().map(|plugin| PluginReference { id: plugin.id, version: plugin.version }).collect();
        let _work = self.work().await;
        let (store, now, mut watch) = (self.session()?.store(), self.now(), self.stoppable(watch));
        blocking("writing an archive", move || {
            let (secret, key_path) = sealing(&protection, now)?;
            let app_version = env!("CARGO_PKG_VERSION");
            let request = ExportRequest { path: &path, secret: &secret, replace, app_version, plugins, now };
            match archive::export(&store, &request, &mut watch) {
                Ok(exported) => Ok(ArchiveExport::of(&path, &exported, key_path)),
                Err(error) => {
                    // A key that opens nothing is only in the way.
                    if let Some(key_path) = key_path {
                        let _ = std::fs::remove_file(key_path);
                    }
                    Err(error.into())
                }
            }
        })
        .await
    }

    /// Looks through an archive and says what importing it would do.
    ///
    /// # Errors
    /// The vault is locked; the file or key file was not chosen in a dialog; the passphrase or key does not open it;
    /// it is damaged, no archive, or of a newer version.
    pub async fn archive_preview(
        &self,
        path: PathBuf,
        secret: ArchiveSecret,
        take_settings: bool,
        watch: impl FnMut(ArchiveProgress) + Send + 'static,
    ) -> Result<ArchiveReport, ServiceError> {
        let _work = self.work().await;
        self.with_archive(path, secret, take_settings, watch, archive::preview_import).await
    }

    /// Takes an archive in: what the vault does not have is added, what it has stays. One that was stopped or cut off
    /// goes on with what is missing.
    ///
    /// # Errors
    /// As for [`Service::archive_preview`]; the limits of the vault are reached; an import of another archive was cut
    /// off; the disk refuses. After an error of the archive itself the vault is as before.
    pub async fn archive_import(
        &self,
        path: PathBuf,
        secret: ArchiveSecret,
        take_settings: bool,
        watch: impl FnMut(ArchiveProgress) + Send + 'static,
    ) -> Result<ArchiveReport, ServiceError> {
        let _work = self.work().await;
        let report = self.with_archive(path, secret, take_settings, watch, archive::import).await;
        self.settings_may_be_new().await?;
        report
    }

    /// The import that was stopped or cut off.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn archive_pending(&self) -> Result<Option<PendingArchive>, ServiceError> {
        let store = self.session()?.store();
        let pending = blocking("looking for an import", move || Ok(archive::pending_import(&store)?)).await?;
        Ok(pending.map(PendingArchive::from))
    }

    /// Takes back what an import has added that was stopped or cut off, but for what was used since.
    ///
    /// # Errors
    /// The vault is locked, or the disk refuses: the next call goes on.
    pub async fn archive_undo(&self) -> Result<ArchiveUndo, ServiceError> {
        let _work = self.work().await;
        let (store, now, stop) = (self.session()?.store(), self.now(), self.stop_of_jobs());
        let undone =
            blocking("undoing an import", move || Ok(archive::undo_import(&store, now, &mut || !stop.is_cancelled())?)).await;
        self.settings_may_be_new().await?;
        let undone = undone?;
        Ok(ArchiveUndo { removed: undone.removed, kept: undone.kept })
    }

    /// Leaves what an import has added that was stopped or cut off.
    ///
    /// # Errors
    /// The vault is locked, or the disk refuses.
    pub async fn archive_keep(&self) -> Result<(), ServiceError> {
        let _work = self.work().await;
        let store = self.session()?.store();
        blocking("ending an import", move || Ok(archive::keep_import(&store)?)).await
    }

    /// Stops the export or import under way.
    pub fn archive_stop(&self) {
        self.0.archives.stop().cancel();
    }

    async fn with_archive(
        &self,
        path: PathBuf,
        secret: ArchiveSecret,
        take_settings: bool,
        watch: impl FnMut(ArchiveProgress) + Send + 'static,
        work: fn(&Store, &ImportRequest<'_>, &mut archive::Watch<'_>) -> Result<ImportReport, ArchiveError>,
    ) -> Result<ArchiveReport, ServiceError> {
        self.check_chosen(&path)?;
        if let ArchiveSecret::KeyFile { key_path } = &secret {
            self.check_chosen(Path::new(key_path))?;
        }
        let installed: BTreeSet<_> = self.plugin_list().await?.into_iter().map(|plugin| plugin.id).collect();
        let (store, now, limits, mut watch) = (self.session()?.store(), self.now(), self.limits(), self.stoppable(watch));
        blocking("reading an archive", move || {
            let secret = opening(&secret)?;
            let examine = &provider::examine;
            let request = ImportRequest { path: &path, secret: &secret, take_settings, examine, limits: &limits, now };
            let report = work(&store, &request, &mut watch)?;
            Ok(ArchiveReport::of(report, &installed))
        })
        .await
    }

    /// Tells of the progress until the user stops the work, or the vault is to be closed.
    fn stoppable<W: FnMut(ArchiveProgress) + Send + 'static>(
        &self,
        mut watch: W,
    ) -> impl FnMut(archive::ArchiveProgress) -> ControlFlow<()> + Send + 'static + use<W> {
        let (asked, closing) = (CancellationToken::new(), self.stop_of_jobs());
        *self.0.archives.stop() = asked.clone();
        move |progress| {
            watch(progress.into());
            if asked.is_cancelled() || closing.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    pub(crate) fn check_chosen(&self, path: &Path) -> Result<(), ServiceError> {
        if self.0.archives.chosen().contains(path) {
            return Ok(());
        }
        let value = path.display().to_string().chars().take(80).collect();
        Err(FieldError { field: "path", value, range: "a place that was chosen in the dialog".into() }.into())
    }

    /// Reads the settings again, which an import may have brought or taken back.
    async fn settings_may_be_new(&self) -> Result<(), ServiceError> {
        let session = self.session()?;
        let settings = session.read(|read| read.settings()).await?;
        session.set_settings(settings.clone());
        self.engines().set_idle(idle_time(&settings));
        Ok(())
    }
}

/// What seals a new archive, and where its new key was written.
fn sealing(protection: &ArchiveProtection, now: DateTime<Utc>) -> Result<(AgeSecret, Option<PathBuf>), ServiceError> {
    match protection {
        ArchiveProtection::Passphrase { passphrase } => {
            let secret = AgeSecret::new_passphrase(SecretString::from(passphrase.as_str())).map_err(|error| match error {
                AgeError::ShortPassphrase => ServiceError::from(FieldError {
                    field: "passphrase",
                    value: format!("{} characters", passphrase.chars().count()),
                    range: "at least 8 characters".into(),
                }),
                other => ArchiveError::Secret(other).into(),
            })?;
            Ok((secret, None))
        }
        ArchiveProtection::NewKey { key_path } => {
            let path = PathBuf::from(key_path);
            if std::fs::symlink_metadata(&path).is_ok() {
                return Err(ArchiveError::Exists { path }.into());
            }
            let secret = AgeSecret::generate();
            write_key_file(&path, &secret, &now.to_rfc3339_opts(SecondsFormat::Secs, true))?;
            Ok((secret, Some(path)))
        }
        ArchiveProtection::KeyFile { key_path } => Ok((key_of(key_path)?, None)),
    }
}

/// What opens an archive.
fn opening(secret: &ArchiveSecret) -> Result<AgeSecret, ServiceError> {
    match secret {
        ArchiveSecret::Passphrase { passphrase } => Ok(AgeSecret::Passphrase(SecretString::from(passphrase.as_str()))),
        ArchiveSecret::KeyFile { key_path } => key_of(key_path),
    }
}

fn key_of(path: &str) -> Result<AgeSecret, ServiceError> {
    let path = PathBuf::from(path);
    AgeSecret::read_key_file(&path).map_err(|error| match error {
        AgeError::Io(source) => ArchiveError::File { action: "read", path, source }.into(),
        other => ArchiveError::Secret(other).into(),
    })
}
