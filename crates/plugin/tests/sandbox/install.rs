//! Installing, replacing, listing and removing.

use crate::{FIRST, ask, composing, fault, folder, manifest};
use evenkeel_domain::ErrorCode;
use evenkeel_plugin::{Fault, Host};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A source of this version, which answers with `first`.
fn source(version: &str, first: u8) -> TempDir {
    let mut manifest = manifest();
    manifest["version"] = version.into();
    folder(&manifest, &wat::parse_str(composing(FIRST).replace(":0}", &format!(":{first}}}"))).unwrap())
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What the installed plug-in answers, and its version.
fn installed(host: &Host, root: &Path) -> (usize, String) {
    let plugin = host.load(&root.join("test-plugin")).unwrap();
    (ask(&plugin, 3).unwrap().first, plugin.manifest().version.clone())
}

#[test]
fn a_plug_in_is_installed_under_its_id() {
    let (host, place) = (Host::new().unwrap(), TempDir::new().unwrap());
    let root = place.path().join("plugins");
    assert!(Host::installed(&root).is_empty());
    let source = source("1.0.0", 1);
    fs::write(source.path().join("notes.txt"), "not copied").unwrap();
    let plugin = host.install(&root, source.path(), false).unwrap();
    assert_eq!(ask(&plugin, 3).unwrap().first, 1);
    drop(source);
    assert_eq!(installed(&host, &root), (1, "1.0.0".to_owned()));
    assert_eq!(names(&root), ["test-plugin"]);
    assert_eq!(names(&root.join("test-plugin")), ["plugin.json", "plugin.wasm"]);
    let listed = Host::installed(&root);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].1.as_ref().unwrap().name, "Test");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = TempDir::new().unwrap();
    let root = place.path().join("plugins");
    Host::new().unwrap().install(&root, source("1", 0).path(), false).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = root.join("test-plugin");
    assert_eq!([mode(&root), mode(&folder)], [0o700; 2]);
    assert_eq!([mode(&folder.join("plugin.json")), mode(&folder.join("plugin.wasm"))], [0o600; 2]);
}

#[test]
fn another_version_replaces_only_when_told_to() {
    let (host, root) = (Host::new().unwrap(), TempDir::new().unwrap());
    host.install(root.path(), source("1.0.0", 1).path(), false).unwrap();
    host.install(root.path(), source("1.0.0", 1).path(), false).unwrap();
    for (version, first) in [("2.0.0", 2), ("1.0.0", 2)] {
        let refused = fault(host.install(root.path(), source(version, first).path(), false));
        let Fault::Installed { installed, offered } = refused else { panic!("{refused}") };
        assert_eq!((installed.as_str(), offered.as_str()), ("1.0.0", version));
    }
    assert_eq!(installed(&host, root.path()), (1, "1.0.0".to_owned()));
    // More than once, so that the modules' names take turns.
    for (version, first) in [("2.0.0", 2), ("3.0.0", 3), ("2.0.0", 2), ("2.0.0", 1)] {
        host.install(root.path(), source(version, first).path(), true).unwrap();
        assert_eq!(installed(&host, root.path()), (usize::from(first), version.to_owned()));
        assert_eq!(names(&root.path().join("test-plugin")).len(), 2);
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let (host, root) = (Host::new().unwrap(), TempDir::new().unwrap());
    let bad = folder(&manifest(), b"no module");
    assert!(matches!(fault(host.install(root.path(), bad.path(), false)), Fault::Module(_)));
    assert!(names(root.path()).is_empty());
    host.install(root.path(), source("1.0.0", 1).path(), false).unwrap();
    assert!(matches!(fault(host.install(root.path(), bad.path(), true)), Fault::Module(_)));
    assert_eq!(installed(&host, root.path()), (1, "1.0.0".to_owned()));
}

#[test]
fn what_a_crash_left_is_no_plug_in_and_in_nobodys_way() {
    let (host, root) = (Host::new().unwrap(), TempDir::new().unwrap());
    for name in [".new-test-plugin", ".gone-test-plugin"] {
        fs::create_dir(root.path().join(name)).unwrap();
        fs::write(root.path().join(name).join("plugin.wasm"), b"half of i").unwrap();
    }
    assert!(Host::installed(root.path()).is_empty());
    host.install(root.path(), source("1.0.0", 1).path(), false).unwrap();
    // A replacement that stopped before its last step: the old one is whole.
    let folder = root.path().join("test-plugin");
    fs::write(folder.join("plugin-b.wasm"), b"half of i").unwrap();
    fs::write(folder.join(".plugin.json"), b"{").unwrap();
    assert_eq!(installed(&host, root.path()), (1, "1.0.0".to_owned()));
    host.install(root.path(), source("2.0.0", 2).path(), true).unwrap();
    assert_eq!(installed(&host, root.path()), (2, "2.0.0".to_owned()));
    assert_eq!(names(&folder), ["plugin-b.wasm", "plugin.json"]);
    Host::remove(root.path(), "test-plugin").unwrap();
    assert!(names(root.path()).is_empty());
}

#[test]
fn a_damaged_plug_in_is_listed_with_its_fault_and_can_be_replaced() {
    let (host, root) = (Host::new().unwrap(), TempDir::new().unwrap());
    host.install(root.path(), source("1.0.0", 1).path(), false).unwrap();
    fs::rename(root.path().join("test-plugin"), root.path().join("another-name")).unwrap();
    fs::create_dir(root.path().join("test-plugin")).unwrap();
    fs::write(root.path().join("a file"), b"").unwrap();
    let listed = Host::installed(root.path());
    assert_eq!(listed.len(), 2);
    assert!(matches!(listed[0].1.as_ref().unwrap_err().fault(), Some(Fault::WrongFolder { .. })));
    assert!(matches!(listed[1].1.as_ref().unwrap_err().fault(), Some(Fault::Io { .. })));
    assert!(matches!(fault(host.install(root.path(), source("2", 2).path(), false)), Fault::Installed { .. }));
    host.install(root.path(), source("2", 2).path(), true).unwrap();
    assert_eq!(installed(&host, root.path()), (2, "2".to_owned()));
}

#[test]
fn only_what_is_installed_is_removed() {
    let place = TempDir::new().unwrap();
    let root = place.path().join("plugins");
    fs::create_dir_all(place.path().join("precious")).unwrap();
    for id in ["../precious", "", ".", "std-sliding-window-strategy"] {
        let error = Host::remove(&root, id).unwrap_err();
        assert!(matches!(error.fault(), Some(Fault::Id(_))), "{error}");
    }
    let missing = Host::remove(&root, "test-plugin").unwrap_err();
    assert!(matches!(missing.fault(), Some(Fault::NotInstalled)), "{missing}");
    assert_eq!(missing.code(), ErrorCode::NotFound);
    assert!(place.path().join("precious").is_dir());
}
