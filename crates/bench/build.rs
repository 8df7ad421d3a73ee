//! The engine's libraries stand in `lib` beside the binary, as beside the app's own.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // RPATH instead of RUNPATH, so that the libraries find each other the same way. A test
        // binary stands one folder deeper.
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/lib:$ORIGIN/../lib,--disable-new-dtags");
    }
}
