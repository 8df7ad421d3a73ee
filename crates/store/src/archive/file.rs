//! The file of an archive: written beside its place, read back, and only then given its name.

use super::error::ArchiveError;
use super::lines::{LineReader, LineWriter};
use super::record::{Counts, FORMAT, Header, PluginReference, VERSION};
use super::rows::Rows;
use super::{ArchiveStep, Watch, tell};
use crate::Store;
use crate::file::{create_private, sync_folder};
use chrono::{DateTime, Utc};
use evenkeel_vault::{AgeError, AgeLock, AgeReader, AgeSecret, AgeWriter, age_lock, name_new};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// After so many records those who watch are told.
const TOLD_EACH: u64 = 256;

/// An archive to be written.
pub struct ExportRequest<'a> {
    /// The file.
    pub path: &'a Path,
    /// What it is sealed to.
    pub secret: &'a AgeSecret,
    /// A file that stands there is replaced.
    pub replace: bool,
    /// Of the app.
    pub app_version: &'a str,
    /// Plug-ins that are installed.
    pub plugins: Vec<PluginReference>,
    /// When.
    pub now: DateTime<Utc>,
}

/// An archive that was written and read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Its size.
    pub size_bytes: u64,
    /// What is in it.
    pub counts: Counts,
    /// The digest of its records: archives with the same one hold the same.
    pub sha256: String,
}

/// Writes everything in a vault into an archive: one state of it, whatever is written meanwhile. The memory that it
/// takes does not grow with the vault, but for 8 bytes a message of the longest conversation.
///
/// # Errors
/// `Exists`, `File`, `NotProved`, `Store`, `Cancelled`: what stood at the path is as before, and no part of a new
/// file is left.
pub fn export(store: &Store, request: &ExportRequest<'_>, watch: &mut Watch<'_>) -> Result<Exported, ArchiveError> {
    if !request.replace && fs::symlink_metadata(request.path).is_ok() {
        return Err(ArchiveError::Exists { path: request.path.to_owned() });
    }
    let work = work_path(request.path);
    let made = write(store, request, &work, watch).and_then(|written| {
        let proved = prove(&work, request, &written, watch)?;
        publish(&work, request)?;
        Ok(proved)
    });
    if made.is_err() {
        // The error that matters is the one above.
        let _ = fs::remove_file(&work);
    }
    made
}

fn work_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".unfinished-{}", std::process::id()));
    path.with_file_name(name)
}

fn write(store: &Store, request: &ExportRequest<'_>, work: &Path, watch: &mut Watch<'_>) -> Result<Exported, ArchiveError> {
    let failed = || ArchiveError::file("write", request.path);
    match fs::remove_file(work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed()(error)),
        _ => {}
    }
    create_private(work)?;
    let file = File::options().write(true).open(work).map_err(failed())?;
    let sealed = AgeWriter::new(BufWriter::new(file), request.secret);
    let sealed = sealed.map_err(|error| ArchiveError::of_age(error, request.path))?;
    let (sealed, counts, sha256) = store.try_read(|read| {
        let rows = Rows::new(read)?;
        let counts = rows.counts()?;
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            app_version: request.app_version.to_owned(),
            exported_at: request.now,
            counts,
            plugins: request.plugins.clone(),
        };
        let mut lines = LineWriter::new(BufWriter::with_capacity(1 << 16, sealed), &header).map_err(failed())?;
        let (mut done, total) = (0_u64, counts.total());
        rows.each::<ArchiveError>(&mut |record| {
            lines.record(&record).map_err(failed())?;
            done += 1;
            if done.is_multiple_of(TOLD_EACH) { tell(watch, ArchiveStep::Writing, done, total) } else { Ok(()) }
        })?;
        lines.end().map_err(failed())
    })?;
    let sealed = sealed.into_inner().map_err(|error| failed()(error.into_error()))?;
    let mut out = sealed.finish().map_err(failed())?;
    out.flush().map_err(failed())?;
    let file = out.into_inner().map_err(|error| failed()(error.into_error()))?;
    file.sync_all().map_err(failed())?;
    let size_bytes = file.metadata().map_err(failed())?.len();
    Ok(Exported { size_bytes, counts, sha256 })
}

/// Opens what was written as anyone will, and reads all of it.
fn prove(work: &Path, request: &ExportRequest<'_>, written: &Exported, watch: &mut Watch<'_>) -> Result<Exported, ArchiveError> {
    let unproved = |error: ArchiveError| match error {
        ArchiveError::Invalid { reason } => ArchiveError::NotProved { reason },
        error => error,
    };
    let mut lines = open(work, request.secret).and_then(|source| source.lines()).map_err(unproved)?;
    let total = lines.header().counts.total();
    while lines.next().map_err(unproved)?.is_some() {
        if lines.done().is_multiple_of(TOLD_EACH) {
            tell(watch, ArchiveStep::Proving, lines.done(), total)?;
        }
    }
    if lines.header().counts != written.counts || lines.sha256() != Some(written.sha256.as_str()) {
        return Err(ArchiveError::NotProved { reason: "it does not hold what was written".to_owned() });
    }
    Ok(written.clone())
}

/// Gives the file its name.
fn publish(work: &Path, request: &ExportRequest<'_>) -> Result<(), ArchiveError> {
    let failed = || ArchiveError::file("write", request.path);
    if request.replace {
        fs::rename(work, request.path).map_err(failed())?;
    } else {
        name_new(work, request.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists { path: request.path.to_owned() },
            _ => failed()(error),
        })?;
    }
    // It is there: an error would have its key taken for one that opens nothing.
    if let Err(error) = sync_folder(request.path) {
        tracing::warn!(%error, "the folder of an archive could not be synced");
    }
    Ok(())
}

/// A file that is read as an archive. It stays open, so that no other takes its place meanwhile.
pub(super) struct Source<'a> {
    file: File,
    path: &'a Path,
    secret: &'a AgeSecret,
}

/// Opens a file.
pub(super) fn open<'a>(path: &'a Path, secret: &'a AgeSecret) -> Result<Source<'a>, ArchiveError> {
    let file = File::open(path).map_err(ArchiveError::file("open", path))?;
    Ok(Source { file, path, secret })
}

impl Source<'_> {
    /// Its lines, from the first one. Only one reader at a time: they share the place in the file.
    pub fn lines(&self) -> Result<LineReader<AgeReader<BufReader<File>>>, ArchiveError> {
        let failed = || ArchiveError::file("read", self.path);
        let mut file = self.file.try_clone().map_err(failed())?;
        file.seek(SeekFrom::Start(0)).map_err(failed())?;
        let opened = AgeReader::new(BufReader::with_capacity(1 << 16, file), self.secret);
        LineReader::new(opened.map_err(|error| ArchiveError::of_age(error, self.path))?, self.path)
    }
}

/// What an archive is sealed to, which can be told without opening it.
///
/// # Errors
/// `Secret` if it is no `age` file; `File`.
pub fn lock_of(path: &Path) -> Result<AgeLock, ArchiveError> {
    let file = File::open(path).map_err(ArchiveError::file("open", path))?;
    age_lock(BufReader::new(file)).map_err(|error| match error {
        AgeError::Io(source) => ArchiveError::File { action: "read", path: path.to_owned(), source },
        other => ArchiveError::Secret(other),
    })
}
