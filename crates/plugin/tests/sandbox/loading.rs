//! What is refused before it ever runs.

use crate::{ALLOC, FIRST, MEMORY, VERSION, ask, composing, fault, folder, load, manifest};
use evenkeel_domain::ErrorCode;
use evenkeel_plugin::{Fault, Host, MAX_MANIFEST, MAX_WASM, PluginError};
use serde_json::json;

fn good() -> Vec<u8> {
    wat::parse_str(composing(FIRST)).unwrap()
}

#[test]
fn a_plug_in_says_what_it_is() {
    let mut manifest = manifest();
    manifest["configSchema"] = json!({ "type": "object" });
    manifest["homepage"] = json!("ignored");
    let plugin = Host::new().unwrap().load(folder(&manifest, &good()).path()).unwrap();
    assert_eq!(plugin.manifest().id.as_str(), "test-plugin");
    assert_eq!(plugin.manifest().config_schema, Some(json!({ "type": "object" })));
    assert_eq!(ask(&plugin, 0).unwrap().first, 0);
}

#[test]
fn another_interface_version_is_named() {
    let host = Host::new().unwrap();
    let mut newer = manifest();
    newer["abi"] = json!(2);
    let error = host.load(folder(&newer, &good()).path()).unwrap_err();
    assert!(matches!(error.fault(), Some(Fault::Abi { found: 2, place: "plugin.json", wanted: 1 })), "{error}");
    for version in [0, 2, -1] {
        let wat = composing(FIRST).replace(VERSION, &VERSION.replace("const 1", &format!("const {version}")));
        let fault = fault(load(&host, &wat));
        assert!(matches!(fault, Fault::Abi { found, place: "ek_abi", wanted: 1 } if found == version), "{fault}");
    }
}

#[test]
fn whatever_is_imported_is_named_and_refused() {
    let host = Host::new().unwrap();
    for (import, named) in [
        (
            r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
            "wasi_snapshot_preview1.fd_write",
        ),
        (r#"(import "env" "seed" (func (result f64)))"#, "env.seed"),
        (r#"(import "env" "abort" (global i32))"#, "env.abort"),
        (r#"(import "env" "memory" (memory 1))"#, "env.memory"),
        (r#"(import "env" "abort" (func (param i32)))"#, "env.abort"),
    ] {
        let wat = composing(FIRST)
            .replace("(module ", &format!("(module {import} "))
            .replace(MEMORY, if import.contains("memory") { "" } else { MEMORY });
        let error = load(&host, &wat).unwrap_err();
        assert!(matches!(error.fault(), Some(Fault::Import { .. })), "{error}");
        assert!(error.to_string().starts_with(&format!("the plug-in test-plugin asks for {named} ")), "{error}");
        assert_eq!(error.code(), ErrorCode::InvalidParameter);
    }
}

#[test]
fn every_export_is_checked() {
    let host = Host::new().unwrap();
    let compose = r#"(func (export "ek_compose") (param i32 i32) (result i64) (i64.const 0))"#;
    let other =
        |part: &str| part.replace("(param i32", "(param f64").replace("(result i32) (i32.const", "(result i64) (i64.const");
    let whole = format!("(module {MEMORY} {VERSION} {ALLOC} {compose})");
    for (part, name) in [(MEMORY, "memory"), (VERSION, "ek_abi"), (ALLOC, "ek_alloc"), (compose, "ek_compose")] {
        let missing = fault(load(&host, &whole.replace(part, "")));
        assert!(matches!(missing, Fault::Export { name: found, .. } if found == name), "{missing}");
        if part != MEMORY {
            let wrong = fault(load(&host, &whole.replace(part, &other(part))));
            assert!(matches!(wrong, Fault::Export { name: found, .. } if found == name), "{wrong}");
        }
    }
    let turn = r#"(func (export "ek_turn_complete"))"#;
    let wrong = fault(load(&host, &whole.replace("(module ", &format!("(module {turn} "))));
    assert!(matches!(wrong, Fault::Export { name: "ek_turn_complete", .. }), "{wrong}");
}

#[test]
fn modules_of_other_kinds_are_refused() {
    let host = Host::new().unwrap();
    for wat in [
        "(component)".to_owned(),
        composing(FIRST).replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") i64 1)"),
        composing(FIRST).replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 1 1 shared)"),
        composing(FIRST).replace("(module ", "(module (memory 1) "),
    ] {
        let fault = fault(load(&host, &wat));
        assert!(matches!(fault, Fault::Module(_)), "{wat}: {fault}");
    }
    for bytes in [composing(FIRST).as_bytes(), b"", b"\0asm", b"\x7fELF"] {
        assert!(matches!(fault(host.load(folder(&manifest(), bytes).path())), Fault::Module(_)));
    }
}

#[test]
fn files_have_a_size() {
    let host = Host::new().unwrap();
    let large = vec![0; MAX_WASM as usize + 1];
    assert!(matches!(fault(host.load(folder(&manifest(), &large).path())), Fault::TooLarge { most: MAX_WASM, .. }));
    let mut wordy = manifest();
    wordy["more"] = "x".repeat(MAX_MANIFEST as usize).into();
    let error = host.load(folder(&wordy, &good()).path()).unwrap_err();
    assert!(matches!(error.fault(), Some(Fault::TooLarge { most: MAX_MANIFEST, .. })), "{error}");
}

#[test]
fn without_a_manifest_the_folder_is_named() {
    let place = tempfile::tempdir().unwrap();
    let (empty, missing) = (place.path().join("some-folder"), place.path().join("missing"));
    std::fs::create_dir(&empty).unwrap();
    let host = Host::new().unwrap();
    for folder in [empty, missing] {
        let error = host.load(&folder).unwrap_err();
        let name = folder.file_name().unwrap().to_string_lossy();
        assert!(matches!(&error, PluginError::Plugin { plugin, fault: Fault::Io { .. } } if *plugin == name), "{error}");
        assert_eq!(error.code(), ErrorCode::Storage);
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    let (host, outside) = (Host::new().unwrap(), folder(&manifest(), &good()));
    for name in ["plugin.wasm", "plugin.json"] {
        let folder = folder(&manifest(), &good());
        std::fs::remove_file(folder.path().join(name)).unwrap();
        std::os::unix::fs::symlink(outside.path().join(name), folder.path().join(name)).unwrap();
        let error = host.load(folder.path()).unwrap_err();
        assert!(matches!(error.fault(), Some(Fault::NotAFile(path)) if path.ends_with(name)), "{error}");
    }
    let folder = folder(&manifest(), &good());
    std::fs::remove_file(folder.path().join("plugin.wasm")).unwrap();
    std::fs::create_dir(folder.path().join("plugin.wasm")).unwrap();
    assert!(matches!(fault(host.load(folder.path())), Fault::NotAFile(_)));
}
