#![allow(clippy::unwrap_used)]
use super::*;
use crate::recovery::RecoveryCode;
use crate::{CreateOptions, RootKey, VaultLock, create, unlock_recovery};
use proptest::prelude::*;
use tempfile::TempDir;

struct Vault {
    _dir: TempDir,
    profile: Profile,
    file: KeyFile,
    root: RootKey,
    code: RecoveryCode,
}

fn vault() -> Vault {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile::new(dir.path().join("profile"));
    let lock = VaultLock::exclusive(&profile).unwrap();
    let options = CreateOptions { recovery_only: true, ..CreateOptions::default() };
    let made = create(&profile, options, &lock).ok().unwrap();
    Vault { _dir: dir, profile, file: made.key_file, root: made.root, code: made.recovery_code }
}

fn opens(vault: &Vault) -> bool {
    let file = KeyFile::read(&vault.profile).unwrap();
    unlock_recovery(&file, &vault.code.text()).ok().unwrap().expose() == vault.root.expose()
}

fn names(profile: &Profile) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(profile.dir()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file of another format that is whole by the rule that all formats share.
fn of_format(version: &str, body: &str) -> Vec<u8> {
    let head = format!("{MAGIC} {version}");
    format!("{head}\n{}\n{body}", checksum(&head, body.as_bytes())).into_bytes()
}

#[test]
fn both_copies_are_written_the_same_and_for_the_owner_alone() {
    let vault = vault();
    let bytes = vault.file.to_bytes().unwrap();
    for copy in [vault.profile.key_slots(), vault.profile.key_slots_copy()] {
        assert_eq!(fs::read(&copy).unwrap(), bytes);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    assert!(!KeyFile::read(&vault.profile).unwrap().repaired());
    assert_eq!(names(&vault.profile), ["backups", "models", "vault.keys", "vault.keys.2", "vault.lock"]);
}

#[test]
fn the_format_of_version_1_still_reads() {
    let bytes = include_bytes!("v1.keys");
    let file = KeyFile::from_bytes(bytes, "fixture").unwrap();
    assert!(file.has(SlotKind::Recovery) && file.has(SlotKind::Passphrase) && file.has(SlotKind::Keychain));
    assert_eq!(file.to_bytes().unwrap(), bytes);
    let root = unlock_recovery(&file, include_str!("v1.code").trim()).ok().unwrap();
    let by_passphrase = crate::unlock_passphrase(&file, "correct horse".into()).ok().unwrap();
    assert_eq!(by_passphrase.expose(), root.expose());
    let slot = file.slot(SlotKind::Keychain).unwrap();
    assert_eq!(slot.open_with_keychain(file.vault_id(), &[1; 32]).ok().unwrap().expose(), root.expose());
}

#[test]
fn a_missing_copy_is_written_anew() {
    for first in [true, false] {
        let vault = vault();
        let gone = if first { vault.profile.key_slots() } else { vault.profile.key_slots_copy() };
        fs::remove_file(&gone).unwrap();
        assert!(KeyFile::read(&vault.profile).unwrap().repaired());
        assert_eq!(fs::read(&gone).unwrap(), vault.file.to_bytes().unwrap());
        assert!(opens(&vault));
    }
}

#[test]
fn a_damaged_copy_is_set_aside_before_it_is_written_anew() {
    let vault = vault();
    for n in 1..=2 {
        fs::write(vault.profile.key_slots(), format!("junk {n}")).unwrap();
        assert!(KeyFile::read(&vault.profile).unwrap().repaired());
        let aside = vault.profile.dir().join(format!("vault.keys.damaged-{n}"));
        assert_eq!(fs::read_to_string(aside).unwrap(), format!("junk {n}"));
        assert!(opens(&vault));
    }
}

#[test]
fn a_copy_that_cannot_be_repaired_does_not_stop_the_reading() {
    let vault = vault();
    let copy = vault.profile.key_slots_copy();
    fs::remove_file(&copy).unwrap();
    // A folder that is not empty: not to be read, not to be renamed over once the names are used up.
    fs::create_dir_all(copy.join("x")).unwrap();
    for n in 1..=9 {
        fs::write(format!("{}.damaged-{n}", copy.display()), b"").unwrap();
    }
    assert!(!KeyFile::read(&vault.profile).unwrap().repaired());
    assert!(opens(&vault));
}

#[test]
fn two_damaged_copies_are_an_error_and_stay_as_they_are() {
    let vault = vault();
    for copy in [vault.profile.key_slots(), vault.profile.key_slots_copy()] {
        let mut bytes = fs::read(&copy).unwrap();
        bytes.truncate(100);
        fs::write(copy, bytes).unwrap();
    }
    let before = names(&vault.profile);
    assert!(matches!(KeyFile::read(&vault.profile), Err(VaultError::Damaged { .. })));
    assert_eq!(names(&vault.profile), before);
    assert_eq!(fs::metadata(vault.profile.key_slots()).unwrap().len(), 100);
}

#[test]
fn no_file_is_no_vault_only_where_nothing_else_is_left() {
    let vault = vault();
    fs::remove_file(vault.profile.key_slots()).unwrap();
    fs::remove_file(vault.profile.key_slots_copy()).unwrap();
    assert!(matches!(KeyFile::read(&vault.profile), Err(VaultError::NoVault)));
    fs::write(vault.profile.database(), b"x").unwrap();
    assert!(matches!(KeyFile::read(&vault.profile), Err(VaultError::Damaged { .. })));
}

#[test]
fn a_newer_format_is_refused_untouched_even_beside_an_older_copy() {
    let vault = vault();
    let newer = of_format("2", "anything \n that a later version means");
    for copy in [vault.profile.key_slots(), vault.profile.key_slots_copy()] {
        fs::write(vault.profile.key_slots(), vault.file.to_bytes().unwrap()).unwrap();
        fs::write(vault.profile.key_slots_copy(), vault.file.to_bytes().unwrap()).unwrap();
        fs::write(&copy, &newer).unwrap();
        assert!(matches!(KeyFile::read(&vault.profile), Err(VaultError::TooNew { found: 2, known: 1 })));
        assert_eq!(fs::read(&copy).unwrap(), newer);
    }
}

#[test]
fn a_flipped_format_number_is_damage_not_a_newer_version() {
    let vault = vault();
    let text = String::from_utf8(vault.file.to_bytes().unwrap()).unwrap();
    let flipped = text.replacen(" 1\n", " 3\n", 1);
    assert!(matches!(KeyFile::from_bytes(flipped.as_bytes(), "x"), Err(VaultError::Damaged { .. })));
    for version in ["0", "01x", "", "99999999999", "-1"] {
        let result = KeyFile::from_bytes(&of_format(version, "{}"), "x");
        assert!(matches!(result, Err(VaultError::Damaged { .. })), "{version}: {result:?}");
    }
}

#[test]
fn hostile_files_with_a_good_checksum_are_refused() {
    let vault = vault();
    let text = String::from_utf8(vault.file.to_bytes().unwrap()).unwrap();
    let body = text.splitn(3, '\n').last().unwrap().to_owned();
    let slot = body.split_once("\"slots\":[").unwrap().1.strip_suffix("]}").unwrap().to_owned();
    for (why, body) in [
        ("two slots of a kind", body.replace(&slot, &format!("{slot},{slot}"))),
        ("kind and derivation differ", body.replacen("\"recovery\"", "\"keychain\"", 1)),
        ("an unknown field", body.replacen('{', "{\"more\":1,", 1)),
        ("a short key", body.replacen("\"wrapped\":\"", "\"wrapped\":\"AAAA", 1)),
        ("huge memory", body.replace(&slot, PASSPHRASE_OF_TWO_GIB)),
        ("nested arrays", "[".repeat(60_000)),
    ] {
        let result = KeyFile::from_bytes(&of_format("1", &body), "x");
        assert!(matches!(result, Err(VaultError::Damaged { .. })), "{why}: {result:?}");
    }
    let large = vec![b'x'; MOST_BYTES as usize + 1];
    assert!(matches!(KeyFile::from_bytes(&large, "x"), Err(VaultError::Damaged { .. })));
}

const PASSPHRASE_OF_TWO_GIB: &str = r#"{"kind":"passphrase","kdf":{"name":"argon2id","salt":"AAAAAAAAAAAAAAAAAAAAAA==","cost":{"memoryKib":2097152,"passes":3,"lanes":4}},"wrapped":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#;

#[test]
fn of_an_interrupted_change_the_newer_slots_win() {
    for first_is_newer in [true, false] {
        let vault = vault();
        let mut changed = vault.file.clone();
        changed.replace(&vault.profile, vault.file.with_recovery_confirmed(true), |_| Ok(())).unwrap();
        let stale = if first_is_newer { vault.profile.key_slots_copy() } else { vault.profile.key_slots() };
        fs::write(&stale, vault.file.to_bytes().unwrap()).unwrap();
        let read = KeyFile::read(&vault.profile).unwrap();
        assert!(read.recovery_confirmed() && read.repaired());
        assert_eq!(fs::read(&stale).unwrap(), changed.to_bytes().unwrap());
    }
}

#[test]
fn a_change_on_top_of_anothers_is_refused() {
    let vault = vault();
    let (mut mine, mut theirs) = (vault.file.clone(), vault.file.clone());
    theirs.replace(&vault.profile, vault.file.with_recovery_confirmed(true), |_| Ok(())).unwrap();
    let late = mine.replace(&vault.profile, vault.file.clone(), |_| Ok(()));
    assert!(matches!(late, Err(VaultError::InUse)));
    assert!(KeyFile::read(&vault.profile).unwrap().recovery_confirmed());
}

#[test]
fn a_failed_publication_leaves_no_vault() {
    let vault = vault();
    let other = Profile::new(vault.profile.dir().join("other"));
    other.prepare().unwrap();
    // The second copy cannot be written where a folder with something in it stands.
    fs::create_dir_all(other.key_slots_copy().join("x")).unwrap();
    assert!(vault.file.publish(&other).is_err());
    assert!(!other.key_slots().exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_flipped_bit_is_repaired_in_one_copy_and_found_in_both(
        at: prop::sample::Index, bit in 0u8..8, other_at: prop::sample::Index, first: bool,
    ) {
        let vault = vault();
        let flip = |path: &Path, at: &prop::sample::Index| {
            let mut bytes = fs::read(path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            fs::write(path, bytes).unwrap();
        };
        let (one, two) = (vault.profile.key_slots(), vault.profile.key_slots_copy());
        flip(if first { &one } else { &two }, &at);
        prop_assert!(KeyFile::read(&vault.profile).unwrap().repaired());
        prop_assert!(opens(&vault));
        prop_assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());

        flip(&one, &at);
        flip(&two, &other_at);
        let is_damaged = matches!(KeyFile::read(&vault.profile), Err(VaultError::Damaged { .. }));
        prop_assert!(is_damaged);
    }

    #[test]
    fn any_cut_is_found(at: prop::sample::Index) {
        let bytes = vault().file.to_bytes().unwrap();
        let cut = KeyFile::from_bytes(&bytes[..at.index(bytes.len())], "x");
        let is_damaged = matches!(cut, Err(VaultError::Damaged { .. }));
        prop_assert!(is_damaged);
    }

    #[test]
    fn any_bytes_are_read_without_a_crash(bytes: Vec<u8>, body: String) {
        prop_assert!(KeyFile::from_bytes(&bytes, "x").is_err());
        prop_assert!(KeyFile::from_bytes(&of_format("1", &body), "x").is_err());
    }
}
