//! The place where plug-ins are installed: one folder for each, named by its id.
//!
//! A folder appears under its name with all its files in it, and goes the same way. A plug-in that
//! is replaced gets its new module beside the old one first; the new `plugin.json`, which names
//! that module, then takes the place of the old one in one step. So after a crash the folder holds
//! a whole plug-in, the old one or the new one.

use crate::folder::{self, Described, MANIFEST_FILE};
use crate::{Fault, Host, Manifest, Plugin, PluginError, PluginId};
use serde_json::Value;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names that an installed module has in turn.
const MODULES: [&str; 2] = ["plugin.wasm", "plugin-b.wasm"];

impl Host {
    /// Checks the plug-in in `source` by loading it, and copies its two files into `root`, which is
    /// made if it is not there. Installing the same files again changes nothing. Only one process
    /// at a time may change what is in `root`.
    ///
    /// # Errors
    /// As [`Host::load`]; [`Fault::Installed`] if another plug-in or version has its id and
    /// `replace` was not said; [`Fault::Io`]. What was installed before then stays as it was.
    pub fn install(&self, root: &Path, source: &Path, replace: bool) -> Result<Plugin, PluginError> {
        let described = folder::describe(source)?;
        let id = described.manifest.id.clone();
        let named = |fault| PluginError::new(&id, fault);
        let wasm = folder::module(source, &described.manifest).map_err(named)?;
        // What was checked is what is written, whatever happens to the source meanwhile.
        let code = self.core().compile(&wasm).map_err(named)?;
        let plugin = Plugin::new(Arc::clone(self.core()), code, described.manifest.clone())?;
        put(root, described, &wasm, replace).map_err(named)?;
        Ok(plugin)
    }

    /// What is installed in `root`, by name; each folder with its manifest or what is wrong with
    /// it. Modules are not looked at. Empty where `root` does not exist.
    #[must_use]
    pub fn installed(root: &Path) -> Vec<(PathBuf, Result<Manifest, PluginError>)> {
        let entries = match fs::read_dir(root).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(e) => {
                let error = PluginError::new(folder::name_of(root), Fault::io("listing", root, e));
                return vec![(root.to_owned(), Err(error))];
            }
        };
        let mut folders: Vec<PathBuf> = entries.iter().filter(|entry| is_folder(entry)).map(fs::DirEntry::path).collect();
        folders.sort();
        folders.into_iter().map(|folder| (folder.clone(), named_as_its_id(&folder))).collect()
    }

    /// Removes a plug-in from `root`.
    ///
    /// # Errors
    /// [`Fault::Id`] if `id` is none, [`Fault::NotInstalled`], [`Fault::Io`].
    pub fn remove(root: &Path, id: &str) -> Result<(), PluginError> {
        let named = |fault| PluginError::new(id, fault);
        let id: PluginId = id.parse().map_err(|mistake: crate::IdMistake| named(mistake.into()))?;
        let (folder, leaving) = (root.join(id.as_str()), root.join(format!(".gone-{id}")));
        clear(&leaving).map_err(named)?;
        match fs::rename(&folder, &leaving) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(named(Fault::NotInstalled)),
            renamed => renamed.map_err(|e| named(Fault::io("removing", &folder, e)))?,
        }
        sync_folder(root).and_then(|()| clear(&leaving)).map_err(named)
    }
}

/// Folders that begin with a point are on their way in or out; a link is nothing that was installed.
fn is_folder(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir()) && !entry.file_name().to_string_lossy().starts_with('.')
}

fn named_as_its_id(folder: &Path) -> Result<Manifest, PluginError> {
    let manifest = folder::describe(folder)?.manifest;
    let name = folder::name_of(folder);
    if name == manifest.id.as_str() {
        return Ok(manifest);
    }
    Err(PluginError::new(name, Fault::WrongFolder { id: manifest.id.to_string() }))
}

