//! The Python that runs the peers.

use std::path::PathBuf;

/// The interpreter of the environment that `scripts/setup` makes, or the one that was named.
pub fn python() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let inside =
        |venv: PathBuf| if cfg!(windows) { venv.join("Scripts").join("python.exe") } else { venv.join("bin").join("python") };
    let cache = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    variable("EVENKEEL_VENV")
        .map(inside)
        .or_else(|| variable("EVENKEEL_PYTHON"))
        .or_else(|| cache().map(|cache| inside(cache.join("evenkeel").join("venv"))))
        .unwrap_or_else(|| PathBuf::from("python3"))
}
