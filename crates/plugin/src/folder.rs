//! Reading the two files of a plug-in's folder, and nothing else.

use crate::{Fault, Manifest, PluginError};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The file that describes a plug-in.
pub const MANIFEST_FILE: &str = "plugin.json";
/// Most bytes of a `plugin.json`.
pub const MAX_MANIFEST: u64 = 64 << 10;
/// Most bytes of a module.
pub const MAX_WASM: u64 = 16 << 20;

/// A folder's manifest, checked but for its module.
pub(crate) struct Described {
    pub manifest: Manifest,
    pub json: Vec<u8>,
}

/// Reads `plugin.json`.
///
/// # Errors
/// [`PluginError::Plugin`] that names the folder.
pub(crate) fn describe(folder: &Path) -> Result<Described, PluginError> {
    let named = |fault| PluginError::new(name_of(folder), fault);
    let json = read(folder, MANIFEST_FILE, MAX_MANIFEST).map_err(named)?;
    let manifest = Manifest::parse(&json).map_err(named)?;
    Ok(Described { manifest, json })
}

/// Reads the module that a manifest names.
pub(crate) fn module(folder: &Path, manifest: &Manifest) -> Result<Vec<u8>, Fault> {
    read(folder, &manifest.wasm, MAX_WASM)
}

/// How a folder is called where its plug-in's id is not known.
pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `name` is bare, so that only a link could lead out of the folder.
fn read(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, Fault> {
    let path = folder.join(name);
    let failed = |e| Fault::io("reading", &path, e);
    // Asked before it is opened: opening a pipe would wait for its other end.
    if !fs::symlink_metadata(&path).map_err(failed)?.is_file() {
        return Err(Fault::NotAFile(path));
    }
    let mut bytes = Vec::new();
    File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    Err(Fault::TooLarge { file: name.to_owned(), most })
}