fn put(root: &Path, described: Described, wasm: &[u8], replace: bool) -> Result<(), Fault> {
    let folder = root.join(described.manifest.id.as_str());
    match fs::symlink_metadata(&folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => put_new(root, &folder, &described, wasm),
        Err(e) => Err(Fault::io("looking at", &folder, e)),
        Ok(found) if !found.is_dir() => Err(Fault::NotAFile(folder)),
        Ok(_) => put_over(&folder, &described, wasm, replace),
    }
}

/// Fills a folder beside the place and gives it its name.
fn put_new(root: &Path, folder: &Path, described: &Described, wasm: &[u8]) -> Result<(), Fault> {
    let unfinished = root.join(format!(".new-{}", described.manifest.id));
    make_folder(root)?;
    clear(&unfinished)?;
    make_folder(&unfinished)?;
    let written = write(&unfinished.join(MODULES[0]), wasm)
        .and_then(|()| write(&unfinished.join(MANIFEST_FILE), &naming(described, MODULES[0])?))
        .and_then(|()| sync_folder(&unfinished))
        .and_then(|()| fs::rename(&unfinished, folder).map_err(|e| Fault::io("installing", folder, e)));
    if written.is_err() {
        // The error that matters is the one above; what is left over is cleared the next time.
        let _ = fs::remove_dir_all(&unfinished);
        return written;
    }
    sync_folder(root)
}

/// Puts another module beside the present one, and then the manifest that names it in the place of the present manifest.
fn put_over(folder: &Path, described: &Described, wasm: &[u8], replace: bool) -> Result<(), Fault> {
    // A plug-in that is damaged may be replaced like any other.
    let present = folder::describe(folder).ok();
    let used = present.as_ref().map(|present| present.manifest.wasm.as_str());
    if let (Some(present), Some(used)) = (&present, used) {
        let same =
            naming(described, used)? == present.json && folder::module(folder, &present.manifest).is_ok_and(|code| code == wasm);
        if same {
            return Ok(());
        }
    }
    if !replace {
        let installed = present.map_or_else(|| "unknown".to_owned(), |present| present.manifest.version);
        return Err(Fault::Installed { installed, offered: described.manifest.version.clone() });
    }
    let module = MODULES.into_iter().find(|name| Some(*name) != used).unwrap_or(MODULES[0]);
    let (manifest, unfinished) = (folder.join(MANIFEST_FILE), folder.join(".plugin.json"));
    write(&folder.join(module), wasm)?;
    write(&unfinished, &naming(described, module)?)?;
    sync_folder(folder)?;
    fs::rename(&unfinished, &manifest).map_err(|e| Fault::io("replacing", &manifest, e))?;
    sync_folder(folder)?;
    if let Some(used) = used {
        // Nothing names it any more; if it cannot be removed, it is overwritten by the next replacement.
        let _ = fs::remove_file(folder.join(used));
    }
    Ok(())
}

/// The text of `plugin.json` with the module's name in it.
fn naming(described: &Described, module: &str) -> Result<Vec<u8>, Fault> {
    let bad = |e: serde_json::Error| Fault::Manifest(e.to_string());
    let mut json: Value = serde_json::from_slice(&described.json).map_err(bad)?;
    json["wasm"] = module.into();
    serde_json::to_vec_pretty(&json).map_err(bad)
}

/// Writes a file that only its owner may read, never through a link.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let failed = |e| Fault::io("writing", path, e);
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
}

/// Makes a folder that only its owner may enter, if it is not there.
fn make_folder(path: &Path) -> Result<(), Fault> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path).map_err(|e| Fault::io("making", path, e))
}

fn clear(folder: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Fault::io("clearing", folder, e)),
        _ => Ok(()),
    }
}

/// Makes renames in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), Fault> {
    // Windows has no handle to a folder that could be synced; NTFS journals the rename.
    if cfg!(unix) {
        File::open(folder).and_then(|file| file.sync_all()).map_err(|e| Fault::io("syncing", folder, e))?;
    }
    Ok(())
}
