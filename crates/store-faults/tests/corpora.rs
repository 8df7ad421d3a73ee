//! The inputs that fuzzing has kept (`tests/fuzz/corpus`), read again without it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel_store_faults::bytes::Reader;
use evenkeel_store_faults::readers::Readers;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the inputs of one reader: who clones the project takes them along.
const MOST_BYTES: u64 = 256 << 10;

fn inputs(reader: Reader) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(reader.target());
    let mut inputs: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

#[test]
fn the_readers_hold_their_promises_for_every_input_that_was_kept() {
    let readers = Readers::new().unwrap();
    for reader in Reader::ALL {
        let (mut taken, mut bytes, inputs) = (0, 0, inputs(reader));
        for path in &inputs {
            let input = fs::read(path).unwrap();
            bytes += input.len() as u64;
            for mends in [false, true] {
                let read = readers.read(reader, &input, mends);
                taken += u32::from(read.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            }
        }
        println!("{}: {} inputs, {bytes} bytes, taken {taken} times", reader.name(), inputs.len());
        assert!(inputs.len() >= 5 && taken > 0, "{}: the inputs reach nothing", reader.name());
        assert!(bytes <= MOST_BYTES, "{}: {bytes} bytes", reader.name());
    }
}
