#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use proptest::prelude::*;

fn sealed(secret: &AgeSecret, plain: &[u8]) -> Vec<u8> {
    let mut writer = AgeWriter::new(Vec::new(), secret).unwrap();
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn opened(secret: &AgeSecret, file: &[u8]) -> Result<Vec<u8>, AgeError> {
    let mut plain = Vec::new();
    AgeReader::new(file, secret)?.read_to_end(&mut plain)?;
    Ok(plain)
}

fn passphrase(text: &str) -> AgeSecret {
    AgeSecret::new_passphrase(SecretString::from(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn failed(outcome: Result<Vec<u8>, AgeError>) -> AgeError {
    outcome.expect_err("it should not open")
}

proptest! {
    #[test]
    fn what_was_sealed_to_a_key_opens_with_it_and_damage_is_found(
        plain in proptest::collection::vec(any::<u8>(), 0..200_000), at: prop::sample::Index, bit in 0u8..8,
    ) {
        let secret = AgeSecret::generate();
        let file = sealed(&secret, &plain);
        prop_assert_eq!(opened(&secret, &file).unwrap(), plain);
        let mut flipped = file.clone();
        flipped[at.index(file.len())] ^= 1 << bit;
        prop_assert!(opened(&secret, &flipped).is_err());
        prop_assert!(opened(&secret, &file[..at.index(file.len())]).is_err(), "cut");
        prop_assert!(matches!(opened(&AgeSecret::generate(), &file), Err(AgeError::WrongSecret)));
    }
}

#[test]
fn a_passphrase_opens_what_it_sealed_and_the_work_is_that_of_the_age_program() {
    let file = sealed(&passphrase("correct horse"), b"plain");
    let header = String::from_utf8_lossy(&file);
    assert!(header.lines().nth(1).unwrap().ends_with(" 18"), "{header}");
    assert_eq!(opened(&passphrase("correct horse"), &file).unwrap(), b"plain");
    assert!(matches!(failed(opened(&passphrase("correct hors"), &file)), AgeError::WrongSecret));
    assert!(matches!(failed(opened(&AgeSecret::generate(), &file)), AgeError::NeedsPassphrase));
    assert_eq!(age_lock(&file[..]).unwrap(), AgeLock::Passphrase);
    // More work than that is refused before it is done.
    let costly = header_of(&file).replacen(" 18\n", " 40\n", 1);
    let mut bomb = costly.into_bytes();
    bomb.extend_from_slice(&file[header_of(&file).len()..]);
    assert!(matches!(failed(opened(&passphrase("correct horse"), &bomb)), AgeError::TooMuchWork { required: 40 }));
}

/// The text before the binary part.
fn header_of(file: &[u8]) -> String {
    let end = file.windows(4).position(|part| part == b"--- ").unwrap();
    let line = file[end..].iter().position(|byte| *byte == b'\n').unwrap();
    String::from_utf8(file[..=end + line].to_vec()).unwrap()
}

#[test]
fn a_key_file_is_written_once_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.txt");
    let secret = AgeSecret::generate();
    write_key_file(&path, &secret, "2026-11-21T00:00:00Z").unwrap();
    let file = sealed(&secret, b"plain");
    assert_eq!(age_lock(&file[..]).unwrap(), AgeLock::Key);
    let read = AgeSecret::read_key_file(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(opened(&read, &file).unwrap(), b"plain");
    assert!(matches!(failed(opened(&passphrase("a passphrase"), &file)), AgeError::NeedsKey));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# created: 2026-11-21T00:00:00Z\n# public key: age1"), "{text}");
    let again = write_key_file(&path, &AgeSecret::generate(), "later");
    assert!(again.is_err() && std::fs::read_to_string(&path).unwrap() == text, "never over another file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_is_no_age_file_and_no_key_is_said_so() {
    let secret = AgeSecret::generate();
    for foreign in [&b""[..], b"PK\x03\x04", b"age-encryption.org/v9\n-> x\n", b"age-encryption.org/v1\n", &[0xff; 100_000]] {
        assert!(matches!(failed(opened(&secret, foreign)), AgeError::Foreign), "{foreign:?}");
        assert!(age_lock(foreign).is_err());
    }
    for text in ["", "AGE-SECRET-KEY-1", "age1qqqq", "# AGE-SECRET-KEY-1…"] {
        assert!(AgeSecret::of_key_file(text).is_err(), "{text}");
    }
    for short in ["", "1234567", "äöüäöüä"] {
        assert!(AgeSecret::new_passphrase(SecretString::from(short)).is_err(), "{short}");
    }
}
