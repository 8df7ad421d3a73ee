//! The folder for files that are being worked on.

use super::{BackupError, journal};
use evenkeel_vault::Profile;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";

/// A folder of one work. It is removed when dropped; if the process ends before that, by the next
/// work, which sees from the lock that nobody is there any more.
pub(super) struct Work {
    folder: PathBuf,
    lock: Option<File>,
    keep: bool,
}

/// The folder of all work of a profile.
pub(super) fn place(profile: &Profile) -> PathBuf {
    profile.work()
}

impl Work {
    /// Begins a work, and removes what earlier ones have left.
    pub(super) fn begin(profile: &Profile, purpose: &str) -> Result<Self, BackupError> {
        profile.prepare()?;
        let place = place(profile);
        make_private(&place)?;
        // Held only until the folder's own lock is: nobody may sweep it in between.
        let _entrance = lock_file(&place.join(LOCK))?;
        sweep(profile, &place);
        let process = std::process::id();
        let free = (1_u32..).map(|n| place.join(format!("{purpose}-{process}-{n}"))).find(|folder| !folder.exists());
        let folder = free.unwrap_or_else(|| place.join(purpose));
        make_private(&folder)?;
        let lock = lock_file(&folder.join(LOCK))?;
        Ok(Self { folder, lock: Some(lock), keep: false })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder's name in the place of all work.
    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Leaves the folder where it is: a restore's journal refers to it from now on.
    pub(super) fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        drop(self.lock.take());
        if !self.keep {
            // What stays is encrypted, and the next work removes it.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Whether the work of that name goes on, in this or another process.
pub(super) fn goes_on(profile: &Profile, name: &str) -> bool {
    File::open(place(profile).join(name).join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err())
}

fn sweep(profile: &Profile, place: &Path) {
    let wanted = journal::work_in_use(profile);
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_wanted = match &wanted {
            Ok(wanted) => wanted.as_ref() == Some(&name),
            // A journal that cannot be read may mean any of them.
            Err(_) => true,
        };
        if entry.path().is_dir() && !is_wanted && !goes_on(profile, &name) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Opens a file, makes it where there is none, and waits for its lock.
pub(super) fn lock_file(path: &Path) -> Result<File, BackupError> {
    let failed = |source| BackupError::file("lock", path, source);
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn make_private(folder: &Path) -> Result<(), BackupError> {
    #[allow(unused_mut, reason = "changed on Unix alone")]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => Err(BackupError::file("make the folder", folder, source)),
        _ => Ok(()),
    }
}
