#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use evenkeel_vault::{CreateOptions, Created, Profile, VaultLock, create};
use proptest::prelude::*;
use std::io::Write;

const DATABASE: &[u8] = b"the database";

struct Made {
    folder: tempfile::TempDir,
    vault: Created,
    bytes: Vec<u8>,
}

impl Made {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::new(folder.path().join("profile"));
        let lock = VaultLock::exclusive(&profile).unwrap();
        let vault = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
        let head = Head {
            id: BackupId::from_parts(DateTime::UNIX_EPOCH, [7; 10]),
            vault_id: vault.key_file.vault_id(),
            kind: BackupKind::Daily,
            made_at: DateTime::UNIX_EPOCH,
            app_version: "1.2.3".into(),
            schema: 1,
        };
        let census = Census { tables: BTreeMap::from([("messages".into(), 3)]), newest: None, middle: None };
        let contents = Contents { bytes: DATABASE.len() as u64, sha256: "0".repeat(64), census };
        let keys = VaultKeys { root: &vault.root, vault_id: vault.key_file.vault_id() };
        let bytes = front_bytes(&head, &vault.key_file, &contents, keys).unwrap();
        let bytes = [bytes.as_slice(), DATABASE].concat();
        Self { folder, vault, bytes }
    }

    fn keys(&self) -> VaultKeys<'_> {
        VaultKeys { root: &self.vault.root, vault_id: self.vault.key_file.vault_id() }
    }

    /// Reads other bytes as a file of that name.
    fn read(&self, name: &str, bytes: &[u8]) -> Result<(Front, Contents), BackupError> {
        let path = self.folder.path().join(name);
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        let front = Front::read(&mut File::open(&path).unwrap(), &path)?;
        front.key_file(&path)?;
        let contents = front.contents(self.keys(), &path)?;
        Ok((front, contents))
    }
}

const OURS: &str = "evenkeel-20261121T082314Z-07070707.ekbackup";

fn error<T>(result: Result<T, BackupError>) -> BackupError {
    match result {
        Ok(_) => panic!("it should have been refused"),
        Err(error) => error,
    }
}

#[test]
fn a_front_reads_as_it_was_written() {
    let made = Made::new();
    let (front, contents) = made.read(OURS, &made.bytes).unwrap();
    assert_eq!(contents.census.counts(), BackupCounts { messages: 3, ..BackupCounts::default() });
    assert_eq!((front.database_at + contents.bytes, front.head.app_version.as_str()), (front.file_bytes, "1.2.3"));
    assert_eq!(front.key_file(Path::new("")).unwrap(), made.vault.key_file);
}

#[test]
fn names_sort_by_time_and_tell_the_seconds_apart() {
    let id = BackupId::from_parts(DateTime::UNIX_EPOCH, [0xab; 10]);
    assert_eq!(file_name(id, DateTime::UNIX_EPOCH), "evenkeel-19700101T000000Z-abababab.ekbackup");
}

#[test]
fn other_files_are_foreign_unless_they_are_named_as_ours() {
    let made = Made::new();
    for bytes in [&b""[..], b"x", b"SQLite format 3\0", b"EVENKEEL KEY SLOTS 1\n"] {
        assert!(matches!(error(made.read("holiday.ekbackup", bytes)), BackupError::Foreign { .. }));
        assert!(matches!(error(made.read(OURS, bytes)), BackupError::Damaged { .. }));
    }
}

#[test]
fn a_newer_format_is_told_from_a_damaged_one() {
    let made = Made::new();
    let mut newer = made.bytes.clone();
    newer[MAGIC.len()] = b'2';
    assert!(matches!(error(made.read(OURS, &newer)), BackupError::Damaged { .. }), "a flipped digit is no version");
    let line = format!("{MAGIC}2\n").into_bytes();
    let (length, sections) = (9_u32.to_le_bytes(), b"something");
    let bytes = [&line[..], &hash_of(&line, &length, sections), &length, sections].concat();
    assert!(matches!(error(made.read(OURS, &bytes)), BackupError::TooNew { found: 2, known: 1, .. }));
}

#[test]
fn a_wrong_key_and_another_vault_are_no_damage() {
    let (made, other) = (Made::new(), Made::new());
    let path = made.folder.path().join(OURS);
    let (front, _) = made.read(OURS, &made.bytes).unwrap();
    let wrong = VaultKeys { root: &other.vault.root, ..made.keys() };
    assert!(matches!(error(front.contents(wrong, &path)), BackupError::WrongKey { .. }));
    assert!(matches!(error(front.contents(other.keys(), &path)), BackupError::OtherVault { .. }));
}

#[test]
fn every_bit_of_the_front_counts() {
    let made = Made::new();
    let front = made.bytes.len() - DATABASE.len();
    for at in 0..front {
        let mut flipped = made.bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let error = error(made.read(OURS, &flipped));
        assert!(matches!(error, BackupError::Damaged { .. }), "byte {at}: {error}");
        let error = self::error(made.read(OURS, &made.bytes[..at]));
        assert!(matches!(error, BackupError::Damaged { .. }), "cut at {at}: {error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_crash(bytes: Vec<u8>, length: u32, is_magic: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OURS);
        let start = if is_magic { format!("{MAGIC}1\n").into_bytes() } else { Vec::new() };
        let whole = [&start[..], &hash_of(&start, &length.to_le_bytes(), &bytes), &length.to_le_bytes(), &bytes].concat();
        std::fs::write(&path, whole).unwrap();
        prop_assert!(Front::read(&mut File::open(&path).unwrap(), &path).is_err());
    }
}
