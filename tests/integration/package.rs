//! What a package carries: everything that `tauri.conf.json` names is made by setup and build, and the program runs with
//! nothing else, from anywhere.

use crate::support::engine_program;
use evenkeel_engine::{Supervisor, SupervisorOptions, default_model};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn config() -> Value {
    serde_json::from_slice(&std::fs::read(project().join("tauri.conf.json")).unwrap()).unwrap()
}

/// Every file of `bundle.resources`: where it is taken from, and its place among the package's resources.
fn resources() -> Vec<(PathBuf, PathBuf)> {
    let config = config();
    let mut files = Vec::new();
    for (source, target) in config["bundle"]["resources"].as_object().expect("resources by source and target") {
        let folder = project().join(source);
        let before = files.len();
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let entry = entry.unwrap();
            let folder = target.as_str().unwrap().trim_start_matches("./");
            files.push((entry.path(), Path::new(folder).join(entry.file_name())));
        }
        assert!(files.len() > before, "{source} is empty: run ./scripts/setup and build again");
    }
    files
}

#[test]
fn setup_and_build_make_every_file_that_a_package_carries() {
    let files = resources();
    for (source, _) in &files {
        assert!(std::fs::metadata(source).is_ok_and(|file| file.is_file() && file.len() > 0), "{}", source.display());
    }
    let carried = |place: &str| files.iter().find(|(_, target)| target == Path::new(place));
    for library in ["libllama.so.0", "libllama-common.so.0", "libggml.so.0", "libggml-base.so.0"] {
        assert!(carried(&format!("lib/{library}")).is_some(), "{library} is missing in {files:?}");
    }
    assert!(files.iter().any(|(_, target)| target.to_string_lossy().contains("libggml-cpu")), "no CPU variant in {files:?}");
    // The app looks for the model right among its resources.
    default_model::verify(&carried(default_model::FILE_NAME).expect("the model is carried").0).unwrap();
}

#[test]
fn packages_for_linux_carry_the_manual() {
    for kind in ["deb", "rpm"] {
        let files = config()["bundle"]["linux"][kind]["files"].clone();
        let folder = project().join(files["/usr/share/man/man1"].as_str().expect("the folder of the manual's pages"));
        for page in ["evenkeel.1", "evenkeel-chat.1", "evenkeel-contexts-list.1"] {
            assert!(folder.join(page).is_file(), "{kind}: {page}");
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_program_runs_from_any_prefix_with_what_the_package_carries() {
    let prefix = tempfile::tempdir().unwrap();
    let program = prefix.path().join("opt/evenkeel/bin/evenkeel");
    // Tauri's packages keep resources in `lib/<product name>` beside `bin`.
    let shared = prefix.path().join("opt/evenkeel/lib").join(config()["productName"].as_str().unwrap());
    place(&engine_program(), &program);
    for (source, target) in resources() {
        place(&source, &shared.join(target));
    }
    let model = default_model::locate(Some(&shared)).unwrap();
    assert!(model.starts_with(&shared), "{}", model.display());
    let engine = Supervisor::new(SupervisorOptions { args: vec!["engine".into()], ..SupervisorOptions::new(program) });
    let endpoint = engine.endpoint(&model, Some(512)).await.unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", endpoint.pid.unwrap())).unwrap();
    let loaded: Vec<_> = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
    let own = shared.canonicalize().unwrap();
    for name in ["libllama.so", "libggml-base.so", "libggml-cpu"] {
        let from: Vec<_> = loaded.iter().filter(|path| path.contains(name)).collect();
        assert!(!from.is_empty() && from.iter().all(|path| Path::new(path).starts_with(&own)), "{name} from {from:?}");
    }
    drop(endpoint);
    engine.shutdown().await;
}

/// Links or copies what `from` leads to.
#[cfg(target_os = "linux")]
fn place(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let from = from.canonicalize().unwrap();
    if std::fs::hard_link(&from, to).is_err() {
        std::fs::copy(&from, to).unwrap();
    }
}
