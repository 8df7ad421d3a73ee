//! The folder of logs and reports, and files in it that only their owner may read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a file for its owner alone; the folder is made if it is missing. The profile's folder above is not: where
/// that is missing its drive is not connected, and nothing may begin in its place.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    private(options);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let Some(folder) = path.parent() else { return Err(error) };
            make(folder)?;
            options.open(path)
        }
        opened => opened,
    }
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}
