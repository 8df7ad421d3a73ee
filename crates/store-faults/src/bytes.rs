//! Hostile bytes for whatever reads a file that may come from elsewhere: key slots, the front of a backup, a typed
//! recovery code. Good files are changed at random; where a checksum would end every look at the first line, it is
//! made to fit again, so that what stands behind it is reached.

use crate::chance::Chance;
use crate::error::{FaultError, promise};
use crate::scene::Scene;
use evenkeel_store::backup::{self, BackupError};
use evenkeel_vault::{KeyFile, RecoveryCode, VaultError};
use sha2::{Digest, Sha256};
use std::fs;
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
}

impl Reader {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::KeySlots, Self::BackupFront, Self::RecoveryCode];

    /// Its name in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::KeySlots => "key slots",
            Self::BackupFront => "backup front",
            Self::RecoveryCode => "recovery code",
        }
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
    let scene = Scene::with(3)?;
    let good = match reader {
        Reader::KeySlots => fs::read(scene.profile.key_slots())?,
        Reader::BackupFront => fs::read(scene.back_up(&scene.open()?, 1)?.path)?,
        Reader::RecoveryCode => b"K7QF-9M2X-4TRD-W8HN-3PVC-6BJA-ZE5S".to_vec(),
    };
    let file = scene.folder().join("evenkeel-hostile.ekbackup");
    let (mut chance, mut fed, began) = (Chance::new(seed), Fed::default(), Instant::now());
    while began.elapsed() < budget {
        let mut input = good.clone();
        let front = front_of(reader, &input);
        input.truncate(front);
        for _ in 0..=chance.below(6) {
            change(&mut input, &mut chance);
        }
        if chance.below(5) > 0 {
            mend(reader, &mut input);
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| match reader {
            Reader::KeySlots => read_key_slots(&input),
            Reader::BackupFront => fs::write(&file, &input).map_err(FaultError::from).and_then(|()| read_front(&file)),
            Reader::RecoveryCode => Ok(RecoveryCode::parse(&String::from_utf8_lossy(&input)).is_ok()),
        }));
        let told = |what: String| FaultError::Broken(format!("{}: {what}, given {}", reader.name(), hex(&input)));
        let taken = outcome.map_err(|_| told("a panic".to_owned()))?.map_err(|error| told(error.to_string()))?;
        fed.inputs += 1;
        fed.taken += u64::from(taken);
    }
    Ok(fed)
}

/// Bytes of a good file that are looked at.
fn front_of(reader: Reader, good: &[u8]) -> usize {
    let Reader::BackupFront = reader else { return good.len() };
    let line = line_of(good);
    let length = good.get(line + 32..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    (line + 36 + usize::try_from(length).unwrap_or(0)).min(good.len())
}

fn line_of(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn read_key_slots(input: &[u8]) -> Result<bool, FaultError> {
    match KeyFile::from_bytes(input, "hostile bytes") {
        Ok(file) => {
            let again = KeyFile::from_bytes(&file.to_bytes()?, "the same bytes")?;
            promise(again == file, || "it does not give back what it took".to_owned())?;
            Ok(true)
        }
        Err(VaultError::Damaged { .. } | VaultError::TooNew { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn read_front(file: &std::path::Path) -> Result<bool, FaultError> {
    match backup::key_slots(file) {
        Ok(_) => Ok(true),
        Err(BackupError::Damaged { .. } | BackupError::Foreign { .. } | BackupError::TooNew { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
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

/// Makes the checksum fit again.
fn mend(reader: Reader, input: &mut Vec<u8>) {
    let line = line_of(input);
    match reader {
        Reader::RecoveryCode => {}
        Reader::KeySlots => {
            let Some(end) = input.get(line..).map(line_of).filter(|end| *end > 0) else { return };
            let mut hash = Sha256::new();
            hash.update(&input[..line]);
            hash.update(&input[line + end..]);
            let sum = format!("{}\n", hex(&hash.finalize()));
            drop(input.splice(line..line + end, sum.into_bytes()));
        }
        Reader::BackupFront => {
            let Some(sections) = input.get(line + 36..).map(<[u8]>::to_vec) else { return };
            let length = u32::try_from(sections.len()).unwrap_or(0).to_le_bytes();
            let mut hash = Sha256::new();
            hash.update(&input[..line]);
            hash.update(length);
            hash.update(&sections);
            input[line..line + 32].copy_from_slice(&hash.finalize());
            input[line + 32..line + 36].copy_from_slice(&length);
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
