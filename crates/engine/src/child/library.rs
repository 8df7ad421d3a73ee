//! Finds llama.cpp's CPU variants and starts the library.

use super::failure::Failure;
use evenkeel_domain::ErrorCode;
use llama_cpp_2::llama_backend::{LlamaBackend, load_backends_from_path};
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use std::path::{Path, PathBuf};

/// Where the libraries are, from the program's own folder: beside it, or among a Linux package's resources
/// (`/usr/bin` and `/usr/lib/Evenkeel`, under any prefix). The program's RPATH names the same two.
const PLACES: [&str; 2] = ["lib", "../lib/Evenkeel/lib"];

/// Starts llama.cpp with the best CPU variant from `folder`, or from the folder that belongs to
/// this program.
///
/// ggml itself would look in the current folder too and load whatever lies there, so it is never
/// left to search.
pub(crate) fn start(folder: Option<PathBuf>) -> Result<LlamaBackend, Failure> {
    let folder = match folder {
        Some(folder) => folder,
        None => own_folder()?,
    };
    if !holds_a_backend(&folder) {
        return Err(unavailable(format!("The engine's libraries are not in {}. Install Evenkeel again.", folder.display())));
    }
    if std::env::var_os("GGML_BACKEND_PATH").is_some() {
        return Err(unavailable(
            "The variable GGML_BACKEND_PATH would make the engine load a foreign library. Unset it and start Evenkeel again."
                .to_owned(),
        ));
    }
    if folder.to_str().is_none() {
        return Err(unavailable(format!(
            "The engine's folder {} is not valid UTF-8. Install Evenkeel elsewhere.",
            folder.display()
        )));
    }
    send_logs_to_tracing(LogOptions::default());
    load_backends_from_path(&folder);
    if llama_cpp_2::list_llama_ggml_backend_devices().is_empty() {
        return Err(unavailable(
            "None of the engine's CPU variants runs on this processor. Install Evenkeel again, or report the processor's model."
                .to_owned(),
        ));
    }
    LlamaBackend::init()
        .map_err(|error| unavailable(format!("The engine's library did not start: {error}. Install Evenkeel again.")))
}

/// The folder with the engine's libraries; `None` where the program has none, and the engine cannot start.
#[must_use]
pub fn libraries() -> Option<PathBuf> {
    own_folder().ok().filter(|folder| holds_a_backend(folder))
}

/// The first of [`PLACES`] that is there; in development builds, the folder that the build script filled.
fn own_folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| unavailable(format!("The engine cannot find its own program: {error}. Install Evenkeel again.")))?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    match PLACES.map(|place| beside.join(place)).into_iter().find(|folder| folder.is_dir()) {
        // ggml takes the path as it is, and `..` in it would depend on links.
        Some(folder) => folder.canonicalize().map_err(|error| unavailable(unreadable(&folder, &error))),
        None if cfg!(debug_assertions) => Ok(PathBuf::from(env!("EVENKEEL_ENGINE_LIB_DIR"))),
        None => Ok(beside.join(PLACES[0])),
    }
}

fn unreadable(folder: &Path, error: &std::io::Error) -> String {
    format!("The engine's folder {} cannot be read: {error}. Install Evenkeel again.", folder.display())
}

fn holds_a_backend(folder: &Path) -> bool {
    folder.is_absolute()
        && std::fs::read_dir(folder)
            .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().contains("ggml-cpu")))
}

fn unavailable(message: String) -> Failure {
    Failure { code: ErrorCode::EngineUnavailable, message }
}

/// Threads to compute with: `wanted`, else the physical cores, in both cases at most what this
/// process may use. More threads than cores make llama.cpp about a hundred times slower.
pub(crate) fn threads(wanted: Option<u32>) -> u32 {
    let available = std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1));
    let physical = sysinfo::System::physical_core_count().ok().and_then(|count| u32::try_from(count).ok());
    wanted.filter(|count| *count > 0).or(physical).unwrap_or(available).clamp(1, available)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_never_exceed_what_is_available() {
        let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        assert_eq!(threads(Some(10_000)) as usize, available);
        assert_eq!(threads(Some(1)), 1);
        assert!((1..=available).contains(&(threads(None) as usize)));
    }

    #[test]
    fn a_folder_without_backends_or_a_relative_one_is_no_library_folder() {
        assert!(!holds_a_backend(Path::new("lib")));
        assert!(!holds_a_backend(Path::new("/proc/self/fd")));
    }
}
