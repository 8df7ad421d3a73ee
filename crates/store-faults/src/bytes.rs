//! Hostile bytes for whatever reads a file that may come from elsewhere: key slots, the front of a backup, a typed
//! recovery code, envelopes, age files, archives. Good files are changed at random; where a checksum would end every look
//! at the first line, it is made to fit again, so that what stands behind it is reached. The targets of cargo-fuzz
//! (`tests/fuzz`) let the same readers be fed by coverage, and the inputs that it kept are read again by a test.

use crate::chance::Chance;
use crate::error::FaultError;
use crate::readers::Readers;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Values at which lengths and numbers go wrong.
const EDGES: [&[u8]; 12] = [
    &[0, 0, 0, 0],
    &[0xff, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0x80],
    b"18446744073709551616",
    b"-1",
    b"1e999",
    b"null",
    b"[[[[[[[[",
    b"\"\\ud800\"",
    b"{}",
    &[0xf0, 0x9f],
];

/// Who reads the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The key-slot file.
    KeySlots,
    /// The front of a backup.
    BackupFront,
    /// A recovery code as it is typed.
    RecoveryCode,
    /// An envelope of one message.
    Envelope,
    /// An age file.
    AgeFile,
    /// The lines of an archive.
    Archive,
}

impl Reader {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::KeySlots, Self::BackupFront, Self::RecoveryCode, Self::Envelope, Self::AgeFile, Self::Archive];

    /// Its name in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::KeySlots => "key slots",
            Self::BackupFront => "backup front",
            Self::RecoveryCode => "recovery code",
            Self::Envelope => "envelope",
            Self::AgeFile => "age file",
            Self::Archive => "archive",
        }
    }

    /// The name of its target, and of the folder of its inputs.
    #[must_use]
    pub fn target(self) -> String {
        self.name().replace(' ', "_")
    }
}

/// What was fed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fed {
    /// Inputs.
    pub inputs: u64,
    /// Of these, those that were taken as good.
    pub taken: u64,
}

/// Feeds a reader for so long.
///
/// # Errors
/// `Broken` with the input in hex, where the reader panicked, answered with an error of another kind, or took something
/// that it does not give back the same.
pub fn feed(reader: Reader, budget: Duration, seed: u64) -> Result<Fed, FaultError> {
    let readers = Readers::new()?;
    let good = readers.good(reader)?;
    let (mut chance, mut fed, began) = (Chance::new(seed), Fed::default(), Instant::now());
    while began.elapsed() < budget {
        let mut input = good.clone();
        for _ in 0..=chance.below(6) {
            change(&mut input, &mut chance);
        }
        let mends = chance.below(5) > 0;
        let outcome = catch_unwind(AssertUnwindSafe(|| readers.read(reader, &input, mends)));
        let told = |what: String| FaultError::Broken(format!("{}: {what}, given {}", reader.name(), hex(&input)));
        let taken = outcome.map_err(|_| told("a panic".to_owned()))?.map_err(|error| told(error.to_string()))?;
        fed.inputs += 1;
        fed.taken += u64::from(taken);
    }
    Ok(fed)
}

/// One change at random.
fn change(bytes: &mut Vec<u8>, chance: &mut Chance) {
    if bytes.is_empty() {
        return bytes.push(0);
    }
    let at = chance.below(bytes.len());
    let length = 1 + chance.below((bytes.len() - at).min(64));
    match chance.below(7) {
        0 => bytes[at] ^= 1 << chance.below(8),
        1 => drop(bytes.drain(at..at + length)),
        2 => {
            let copy = bytes[at..at + length].to_vec();
            drop(bytes.splice(at..at, copy));
        }
        3 => drop(bytes.splice(at..at, EDGES[chance.below(EDGES.len())].iter().copied())),
        4 => {
            let edge = EDGES[chance.below(EDGES.len())];
            let end = (at + edge.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&edge[..end - at]);
        }
        5 => bytes.truncate(at),
        _ => {
            let to = chance.below(bytes.len());
            bytes.swap(at, to);
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
