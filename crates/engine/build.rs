//! Puts llama.cpp's shared libraries where the program looks for them: `<target>/<profile>/lib`.
//! Only their names of the form `libllama.so.0` matter, since those are what the loader asks for.
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const LINKED: [&str; 4] = ["libllama.so.0", "libllama-common.so.0", "libggml.so.0", "libggml-base.so.0"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DEP_LLAMA_BACKENDS_DIR");
    let (Some(backends), Some(out)) = (env::var_os("DEP_LLAMA_BACKENDS_DIR"), env::var_os("OUT_DIR")) else {
        return Err(io::Error::other("the llama.cpp build did not say where its backends are"));
    };
    let backends = PathBuf::from(backends);
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return Err(io::Error::other("OUT_DIR is not inside a target folder"));
    };
    let lib = profile.join("lib");
    fs::create_dir_all(&lib)?;
    if let Some(built) = backends.parent() {
        for name in LINKED {
            place(&built.join("lib").join(name), &lib.join(name))?;
            // llama-cpp-sys-2 leaves links `libllama.so -> libllama.so.0` in these folders without
            // what they point to, and its next build (other features) fails over them.
            for folder in [profile.to_owned(), profile.join("deps"), profile.join("examples")] {
                if folder.is_dir() {
                    place(&built.join("lib").join(name), &folder.join(name))?;
                }
            }
        }
    }
    for entry in fs::read_dir(&backends)? {
        let entry = entry?;
        place(&entry.path(), &lib.join(entry.file_name()))?;
    }
    println!("cargo:rustc-env=EVENKEEL_ENGINE_LIB_DIR={}", lib.display());
    println!("cargo::metadata=lib_dir={}", lib.display());
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // RPATH, not RUNPATH: the libraries find each other through the program's entry too.
        println!("cargo:rustc-link-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN/lib:$ORIGIN/../lib");
    }
    Ok(())
}

/// Links `from` at `to` (a copy where the file system has no hard links), replacing an old one.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    let from = fs::canonicalize(from)?;
    println!("cargo:rerun-if-changed={}", from.display());
    println!("cargo:rerun-if-changed={}", to.display());
    let fresh = to.with_extension("new");
    let _ = fs::remove_file(&fresh);
    if fs::hard_link(&from, &fresh).is_err() {
        fs::copy(&from, &fresh)?;
    }
    fs::rename(&fresh, to)?;
    // Renaming one hard link onto another of the same file leaves both.
    let _ = fs::remove_file(&fresh);
    Ok(())
}
