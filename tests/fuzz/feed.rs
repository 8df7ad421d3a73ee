//! What the targets of cargo-fuzz share: the readers of `evenkeel-store-faults`, fed with what libFuzzer thinks of.

pub use evenkeel_store_faults::bytes::Reader;
use evenkeel_store_faults::readers::Readers;
use std::path::PathBuf;

/// A folder: a good file is put into it, so that changing begins with one.
const CORPUS: &str = "EVENKEEL_FUZZ_CORPUS";

thread_local! {
    static READERS: Readers = Readers::new().unwrap_or_else(|error| panic!("the readers cannot be made: {error}"));
}

/// Makes ready, before the first input.
pub fn begin(reader: Reader) {
    READERS.with(|readers| {
        let Some(folder) = std::env::var_os(CORPUS).map(PathBuf::from) else { return };
        let good = readers.good(reader).unwrap_or_else(|error| panic!("a good file cannot be made: {error}"));
        std::fs::write(folder.join("good"), good).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    });
}

/// Reads an input as it is, and once more after what says that it is whole was made to fit.
pub fn feed(reader: Reader, input: &[u8]) {
    READERS.with(|readers| {
        for mends in [false, true] {
            if let Err(error) = readers.read(reader, input, mends) {
                panic!("{}: {error}", reader.name());
            }
        }
    });
}
